// Throughput that is enforced: 429, and what the SDK makes of it.

import assert from "node:assert/strict";
import { factOn, fresh, refused } from "../harness.mjs";

// What is spent stays spent until the fact moves the clock.
const STILL = ["--throttle", "on", "--clock", "manual"];
const NO_INDEX = { indexingMode: "none", automatic: false };

factOn(STILL, "throttling.retry", "the SDK waits and goes on", async (cosmos) => {
  const container = await small(cosmos);
  // More than there is, so that a fifth of a second is owed: nine retries last longer than the clock stands still.
  const { requestCharge } = await container.items.create({ id: "large", pk: "p", text: "x".repeat(1_050_000) });
  assert(requestCharge > 470);
  const moved = new Promise((resolve) => setTimeout(() => resolve(cosmos.advance(2)), 300));
  const { headers } = await container.items.create({ id: "after", pk: "p" });
  assert(headers["x-ms-throttle-retry-count"] > 0);
  await moved;
  assert.equal((await container.item("after", "p").read()).resource.id, "after");
});

factOn(STILL, "throttling.exhausted", "the SDK gives up after its retries", async (cosmos) => {
  const container = await small(cosmos);
  const { served, error } = await spend(container);
  assert.equal(served, 80, "400 request units by five");
  assert.deepEqual([error.code, error.substatus], [429, 3200]);
  assert(error.retryAfterInMs > 0);
  await cosmos.advance(1);
  assert.equal((await spend(container)).served, 80);
});

factOn(STILL, "throttling.exhausted", "queries are throttled too", async (cosmos) => {
  const container = await small(cosmos);
  await spend(container);
  const ask = () => container.items.query("SELECT * FROM c", { partitionKey: "p" }).fetchAll();
  assert.equal(await refused(ask()), 429);
  await cosmos.advance(1);
  assert.equal((await ask()).resources.length, 80);
});

factOn(STILL, "throttling.priority", "low priority is turned away first", async (cosmos) => {
  const container = await small(cosmos);
  const { served, error } = await spend(container, { priorityLevel: "Low" });
  assert.deepEqual([served, error.code], [40, 429]);
  assert.equal((await spend(container, { priorityLevel: "High" })).served, 40);
});

factOn(STILL, "throttling.change", "more throughput works at once", async (cosmos) => {
  const container = await small(cosmos);
  await spend(container);
  const { offer, resource } = await container.readOffer();
  await offer.replace({ ...resource, content: { ...resource.content, offerThroughput: 4000 } });
  await cosmos.advance(1);
  assert.equal((await spend(container)).served, 800);
});

factOn(STILL, "throttling.change", "an autoscale container shows what is in use", async (cosmos) => {
  const container = await small(cosmos, { maxThroughput: 1000 });
  const inUse = async () => (await container.readOffer()).resource.content.offerThroughput;
  assert.equal(await inUse(), 100);
  assert.equal((await spend(container)).served, 200);
  assert.equal(await inUse(), 1000);
  await cosmos.advance(2);
  assert.equal(await inUse(), 100);
});

factOn(STILL, "throttling.shared", "containers share the throughput of their database", async (cosmos) => {
  await cosmos.advance(2);
  const { containers } = await cosmos.database({ throughput: 400 });
  const make = async (id) =>
    (await containers.create({ id, partitionKey: "/pk", indexingPolicy: NO_INDEX })).container;
  const [one, two] = [await make("one"), await make("two")];
  assert.equal((await spend(one)).served, 80);
  assert.equal((await spend(two)).served, 0);
});

factOn(["--serverless", ...STILL], "throttling.serverless", "a serverless account takes no throughput", async (cosmos) => {
  await cosmos.advance(2);
  const container = await cosmos.container();
  await container.items.create({ id: "a", pk: "p" });
  assert.equal(await refused(cosmos.container({ throughput: 400 })), 400);
  assert.equal(await refused(cosmos.database({ throughput: 400 })), 400);
  assert.equal(await refused(container.readOffer()), 400);
  assert.equal((await container.item("a", "p").read()).statusCode, 200);
});

/** A container of 400 RU/s, or what the options say, in which every small item costs five. */
async function small(cosmos, options = { throughput: 400 }) {
  await cosmos.advance(2);
  return cosmos.container({ ...options, indexingPolicy: NO_INDEX });
}

/** Creates items until the SDK gives up; how many there are then, and its error. */
async function spend(container, options = {}) {
  for (let served = 0; served < 5000; served++) {
    try {
      await container.items.create({ id: fresh("i"), pk: "p" }, options);
    } catch (error) {
      if (typeof error.code !== "number") throw error;
      return { served, error };
    }
  }
  assert.fail("nobody was turned away");
}
