// Databases: made, found, listed, removed.

import assert from "node:assert/strict";
import { fact, fresh, refused } from "../harness.mjs";

fact("databases.create", "a new database has its system properties", async ({ client }) => {
  const id = fresh("db");
  const { resource, statusCode } = await client.databases.create({ id });
  assert.equal(statusCode, 201);
  assert.equal(resource.id, id);
  assert.equal(resource._self, `dbs/${resource._rid}/`);
  assert(resource._etag && resource._ts > 0);
});

fact("databases.conflict", "a second database of that name is a conflict", async (cosmos) => {
  const { id } = await cosmos.database();
  assert.equal(await refused(cosmos.client.databases.create({ id })), 409);
});

fact("databases.create_if_not_exists", "create if not exists finds what is there", async ({ client }) => {
  const id = fresh("db");
  const made = await client.databases.createIfNotExists({ id });
  const found = await client.databases.createIfNotExists({ id });
  assert.deepEqual([made.statusCode, found.statusCode], [201, 200]);
  assert.equal(made.resource._rid, found.resource._rid);
});

fact("databases.read", "a database reads as it was made", async ({ client }) => {
  const { resource: made, database } = await client.databases.create({ id: fresh("db") });
  const { resource: read } = await database.read();
  assert.deepEqual([read.id, read._rid, read._etag], [made.id, made._rid, made._etag]);
});

fact("databases.not_found", "a database nobody made is not found", async ({ client }) => {
  assert.equal(await refused(client.database(fresh("none")).read()), 404);
  assert.equal(await refused(client.database(fresh("none")).delete()), 404);
});

fact("databases.list", "the list has every database", async (cosmos) => {
  const made = [await cosmos.database(), await cosmos.database(), await cosmos.database()];
  const { resources } = await cosmos.client.databases.readAll({ maxItemCount: 2 }).fetchAll();
  const listed = resources.map(({ id }) => id);
  for (const { id } of made) assert(listed.includes(id));
  assert.equal(new Set(listed).size, listed.length);
});

fact("databases.query", "a query finds a database by its id", async (cosmos) => {
  await cosmos.database();
  const { id } = await cosmos.database();
  const query = { query: "SELECT * FROM root r WHERE r.id=@id", parameters: [{ name: "@id", value: id }] };
  const { resources } = await cosmos.client.databases.query(query).fetchAll();
  assert.deepEqual(resources.map((found) => found.id), [id]);
});

fact("databases.delete", "a deleted database takes its containers along", async (cosmos) => {
  const container = await cosmos.container();
  const { database } = container;
  await container.items.create({ id: "a", pk: "p" });
  assert.equal((await database.delete()).statusCode, 204);
  assert.equal(await refused(database.read()), 404);
  assert.equal(await refused(container.read()), 404);
  await cosmos.client.databases.create({ id: database.id });
  assert.deepEqual((await database.containers.readAll().fetchAll()).resources, []);
});
