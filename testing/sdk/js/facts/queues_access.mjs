// Who may use queues: stored policies, shared access signatures, bearer tokens, user delegation.

import {
  AccountSASPermissions,
  QueueSASPermissions,
  StorageSharedKeyCredential,
  generateAccountSASQueryParameters,
  generateQueueSASQueryParameters,
} from "@azure/storage-queue";
import assert from "node:assert/strict";
import { fresh } from "../harness.mjs";
import { ACCOUNT, FAILED, MISMATCH, QUEUE_KEY, WRONG_KEY, all, hence, refused, storageFact } from "../storage.mjs";

async function filled(storage) {
  const queue = await storage.queue();
  await queue.sendMessage("moon");
  return queue;
}

/** The text of a signature of a queue. */
function signed({ name: queueName }, letters, options = {}, key = QUEUE_KEY) {
  const permissions = letters && QueueSASPermissions.parse(letters);
  return generateQueueSASQueryParameters({ queueName, permissions, expiresOn: hence(1), ...options }, key).toString();
}

function shared(storage, queue, ...rest) {
  return storage.queueAs(queue.name, signed(queue, ...rest));
}

function ofAccount(letters, resourceTypes, services = "q") {
  const permissions = AccountSASPermissions.parse(letters);
  return generateAccountSASQueryParameters({ permissions, resourceTypes, services, expiresOn: hence(1) }, QUEUE_KEY).toString();
}

async function peeked(queue) {
  return (await queue.peekMessages({ numberOfMessages: 32 })).peekedMessageItems.length;
}

async function receive(queue) {
  return (await queue.receiveMessages()).receivedMessageItems[0];
}

function policy(permissions, hours) {
  return [{ id: "p", accessPolicy: { permissions, startsOn: hence(-2), expiresOn: hence(hours) } }];
}

storageFact("queues.access.policies", "policies of a queue are kept, replaced and cleared", async (storage) => {
  const queue = await storage.queue();
  assert.deepEqual((await queue.getAccessPolicy()).signedIdentifiers, []);
  const [startsOn, expiresOn] = [new Date("2024-01-01T00:00:00Z"), new Date("2099-01-01T00:00:00Z")];
  const policies = [{ id: "all", accessPolicy: { startsOn, expiresOn, permissions: "raup" } }];
  await queue.setAccessPolicy(policies);
  assert.deepEqual((await queue.getAccessPolicy()).signedIdentifiers, policies);
  await queue.setAccessPolicy([]);
  assert.deepEqual((await queue.getAccessPolicy()).signedIdentifiers, []);
});

storageFact("queues.access.policies", "a queue has at most five policies", async (storage) => {
  const queue = await storage.queue();
  const policies = Array.from({ length: 6 }, (_, n) => ({ ...policy("r", 1)[0], id: String(n) }));
  assert.deepEqual(await refused(queue.setAccessPolicy(policies)), [400, "InvalidXmlDocument"]);
  await queue.setAccessPolicy(policies.slice(1));
});

storageFact("queues.access.queue_sas", "a signature of a queue allows what it names", async (storage) => {
  const queue = await storage.queue({ metadata: { a: "1" } });
  await shared(storage, queue, "a").sendMessage("moon");
  const reader = shared(storage, queue, "r");
  assert.equal(await peeked(reader), 1);
  assert.deepEqual((await reader.getProperties()).metadata, { a: "1" });
  const processor = shared(storage, queue, "p");
  const { messageId, popReceipt } = await receive(processor);
  const updated = await shared(storage, queue, "u").updateMessage(messageId, popReceipt, "sun", 60);
  await processor.deleteMessage(messageId, updated.popReceipt);
  assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
});

storageFact("queues.access.queue_sas", "a signature of a queue allows nothing else", async (storage) => {
  const [queue, other] = [await filled(storage), await filled(storage)];
  const [reader, adder] = [shared(storage, queue, "r"), shared(storage, queue, "a")];
  assert.deepEqual(await refused(reader.sendMessage("x")), MISMATCH);
  assert.deepEqual(await refused(reader.receiveMessages()), MISMATCH);
  for (const call of [reader.getAccessPolicy(), reader.setMetadata({ a: "1" }), reader.delete()]) {
    assert.equal((await refused(call))[0], 403);
  }
  assert.deepEqual(await refused(adder.peekMessages()), MISMATCH);
  assert.deepEqual(await refused(adder.receiveMessages()), MISMATCH);
  const { messageId, popReceipt } = await adder.sendMessage("x");
  assert.deepEqual(await refused(adder.deleteMessage(messageId, popReceipt)), MISMATCH);
  assert.deepEqual(await refused(adder.updateMessage(messageId, popReceipt, "y")), MISMATCH);
  assert.equal((await refused(storage.queueAs(other.name, signed(queue, "raup")).peekMessages()))[0], 403);
});

storageFact("queues.access.sas_refused", "a signature of a queue that is over, early, forged or changed is refused", async (storage) => {
  const queue = await filled(storage);
  const reading = (options, key) => refused(shared(storage, queue, "r", options, key).peekMessages());
  assert.deepEqual(await reading({ expiresOn: hence(-1) }), FAILED);
  assert.deepEqual(await reading({ startsOn: hence(1), expiresOn: hence(2) }), FAILED);
  assert.deepEqual(await reading({}, new StorageSharedKeyCredential(ACCOUNT, WRONG_KEY)), FAILED);
  const changed = storage.queueAs(queue.name, signed(queue, "r").replace("sp=r", "sp=rp"));
  assert.deepEqual(await refused(changed.receiveMessages()), FAILED);
});

storageFact("queues.access.sas_refused", "a signature of a queue for another transport or address is refused", async (storage) => {
  const queue = await filled(storage);
  const secure = peeked(shared(storage, queue, "r", { protocol: "https" }));
  if (storage.transport === "http") assert.deepEqual(await refused(secure), [403, "AuthorizationProtocolMismatch"]);
  else assert.equal(await secure, 1);
  const from = (start, end) => peeked(shared(storage, queue, "r", { ipRange: { start, end } }));
  assert.equal(await from("127.0.0.0", "127.0.0.255"), 1);
  assert.deepEqual(await refused(from("168.1.5.60", "168.1.5.70")), [403, "AuthorizationSourceIPMismatch"]);
});

storageFact("queues.access.sas_policy", "a signature goes with the policy of its queue", async (storage) => {
  const queue = await filled(storage);
  await queue.setAccessPolicy(policy("r", 1));
  const mine = shared(storage, queue, undefined, { identifier: "p", expiresOn: undefined });
  assert.equal(await peeked(mine), 1);
  assert.deepEqual(await refused(mine.sendMessage("x")), MISMATCH);
  await queue.setAccessPolicy(policy("ra", 1));
  await mine.sendMessage("x");
  await queue.setAccessPolicy(policy("ra", -1));
  assert.equal((await refused(mine.peekMessages()))[0], 403);
  await queue.setAccessPolicy([]);
  assert.equal((await refused(mine.peekMessages()))[0], 403);
});

storageFact("queues.access.account_sas", "a signature of the account makes queues and uses them", async (storage) => {
  const queue = storage.queueAs(fresh("queue"), ofAccount("rwdlacup", "sco"));
  await queue.create({ metadata: { a: "1" } });
  await queue.sendMessage("moon");
  assert.equal(await peeked(queue), 1);
  const { messageId, popReceipt } = await receive(queue);
  const updated = await queue.updateMessage(messageId, popReceipt, "sun", 60);
  await queue.deleteMessage(messageId, updated.popReceipt);
  await queue.clearMessages();
  await queue.delete();
});

storageFact("queues.access.account_sas", "a signature of the account allows nothing else on queues", async (storage) => {
  const queue = await filled(storage);
  const reader = storage.queueAs(queue.name, ofAccount("rl", "sco"));
  assert.equal(await peeked(reader), 1);
  assert.deepEqual(await refused(reader.sendMessage("x")), MISMATCH);
  const services = storage.queueAs(queue.name, ofAccount("r", "s"));
  assert.deepEqual(await refused(services.peekMessages()), [403, "AuthorizationResourceTypeMismatch"]);
  const blobs = storage.queueAs(queue.name, ofAccount("r", "sco", "b"));
  assert.deepEqual(await refused(blobs.peekMessages()), [403, "AuthorizationServiceMismatch"]);
});

storageFact("queues.access.bearer", "a data role of queues allows what it is for", async (storage) => {
  const queue = await filled(storage);
  const as = (role) => storage.queueAs(queue.name, storage.bearer("--role", role), "https");
  const reader = as("Storage Queue Data Reader");
  assert.equal(await peeked(reader), 1);
  assert.deepEqual(await refused(reader.sendMessage("x")), MISMATCH);
  assert.deepEqual(await refused(reader.receiveMessages()), MISMATCH);
  const sender = as("Storage Queue Data Message Sender");
  await sender.sendMessage("sun");
  assert.deepEqual(await refused(sender.peekMessages()), MISMATCH);
  const processor = as("Storage Queue Data Message Processor");
  const { messageId, popReceipt } = await receive(processor);
  await processor.deleteMessage(messageId, popReceipt);
  assert.deepEqual(await refused(processor.sendMessage("x")), MISMATCH);
  const contributor = storage.queueAs(fresh("queue"), storage.bearer("--role", "Storage Queue Data Contributor"), "https");
  await contributor.create();
  await contributor.sendMessage("moon");
  await contributor.delete();
});

storageFact("queues.access.bearer", "a token without a role or for somebody else opens no queues", async (storage) => {
  const queue = await filled(storage);
  const peeking = (...flags) => storage.queueAs(queue.name, storage.bearer(...flags), "https").peekMessages();
  assert.deepEqual(await refused(peeking()), MISMATCH);
  const role = ["--role", "Storage Queue Data Reader"];
  assert.equal((await refused(peeking(...role, "--audience", "https://graph.microsoft.com")))[0], 401);
});

storageFact("queues.access.delegation", "a user signs by a key of the queue service", async (storage) => {
  const queue = await filled(storage);
  const bearer = storage.bearer("--role", "Storage Queue Data Contributor");
  const key = await storage.queueService(bearer, storage.endpoint("queue", "https")).getUserDelegationKey(hence(-1), hence(1));
  const permissions = QueueSASPermissions.parse("r");
  const token = (given) =>
    generateQueueSASQueryParameters({ queueName: queue.name, permissions, expiresOn: hence(1) }, given, ACCOUNT).toString();
  const mine = storage.queueAs(queue.name, token(key));
  assert.equal(await peeked(mine), 1);
  assert.deepEqual(await refused(mine.sendMessage("x")), MISMATCH);
  assert.deepEqual(await refused(storage.queueAs(queue.name, token({ ...key, value: WRONG_KEY })).peekMessages()), FAILED);
});
