// Operations wait here until the script has nothing more to do; then they are done one by one, and each one's callback
// may ask for more. So a chain of callbacks needs no stack, however long it is.

const waiting = [];
let first = 0;
let current;
let aborted;

// Whether the operation was taken. `finish` gets what became of it.
function enqueue(operation, finish) {
  const isWrite = operation.kind !== "read" && operation.kind !== "query";
  if (!native.accepts(isWrite, (operation.text ?? "").length)) return false;
  operation.finish = finish;
  waiting[waiting.length] = operation;
  return true;
}

// Once more, with the rest of what was begun: never refused, and before everything else.
function again(operation) {
  waiting[--first] = operation;
}

function next() {
  if (first >= waiting.length) return undefined;
  current = waiting[first];
  waiting[first++] = undefined;
  const { kind, target, isRid, text, options } = current;
  return [kind, target, isRid, text, toJson(options)];
}

function settle(number, text, continuation) {
  const { finish } = current;
  if (number !== 0) return finish(refusal(number, text), undefined, {});
  const options = continuation === undefined ? {} : { continuation };
  return finish(undefined, text === undefined ? undefined : parseJson(text), options);
}

// What a callback, or nobody, does with the end of an operation.
function reporting(callback) {
  return (error, value, options) => {
    if (callback !== undefined) return callback(error, value, options);
    if (error !== undefined) throw error;
  };
}

function abort(reason) {
  aborted = { reason: reason === undefined ? new RealError("The script was aborted.") : reason };
  throw aborted.reason;
}
