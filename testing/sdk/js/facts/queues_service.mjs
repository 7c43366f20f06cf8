// The queue service and its queues: who connects, properties of the service, create, metadata, list, delete.

import { QueueServiceClient, StorageSharedKeyCredential } from "@azure/storage-queue";
import assert from "node:assert/strict";
import { fresh } from "../harness.mjs";
import { ACCOUNT, FAILED, WRONG_KEY, all, preflight, refused, storageFact } from "../storage.mjs";

async function names(feed) {
  return (await all(feed)).map(({ name }) => name);
}

storageFact("queues.connect", "a queue client of the connection string works", async (storage) => {
  const client = QueueServiceClient.fromConnectionString(storage.connectionString("queue"), storage.options());
  const queue = client.getQueueClient(fresh("queue"));
  await queue.create();
  await queue.sendMessage("moon");
  assert.equal((await queue.receiveMessages()).receivedMessageItems[0].messageText, "moon");
});

storageFact("queues.bad_key", "a wrong key opens no queues", async (storage) => {
  const client = storage.queueService(new StorageSharedKeyCredential(ACCOUNT, WRONG_KEY));
  assert.deepEqual(await refused(client.createQueue(fresh("queue"))), FAILED);
  assert.deepEqual(await refused(all(client.listQueues())), FAILED);
});

storageFact("queues.stats", "the replica of queues tells that it lives", async (storage) => {
  const replica = storage.queueService(undefined, storage.endpoint("queue", storage.transport, `${ACCOUNT}-secondary`));
  const { geoReplication } = await replica.getStatistics();
  assert.equal(geoReplication.status, "live");
  assert(geoReplication.lastSyncOn instanceof Date);
});

storageFact("queues.properties", "what is not set of the queue service stays as it was", async (storage) => {
  const days = (days) => ({ enabled: true, days });
  await storage.queues.setProperties({
    queueAnalyticsLogging: { version: "1.0", read: true, write: false, deleteProperty: true, retentionPolicy: days(5) },
    hourMetrics: { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy: days(7) },
    minuteMetrics: { version: "1.0", enabled: false, retentionPolicy: { enabled: false } },
  });
  const minute = { version: "1.0", enabled: true, includeAPIs: false, retentionPolicy: { enabled: false } };
  await storage.queues.setProperties({ minuteMetrics: minute });
  const { queueAnalyticsLogging: logging, hourMetrics, minuteMetrics } = await storage.queues.getProperties();
  assert.deepEqual([logging.read, logging.write, logging.deleteProperty], [true, false, true]);
  assert.deepEqual(logging.retentionPolicy, days(5));
  assert.deepEqual([hourMetrics.enabled, hourMetrics.includeAPIs, hourMetrics.retentionPolicy], [true, true, days(7)]);
  assert.deepEqual([minuteMetrics.enabled, minuteMetrics.includeAPIs, minuteMetrics.retentionPolicy.enabled], [true, false, false]);
});

storageFact("queues.cors", "rules of queues are kept and answer preflights", async (storage) => {
  const url = `${storage.endpoint("queue", "http")}/somewhere/messages`;
  const rule = {
    allowedOrigins: "http://one.example,http://two.example",
    allowedMethods: "GET,PUT",
    allowedHeaders: "x-ms-meta-*,accept",
    exposedHeaders: "x-ms-*",
    maxAgeInSeconds: 200,
  };
  await storage.queues.setProperties({ cors: [rule] });
  assert.deepEqual((await storage.queues.getProperties()).cors, [rule]);
  const answer = await preflight(url, "http://two.example", "PUT", "x-ms-meta-name");
  assert.deepEqual([answer.status, answer.headers.get("access-control-allow-origin")], [200, "http://two.example"]);
  assert.equal((await preflight(url, "http://three.example", "PUT")).status, 403);
  await storage.queues.setProperties({ cors: [] });
  assert.equal((await preflight(url, "http://one.example", "GET")).status, 403);
  assert.equal((await refused(storage.queues.setProperties({ cors: Array(6).fill(rule) })))[0], 400);
});

storageFact("queues.create", "a queue is created with its metadata", async (storage) => {
  const queue = await storage.queue({ metadata: { kind: "test" } });
  const { metadata, approximateMessagesCount } = await queue.getProperties();
  assert.deepEqual([metadata, approximateMessagesCount], [{ kind: "test" }, 0]);
  assert.equal(await queue.exists(), true);
  assert.equal(await storage.queues.getQueueClient(fresh("nowhere")).exists(), false);
});

storageFact("queues.again", "a second queue of a name is refused only with other metadata", async (storage) => {
  const queue = await storage.queue({ metadata: { a: "1" } });
  assert.equal((await queue.create({ metadata: { a: "1" } }))._response.status, 204);
  assert.deepEqual(await refused(queue.create({ metadata: { a: "2" } })), [409, "QueueAlreadyExists"]);
  assert.equal((await queue.createIfNotExists({ metadata: { a: "1" } })).succeeded, false);
  assert.equal((await queue.createIfNotExists({ metadata: { a: "2" } })).succeeded, false);
  assert.equal((await storage.queues.getQueueClient(fresh("queue")).createIfNotExists()).succeeded, true);
});

storageFact("queues.names", "names of queues are lower case, digits and single hyphens", async (storage) => {
  for (const wrong of ["Upper", "two--hyphens", "-first", "last-", "under_score"]) {
    assert.deepEqual(await refused(storage.queues.createQueue(wrong)), [400, "InvalidResourceName"], wrong);
  }
  for (const wrong of ["ab", "a".repeat(64)]) {
    assert.deepEqual(await refused(storage.queues.createQueue(wrong)), [400, "OutOfRangeInput"], wrong);
  }
});

storageFact("queues.metadata", "metadata of a queue is replaced as a whole", async (storage) => {
  const queue = await storage.queue({ metadata: { a: "1", b: "2" } });
  await queue.setMetadata({ MixedCase: "x", b_1: "it's = & y" });
  // Node makes the names of headers lower case; a list has them as they are.
  assert.deepEqual((await queue.getProperties()).metadata, { mixedcase: "x", b_1: "it's = & y" });
  const [listed] = await all(storage.queues.listQueues({ prefix: queue.name, includeMetadata: true }));
  assert.deepEqual(listed.metadata, { MixedCase: "x", b_1: "it's = & y" });
  await queue.setMetadata({});
  assert.deepEqual((await queue.getProperties()).metadata, {});
});

storageFact("queues.list", "queues are listed by prefix and pages", async (storage) => {
  const prefix = `${fresh("listed")}-`;
  const made = [..."abcde"].map((letter) => prefix + letter);
  for (const name of made) await storage.queues.createQueue(name, { metadata: { Letter: name.at(-1) } });
  const pages = await all(storage.queues.listQueues({ prefix }).byPage({ maxPageSize: 2 }));
  assert.deepEqual(pages.map(({ queueItems }) => queueItems.map(({ name }) => name)), [made.slice(0, 2), made.slice(2, 4), made.slice(4)]);
  const { continuationToken } = pages[0];
  const rest = await all(storage.queues.listQueues({ prefix }).byPage({ maxPageSize: 10, continuationToken }));
  assert.deepEqual(rest.flatMap(({ queueItems }) => queueItems.map(({ name }) => name)), made.slice(2));
  const listed = await all(storage.queues.listQueues({ prefix, includeMetadata: true }));
  assert.deepEqual(listed.map(({ metadata }) => metadata.Letter), [..."abcde"]);
  assert.deepEqual(await names(storage.queues.listQueues({ prefix: `${prefix}none` })), []);
});

storageFact("queues.delete", "a queue is deleted with its messages and made again", async (storage) => {
  const queue = await storage.queue({ metadata: { a: "1" } });
  await queue.sendMessage("moon");
  await storage.queues.deleteQueue(queue.name);
  assert.equal((await queue.deleteIfExists()).succeeded, false);
  await queue.create();
  const { metadata, approximateMessagesCount } = await queue.getProperties();
  assert.deepEqual([metadata, approximateMessagesCount], [{}, 0]);
  assert.equal((await queue.deleteIfExists()).succeeded, true);
});

storageFact("queues.not_found", "queues that are not there are not found", async (storage) => {
  const queue = storage.queues.getQueueClient(fresh("nowhere"));
  const calls = [
    () => queue.delete(),
    () => queue.getProperties(),
    () => queue.receiveMessages(),
    () => queue.peekMessages(),
    () => queue.clearMessages(),
    () => queue.getAccessPolicy(),
    () => queue.sendMessage("moon"),
    () => queue.setMetadata({ a: "1" }),
  ];
  for (const call of calls) assert.deepEqual(await refused(call()), [404, "QueueNotFound"], String(call));
});
