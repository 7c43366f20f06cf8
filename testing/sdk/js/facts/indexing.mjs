// Indexing: policies of every kind, changed under items, left out of by single items, and told of by queries.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { assertHolds, fact, refused } from "../harness.mjs";

const POLICIES = JSON.parse(readFileSync(new URL("../../indexing/policies.json", import.meta.url), "utf8"));
const PROGRESS = "x-ms-documentdb-collection-index-transformation-progress";
const INDEXED_MILLIS_MAX = 30_000;
const ITEMS = 300;

function item(n) {
  return {
    ...{ id: `${n}`, pk: `p${n % 5}`, n, kind: `k${n % 7}`, rank: (n * 37) % 101, tags: [`t${n % 3}`, `t${n % 11}`] },
    ...{ info: { half: Math.floor(n / 2) }, "odd name": n % 2 === 0, filler: "x".repeat(200) },
  };
}

fact("indexing.policies", "a policy of every kind comes back as it was given", async (cosmos) => {
  for (const indexingPolicy of Object.values(POLICIES.accepted)) {
    const { resource } = await (await cosmos.container({ indexingPolicy })).read();
    assertHolds(resource.indexingPolicy, indexingPolicy);
  }
});

fact("indexing.policies", "a policy that makes no sense is refused", async (cosmos) => {
  for (const [name, indexingPolicy] of Object.entries(POLICIES.refused)) {
    assert.equal(await refused(cosmos.container({ indexingPolicy })), 400, name);
  }
});

fact("indexing.replace", "queries are right while the policy changes", async (cosmos) => {
  const container = await cosmos.container();
  await fill(container, ITEMS);
  for (const name of POLICIES.changes) {
    await setPolicy(container, POLICIES.accepted[name]);
    await assertAnswers(container);
    await untilIndexed(container);
    assertHolds((await container.read()).resource.indexingPolicy, POLICIES.accepted[name]);
    await assertAnswers(container);
  }
});

fact("indexing.replace", "items are written while the policy changes", async (cosmos) => {
  const container = await cosmos.container();
  for (let n = 0; n < ITEMS; n++) {
    if (n % 60 === 30) await setPolicy(container, POLICIES.accepted[POLICIES.changes[Math.floor(n / 60)]]);
    await container.items.create({ ...item(n), kind: "before" });
    await container.item(`${n}`, item(n).pk).replace(item(n));
  }
  await assertAnswers(container);
  await untilIndexed(container);
  await assertAnswers(container);
});

fact("indexing.directive", "an item may be left out of the index and taken in again", async (cosmos) => {
  const container = await cosmos.container();
  await fill(container, 20, (n) => (n === 8 ? { indexingDirective: "exclude" } : {}));
  assert.equal((await container.item("8", "p3").read()).resource.n, 8);
  await assertAnswers(container, 20);
  await container.item("8", "p3").replace(item(8), { indexingDirective: "include" });
  await assertAnswers(container, 20);
});

fact("indexing.directive", "an item is indexed on request where nothing else is", async (cosmos) => {
  const container = await cosmos.container({ indexingPolicy: POLICIES.accepted["on request"] });
  await fill(container, 20, (n) => (n % 2 ? { indexingDirective: "include" } : {}));
  await assertAnswers(container, 20);
});

fact("indexing.metrics", "a query tells which indexes it used", async (cosmos) => {
  const container = await cosmos.container({ indexingPolicy: POLICIES.accepted.composites });
  await fill(container, 20);
  const metrics = await indexMetrics(container, "SELECT * FROM c WHERE c.kind = 'k3'");
  assert.deepEqual(Object.keys(metrics).sort(), ["Potential", "Utilized"]);
  for (const lists of Object.values(metrics)) {
    assert.deepEqual(Object.keys(lists).sort(), ["CompositeIndexes", "SingleIndexes"]);
    assert(Object.values(lists).every(Array.isArray), JSON.stringify(metrics));
  }
  assert.deepEqual(metrics.Utilized.SingleIndexes.map(({ IndexSpec }) => IndexSpec), ["/kind/?"]);
  const ordered = await indexMetrics(container, "SELECT * FROM c WHERE c.kind = 'k3' ORDER BY c.rank DESC");
  assert(isByRank(ordered.Utilized.CompositeIndexes), JSON.stringify(ordered));
});

fact("indexing.metrics", "a query tells which indexes would help", async (cosmos) => {
  const indexingPolicy = { includedPaths: [{ path: "/kind/?" }], excludedPaths: [{ path: "/*" }] };
  const container = await cosmos.container({ indexingPolicy });
  await fill(container, 20);
  const metrics = await indexMetrics(container, "SELECT * FROM c WHERE c.rank = 3");
  assert.deepEqual(metrics.Utilized.SingleIndexes, []);
  assert.deepEqual(metrics.Potential.SingleIndexes.map(({ IndexSpec }) => IndexSpec), ["/rank/?"]);
  const ordered = await indexMetrics(container, "SELECT * FROM c WHERE c.kind = 'k3' ORDER BY c.rank DESC");
  assert(isByRank(ordered.Potential.CompositeIndexes), JSON.stringify(ordered));
});

fact("indexing.index_only", "an aggregate that indexes answer retrieves no document", async (cosmos) => {
  const container = await cosmos.container();
  for (let n = 0; n < 20; n++) await container.items.create({ ...item(n), pk: "p" });
  for (const [query, expected] of [["SELECT VALUE COUNT(1) FROM c", 20], ["SELECT VALUE MAX(c.n) FROM c", 19]]) {
    const options = { partitionKey: "p", populateQueryMetrics: true };
    const { resources, headers } = await container.items.query(query, options).fetchNext();
    assert.deepEqual(resources, [expected]);
    const metrics = Object.values(headers["x-ms-documentdb-query-metrics"]);
    assert(metrics.length > 0);
    for (const one of metrics) {
      assert.deepEqual([one.retrievedDocumentCount, one.indexHitRatio], [0, 1], query);
    }
  }
});

fact("indexing.composite_order", "an ORDER BY several properties needs its composite index", async (cosmos) => {
  const composite = [{ path: "/kind", order: "ascending" }, { path: "/rank", order: "descending" }];
  const container = await cosmos.container({ indexingPolicy: { compositeIndexes: [composite] } });
  for (let n = 0; n < 20; n++) await container.items.create({ ...item(n), pk: "p" });
  const asked = (order) => {
    const query = `SELECT VALUE c.n FROM c WHERE c.pk = 'p' ORDER BY ${order}`;
    return container.items.query(query, { partitionKey: "p" }).fetchAll();
  };
  const forwards = (await asked("c.kind, c.rank DESC")).resources;
  assert.equal(forwards.length, 20);
  assert.deepEqual((await asked("c.kind DESC, c.rank ASC")).resources, [...forwards].reverse());
  for (const order of ["c.kind, c.rank", "c.rank DESC, c.kind", "c.pk, c.kind, c.rank DESC"]) {
    await assert.rejects(asked(order), (error) => {
      return error.code === 400 && error.message.includes("does not have a corresponding composite index");
    }, order);
  }
});

fact("indexing.charge", "a larger item is charged more", async (cosmos) => {
  const container = await cosmos.container();
  const charges = [];
  for (const [n, size] of [100, 5_000, 50_000].entries()) {
    const written = await container.items.create({ id: `${n}`, pk: "p", filler: "x".repeat(size) });
    const read = await container.item(`${n}`, "p").read();
    const replaced = await container.item(`${n}`, "p").replace({ ...item(n), pk: "p", filler: "y".repeat(size) });
    charges.push([written, read, replaced].map(({ requestCharge }) => requestCharge));
  }
  for (const [n, larger] of charges.entries()) {
    const smaller = charges[n - 1] ?? [0, 0, 0];
    assert(larger.every((charge, at) => charge > smaller[at]), JSON.stringify(charges));
  }
  assert.equal((await container.item("0", "p").read()).requestCharge, charges[0][1], "the same costs the same");
});

fact("indexing.charge", "a query is charged by what it reads", async (cosmos) => {
  const container = await cosmos.container();
  await fill(container, 100);
  const charge = async (query) => (await container.items.query(query).fetchAll()).requestCharge;
  const few = await charge("SELECT * FROM c WHERE c.pk = 'p1' AND c.id = '1'");
  const all = await charge("SELECT * FROM c");
  assert(few > 0 && few < all, `${few} and ${all}`);
});

async function indexMetrics(container, query) {
  return JSON.parse((await container.items.query(query, { populateIndexMetrics: true }).fetchAll()).indexMetrics);
}

/** Whether one of these gives the items of a kind in the order of their ranks, forwards or backwards. */
function isByRank(composites) {
  return composites.some(({ IndexSpecs }) => /^\/kind \w+,\/rank /.test(IndexSpecs.join()));
}

async function fill(container, count, options = () => ({})) {
  for (let n = 0; n < count; n++) await container.items.create(item(n), options(n));
}

async function setPolicy(container, indexingPolicy) {
  const { resource } = await container.read();
  const { headers } = await container.replace({ ...resource, indexingPolicy });
  assert.match(headers[PROGRESS], /^\d+$/);
}

/** Waits until every item is indexed as the policy says. */
async function untilIndexed(container) {
  const deadline = Date.now() + INDEXED_MILLIS_MAX;
  for (;;) {
    const progress = Number((await container.read()).headers[PROGRESS]);
    if (progress === 100) return;
    assert(progress >= 0 && progress < 100 && Date.now() < deadline, `${progress} % indexed`);
    await sleep(20);
  }
}

/** Every kind of question an index answers, asked of items 0 to `count`. */
async function assertAnswers(container, count = ITEMS) {
  const items = Array.from({ length: count }, (_, n) => item(n));
  const found = async (condition, keep, options = {}) => {
    const query = `SELECT c.n, c.rank FROM c WHERE ${condition}`;
    const { resources } = await container.items.query(query, options).fetchAll();
    const numbers = resources.map(({ n }) => n).sort((a, b) => a - b);
    assert.deepEqual(numbers, items.filter(keep).map(({ n }) => n), condition);
    return resources.map(({ rank }) => rank);
  };
  await found("c.kind = 'k3'", ({ kind }) => kind === "k3");
  await found("c.rank >= 20 AND c.rank < 40", ({ rank }) => rank >= 20 && rank < 40);
  await found("ARRAY_CONTAINS(c.tags, 't2')", ({ tags }) => tags.includes("t2"));
  await found("c['odd name'] AND c.info.half > 5", (it) => it["odd name"] && it.info.half > 5);
  await found("c.kind = 'k2'", ({ kind, pk }) => kind === "k2" && pk === "p1", { partitionKey: "p1" });
  const ranks = await found("c.kind = 'k1' ORDER BY c.rank DESC", ({ kind }) => kind === "k1");
  assert.deepEqual(ranks, ranks.toSorted((a, b) => b - a));
  const count4 = "SELECT VALUE COUNT(1) FROM c WHERE c.kind = 'k4'";
  const { resources } = await container.items.query(count4).fetchAll();
  assert.deepEqual(resources, [items.filter(({ kind }) => kind === "k4").length]);
}
