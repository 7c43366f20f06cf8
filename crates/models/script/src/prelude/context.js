// The context: the collection, the request and the response of what the script runs for.

// What a script does to a body without saying so by `setBody` has no effect.
function message(body, values) {
  let isSet = false;
  return {
    output: () => (isSet ? toJson(body) : undefined),
    getBody() {
      return body;
    },
    setBody(value) {
      isSet = true;
      body = value;
    },
    appendBody(value) {
      isSet = true;
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

const request = {};
const response = {};
let isBefore = false;
let output;

function begin(given) {
  const { body, values, operation, answer, before, quota, usage } = parseJson(given);
  const [asked, answered] = [message(body, values), message(answer, {})];
  isBefore = before;
  output = (before ? asked : answered).output;
  delete asked.output;
  delete answered.output;
  Object.assign(request, asked);
  Object.assign(response, answered);
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
  outcome: () => output(),
};
