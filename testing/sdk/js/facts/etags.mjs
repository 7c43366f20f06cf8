// Optimistic concurrency: a write or read that names the tag it expects.

import assert from "node:assert/strict";
import { fact, refused, sameContainer, statusOf } from "../harness.mjs";

const onlyThis = (condition) => ({ accessCondition: { type: "IfMatch", condition } });
const onlyOthers = (condition) => ({ accessCondition: { type: "IfNoneMatch", condition } });

fact("etags.replace", "a replace with a stale tag is refused and changes nothing", async (cosmos) => {
  const container = await cosmos.container();
  const { item, etag: first } = await container.items.create({ id: "a", pk: "p", n: 1 });
  const replace = (n, tag) => item.replace({ id: "a", pk: "p", n }, onlyThis(tag));
  const { etag: second } = await replace(2, first);
  assert.equal(await refused(replace(3, first)), 412);
  assert.equal((await item.read()).resource.n, 2);
  await replace(4, second);
  assert.equal((await item.read()).resource.n, 4);
});

fact("etags.upsert", "an upsert with a stale tag is refused", async (cosmos) => {
  const container = await cosmos.container();
  const upsert = (n, options) => container.items.upsert({ id: "a", pk: "p", n }, options);
  const { etag: first } = await upsert(1);
  assert.equal((await upsert(2, onlyThis(first))).statusCode, 200);
  assert.equal(await refused(upsert(3, onlyThis(first))), 412);
  assert.equal((await container.item("a", "p").read()).resource.n, 2);
});

fact("etags.delete", "a delete with a stale tag is refused", async (cosmos) => {
  const container = await cosmos.container();
  const { item, etag: first } = await container.items.create({ id: "a", pk: "p", n: 1 });
  const { etag: second } = await item.replace({ id: "a", pk: "p", n: 2 });
  assert.equal(await refused(item.delete(onlyThis(first))), 412);
  assert.equal((await item.read()).resource.n, 2);
  assert.equal((await item.delete(onlyThis(second))).statusCode, 204);
});

fact("etags.not_modified", "a read that knows the tag answers without the item", async (cosmos) => {
  const container = await cosmos.container();
  const { item, etag } = await container.items.create({ id: "a", pk: "p", n: 1 });
  const unchanged = await item.read(onlyOthers(etag));
  assert.equal(unchanged.statusCode, 304);
  assert(!unchanged.resource);
  await item.replace({ id: "a", pk: "p", n: 2 });
  assert.equal((await item.read(onlyOthers(etag))).resource.n, 2);
});

fact("etags.two_writers", "of two writers with one tag one succeeds", async (cosmos) => {
  const container = await cosmos.container();
  const { etag } = await container.items.create({ id: "a", pk: "p", by: "nobody" });
  const write = (through, by) => statusOf(through.item("a", "p").replace({ id: "a", pk: "p", by }, onlyThis(etag)));
  const other = sameContainer(container, cosmos.open());
  const outcomes = await Promise.all([write(container, "first"), write(other, "second")]);
  assert.deepEqual([...outcomes].sort(), [200, 412]);
  const winner = ["first", "second"][outcomes.indexOf(200)];
  assert.equal((await container.item("a", "p").read()).resource.by, winner);
});
