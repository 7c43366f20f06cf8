// Queries as functions: filter, map and their kin over the documents of the partition, alone or in a chain.
//
// Without a page size all documents are gone through; with one, so many documents a page, of which as many come back
// as the steps leave. What is sorted is always gone through whole, and its pages are cut from the sorted list.

const isDefined = (value) => value !== undefined;

// An order of all values, as ORDER BY has it: by kind, then by value.
function kindOf(value) {
  if (value === undefined) return 0;
  if (value === null) return 1;
  const at = ["boolean", "number", "string"].indexOf(typeof value);
  return at >= 0 ? at + 2 : isArray(value) ? 5 : 6;
}

function compare(a, b) {
  const [left, right] = [kindOf(a), kindOf(b)];
  if (left !== right || left < 2) return left - right;
  if (left > 4) [a, b] = [toJson(a), toJson(b)];
  return a < b ? -1 : a > b ? 1 : 0;
}

function sorted(list, key, direction) {
  const keyed = list.map((item) => [key(item), item]);
  return keyed.sort((a, b) => direction * compare(a[0], b[0])).map((pair) => pair[1]);
}

function needFunction(given, what) {
  if (typeof given !== "function") throw refusal(400, what + " takes a function.");
  return given;
}

const steps = {
  filter(predicate) {
    needFunction(predicate, "filter");
    return (list) => list.filter((item) => predicate(item));
  },
  map(change) {
    needFunction(change, "map");
    return (list) => list.map((item) => change(item)).filter(isDefined);
  },
  pluck(name) {
    return (list) => list.map((item) => item?.[name]).filter(isDefined);
  },
  flatten(isShallow) {
    return (list) => list.flat(isShallow === true ? 1 : Infinity);
  },
  sortBy(key) {
    needFunction(key, "sortBy");
    return Object.assign((list) => sorted(list, key, 1), { isSort: true });
  },
  sortByDescending(key) {
    needFunction(key, "sortByDescending");
    return Object.assign((list) => sorted(list, key, -1), { isSort: true });
  },
  unwind(inner, result) {
    needFunction(inner, "unwind");
    if (result !== undefined) needFunction(result, "unwind");
    const pairs = (item) => (inner(item) ?? []).map((part) => (result === undefined ? part : result(item, part)));
    return (list) => list.flatMap(pairs).filter(isDefined);
  },
};

// Runs the steps over documents. Says whether the query was taken.
function run(list, options, callback) {
  const [given, called] = optional(options, callback);
  const isWhole = given.pageSize === undefined || given.pageSize === -1 || list.some((step) => step.isSort);
  const skip = isWhole ? Number(given.continuation ?? 0) : 0;
  const operation = asking("SELECT * FROM c", isWhole ? { pageSize: -1 } : given);
  const report = (error, feed, told) => {
    if (called !== undefined) return called(error, feed, told);
    if (error !== undefined) throw error;
    response.setBody(feed);
  };
  let documents = [];
  return enqueue(operation, (error, feed, told) => {
    if (error !== undefined) return report(error, undefined, told);
    documents = documents.concat(feed);
    if (isWhole && told.continuation !== undefined) {
      return again({ ...operation, options: { pageSize: -1, continuation: told.continuation } });
    }
    const found = list.reduce((left, step) => step(left), documents);
    return isWhole ? report(undefined, ...page(found, skip, given.pageSize)) : report(undefined, found, told);
  });
}

function page(found, skip, size) {
  const end = size > 0 ? skip + size : found.length;
  return [found.slice(skip, end), end < found.length ? { continuation: String(end) } : {}];
}

for (const name of Object.keys(steps)) {
  const ownArguments = name === "unwind" ? 2 : 1;
  Collection[name] = function (...args) {
    // `unwind` and `flatten` may leave their last argument out, and options or a callback come in its place.
    const isOwn = (value) => name === "flatten" ? typeof value === "boolean" : typeof value === "function";
    let own = ownArguments;
    if (name === "flatten" && !isOwn(args[0])) own = args[0] === undefined && args.length > 0 ? 1 : 0;
    if (name === "unwind" && !isOwn(args[1])) own = args[1] === undefined && args.length > 1 ? 2 : 1;
    const step = steps[name](...args.slice(0, own));
    return { isAccepted: run([step], args[own], args[own + 1]) };
  };
}

Collection.chain = function () {
  const list = [];
  const chained = { isAccepted: true };
  for (const name of Object.keys(steps)) {
    chained[name] = function (...args) {
      list.push(steps[name](...args));
      return chained;
    };
  }
  chained.value = function (options, callback) {
    return { isAccepted: run(list, options, callback) };
  };
  return chained;
};
