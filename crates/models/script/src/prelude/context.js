// The context: the collection, the request and the response of what the script runs for.

// The value of a request or response that is its body; the others are headers.
const BODY = "Body";

function asText(value) {
  return typeof value === "string" ? value : toJson(value);
}

// What a script does to a body without saying so by `setBody` has no effect.
function message(body, values) {
  let isSet = false;
  function getValue(name) {
    return name === BODY ? body : values[name];
  }
  function setValue(name, value) {
    if (name !== BODY) values[name] = value;
    else [isSet, body] = [true, value];
  }
  function appendValue(name, value) {
    const before = getValue(name);
    setValue(name, before === undefined ? asText(value) : asText(before) + asText(value));
  }
  return {
    output: () => (isSet ? toJson(body) : undefined),
    getBody: () => body,
    setBody: (value) => setValue(BODY, value),
    appendBody: (value) => appendValue(BODY, value),
    getValue,
    setValue,
    appendValue,
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
