// Entities: all types, inserts, upserts, updates, deletes, tags, keys, limits.

import assert from "node:assert/strict";
import { ACCOUNT, all, refused, storageFact } from "../storage.mjs";

const NOT_FOUND = [404, "ResourceNotFound"];
const STALE = [412, "UpdateConditionNotSatisfied"];
const MODES = ["Merge", "Replace"];

function entity(rowKey, more = {}) {
  return { partitionKey: "p", rowKey, ...more };
}

/** The properties without what the server added. */
function own({ "odata.metadata": _, partitionKey, rowKey, etag, timestamp, ...properties }) {
  return properties;
}

async function inserted(storage, properties) {
  const table = await storage.table();
  return { table, answer: await table.createEntity(entity("r", properties)) };
}

async function read(table, rowKey = "r") {
  return own(await table.getEntity("p", rowKey));
}

storageFact("tables.entities.types", "every type comes back as it was sent", async (storage) => {
  const values = {
    text: "O'Neil \n\t <&> ü 🌙",
    empty: "",
    yes: true,
    no: false,
    least: -(2 ** 31),
    most: 2 ** 31 - 1,
    half: 0.5,
    long: 2n ** 63n - 1n,
    smallLong: 5n,
    at: new Date("2024-02-29T23:59:59.123Z"),
    id: { value: "c9da6455-213d-42c9-9a79-3e9149a57833", type: "Guid" },
    bytes: new Uint8Array([0, 1, 127, 128, 255]),
  };
  const doubles = { whole: 3, huge: 1.7976931348623157e308, tiny: 5e-324, none: "NaN", infinite: "-Infinity" };
  const typed = Object.fromEntries(Object.entries(doubles).map(([name, value]) => [name, { value, type: "Double" }]));
  const { table } = await inserted(storage, { ...values, ...typed });
  const [listed] = await all(table.listEntities());
  for (const found of [await read(table), own(listed)]) {
    found.bytes = new Uint8Array(found.bytes);
    assert.deepEqual(found, { ...values, ...doubles });
  }
});

storageFact("tables.entities.types", "the text of a time keeps its seven digits", async (storage) => {
  const at = { value: "2024-02-29T23:59:59.1234567Z", type: "DateTime" };
  const { table } = await inserted(storage, { at });
  assert.deepEqual((await table.getEntity("p", "r", { disableTypeConversion: true })).at, at);
});

storageFact("tables.entities.metadata", "tag and timestamp of an entity tell one moment", async (storage) => {
  const { table, answer } = await inserted(storage, { n: 1 });
  const { etag, timestamp } = await table.getEntity("p", "r");
  assert.equal(etag, answer.etag);
  assert(etag.includes(timestamp.replaceAll(":", "%3A")));
  const second = await table.updateEntity(entity("r", { n: 2 }));
  const later = await table.getEntity("p", "r");
  assert.equal(later.etag, second.etag);
  assert(later.timestamp > timestamp);
});

storageFact("tables.entities.metadata", "full metadata has links", async (storage) => {
  const { table } = await inserted(storage, {});
  const requestOptions = { customHeaders: { accept: "application/json;odata=fullmetadata" } };
  const found = await table.getEntity("p", "r", { requestOptions });
  const link = `${table.tableName}(PartitionKey='p',RowKey='r')`;
  assert.equal(found["odata.editLink"], link);
  assert.equal(found["odata.id"], `${storage.endpoint("table")}/${link}`);
  assert.equal(found["odata.type"], `${ACCOUNT}.${table.tableName}`);
});

storageFact("tables.entities.insert", "an insert gives back the tag alone", async (storage) => {
  const { answer } = await inserted(storage, { n: 1 });
  assert.equal(answer.preferenceApplied, "return-no-content");
  assert.match(answer.etag, /^W\/"datetime'.*'"$/);
});

storageFact("tables.entities.conflict", "a second insert is refused and changes nothing", async (storage) => {
  const { table } = await inserted(storage, { n: 1 });
  assert.deepEqual(await refused(table.createEntity(entity("r", { n: 2 }))), [409, "EntityAlreadyExists"]);
  assert.deepEqual(await read(table), { n: 1 });
});

storageFact("tables.entities.read", "only selected properties are read", async (storage) => {
  const { table } = await inserted(storage, { a: 1, b: 2, c: 3 });
  const found = await table.getEntity("p", "r", { queryOptions: { select: ["rowKey", "a", "c"] } });
  assert.deepEqual([found.partitionKey, found.rowKey, own(found)], [undefined, "r", { a: 1, c: 3 }]);
});

storageFact("tables.entities.not_found", "entities that are not there are not found", async (storage) => {
  const table = await storage.table();
  assert.deepEqual(await refused(table.getEntity("p", "none")), NOT_FOUND);
  for (const mode of MODES) assert.deepEqual(await refused(table.updateEntity(entity("none"), mode)), NOT_FOUND);
  assert.deepEqual(await refused(table.deleteEntity("p", "none")), NOT_FOUND);
  assert.deepEqual(await refused(storage.tableAs("nowhere").getEntity("p", "r")), [404, "TableNotFound"]);
  assert.deepEqual(await refused(storage.tableAs("nowhere").upsertEntity(entity("r"))), [404, "TableNotFound"]);
});

storageFact("tables.entities.upsert", "an upsert inserts then merges or replaces", async (storage) => {
  const table = await storage.table();
  for (const mode of MODES) {
    await table.upsertEntity(entity(mode, { a: 1, b: 2 }), mode);
    const { etag } = await table.upsertEntity(entity(mode, { b: 3, c: 4 }), mode);
    assert.deepEqual(await read(table, mode), mode === "Merge" ? { a: 1, b: 3, c: 4 } : { b: 3, c: 4 });
    assert.equal((await table.getEntity("p", mode)).etag, etag);
  }
});

storageFact("tables.entities.update", "an update merges or replaces", async (storage) => {
  const table = await storage.table();
  for (const mode of MODES) {
    await table.createEntity(entity(mode, { a: 1, b: 2 }));
    await table.updateEntity(entity(mode, { b: "two", c: 4, nothing: null }), mode);
    assert.deepEqual(await read(table, mode), mode === "Merge" ? { a: 1, b: "two", c: 4 } : { b: "two", c: 4 });
  }
});

storageFact("tables.entities.delete", "an entity is deleted", async (storage) => {
  const { table } = await inserted(storage, {});
  await table.deleteEntity("p", "r");
  assert.deepEqual(await refused(table.getEntity("p", "r")), NOT_FOUND);
});

storageFact("tables.etags.update", "an update with a stale tag is refused and changes nothing", async (storage) => {
  for (const mode of MODES) {
    const { table, answer } = await inserted(storage, { n: 1 });
    const update = (n, etag) => table.updateEntity(entity("r", { n }), mode, { etag });
    const second = await update(2, answer.etag);
    assert.deepEqual(await refused(update(3, answer.etag)), STALE);
    assert.deepEqual(await read(table), { n: 2 });
    await update(4, second.etag);
  }
});

storageFact("tables.etags.delete", "a delete with a stale tag is refused", async (storage) => {
  const { table, answer } = await inserted(storage, { n: 1 });
  const { etag } = await table.updateEntity(entity("r", { n: 2 }));
  assert.deepEqual(await refused(table.deleteEntity("p", "r", { etag: answer.etag })), STALE);
  await table.deleteEntity("p", "r", { etag });
});

storageFact("tables.etags.two_writers", "of two writers with one tag of an entity one succeeds", async (storage) => {
  const { table, answer } = await inserted(storage, { by: "nobody" });
  const write = (by) => storage.tableAs(table.tableName).updateEntity(entity("r", { by }), "Merge", { etag: answer.etag });
  const outcomes = await Promise.allSettled([write("first"), write("second")]);
  const won = outcomes.flatMap(({ status }, index) => (status === "fulfilled" ? [["first", "second"][index]] : []));
  assert.equal(won.length, 1);
  assert.equal(outcomes.find(({ status }) => status === "rejected").reason.statusCode, 412);
  assert.deepEqual(await read(table), { by: won[0] });
});

storageFact("tables.entities.keys", "keys may be almost anything", async (storage) => {
  const table = await storage.table();
  const texts = ["", " ", "O'Neil", "''", "a,b=(c)", "PartitionKey='x'", "100%", "a+b", "%27", "ü 🌙", "x".repeat(512), "&;@$"];
  for (const text of texts) {
    const keys = { partitionKey: text, rowKey: text };
    await table.createEntity({ ...keys, text });
    await table.updateEntity({ ...keys, n: 1 });
    const found = await table.getEntity(text, text);
    assert.deepEqual([found.partitionKey, found.rowKey, found.text, found.n], [text, text, text, 1]);
  }
  const pages = await all(table.listEntities().byPage({ maxPageSize: 3 }));
  assert.deepEqual(pages.flat().map(({ rowKey }) => rowKey).sort(), texts.sort());
  for (const text of texts) await table.deleteEntity(text, text);
  assert.deepEqual(await all(table.listEntities()), []);
});

storageFact("tables.entities.keys", "keys with forbidden characters are refused", async (storage) => {
  const table = await storage.table();
  for (const text of ["a/b", "a\\b", "a#b", "a?b", "a\tb", "x".repeat(1025)]) {
    assert.equal((await refused(table.createEntity(entity(text))))[0], 400, text);
  }
  assert.deepEqual(await refused(table.createEntity({ partitionKey: "p" })), [400, "PropertiesNeedValue"]);
});

storageFact("tables.entities.limits", "limits of properties hold", async (storage) => {
  const table = await storage.table();
  const create = (properties) => table.createEntity(entity("r", properties));
  const many = (count) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, n]));
  const texts = Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`t${n}`, "x".repeat(32_768)]));
  const code = async (properties) => (await refused(create(properties))).join(" ");
  assert.equal(await code({ text: "x".repeat(32_769) }), "400 PropertyValueTooLarge");
  assert.equal(await code({ bytes: new Uint8Array(65_537) }), "400 PropertyValueTooLarge");
  assert.equal(await code(many(253)), "400 TooManyProperties");
  assert.equal(await code({ ["x".repeat(256)]: 1 }), "400 PropertyNameTooLong");
  assert.equal(await code({ "a-b": 1 }), "400 PropertyNameInvalid");
  assert.equal(await code(texts), "400 EntityTooLarge");
  assert.equal(await code({ id: { value: "not a guid", type: "Guid" } }), "400 InvalidInput");
  assert.equal(await code({ n: 2 ** 31 }), "400 InvalidInput");
  await create(many(252));
});
