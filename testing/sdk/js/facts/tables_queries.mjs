// Queries of entities: every filter of `tables/filters.json`, parameters, selection, pages and their tokens.

import { odata } from "@azure/data-tables";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { all, refused, storageFact } from "../storage.mjs";

const FILTERS = read("filters.json");
const filling = new Map();

function read(file) {
  return JSON.parse(readFileSync(new URL(`../../tables/${file}`, import.meta.url), "utf8"));
}

/** The table with all entities of `entities.json`, filled once on each server. */
async function filled(storage) {
  const server = new URL(storage.endpoint("table")).port;
  if (!filling.has(server)) filling.set(server, fill(storage));
  return storage.tableAs(await filling.get(server));
}

async function fill(storage) {
  const table = await storage.table();
  for (const entity of read("entities.json")) await table.createEntity(typed(entity));
  return table.tableName;
}

/** The entity as the SDK takes it: annotations of the wire become values with a type. */
function typed({ PartitionKey: partitionKey, RowKey: rowKey, ...rest }) {
  const values = Object.entries(rest).filter(([name]) => !name.includes("@"));
  const withType = ([name, value]) => {
    const type = rest[`${name}@odata.type`]?.replace("Edm.", "");
    return [name, type ? { value, type } : value];
  };
  return { partitionKey, rowKey, ...Object.fromEntries(values.map(withType)) };
}

function query(table, filter, select) {
  return table.listEntities({ queryOptions: { filter, select } });
}

for (const { name, filter, expect, refused: refusal } of FILTERS) {
  const feature = expect ? "tables.queries.filters" : "tables.queries.refused";
  storageFact(feature, `filter: ${name}`, async (storage) => {
    const rows = all(query(await filled(storage), filter));
    if (refusal) return assert.deepEqual(await refused(rows), refusal);
    assert.deepEqual((await rows).map(({ partitionKey, rowKey }) => `${partitionKey}/${rowKey}`), expect);
  });
}

storageFact("tables.queries.refused", "a page has at most a thousand entities", async (storage) => {
  const table = await filled(storage);
  assert.equal((await refused(all(table.listEntities().byPage({ maxPageSize: 1001 }))))[0], 400);
});

storageFact("tables.queries.parameters", "values are written into filters", async (storage) => {
  const table = await storage.table();
  const [text, n, long, on, at] = ["it's", -5, 2n ** 40n, true, new Date("2024-01-01T12:30:00.250Z")];
  await table.createEntity({ partitionKey: "p", rowKey: "r", text, n, long, on, at });
  await table.createEntity({ partitionKey: "p", rowKey: "other" });
  const filters = [odata`text eq ${text}`, odata`n eq ${n}`, odata`long eq ${long}`, odata`on eq ${on}`, odata`at eq ${at}`];
  for (const filter of filters) {
    assert.deepEqual((await all(query(table, filter))).map(({ rowKey }) => rowKey), ["r"], filter);
  }
});

storageFact("tables.queries.select", "only selected properties are queried", async (storage) => {
  const table = await filled(storage);
  const rows = await all(query(table, "PartitionKey eq 'p' and RowKey le 'b'", ["rowKey", "n", "text"]));
  assert.deepEqual(rows.map(({ etag, ...row }) => row), [
    { rowKey: "a", n: 1, text: "apple" },
    { rowKey: "b", n: 2, text: "banana" },
  ]);
});

function numbered(n) {
  return String(n).padStart(5, "0");
}

function keys(pages) {
  return pages.flat().map(({ rowKey }) => rowKey);
}

async function withRows(storage, count) {
  const table = await storage.table();
  const rows = Array.from({ length: count }, (_, n) => ["create", { partitionKey: "p", rowKey: numbered(n) }]);
  for (let start = 0; start < count; start += 100) await table.submitTransaction(rows.slice(start, start + 100));
  return table;
}

storageFact("tables.queries.pages", "pages have a thousand entities or as many as asked", async (storage) => {
  const table = await withRows(storage, 1100);
  const every = Array.from({ length: 1100 }, (_, n) => numbered(n));
  const pages = await all(table.listEntities().byPage());
  assert.deepEqual([pages.map(({ length }) => length), keys(pages)], [[1000, 100], every]);
  const smaller = await all(query(table, "PartitionKey eq 'p'").byPage({ maxPageSize: 300 }));
  assert.deepEqual([smaller.map(({ length }) => length), keys(smaller)], [[300, 300, 300, 200], every]);
  assert.equal((await all(table.listEntities())).length, 1100);
});

storageFact("tables.queries.pages", "another table client goes on from a token under writes", async (storage) => {
  const table = await withRows(storage, 20);
  const { value: first } = await table.listEntities().byPage({ maxPageSize: 10 }).next();
  for (const gone of [3, 9, 10, 11]) await table.deleteEntity("p", numbered(gone));
  await table.createEntity({ partitionKey: "p", rowKey: "00015a" });
  const { continuationToken } = first;
  const rest = await all(storage.tableAs(table.tableName).listEntities().byPage({ maxPageSize: 3, continuationToken }));
  assert.deepEqual(keys([first]), Array.from({ length: 10 }, (_, n) => numbered(n)));
  assert.deepEqual(keys(rest), ["00012", "00013", "00014", "00015", "00015a", "00016", "00017", "00018", "00019"]);
});

storageFact("tables.queries.pages", "pages of keys beyond ASCII", async (storage) => {
  const table = await storage.table();
  // By code units of UTF-16, in which the moon begins with D83C.
  const names = ["a", "ß", "ä", "日本", "🌙", "Ａ"];
  for (const name of names) await table.createEntity({ partitionKey: name, rowKey: name });
  assert.deepEqual(keys(await all(table.listEntities().byPage({ maxPageSize: 1 }))), names);
});
