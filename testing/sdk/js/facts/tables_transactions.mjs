// Entity group transactions: every kind of operation, all of them or none.

import { TableTransaction } from "@azure/data-tables";
import assert from "node:assert/strict";
import { all, refused, storageFact } from "../storage.mjs";

function entity(rowKey, more = {}) {
  return { partitionKey: "p", rowKey, ...more };
}

async function found(table) {
  return Object.fromEntries((await all(table.listEntities())).map(({ rowKey, n }) => [rowKey, n]));
}

/** Which operation a transaction failed for, with which status and code. */
async function culprit(table, actions) {
  const error = await table.submitTransaction(actions).then(
    () => assert.fail("the transaction was accepted"),
    (error) => error,
  );
  return [Number(error.message.split(":")[0]), error.statusCode, error.code];
}

storageFact("tables.transactions.commit", "a transaction does every kind of operation", async (storage) => {
  const table = await storage.table();
  for (const row of ["merged", "replaced", "upmerged", "upreplaced", "gone", "tagged"]) {
    await table.createEntity(entity(row, { n: 1, m: 1 }));
  }
  const { etag } = await table.getEntity("p", "tagged");
  const transaction = new TableTransaction();
  transaction.createEntity(entity("new", { n: 2 }));
  transaction.updateEntity(entity("merged", { n: 2 }));
  transaction.updateEntity(entity("replaced", { n: 2 }), "Replace");
  transaction.upsertEntity(entity("upmerged", { n: 2 }));
  transaction.upsertEntity(entity("upreplaced", { n: 2 }), "Replace");
  transaction.upsertEntity(entity("upnew", { n: 2 }));
  transaction.deleteEntity("p", "gone");
  transaction.updateEntity(entity("tagged", { n: 2 }), "Merge", { etag });
  const answer = await table.submitTransaction(transaction.actions);
  assert.equal(answer.status, 202);
  assert.deepEqual(answer.subResponses.map(({ status }) => status), Array(8).fill(204));
  assert.equal(answer.getResponseForEntity("new").etag, (await table.getEntity("p", "new")).etag);
  assert.equal(answer.subResponses[2].etag, (await table.getEntity("p", "replaced")).etag);
  const rows = (await all(table.listEntities())).map(({ rowKey, n, m }) => [rowKey, n, m]);
  assert.deepEqual(rows, [
    ["merged", 2, 1],
    ["new", 2, undefined],
    ["replaced", 2, undefined],
    ["tagged", 2, 1],
    ["upmerged", 2, 1],
    ["upnew", 2, undefined],
    ["upreplaced", 2, undefined],
  ]);
});

storageFact("tables.transactions.commit", "keys and values of every character in a transaction", async (storage) => {
  const table = await storage.table();
  const given = { partitionKey: "it's ü", rowKey: "a (b), 'c' 100%", text: "--changeset \r\n\r\n 'ü 🌙' {} --batch" };
  await table.submitTransaction([["create", given]]);
  await table.submitTransaction([["update", { ...given, n: 1 }]]);
  const { text, n } = await table.getEntity(given.partitionKey, given.rowKey);
  assert.deepEqual([text, n], [given.text, 1]);
  await table.submitTransaction([["delete", given]]);
  assert.deepEqual(await all(table.listEntities()), []);
});

storageFact("tables.transactions.rollback", "one action that fails undoes the others", async (storage) => {
  const table = await storage.table();
  await table.createEntity(entity("there", { n: 1 }));
  const etag = `W/"datetime'2001-01-01T00%3A00%3A00.0000000Z'"`;
  const cases = [
    [["create", entity("there", { n: 2 })], 409, "EntityAlreadyExists"],
    [["update", entity("missing")], 404, "ResourceNotFound"],
    [["update", entity("missing"), "Replace"], 404, "ResourceNotFound"],
    [["delete", entity("missing")], 404, "ResourceNotFound"],
    [["update", entity("there", { n: 2 }), "Merge", { etag }], 412, "UpdateConditionNotSatisfied"],
  ];
  for (const [wrong, status, code] of cases) {
    const actions = [["create", entity("a")], ["upsert", entity("b")], wrong, ["create", entity("c")]];
    assert.deepEqual(await culprit(table, actions), [2, status, code]);
  }
  assert.deepEqual(await found(table), { there: 1 });
});

storageFact("tables.transactions.refused", "a row may be in a transaction once", async (storage) => {
  const table = await storage.table();
  const actions = [["create", entity("a")], ["create", entity("b")], ["upsert", entity("a")]];
  assert.deepEqual(await culprit(table, actions), [2, 400, "InvalidDuplicateRow"]);
  assert.deepEqual(await found(table), {});
});

storageFact("tables.transactions.refused", "a transaction has at most a hundred operations and four mebibytes", async (storage) => {
  const table = await storage.table();
  const many = Array.from({ length: 101 }, (_, n) => ["create", entity(String(n))]);
  assert.equal((await refused(table.submitTransaction(many)))[0], 400);
  const texts = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`t${n}`, "x".repeat(30_000)]));
  const large = Array.from({ length: 9 }, (_, n) => ["create", entity(String(n), texts)]);
  assert.equal((await refused(table.submitTransaction(large)))[0], 413);
  assert.deepEqual(await found(table), {});
  assert.equal((await table.submitTransaction(many.slice(0, 100))).subResponses.length, 100);
});

storageFact("tables.transactions.refused", "a transaction on no table is refused", async (storage) => {
  const nowhere = storage.tableAs("nowhere");
  assert.deepEqual(await refused(nowhere.submitTransaction([["create", entity("a")]])), [404, "TableNotFound"]);
});
