// Built-in functions that go through much in one call: the interpreter looks at the clock between its own steps, and
// not inside such a call. So they refuse what would take longer than anyone waits for.

const lengthMax = native.lengthMax;
const searchMax = native.searchMax;
const normalizeMax = native.normalizeMax;
const viewLength = ownDescriptor(above(Uint8Array.prototype), "length").get;

function tooLong(what) {
  return new RangeError(what + " is too long for a script");
}

// The length that a built-in function will find. It must not be one that changes between our look and its own.
function lengthOf(value) {
  if (typeof value === "string") return value.length;
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return 0;
  for (let holder = value; holder !== null; holder = above(holder)) {
    const found = ownDescriptor(holder, "length");
    if (found === undefined) continue;
    if (!hasOwn(found, "value")) {
      if (found.get === viewLength) return apply(viewLength, value, []);
      throw new TypeError("a list has a length that is computed; copy it into an array");
    }
    const length = found.value;
    if (length !== null && (typeof length === "object" || typeof length === "function")) {
      throw new TypeError("a list has a length that is no number");
    }
    return +length;
  }
  return 0;
}

function checkList(list) {
  if (lengthOf(list) > lengthMax) throw tooLong("an array");
}

function guard(prototype, names, check) {
  for (const name of names) {
    const method = prototype[name];
    if (method === undefined) continue;
    const guarded = {
      [name](...args) {
        check(this, args);
        return apply(method, this, args);
      },
    };
    put(prototype, name, guarded[name]);
  }
}

guard(
  Array.prototype,
  (
    "copyWithin every fill filter find findIndex findLast findLastIndex forEach includes indexOf join lastIndexOf " +
    "map reduce reduceRight reverse shift slice some sort splice toLocaleString toReversed toSorted toSpliced " +
    "unshift with"
  ).split(" "),
  checkList,
);
guard(Array.prototype, ["concat"], (list, more) => {
  checkList(list);
  for (let at = 0; at < more.length; at++) checkList(more[at]);
});

// These go into arrays inside arrays, so they are written out, where every step counts.
function flattened(list, levels, out) {
  for (let at = 0, end = lengthOf(list); at < end; at++) {
    if (!(at in list)) continue;
    const item = list[at];
    if (levels > 0 && isArray(item)) flattened(item, levels - 1, out);
    else out[out.length] = item;
  }
  return out;
}
put(Array.prototype, "flat", function flat(levels = 1) {
  return flattened(Object(this), +levels, []);
});
put(Array.prototype, "flatMap", function flatMap(change, self) {
  return flattened(Array.prototype.map.call(this, change, self), 1, []);
});

function checkSearch(text, args) {
  const sought = args[0];
  if (typeof sought === "string" && sought.length * lengthOf(text) > searchMax) throw tooLong("the text to search for");
  if (typeof sought === "object" && sought !== null && !(sought instanceof RegExp)) args[0] = String(sought);
}
guard(
  String.prototype,
  ["includes", "indexOf", "lastIndexOf", "replace", "replaceAll", "split"],
  (text, args) => checkSearch(typeof text === "string" ? text : String(text), args),
);
guard(String.prototype, ["normalize"], (text) => {
  if (String(text).length > normalizeMax) throw tooLong("the text to normalize");
});
guard(String.prototype, ["localeCompare"], (text, args) => {
  args[0] = String(args[0]);
  if (String(text).length > normalizeMax || args[0].length > normalizeMax) throw tooLong("the text to compare");
});
guard(JSON, ["stringify"], (_, args) => {
  if (isArray(args[1])) checkList(args[1]);
});
if (globalThis.Iterator !== undefined) {
  guard(Iterator.prototype, ["drop"], (_, args) => {
    args[0] = +args[0];
    if (args[0] > lengthMax) throw tooLong("what is to be dropped");
  });
}
