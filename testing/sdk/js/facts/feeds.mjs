// Feeds: every item once, page by page, and while a container splits.

import assert from "node:assert/strict";
import { fact, sameContainer } from "../harness.mjs";

fact("feeds.read_all", "read all gives every item once in pages", async (cosmos) => {
  const container = await filled(cosmos, 25);
  const { found } = await pages(container.items.readAll({ maxItemCount: 10 }));
  assert(found.every((page) => page.length <= 10));
  assert.deepEqual(ids(found.flat()), names(25));
});

fact("feeds.read_all", "an empty container reads as nothing", async (cosmos) => {
  const container = await cosmos.container();
  assert.deepEqual((await container.items.readAll().fetchAll()).resources, []);
});

fact("feeds.read_all", "a partition key narrows the feed to its items", async (cosmos) => {
  const container = await filled(cosmos, 25);
  const { resources } = await container.items.readAll({ partitionKey: "p7" }).fetchAll();
  assert.deepEqual(ids(resources), ["i07", "i17"]);
});

fact("feeds.read_all", "large items end a page early and none is lost", async (cosmos) => {
  const container = await cosmos.container();
  for (const id of names(6)) await container.items.create({ id, pk: "p", text: "x".repeat(1_000_000) });
  const { found } = await pages(container.items.readAll({ maxItemCount: 100 }));
  assert(found.length > 1);
  assert.deepEqual(ids(found.flat()), names(6));
});

fact("feeds.resume", "a token goes on where the page ended", async (cosmos) => {
  const container = await filled(cosmos, 25);
  const start = await pages(container.items.readAll({ maxItemCount: 5 }), 2);
  assert(start.token);
  const reader = sameContainer(container, cosmos.open());
  const rest = await pages(reader.items.readAll({ maxItemCount: 5, continuationToken: start.token }));
  assert.deepEqual(ids([...start.found, ...rest.found].flat()), names(25));
});

fact("feeds.insertion_order", "items come in the order of their creation", async (cosmos) => {
  const container = await cosmos.container();
  const numbers = Array.from({ length: 25 }, (_, n) => n);
  for (const n of numbers) await container.items.create({ id: `i${(n * 7) % 25}`, pk: `p${n % 3}`, n });
  const { found } = await pages(container.items.readAll({ maxItemCount: 4 }));
  assert.deepEqual(found.flat().map((row) => row.n), numbers);
  const { resources } = await container.items.query("SELECT * FROM c", { partitionKey: "p0", maxItemCount: 4 }).fetchAll();
  assert.deepEqual(resources.map((row) => row.n), numbers.filter((n) => n % 3 === 0));
});

fact("feeds.ranges", "throughput decides the number of ranges", async (cosmos) => {
  for (const [throughput, count] of [[400, 1], [12_000, 2], [30_000, 5]]) {
    const container = await cosmos.container({ throughput });
    assert.equal((await container.readPartitionKeyRanges().fetchAll()).resources.length, count);
    assert.equal((await container.getFeedRanges()).length, count);
  }
});

fact("feeds.ranges", "items of several ranges are written and read", async (cosmos) => {
  const container = await filled(cosmos, 40, { throughput: 30_000 });
  const { found } = await pages(container.items.readAll({ maxItemCount: 7 }));
  assert.deepEqual(ids(found.flat()), names(40));
});

fact("feeds.split", "a client goes on while its container splits", async (cosmos) => {
  const container = await filled(cosmos, 20, { throughput: 400 });
  assert.equal((await container.getFeedRanges()).length, 1);
  const { offer, resource } = await sameContainer(container, cosmos.open()).readOffer();
  await offer.replace({ ...resource, content: { ...resource.content, offerThroughput: 12_000 } });
  for (let n = 20; n < 40; n++) await container.items.create(item(n));
  for (let n = 0; n < 40; n++) {
    const { id, pk } = item(n);
    assert.equal((await container.item(id, pk).read()).resource.n, n);
  }
  assert.deepEqual(ids((await container.items.readAll({ maxItemCount: 7 }).fetchAll()).resources), names(40));
  assert.equal((await container.readPartitionKeyRanges().fetchAll()).resources.length, 2);
});

async function filled(cosmos, count, options) {
  const container = await cosmos.container(options);
  for (let n = 0; n < count; n++) await container.items.create(item(n));
  return container;
}

/** The rows page by page, and the token after the last page taken. */
async function pages(feed, limit = Infinity) {
  const found = [];
  let token;
  while (feed.hasMoreResults() && found.length < limit) {
    const page = await feed.fetchNext();
    found.push(page.resources ?? []);
    token = page.continuationToken;
  }
  return { found, token };
}

function item(n) {
  return { id: names(n + 1)[n], pk: `p${n % 10}`, n };
}

function names(count) {
  return Array.from({ length: count }, (_, n) => `i${String(n).padStart(2, "0")}`);
}

function ids(found) {
  return found.map(({ id }) => id).sort();
}
