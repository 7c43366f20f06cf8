// Containers: their policies, their partition keys, and what may change later.

import assert from "node:assert/strict";
import { assertHolds, fact, refused, sameContainer } from "../harness.mjs";

const indexingPolicy = {
  indexingMode: "consistent",
  automatic: true,
  includedPaths: [{ path: "/*" }],
  excludedPaths: [{ path: "/secret/?" }],
  compositeIndexes: [[{ path: "/a", order: "ascending" }, { path: "/b", order: "descending" }]],
  spatialIndexes: [{ path: "/place/*", types: ["Point", "Polygon"] }],
  vectorIndexes: [{ path: "/vector", type: "quantizedFlat" }],
  fullTextIndexes: [{ path: "/text" }],
};
const vectorEmbeddingPolicy = {
  vectorEmbeddings: [{ path: "/vector", dataType: "float32", dimensions: 16, distanceFunction: "cosine" }],
};
const POLICIES = {
  indexingPolicy,
  vectorEmbeddingPolicy,
  uniqueKeyPolicy: { uniqueKeys: [{ paths: ["/email"] }, { paths: ["/first", "/last"] }] },
  conflictResolutionPolicy: { mode: "LastWriterWins", conflictResolutionPath: "/rank" },
  fullTextPolicy: { defaultLanguage: "en-US", fullTextPaths: [{ path: "/text", language: "en-US" }] },
  geospatialConfig: { type: "Geography" },
  defaultTtl: 3600,
};

fact("containers.create", "a container made with a path alone gets the defaults", async (cosmos) => {
  const { resource } = await (await cosmos.container({ partitionKey: "/pk" })).read();
  assert.equal(resource._self, `dbs/${resource._self.split("/")[1]}/colls/${resource._rid}/`);
  assertHolds(resource.partitionKey, { paths: ["/pk"], kind: "Hash" });
  assertHolds(resource.indexingPolicy, { indexingMode: "consistent", includedPaths: [{ path: "/*" }] });
  assert.equal(resource.defaultTtl, undefined);
});

fact("containers.policies", "every policy comes back as it was given", async (cosmos) => {
  const { resource } = await (await cosmos.container(POLICIES)).read();
  assertHolds(resource, POLICIES);
});

fact("containers.policies", "a vector index without its embedding is refused", async (cosmos) => {
  const policy = { ...indexingPolicy, vectorIndexes: [{ path: "/other", type: "flat" }] };
  assert.equal(await refused(cosmos.container({ indexingPolicy: policy, vectorEmbeddingPolicy })), 400);
});

fact("containers.computed_properties", "computed properties come back as they were given", async (cosmos) => {
  const computedProperties = [{ name: "lowerName", query: "SELECT VALUE LOWER(c.name) FROM c" }];
  const { resource } = await (await cosmos.container({ computedProperties })).read();
  assert.deepEqual(resource.computedProperties, computedProperties);
});

fact("containers.conflict", "a second container of that name is a conflict", async (cosmos) => {
  const { database, id } = await cosmos.container();
  assert.equal(await refused(database.containers.create({ id, partitionKey: "/pk" })), 409);
});

fact("containers.create_if_not_exists", "create if not exists finds what is there", async (cosmos) => {
  const { containers } = await cosmos.database();
  const made = await containers.createIfNotExists({ id: "c", partitionKey: "/pk", throughput: 400 });
  const found = await containers.createIfNotExists({ id: "c", partitionKey: "/pk", throughput: 400 });
  assert.deepEqual([made.statusCode, found.statusCode], [201, 200]);
  assert.equal(made.resource._rid, found.resource._rid);
});

fact("containers.read", "a container reads as it was made", async (cosmos) => {
  const { containers } = await cosmos.database();
  const { container, resource: made } = await containers.create({ id: "c", partitionKey: "/pk" });
  assert.deepEqual((await container.read()).resource, made);
});

fact("containers.not_found", "a container nobody made is not found", async (cosmos) => {
  const none = (await cosmos.database()).container("none");
  assert.equal(await refused(none.read()), 404);
  assert.equal(await refused(none.delete()), 404);
  assert.equal(await refused(none.item("a", "p").read()), 404);
});

fact("containers.replace", "indexing policy and TTL may change", async (cosmos) => {
  const container = await cosmos.container({ defaultTtl: 60 });
  await container.items.create({ id: "a", pk: "p" });
  const { resource: before } = await container.read();
  const policy = { indexingMode: "consistent", includedPaths: [{ path: "/kept/?" }], excludedPaths: [{ path: "/*" }] };
  await container.replace({ ...before, indexingPolicy: policy, defaultTtl: -1 });
  const { resource } = await container.read();
  assertHolds(resource, { indexingPolicy: policy, defaultTtl: -1 });
  assert.equal((await container.item("a", "p").read()).resource.id, "a");
});

fact("containers.replace", "the partition key may not change", async (cosmos) => {
  const container = await cosmos.container();
  const other = { id: container.id, partitionKey: { paths: ["/other"], kind: "Hash", version: 2 } };
  assert.equal(await refused(container.replace(other)), 400);
});

fact("containers.list", "the list has every container of its database alone", async (cosmos) => {
  await cosmos.container();
  const { containers } = await cosmos.database();
  for (const id of ["one", "two", "three"]) await containers.create({ id, partitionKey: "/pk" });
  const { resources } = await containers.readAll({ maxItemCount: 2 }).fetchAll();
  assert.deepEqual(resources.map(({ id }) => id).sort(), ["one", "three", "two"]);
});

fact("containers.query", "a query finds a container by its id", async (cosmos) => {
  const { containers } = await cosmos.database();
  for (const id of ["one", "two"]) await containers.create({ id, partitionKey: "/pk" });
  const query = { query: "SELECT * FROM root r WHERE r.id=@id", parameters: [{ name: "@id", value: "two" }] };
  const { resources } = await containers.query(query).fetchAll();
  assert.deepEqual(resources.map(({ id }) => id), ["two"]);
});

fact("containers.delete", "a deleted container is gone", async (cosmos) => {
  const container = await cosmos.container();
  assert.equal((await container.delete()).statusCode, 204);
  assert.equal(await refused(container.read()), 404);
  assert.deepEqual((await container.database.containers.readAll().fetchAll()).resources, []);
});

fact("containers.recreate", "a client goes on after its container was made again", async (cosmos) => {
  const container = await cosmos.container();
  await container.items.create({ id: "a", pk: "p", life: 1 });
  const other = sameContainer(container, cosmos.open());
  await other.delete();
  await other.database.containers.create({ id: other.id, partitionKey: "/pk" });
  assert.equal(await refused(container.item("a", "p").read()), 404);
  await container.items.create({ id: "a", pk: "p", life: 2 });
  assert.equal((await container.item("a", "p").read()).resource.life, 2);
});

fact("containers.key_versions", "both versions of the partition key keep their items", async (cosmos) => {
  for (const version of [1, 2]) {
    const container = await cosmos.container({ partitionKey: { paths: ["/pk"], kind: "Hash", version } });
    assert.equal((await container.read()).resource.partitionKey.version, version);
    // Version 1 tells keys apart by their first 100 characters, version 2 by all.
    const long = "a".repeat(version === 1 ? 90 : 150);
    await container.items.create({ id: "a", pk: `${long}1` });
    await container.items.create({ id: "a", pk: `${long}2` });
    assert.equal((await container.item("a", `${long}2`).read()).resource.pk, `${long}2`);
    assert.equal((await container.items.readAll().fetchAll()).resources.length, 2);
  }
});

fact("containers.key_without_version", "a bare path is a key of version 1", async (cosmos) => {
  const container = await cosmos.container({ partitionKey: "/pk", throughput: 12_000 });
  assert.deepEqual((await container.read()).resource.partitionKey, { paths: ["/pk"], kind: "Hash" });
  for (const pk of ["redmond", "", 5, 1.5, true, false]) {
    await container.items.create({ id: "a", pk });
    assert.equal((await container.item("a", pk).read()).resource.pk, pk);
  }
  // The client hashes keys to find the ranges of a bulk.
  const input = ["redmond", 5, true].map((pk) => ({ operationType: "Read", id: "a", partitionKey: pk }));
  const found = await container.items.executeBulkOperations(input);
  assert.deepEqual(found.map(({ response }) => response.statusCode), [200, 200, 200]);
});

fact("containers.key_hierarchical", "a hierarchical key keeps its paths", async (cosmos) => {
  const paths = ["/tenant", "/user", "/session"];
  const container = await cosmos.container({ partitionKey: { paths, kind: "MultiHash", version: 2 } });
  assert.deepEqual((await container.read()).resource.partitionKey.paths, paths);
  assertHolds((await container.read()).resource.partitionKey, { kind: "MultiHash", version: 2 });
  await container.items.create({ id: "a", tenant: "t", user: "u", session: "s" });
  const reader = sameContainer(container, cosmos.open());
  assert.equal((await reader.item("a", ["t", "u", "s"]).read()).resource.user, "u");
});
