// Partition key values: every kind there is, and hierarchies of them.

import assert from "node:assert/strict";
import { fact, refused } from "../harness.mjs";

const VALUES = ["", "text", "東京 🚀", 0, 1, -1, 1.5, Number.MAX_SAFE_INTEGER, true, false];

fact("items.key_values", "text, numbers and booleans are partition keys of their own", async (cosmos) => {
  const container = await cosmos.container();
  for (const pk of VALUES) await container.items.create({ id: "a", pk, kind: JSON.stringify(pk) });
  for (const pk of VALUES) assert.equal((await container.item("a", pk).read()).resource.kind, JSON.stringify(pk));
  assert.equal((await container.items.readAll().fetchAll()).resources.length, VALUES.length);
});

fact("items.key_values", "null and missing are two partitions", async (cosmos) => {
  const container = await cosmos.container();
  await container.items.create({ id: "a", pk: null, kind: "null" });
  await container.items.create({ id: "a", kind: "missing" });
  assert.equal((await container.item("a", null).read()).resource.kind, "null");
  assert.equal((await container.item("a", undefined).read()).resource.kind, "missing");
  await container.item("a", undefined).delete();
  assert.equal(await refused(container.item("a", undefined).read()), 404);
  assert.equal((await container.item("a", null).read()).resource.kind, "null");
});

fact("items.key_values", "a partition key may lie deep in the item", async (cosmos) => {
  const container = await cosmos.container({ partitionKey: "/owner/name" });
  await container.items.create({ id: "a", owner: { name: "ada" } });
  assert.deepEqual((await container.item("a", "ada").read()).resource.owner, { name: "ada" });
  assert.equal(await refused(container.item("a", "bob").read()), 404);
});

fact("items.key_values", "the id may be the partition key", async (cosmos) => {
  const container = await cosmos.container({ partitionKey: "/id" });
  await container.items.upsert({ id: "a", n: 1 });
  await container.items.upsert({ id: "a", n: 2 });
  assert.equal((await container.item("a", "a").read()).resource.n, 2);
});

fact("items.key_hierarchical", "items of a hierarchy are told apart at every level", async (cosmos) => {
  const paths = ["/tenant", "/user", "/session"];
  const container = await cosmos.container({ partitionKey: { paths, kind: "MultiHash", version: 2 } });
  const keys = ["t1", "t2"].flatMap((t) => [1, "1"].flatMap((u) => [true, null].map((s) => [t, u, s])));
  for (const [tenant, user, session] of keys) {
    await container.items.create({ id: "a", tenant, user, session, key: JSON.stringify([tenant, user, session]) });
  }
  for (const key of keys) assert.equal((await container.item("a", key).read()).resource.key, JSON.stringify(key));
  await container.item("a", keys[0]).delete();
  assert.equal(await refused(container.item("a", keys[0]).read()), 404);
  assert.equal((await container.items.readAll().fetchAll()).resources.length, keys.length - 1);
});

fact("items.key_hierarchical", "a level may be missing", async (cosmos) => {
  const partitionKey = { paths: ["/tenant", "/user"], kind: "MultiHash", version: 2 };
  const container = await cosmos.container({ partitionKey });
  await container.items.create({ id: "a", tenant: "t", kind: "missing" });
  await container.items.create({ id: "a", tenant: "t", user: null, kind: "null" });
  assert.equal((await container.item("a", ["t", undefined]).read()).resource.kind, "missing");
  assert.equal((await container.item("a", ["t", null]).read()).resource.kind, "null");
});
