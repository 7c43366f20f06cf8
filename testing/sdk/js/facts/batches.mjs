// Transactional batches, bulk, and deleting a partition.

import assert from "node:assert/strict";
import { PartitionKeyKind } from "@azure/cosmos";
import { fact, refused, userMembers } from "../harness.mjs";

const item = (id, more = {}) => ({ id, pk: "p", ...more });
const create = (resourceBody) => ({ operationType: "Create", resourceBody });

async function ids(container) {
  const { resources } = await container.items.query("SELECT VALUE c.id FROM c").fetchAll();
  return resources.sort();
}

fact("items.batch", "a batch does every kind of operation", async (cosmos) => {
  const container = await cosmos.container();
  await container.items.create(item("old"));
  const { result, code } = await container.items.batch(
    [
      create(item("a", { n: 1 })),
      { operationType: "Upsert", resourceBody: item("b") },
      { operationType: "Replace", id: "a", resourceBody: item("a", { n: 2 }) },
      { operationType: "Patch", id: "a", resourceBody: { condition: "from c where c.n = 2", operations: [{ op: "incr", path: "/n", value: 1 }] } },
      { operationType: "Patch", id: "a", resourceBody: [{ op: "incr", path: "/n", value: 1 }] },
      { operationType: "Read", id: "a" },
      { operationType: "Delete", id: "old" },
    ],
    "p",
  );
  assert.equal(code, 200);
  assert.deepEqual(result.map((answer) => answer.statusCode), [201, 201, 200, 200, 200, 200, 204]);
  assert.deepEqual(userMembers(result[5].resourceBody), item("a", { n: 4 }));
  assert.equal((await container.item("a", "p").read()).etag, result[4].eTag);
  assert(result.every((answer) => answer.requestCharge > 0));
  assert.deepEqual(await ids(container), ["a", "b"]);
});

fact("items.batch", "a batch may have a hundred operations", async (cosmos) => {
  const container = await cosmos.container();
  const many = Array.from({ length: 100 }, (_, n) => create(item(`${n}`)));
  assert.equal((await container.items.batch(many, "p")).result.length, 100);
  assert.equal((await ids(container)).length, 100);
});

fact("items.batch_rollback", "one operation that fails undoes the others", async (cosmos) => {
  const container = await cosmos.container();
  await container.items.create(item("there"));
  const wrong = [
    [create(item("there")), 409],
    [{ operationType: "Read", id: "missing" }, 404],
    [{ operationType: "Replace", id: "there", ifMatch: '"stale"', resourceBody: item("there") }, 412],
    [create({ id: "x", pk: "another" }), 400],
    [{ operationType: "Patch", id: "there", resourceBody: [{ op: "remove", path: "/missing" }] }, 400],
  ];
  for (const [operation, status] of wrong) {
    const { result, code } = await container.items.batch([create(item("new")), operation, create(item("newer"))], "p");
    assert.equal(code, 207);
    assert.deepEqual(result.map((answer) => answer.statusCode), [424, status, 424], JSON.stringify(operation));
  }
  assert.deepEqual(await ids(container), ["there"]);
});

fact("items.bulk", "a thousand operations over many partitions", async (cosmos) => {
  const container = await cosmos.container();
  const pk = (n) => `p${n % 37}`;
  const operations = Array.from({ length: 1000 }, (_, n) => ({
    operationType: "Create",
    partitionKey: pk(n),
    resourceBody: { id: `${n}`, pk: pk(n), n },
  }));
  const made = await container.items.executeBulkOperations(operations);
  assert.deepEqual(new Set(made.map((answer) => answer.response?.statusCode)), new Set([201]));
  made.forEach((answer, n) => assert.equal(answer.response.resourceBody.n, n));
  const mixed = await container.items.executeBulkOperations([
    { operationType: "Read", id: "1", partitionKey: pk(1) },
    { operationType: "Upsert", partitionKey: pk(2), resourceBody: { id: "2", pk: pk(2), n: "two" } },
    { operationType: "Replace", id: "3", partitionKey: pk(3), resourceBody: { id: "3", pk: pk(3), n: "three" } },
    { operationType: "Patch", id: "4", partitionKey: pk(4), resourceBody: [{ op: "incr", path: "/n", value: 1 }] },
    { operationType: "Delete", id: "5", partitionKey: pk(5) },
    { operationType: "Create", partitionKey: pk(6), resourceBody: { id: "6", pk: pk(6) } },
    { operationType: "Delete", id: "nobody", partitionKey: pk(7) },
  ]);
  assert.deepEqual(mixed.map((answer) => answer.response?.statusCode ?? answer.error.code), [200, 200, 200, 200, 204, 409, 404]);
  assert.equal(mixed[3].response.resourceBody.n, 5);
  assert.equal((await ids(container)).length, 999);
});

fact("items.bulk", "the older call for bulk", async (cosmos) => {
  const container = await cosmos.container();
  const answers = await container.items.bulk([
    { operationType: "Create", partitionKey: "p", resourceBody: item("a") },
    { operationType: "Create", partitionKey: "q", resourceBody: { id: "b", pk: "q" } },
    { operationType: "Read", id: "a", partitionKey: "p" },
  ]);
  assert.deepEqual(answers.map((answer) => answer.statusCode), [201, 201, 200]);
});

fact("items.delete_by_key", "all items of a partition are deleted", async (cosmos) => {
  const container = await cosmos.container();
  for (let start = 0; start < 300; start += 100) {
    await container.items.batch(Array.from({ length: 100 }, (_, n) => create(item(`${start + n}`))), "p");
  }
  await container.items.create({ id: "other", pk: "q" });
  await container.deleteAllItemsForPartitionKey("p");
  assert.deepEqual(await ids(container), ["other"]);
});

fact("items.delete_by_key", "a hierarchical key is deleted as a whole", async (cosmos) => {
  const container = await cosmos.container({ partitionKey: { paths: ["/a", "/b"], kind: PartitionKeyKind.MultiHash, version: 2 } });
  for (const [id, a, b] of [["0", "t", "x"], ["1", "t", "y"], ["2", "u", "x"]]) await container.items.create({ id, a, b });
  await container.deleteAllItemsForPartitionKey(["t", "x"]);
  assert.deepEqual(await ids(container), ["1", "2"]);
  assert.equal(await refused(container.deleteAllItemsForPartitionKey(["t"])), 400);
});
