// The table service and its tables: who connects, properties of the service, create, list, delete.

import { AzureNamedKeyCredential, TableServiceClient, odata } from "@azure/data-tables";
import assert from "node:assert/strict";
import { ACCOUNT, FAILED, WRONG_KEY, all, preflight, refused, storageFact, tableName } from "../storage.mjs";

async function names(feed) {
  return (await all(feed)).map(({ name }) => name);
}

function named(filter) {
  return { queryOptions: { filter } };
}

storageFact("tables.connect", "a table client of the connection string works", async (storage) => {
  const client = TableServiceClient.fromConnectionString(storage.connectionString("table"), storage.options());
  const name = tableName();
  await client.createTable(name);
  assert((await names(client.listTables())).includes(name));
});

storageFact("tables.bad_key", "a wrong key opens no tables", async (storage) => {
  const client = storage.tableService(new AzureNamedKeyCredential(ACCOUNT, WRONG_KEY));
  assert.deepEqual(await refused(client.createTable(tableName())), FAILED);
  assert.deepEqual(await refused(all(client.listTables())), FAILED);
});

storageFact("tables.stats", "the replica of tables tells that it lives", async (storage) => {
  const replica = storage.tableService(undefined, storage.endpoint("table", storage.transport, `${ACCOUNT}-secondary`));
  const { geoReplication } = await replica.getStatistics();
  assert.equal(geoReplication.status, "live");
  assert(geoReplication.lastSyncTime instanceof Date);
});

storageFact("tables.properties", "what is not set of the table service stays as it was", async (storage) => {
  const days = (days) => ({ enabled: true, days });
  const never = { enabled: false };
  await storage.tables.setProperties({
    logging: { version: "1.0", read: true, write: false, delete: true, retentionPolicy: days(5) },
    hourMetrics: { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy: days(7) },
    minuteMetrics: { version: "1.0", enabled: false, retentionPolicy: never },
  });
  const minute = { version: "1.0", enabled: true, includeAPIs: false, retentionPolicy: never };
  await storage.tables.setProperties({ minuteMetrics: minute });
  const { logging, hourMetrics, minuteMetrics } = await storage.tables.getProperties();
  assert.deepEqual([logging.read, logging.write, logging.delete], [true, false, true]);
  assert.deepEqual(logging.retentionPolicy, days(5));
  assert.deepEqual([hourMetrics.enabled, hourMetrics.retentionPolicy], [true, days(7)]);
  assert.deepEqual([minuteMetrics.enabled, minuteMetrics.retentionPolicy.enabled], [true, false]);
});

storageFact("tables.cors", "rules of tables are kept and answer preflights", async (storage) => {
  const url = `${storage.endpoint("table", "http")}/Tables`;
  const rule = {
    allowedOrigins: "http://one.example,http://two.example",
    allowedMethods: "GET,PUT",
    allowedHeaders: "x-ms-meta-*,accept",
    exposedHeaders: "x-ms-*",
    maxAgeInSeconds: 200,
  };
  await storage.tables.setProperties({ cors: [rule] });
  assert.deepEqual((await storage.tables.getProperties()).cors, [rule]);
  const answer = await preflight(url, "http://two.example", "PUT", "x-ms-meta-name");
  assert.deepEqual([answer.status, answer.headers.get("access-control-allow-origin")], [200, "http://two.example"]);
  assert.equal((await preflight(url, "http://three.example", "PUT")).status, 403);
  await storage.tables.setProperties({ cors: [] });
  assert.equal((await preflight(url, "http://one.example", "GET")).status, 403);
  assert.equal((await refused(storage.tables.setProperties({ cors: Array(6).fill(rule) })))[0], 400);
});

storageFact("tables.create", "a table is created", async (storage) => {
  const table = await storage.table();
  await table.createEntity({ partitionKey: "p", rowKey: "r" });
  assert((await names(storage.tables.listTables())).includes(table.tableName));
});

storageFact("tables.create_if_not_exists", "a table is created if it is not there", async (storage) => {
  const table = await storage.table();
  await table.createEntity({ partitionKey: "p", rowKey: "r" });
  await table.createTable();
  await storage.tables.createTable(table.tableName);
  assert.equal((await all(table.listEntities())).length, 1);
});

storageFact("tables.names", "names of tables are letters and digits", async (storage) => {
  for (const wrong of ["my-table", "1table", "my_table"]) {
    assert.deepEqual(await refused(storage.tables.createTable(wrong)), [400, "InvalidResourceName"], wrong);
  }
  for (const wrong of ["ab", "a".repeat(64)]) {
    assert.deepEqual(await refused(storage.tables.createTable(wrong)), [400, "OutOfRangeInput"], wrong);
  }
});

storageFact("tables.names", "names of tables keep their case and are found in any", async (storage) => {
  const table = await storage.table(tableName("MixedCase"));
  await table.createEntity({ partitionKey: "p", rowKey: "r", n: 1 });
  assert.equal((await storage.tableAs(table.tableName.toLowerCase()).getEntity("p", "r")).n, 1);
  assert((await names(storage.tables.listTables())).includes(table.tableName));
});

storageFact("tables.list", "tables are listed by pages", async (storage) => {
  const prefix = tableName("listed") + "x";
  const made = [..."abcde"].map((letter) => prefix + letter);
  for (const name of made) await storage.table(name);
  const pages = await all(storage.tables.listTables().byPage({ maxPageSize: 2 }));
  assert(pages.every((page) => page.length <= 2));
  const listed = pages.flat().map(({ name }) => name);
  assert.deepEqual(listed.filter((name) => name.startsWith(prefix)), made);
});

storageFact("tables.list", "a list of tables goes on from its token", async (storage) => {
  for (let n = 0; n < 3; n++) await storage.table();
  const { value: first } = await storage.tables.listTables().byPage({ maxPageSize: 2 }).next();
  const { continuationToken } = first;
  const rest = await all(storage.tables.listTables().byPage({ maxPageSize: 1000, continuationToken }));
  const found = [first, ...rest].flat().map(({ name }) => name);
  assert.deepEqual(found, await names(storage.tables.listTables()));
});

storageFact("tables.filter", "tables are filtered by name", async (storage) => {
  const prefix = tableName("filtered") + "x";
  for (const letter of "abc") await storage.table(prefix + letter);
  const list = (filter) => names(storage.tables.listTables(named(filter)));
  assert.deepEqual(await list(odata`TableName eq ${prefix + "b"}`), [prefix + "b"]);
  const within = odata`TableName ge ${prefix + "a"} and TableName lt ${prefix + "c"}`;
  assert.deepEqual(await list(within), [prefix + "a", prefix + "b"]);
  assert.deepEqual(await list("TableName eq 'nothing'"), []);
});

storageFact("tables.delete", "a table is deleted with its entities and made again", async (storage) => {
  const table = await storage.table();
  await table.createEntity({ partitionKey: "p", rowKey: "r" });
  await storage.tables.deleteTable(table.tableName);
  assert.deepEqual(await refused(all(table.listEntities())), [404, "TableNotFound"]);
  assert.deepEqual(await refused(table.createEntity({ partitionKey: "p", rowKey: "r" })), [404, "TableNotFound"]);
  // What is not there is deleted already, says the SDK.
  await table.deleteTable();
  await table.createTable();
  assert.deepEqual(await all(table.listEntities()), []);
});
