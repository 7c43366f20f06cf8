// Patches: small changes to an item, all of them or none.

import assert from "node:assert/strict";
import { fact, refused, userMembers } from "../harness.mjs";

const ITEM = { id: "a", pk: "p", n: 1, tags: ["x", "y"], o: { old: true } };

async function made(cosmos) {
  const container = await cosmos.container();
  return (await container.items.create(ITEM)).item;
}

fact("items.patch", "every operation of a patch", async (cosmos) => {
  const item = await made(cosmos);
  const { resource, statusCode, etag } = await item.patch([
    { op: "add", path: "/tags/1", value: "between" },
    { op: "add", path: "/tags/-", value: "end" },
    { op: "set", path: "/tags/0", value: "first" },
    { op: "set", path: "/o/new", value: { deep: null } },
    { op: "replace", path: "/o/old", value: false },
    { op: "incr", path: "/n", value: 41 },
    { op: "incr", path: "/counted", value: 2.5 },
    { op: "remove", path: "/tags/2" },
    { op: "move", from: "/o/old", path: "/moved" },
  ]);
  const expected = '{"id":"a","pk":"p","n":42,"tags":["first","between","end"],"o":{"new":{"deep":null}},"counted":2.5,"moved":false}';
  assert.equal(statusCode, 200);
  assert.equal(JSON.stringify(userMembers(resource)), expected);
  assert.deepEqual((await item.read()).resource, resource);
  assert.equal(etag, resource._etag);
});

fact("items.patch", "increments at the same time lose none", async (cosmos) => {
  const item = await made(cosmos);
  const incr = () => item.patch([{ op: "incr", path: "/n", value: 1 }]);
  await Promise.all(Array.from({ length: 16 }, incr));
  assert.equal((await item.read()).resource.n, 17);
});

fact("items.patch_condition", "a patch whose condition is false is refused", async (cosmos) => {
  const item = await made(cosmos);
  const once = () => item.patch({ condition: "from c where c.n = 1", operations: [{ op: "incr", path: "/n", value: 1 }] });
  assert.equal((await once()).resource.n, 2);
  assert.equal(await refused(once()), 412);
  assert.equal(await refused(item.patch({ condition: "from c where", operations: [{ op: "set", path: "/n", value: 1 }] })), 400);
});

fact("items.patch_condition", "a patch with a stale tag is refused", async (cosmos) => {
  const item = await made(cosmos);
  const { etag } = await item.read();
  const once = () => item.patch([{ op: "incr", path: "/n", value: 1 }], { accessCondition: { type: "IfMatch", condition: etag } });
  await once();
  assert.equal(await refused(once()), 412);
  assert.equal((await item.read()).resource.n, 2);
});

fact("items.patch_refused", "a patch that cannot be done changes nothing", async (cosmos) => {
  const item = await made(cosmos);
  const first = { op: "set", path: "/n", value: 7 };
  const wrong = [
    { op: "replace", path: "/missing", value: 1 },
    { op: "remove", path: "/missing" },
    { op: "add", path: "/tags/3", value: 1 },
    { op: "incr", path: "/tags", value: 1 },
    { op: "set", path: "/id", value: "b" },
    { op: "set", path: "/pk", value: "q" },
    { op: "set", path: "/_ts", value: 1 },
    { op: "copy", from: "/n", path: "/m" },
  ];
  for (const operation of wrong) assert.equal(await refused(item.patch([first, operation])), 400, JSON.stringify(operation));
  assert.equal(await refused(item.patch(Array(11).fill(first))), 400);
  assert.deepEqual(userMembers((await item.read()).resource), ITEM);
});
