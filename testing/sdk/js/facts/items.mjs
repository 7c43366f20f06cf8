// Items: written, read, replaced, removed, and kept exactly as they were given.

import assert from "node:assert/strict";
import { fact, fresh, refused, userMembers } from "../harness.mjs";

const ODD_IDS = [
  ...["a b", "a+b", "100%", "a%20b", "a&b=c", "it's", "(a);b,c", "a:b@c", '"quoted"', "{a}[b]", "~!$*", "q?x=1"],
  ...["ümläut", "東京", "🚀 to the moon", "ﷺ", "a.b.c", "-", "ends with a space ", "x".repeat(255)],
];
const ITEM_BYTES_MAX = 2 * 1024 * 1024;

fact("items.create", "a created item comes back with its system properties", async (cosmos) => {
  const container = await cosmos.container();
  const given = { id: "a", pk: "p", nested: { list: [1, "two", null, true] } };
  const { resource, statusCode, etag, requestCharge } = await container.items.create(given);
  const { resource: parent } = await container.read();
  assert.equal(statusCode, 201);
  assert.deepEqual(userMembers(resource), given);
  assert.equal(resource._self, `${parent._self}docs/${resource._rid}/`);
  assert.equal(resource._etag, etag);
  assert.equal(resource._attachments, "attachments/");
  assert(resource._ts > 0 && requestCharge > 0);
});

fact("items.create", "an item without an id is given one, or refused", async (cosmos) => {
  const { items } = await cosmos.container();
  const { resource, item } = await items.create({ pk: "p" });
  assert.equal((await item.read()).resource._rid, resource._rid);
  assert.equal(await refused(items.create({ pk: "p" }, { disableAutomaticIdGeneration: true })), 400);
});

fact("items.conflict", "a second item of that id is a conflict in its partition alone", async (cosmos) => {
  const container = await cosmos.container();
  await container.items.create({ id: "a", pk: "p", n: 1 });
  assert.equal(await refused(container.items.create({ id: "a", pk: "p", n: 2 })), 409);
  assert.equal((await container.item("a", "p").read()).resource.n, 1);
  await container.items.create({ id: "a", pk: "q", n: 3 });
  assert.equal((await container.item("a", "q").read()).resource.n, 3);
});

fact("items.read", "a read answers what the write answered", async (cosmos) => {
  const container = await cosmos.container();
  const { resource: made } = await container.items.create({ id: "a", pk: "p", zeta: 1, alpha: { b: 2, a: 1.5 } });
  const { resource: read } = await container.item("a", "p").read();
  assert.deepEqual(read, made);
  assert.equal(JSON.stringify(userMembers(read)), '{"id":"a","pk":"p","zeta":1,"alpha":{"b":2,"a":1.5}}');
});

fact("items.not_found", "an item nobody made is not found", async (cosmos) => {
  const container = await cosmos.container();
  await container.items.create({ id: "a", pk: "p" });
  assert.equal(await refused(container.item("b", "p").read()), 404);
  assert.equal(await refused(container.item("a", "q").read()), 404);
  assert.equal(await refused(container.item("b", "p").replace({ id: "b", pk: "p" })), 404);
  assert.equal(await refused(container.item("b", "p").delete()), 404);
});

fact("items.upsert", "an upsert makes and then replaces", async (cosmos) => {
  const container = await cosmos.container();
  const made = await container.items.upsert({ id: "a", pk: "p", n: 1, old: true });
  const replaced = await container.items.upsert({ id: "a", pk: "p", n: 2 });
  assert.deepEqual([made.statusCode, replaced.statusCode], [201, 200]);
  assert.equal(made.resource._rid, replaced.resource._rid);
  assert.notEqual(made.etag, replaced.etag);
  assert.deepEqual(userMembers((await container.item("a", "p").read()).resource), { id: "a", pk: "p", n: 2 });
});

fact("items.replace", "a replace leaves nothing of the item before", async (cosmos) => {
  const container = await cosmos.container();
  const { item, resource: made } = await container.items.create({ id: "a", pk: "p", old: true });
  const replaced = await item.replace({ id: "a", pk: "p", new: true });
  assert.equal(replaced.statusCode, 200);
  assert.equal(replaced.resource._rid, made._rid);
  assert.notEqual(replaced.resource._etag, made._etag);
  assert.deepEqual(userMembers((await item.read()).resource), { id: "a", pk: "p", new: true });
});

fact("items.delete", "a deleted item is gone and its id free", async (cosmos) => {
  const container = await cosmos.container();
  const { resource: made, item } = await container.items.create({ id: "a", pk: "p" });
  assert.equal((await item.delete()).statusCode, 204);
  assert.equal(await refused(item.read()), 404);
  const { resource: again } = await container.items.create({ id: "a", pk: "p" });
  assert.notEqual(again._rid, made._rid);
});

for (const id of ODD_IDS) {
  fact("items.ids", `the id ${id.slice(0, 20)} works in every operation`, async (cosmos) => {
    const container = await cosmos.container();
    const item = container.item(id, id);
    await container.items.create({ id, pk: id });
    assert.equal((await item.read()).resource.id, id);
    await item.replace({ id, pk: id, n: 1 });
    await container.items.upsert({ id, pk: id, n: 2 });
    assert.equal((await item.read()).resource.n, 2);
    await item.delete();
    assert.equal(await refused(item.read()), 404);
  });
}

fact("items.ids", "odd names work for databases and containers", async (cosmos) => {
  const id = fresh("a b+c%20ü東");
  const { database } = await cosmos.client.databases.create({ id });
  const { container } = await database.containers.create({ id, partitionKey: "/pk" });
  await container.items.create({ id: "a", pk: "p" });
  assert.equal((await container.item("a", "p").read()).resource.id, "a");
  assert.equal((await container.read()).resource.id, id);
});

fact("items.unknown_members", "members a program does not know survive its write", async (cosmos) => {
  const container = await cosmos.container();
  const given = { id: "a", pk: "p", n: 1, "": "empty", "$weird name/~": { deep: [[], {}, null] }, "n ": "space" };
  const { item } = await container.items.create(given);
  const { resource } = await item.read();
  await item.replace({ ...resource, n: 2 });
  assert.deepEqual(userMembers((await item.read()).resource), { ...given, n: 2 });
});

fact("items.integers", "integers and doubles come back exactly", async (cosmos) => {
  const container = await cosmos.container();
  const numbers = [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0.1, 1.5e300, -2.5e-10, 1e21, 5e-324];
  const { item } = await container.items.create({ id: "a", pk: "p", numbers });
  assert.deepEqual((await item.read()).resource.numbers, numbers);
});

fact("items.size", "two megabytes are stored and more is refused", async (cosmos) => {
  const container = await cosmos.container();
  const { item } = await container.items.create(sized("fits", ITEM_BYTES_MAX - 1024));
  assert((await item.read()).resource.text.length > ITEM_BYTES_MAX - 2048);
  assert.equal(await refused(container.items.create(sized("over", ITEM_BYTES_MAX + 1024))), 413);
  assert.equal(await refused(container.items.create(sized("way over", 2 * ITEM_BYTES_MAX))), 413);
  assert.equal(await refused(container.item("over", "p").read()), 404);
});

fact("items.unique_keys", "a unique key holds within its partition", async (cosmos) => {
  const container = await cosmos.container({ uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }] } });
  const email = "x@example.org";
  await container.items.create({ id: "a", pk: "p", email });
  assert.equal(await refused(container.items.create({ id: "b", pk: "p", email })), 409);
  assert.equal(await refused(container.items.upsert({ id: "b", pk: "p", email })), 409);
  await container.items.create({ id: "b", pk: "q", email });
  const { item } = await container.items.create({ id: "c", pk: "p", email: "y@example.org" });
  assert.equal(await refused(item.replace({ id: "c", pk: "p", email })), 409);
});

/** An item whose JSON text has this many bytes. */
function sized(id, bytes) {
  const item = { id, pk: "p", text: "" };
  return { ...item, text: "x".repeat(bytes - JSON.stringify(item).length) };
}
