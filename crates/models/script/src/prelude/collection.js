// The collection: documents of the partition that the script runs in.

const selfLink = native.selfLink;
const altLink = native.altLink;

function trimmed(link) {
  let [start, end] = [0, link.length];
  while (start < end && link[start] === "/") start++;
  while (end > start && link[end - 1] === "/") end--;
  return link.slice(start, end);
}

function checkCollection(link) {
  const isHere = typeof link === "string" && (trimmed(link) === trimmed(selfLink) || trimmed(link) === trimmed(altLink));
  if (!isHere) {
    throw refusal(400, "The link '" + String(link) + "' is not that of the script's collection; use getSelfLink().");
  }
}

// An operation on the document that a link names: by its resource id or by its id.
function onDocument(kind, link) {
  const path = typeof link === "string" ? trimmed(link) : "";
  for (const [owner, isRid] of [[selfLink, true], [altLink, false]]) {
    const start = trimmed(owner) + "/docs/";
    if (path.startsWith(start) && path.length > start.length) return { kind, target: path.slice(start.length), isRid };
  }
  throw refusal(400, "The link '" + String(link) + "' is not that of a document; use its _self or getAltLink() + '/docs/' + id.");
}

// The last two arguments of every operation, either of which may be left out.
function optional(options, callback) {
  if (typeof options === "function" && callback === undefined) return [{}, options];
  if (callback !== undefined && callback !== null && typeof callback !== "function") {
    throw refusal(400, "The callback is not a function.");
  }
  return [options ?? {}, callback ?? undefined];
}

function guid() {
  let text = "";
  for (let at = 0; at < 32; at++) {
    if (at === 8 || at === 12 || at === 16 || at === 20) text += "-";
    const digit = Math.floor(native.random() * 16);
    text += (at === 12 ? 4 : at === 16 ? (digit & 3) | 8 : digit).toString(16);
  }
  return text;
}

function document(body) {
  if (body === null || typeof body !== "object" || isArray(body)) {
    throw refusal(400, "The document is not an object.");
  }
  return body;
}

function withId(body, options) {
  const needsId = document(body).id === undefined && options.disableAutomaticIdGeneration !== true;
  return toJson(needsId ? { ...body, id: guid() } : body);
}

function writeOptions(options) {
  return { etag: options.etag, indexAction: options.indexAction };
}

function refuseAttachments() {
  throw refusal(400, "Attachments are not supported; keep what they would hold in documents.");
}

const Collection = {
  getSelfLink() {
    return selfLink;
  },
  getAltLink() {
    return altLink;
  },
  createDocument(link, body, ...rest) {
    checkCollection(link);
    const [options, callback] = optional(rest[0], rest[1]);
    const operation = { kind: "create", text: withId(body, options), options: writeOptions(options) };
    return enqueue(operation, reporting(callback));
  },
  upsertDocument(link, body, ...rest) {
    checkCollection(link);
    const [options, callback] = optional(rest[0], rest[1]);
    const operation = { kind: "upsert", text: withId(body, options), options: writeOptions(options) };
    return enqueue(operation, reporting(callback));
  },
  readDocument(link, ...rest) {
    const [options, callback] = optional(rest[0], rest[1]);
    const report = reporting(callback);
    return enqueue({ ...onDocument("read", link), options: {} }, (error, found, told) => {
      const isSame = error === undefined && options.ifNoneMatch !== undefined && options.ifNoneMatch === found._etag;
      return isSame ? report(undefined, undefined, { notModified: true }) : report(error, found, told);
    });
  },
  replaceDocument(link, body, ...rest) {
    const [options, callback] = optional(rest[0], rest[1]);
    const text = toJson(document(body));
    return enqueue({ ...onDocument("replace", link), text, options: writeOptions(options) }, reporting(callback));
  },
  deleteDocument(link, ...rest) {
    const [options, callback] = optional(rest[0], rest[1]);
    return enqueue({ ...onDocument("delete", link), options: writeOptions(options) }, reporting(callback));
  },
  queryDocuments(link, query, ...rest) {
    checkCollection(link);
    const [options, callback] = optional(rest[0], rest[1]);
    return enqueue(asking(query, options), reporting(callback));
  },
  readDocuments(link, ...rest) {
    checkCollection(link);
    const [options, callback] = optional(rest[0], rest[1]);
    return enqueue(asking("SELECT * FROM c", options), reporting(callback));
  },
};

for (const verb of ["create", "read", "replace", "upsert", "delete"]) {
  Collection[verb + "Attachment"] = refuseAttachments;
}
for (const name of ["queryAttachments", "readAttachments"]) Collection[name] = refuseAttachments;

function asking(query, options) {
  const isText = typeof query === "string";
  if (!isText && (query === null || typeof query !== "object" || typeof query.query !== "string")) {
    throw refusal(400, "The query is neither text nor an object { query, parameters }.");
  }
  const body = isText ? { query } : { query: query.query, parameters: query.parameters };
  const { pageSize, continuation } = options;
  if (pageSize !== undefined && !(Number.isInteger(pageSize) && (pageSize === -1 || pageSize > 0))) {
    throw refusal(400, "The pageSize is not a positive number, nor -1.");
  }
  if (continuation !== undefined && continuation !== null && typeof continuation !== "string") {
    throw refusal(400, "The continuation is not one that a callback was given.");
  }
  return { kind: "query", text: toJson(body), options: { pageSize, continuation: continuation ?? undefined } };
}

Collection.ErrorCodes = {
  BadRequest: 400,
  Forbidden: 403,
  NotFound: 404,
  Conflict: 409,
  PreconditionFailed: 412,
  RequestEntityTooLarge: 413,
  RetryWith: 449,
  InternalServerError: 500,
};
put(globalThis, "ErrorCodes", Collection.ErrorCodes);
