// Time to live, on a server whose clock moves only when told to.

import assert from "node:assert/strict";
import { clockedFact, refused } from "../harness.mjs";

const DAY = 24 * 60 * 60;

clockedFact("ttl.item", "an item goes when its own ttl is over", async (cosmos) => {
  const container = await cosmos.container({ defaultTtl: 30 * DAY });
  await container.items.create({ id: "short", pk: "p", ttl: 5 });
  await container.items.create({ id: "long", pk: "p" });
  await container.items.create({ id: "forever", pk: "p", ttl: -1 });
  await cosmos.advance(4);
  assert.equal((await container.item("short", "p").read()).resource.ttl, 5);
  await cosmos.advance(1);
  assert.equal(await refused(container.item("short", "p").read()), 404);
  assert.deepEqual(await ids(container), ["forever", "long"]);
  await container.items.create({ id: "short", pk: "p" });
});

clockedFact("ttl.container", "an item goes when the default ttl is over", async (cosmos) => {
  const container = await cosmos.container({ defaultTtl: 30 * DAY });
  await container.items.create({ id: "default", pk: "p" });
  await container.items.create({ id: "forever", pk: "p", ttl: -1 });
  await cosmos.advance(29 * DAY);
  assert.equal((await container.item("default", "p").read()).statusCode, 200);
  await cosmos.advance(DAY);
  assert.equal(await refused(container.item("default", "p").read()), 404);
  assert.deepEqual(await ids(container), ["forever"]);
});

clockedFact("ttl.container", "without a default ttl items stay whatever they say", async (cosmos) => {
  const container = await cosmos.container();
  const { item } = await container.items.create({ id: "a", pk: "p", ttl: 5 });
  await cosmos.advance(60);
  assert.equal((await item.read()).resource.ttl, 5);
});

async function ids(container) {
  const { resources } = await container.items.readAll().fetchAll();
  return resources.map(({ id }) => id).sort();
}
