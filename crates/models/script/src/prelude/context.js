// The context: the collection, the request and the response of what the script runs for.

function message(body, values) {
  return {
    getBody() {
      return body;
    },
    setBody(value) {
      body = value;
    },
    appendBody(value) {
      const text = typeof value === "string" ? value : toJson(value);
      body = body === undefined ? text : (typeof body === "string" ? body : toJson(body)) + text;
    },
    getValue(name) {
      return values[name];
    },
    setValue(name, value) {
      values[name] = value;
    },
    appendValue(name, value) {
      values[name] = values[name] === undefined ? value : String(values[name]) + String(value);
    },
  };
}

const request = message(undefined, {});
const response = message(undefined, {});
let isBefore = false;

function begin(given) {
  const { body, values, operation, answer, before, quota, usage } = parseJson(given);
  Object.assign(request, message(body, values));
  Object.assign(response, message(answer, {}));
  isBefore = before;
  request.getOperationType = () => operation;
  response.getMaxResourceQuota = () => quota;
  response.getResourceQuotaCurrentUsage = response.getCurrentResourceQuotaUsage = () => usage;
}

function getResponse() {
  if (isBefore) throw refusal(400, "There is no response yet when a pre-trigger runs.");
  return response;
}

const context = {
  abort,
  getCollection: () => Collection,
  getRequest: () => request,
  getResponse,
};
put(globalThis, "getContext", function getContext() {
  return context;
});
const shortcut = Object.assign(Object.create(Collection), context);
defineProperty(shortcut, "request", { get: context.getRequest });
defineProperty(shortcut, "response", { get: getResponse });
put(globalThis, "__", shortcut);

return {
  begin,
  next,
  settle,
  aborted: () => aborted,
  main: (body, args) => apply(body, undefined, args),
  outcome: () => toJson((isBefore ? request : response).getBody()),
};
