// Who may use tables: stored policies, shared access signatures, bearer tokens.

import { AzureNamedKeyCredential, generateAccountSas, generateTableSas } from "@azure/data-tables";
import assert from "node:assert/strict";
import { ACCOUNT, FAILED, MISMATCH, TABLE_KEY, WRONG_KEY, all, hence, refused, storageFact, tableName } from "../storage.mjs";

const [QUERY, ADD] = [{ query: true }, { add: true }];
const EVERYTHING = { query: true, add: true, update: true, delete: true };

function entity(rowKey = "r", partitionKey = "p", more = {}) {
  return { partitionKey, rowKey, ...more };
}

async function filled(storage) {
  const table = await storage.table();
  for (const [partition, row] of ["a1", "b1", "b2", "c1"]) await table.createEntity(entity(row, partition));
  return table;
}

/** The table with a signature of its own. */
function shared(storage, { tableName }, options, key = TABLE_KEY) {
  return storage.tableAs(tableName, generateTableSas(tableName, key, { expiresOn: hence(1), ...options }));
}

async function places(table, filter) {
  const rows = await all(table.listEntities({ queryOptions: { filter } }));
  return rows.map(({ partitionKey, rowKey }) => partitionKey + rowKey);
}

function policy(permission, hours) {
  return [{ id: "p", accessPolicy: { permission, expiry: hence(hours) } }];
}

storageFact("tables.access.policies", "policies of a table are kept, replaced and cleared", async (storage) => {
  const table = await storage.table();
  assert.equal((await table.getAccessPolicy()).length, 0);
  const [start, expiry] = [new Date("2024-01-01T00:00:00Z"), new Date("2099-01-01T00:00:00Z")];
  await table.setAccessPolicy([{ id: "all", accessPolicy: { start, expiry, permission: "raud" } }, { id: "empty" }]);
  const found = await table.getAccessPolicy();
  assert.deepEqual(found.map(({ id }) => id), ["all", "empty"]);
  assert.deepEqual(found[0].accessPolicy, { start, expiry, permission: "raud" });
  await table.setAccessPolicy([]);
  assert.equal((await table.getAccessPolicy()).length, 0);
});

storageFact("tables.access.policies", "a table has at most five policies", async (storage) => {
  const table = await storage.table();
  const policies = Array.from({ length: 6 }, (_, n) => ({ ...policy("r", 1)[0], id: String(n) }));
  assert.deepEqual(await refused(table.setAccessPolicy(policies)), [400, "InvalidXmlDocument"]);
  await table.setAccessPolicy(policies.slice(1));
});

storageFact("tables.access.table_sas", "a signature of a table allows what it names", async (storage) => {
  const table = await filled(storage);
  assert.deepEqual(await places(shared(storage, table, { permissions: QUERY })), ["a1", "b1", "b2", "c1"]);
  await shared(storage, table, { permissions: ADD }).createEntity(entity("new"));
  await shared(storage, table, { permissions: { update: true } }).updateEntity(entity("new", "p", { n: 1 }));
  const upserter = shared(storage, table, { permissions: { add: true, update: true } });
  await upserter.upsertEntity(entity("newer"));
  await upserter.submitTransaction([["create", entity("newest")], ["update", entity("newer")]]);
  await shared(storage, table, { permissions: { delete: true } }).deleteEntity("p", "new");
  assert.deepEqual(await places(table, "PartitionKey eq 'p'"), ["pnewer", "pnewest"]);
});

storageFact("tables.access.table_sas", "a signature of a table allows nothing else", async (storage) => {
  const [table, other] = [await filled(storage), await filled(storage)];
  const reader = shared(storage, table, { permissions: QUERY });
  assert.deepEqual(await refused(reader.createEntity(entity())), MISMATCH);
  assert.deepEqual(await refused(reader.upsertEntity(entity())), MISMATCH);
  assert.deepEqual(await refused(reader.updateEntity(entity("1", "a"))), MISMATCH);
  assert.deepEqual(await refused(reader.deleteEntity("a", "1")), MISMATCH);
  assert.equal((await refused(reader.submitTransaction([["create", entity()]])))[0], 403);
  assert.deepEqual(await refused(places(shared(storage, table, { permissions: ADD }))), MISMATCH);
  const token = generateTableSas(table.tableName, TABLE_KEY, { expiresOn: hence(1), permissions: EVERYTHING });
  assert.equal((await refused(places(storage.tableAs(other.tableName, token))))[0], 403);
  assert.equal((await places(table)).length, 4);
});

storageFact("tables.access.sas_range", "a signature of a range shows the range", async (storage) => {
  const table = await filled(storage);
  const range = { startPartitionKey: "b", startRowKey: "1", endPartitionKey: "b", endRowKey: "2" };
  const inner = shared(storage, table, { permissions: EVERYTHING, ...range });
  assert.deepEqual(await places(inner), ["b1", "b2"]);
  assert.deepEqual(await places(inner, "RowKey eq '1'"), ["b1"]);
  await inner.upsertEntity(entity("2", "b", { n: 1 }));
  for (const [partition, row] of ["a1", "b3", "c1"]) {
    assert.equal((await refused(inner.upsertEntity(entity(row, partition))))[0], 403);
  }
  const since = shared(storage, table, { permissions: QUERY, startPartitionKey: "b", startRowKey: "2" });
  assert.deepEqual(await places(since), ["b2", "c1"]);
});

storageFact("tables.access.sas_refused", "a signature of a table that is over, early, forged or changed is refused", async (storage) => {
  const table = await filled(storage);
  const reading = (options, key) => refused(places(shared(storage, table, { permissions: QUERY, ...options }, key)));
  assert.deepEqual(await reading({ expiresOn: hence(-1) }), FAILED);
  assert.deepEqual(await reading({ startsOn: hence(1), expiresOn: hence(2) }), FAILED);
  assert.deepEqual(await reading({}, new AzureNamedKeyCredential(ACCOUNT, WRONG_KEY)), FAILED);
  const token = generateTableSas(table.tableName, TABLE_KEY, { expiresOn: hence(1), permissions: QUERY });
  const changed = storage.tableAs(table.tableName, token.replace("sp=r", "sp=raud"));
  assert.deepEqual(await refused(places(changed)), FAILED);
});

storageFact("tables.access.sas_refused", "a signature of a table for another transport or address is refused", async (storage) => {
  const table = await filled(storage);
  const secure = places(shared(storage, table, { permissions: QUERY, protocol: "https" }));
  if (storage.transport === "http") assert.deepEqual(await refused(secure), [403, "AuthorizationProtocolMismatch"]);
  else assert.equal((await secure).length, 4);
  const from = (start, end) => places(shared(storage, table, { permissions: QUERY, ipRange: { start, end } }));
  assert.equal((await from("127.0.0.0", "127.0.0.255")).length, 4);
  assert.deepEqual(await refused(from("168.1.5.60", "168.1.5.70")), [403, "AuthorizationSourceIPMismatch"]);
});

storageFact("tables.access.sas_policy", "a signature goes with the policy of its table", async (storage) => {
  const table = await filled(storage);
  await table.setAccessPolicy(policy("r", 1));
  const mine = shared(storage, table, { identifier: "p", expiresOn: undefined });
  assert.equal((await places(mine)).length, 4);
  assert.deepEqual(await refused(mine.createEntity(entity())), MISMATCH);
  await table.setAccessPolicy(policy("ra", 1));
  await mine.createEntity(entity());
  await table.setAccessPolicy(policy("ra", -1));
  assert.equal((await refused(places(mine)))[0], 403);
  await table.setAccessPolicy([]);
  assert.equal((await refused(places(mine)))[0], 403);
});

storageFact("tables.access.account_sas", "a signature of the account makes tables and uses them", async (storage) => {
  const permissions = { ...EVERYTHING, write: true, list: true };
  const token = generateAccountSas(TABLE_KEY, { permissions, resourceTypes: "sco", expiresOn: hence(1) });
  const table = storage.tableAs(tableName(), token);
  await table.createTable();
  await table.upsertEntity(entity());
  await table.submitTransaction([["create", entity("new")], ["delete", entity()]]);
  assert.deepEqual(await places(table), ["pnew"]);
  await table.deleteTable();
});

storageFact("tables.access.account_sas", "a signature of the account allows nothing else on tables", async (storage) => {
  const table = await filled(storage);
  const signed = (permissions, resourceTypes, services) =>
    storage.tableAs(table.tableName, generateAccountSas(TABLE_KEY, { permissions, resourceTypes, services, expiresOn: hence(1) }));
  assert.equal((await places(signed(QUERY, "sco"))).length, 4);
  assert.deepEqual(await refused(signed(QUERY, "sco").createEntity(entity())), MISMATCH);
  assert.deepEqual(await refused(places(signed(QUERY, "s"))), [403, "AuthorizationResourceTypeMismatch"]);
  assert.deepEqual(await refused(places(signed(QUERY, "sco", { queue: true }))), [403, "AuthorizationServiceMismatch"]);
});

storageFact("tables.access.bearer", "a data role of tables allows what it is for", async (storage) => {
  const table = await filled(storage);
  const as = (name, ...flags) => storage.tableAs(name, storage.bearer(...flags), "https");
  const reader = as(table.tableName, "--role", "Storage Table Data Reader");
  assert.equal((await places(reader)).length, 4);
  assert.deepEqual(await refused(reader.createEntity(entity())), MISMATCH);
  const contributor = as(tableName(), "--role", "Storage Table Data Contributor");
  await contributor.createTable();
  await contributor.upsertEntity(entity());
  assert.deepEqual(await places(contributor), ["pr"]);
  await contributor.deleteTable();
  assert.equal((await refused(places(as(table.tableName))))[0], 403);
});

storageFact("tables.access.bearer", "a token for somebody else opens no tables", async (storage) => {
  const table = await filled(storage);
  const foreign = storage.bearer("--role", "Storage Table Data Reader", "--audience", "https://graph.microsoft.com");
  assert.equal((await refused(places(storage.tableAs(table.tableName, foreign, "https"))))[0], 401);
});
