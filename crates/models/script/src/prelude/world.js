// The world of a script: a clock that stands still, randomness from a seed, errors with numbers, a log.

const { parse: parseJson, stringify: toJson } = JSON;
const { apply, construct } = Reflect;
const { defineProperty, getOwnPropertyDescriptor: ownDescriptor } = Object;
const isArray = Array.isArray;

function put(holder, name, value) {
  defineProperty(holder, name, { value, writable: true, configurable: true, enumerable: false });
}

// Takes the place of a constructor: `make` says what it is given instead.
function standIn(real, make, called) {
  const stand = function (...args) {
    if (new.target === undefined) return called(args);
    return make(args, new.target === stand ? real : new.target);
  };
  for (const name of Object.getOwnPropertyNames(real)) {
    const found = ownDescriptor(real, name);
    if (name === "prototype") stand.prototype = real.prototype;
    else defineProperty(stand, name, found);
  }
  put(real.prototype, "constructor", stand);
  put(globalThis, real.name, stand);
  return stand;
}

const RealDate = Date;
const moment = native.now;
const StandDate = standIn(
  RealDate,
  (args, target) => construct(RealDate, args.length === 0 ? [moment] : args, target),
  () => new RealDate(moment).toString(),
);
put(StandDate, "now", function now() {
  return moment;
});

// `new Error(404, "gone")` has a number and a message.
const RealError = Error;
function makeError(args, target) {
  const isNumbered = typeof args[0] === "number" && args.length > 1;
  const error = construct(RealError, isNumbered ? [args[1]] : args, target);
  if (isNumbered) put(error, "number", args[0]);
  return error;
}
standIn(RealError, makeError, (args) => makeError(args, RealError));

function refusal(number, body) {
  const error = new RealError(body);
  error.number = number;
  error.body = body;
  return error;
}

put(Math, "random", function random() {
  return native.random();
});

function shown(value) {
  if (typeof value === "string") return value;
  try {
    return toJson(value) ?? String(value);
  } catch {
    return String(value);
  }
}

// The placeholders of `console.log`, as far as the service has them.
const placeholders = {
  s: shown,
  d: (value) => toNumber(value, Number),
  i: (value) => toNumber(value, parseInt),
  f: (value) => toNumber(value, parseFloat),
  j: shown,
  o: shown,
};

function toNumber(value, read) {
  return typeof value === "symbol" || typeof value === "object" ? NaN : read(value);
}

// Placeholders in the first text take the arguments in turn; arguments that are left follow, each after a space.
function formatted(args) {
  if (typeof args[0] !== "string" || args.length === 1) return args.map(shown).join(" ");
  let at = 1;
  const text = args[0].replace(/%([sdifjo%])/g, (mark, kind) => {
    if (kind === "%") return "%";
    return at < args.length ? placeholders[kind](args[at++]) : mark;
  });
  return [text, ...args.slice(at).map(shown)].join(" ");
}

const console = {};
for (const level of ["log", "info", "warn", "error", "debug"]) {
  put(console, level, function (...args) {
    native.log(formatted(args));
  });
}
put(globalThis, "console", console);

for (const name of ["SharedArrayBuffer", "Atomics", "WebAssembly", "navigator", "performance"]) {
  delete globalThis[name];
}
