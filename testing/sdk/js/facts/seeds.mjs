// Every blueprint on an empty database: policies, throughput, example items, queries and the indexes that serve them.

import assert from "node:assert/strict";
import { NAMES, ask, blueprint, composites, filled, standUp } from "../blueprints.mjs";
import { clockedFact, fact, refused, userMembers } from "../harness.mjs";

const DAY = 24 * 60 * 60;
const ENVIRONMENTS = ["development", "staging", "production"];
/** What the service gives a container whose blueprint says nothing about indexing. */
const EVERYTHING = {
  ...{ indexingMode: "consistent", automatic: true },
  ...{ includedPaths: [{ path: "/*" }], excludedPaths: [{ path: '/"_etag"/?' }] },
};

for (const name of NAMES) {
  fact("seeds.containers", `every container of ${name} reads back as its blueprint says`, async (cosmos) => {
    const { containers } = await standUp(cosmos, name);
    for (const asked of blueprint(name).containers) {
      const { resource } = await containers[asked.id].read();
      const policy = asked.indexingPolicy ?? EVERYTHING;
      assert.deepEqual(samePolicy(resource.indexingPolicy), samePolicy(policy), asked.id);
      assert.deepEqual(resource.partitionKey.paths, [asked.partitionKey]);
      assert.equal(resource.defaultTtl, asked.defaultTtl);
      const unique = resource.uniqueKeyPolicy?.uniqueKeys ?? [];
      assert.deepEqual(unique.map(({ paths }) => paths), asked.uniqueKeys ?? []);
    }
  });

  fact("seeds.containers", `the throughput of every environment of ${name} reads back`, async (cosmos) => {
    for (const environment of ENVIRONMENTS) {
      const { database, containers } = await standUp(cosmos, name, environment);
      await assertThroughput(database, blueprint(name).environments?.[environment]);
      for (const { id, environments } of blueprint(name).containers) {
        await assertThroughput(containers[id], environments?.[environment]);
      }
    }
  });

  fact("seeds.items", `every example item of ${name} comes back as it was written`, async (cosmos) => {
    const { containers } = await filled(cosmos, name);
    for (const { id, partitionKey, fixtures } of blueprint(name).containers) {
      for (const item of fixtures) {
        const { resource } = await containers[id].item(item.id, item[partitionKey.slice(1)]).read();
        assert.deepEqual(Object.entries(userMembers(resource)), Object.entries(item));
      }
    }
  });

  fact("seeds.queries", `every query of ${name} gives its rows by the index that serves it`, async (cosmos) => {
    const { containers } = await filled(cosmos, name);
    for (const [query, asked] of Object.entries(blueprint(name).queries)) {
      const { rows, metrics } = await ask(name, containers, query);
      assert.equal(rows.length, asked.rows, query);
      assert.deepEqual(composites(metrics), asked.index, query);
    }
  });

  clockedFact("seeds.ttl", `example items of ${name} go when the design says`, async (cosmos) => {
    const { containers } = await filled(cosmos, name);
    const ends = blueprint(name).containers.flatMap((container) =>
      container.fixtures.map((item) => ({ container: container.id, id: item.id, end: lifetime(container, item) })),
    );
    const assertThere = async (now) => {
      for (const { id } of blueprint(name).containers) {
        const { resources } = await containers[id].items.readAll().fetchAll();
        const left = ends.filter(({ container, end }) => container === id && end > now).map((item) => item.id);
        assert.deepEqual(resources.map((item) => item.id).sort(), left.sort(), `${id} ${now}`);
      }
    };
    let passed = 0;
    for (const end of [...new Set(ends.map((item) => item.end))].filter(Number.isFinite).sort((a, b) => a - b)) {
      await cosmos.advance(end - 1 - passed);
      await assertThere(end - 1);
      await cosmos.advance(1);
      passed = end;
      await assertThere(end);
    }
    await cosmos.advance(1000 * DAY);
    await assertThere(passed + 1000 * DAY);
  });
}

fact("seeds.refused", "the policies of the designs need the blueprints' spelling", async (cosmos) => {
  const [root, tag] = [{ path: "/*" }, { path: "/_etag/?" }];
  const withoutRoot = { includedPaths: [{ path: "/status/?" }], excludedPaths: [tag] };
  assert.equal(await refused(cosmos.container({ indexingPolicy: withoutRoot })), 400);
  const starInside = { includedPaths: [root], excludedPaths: [{ path: "/agents/*/result/*" }] };
  assert.equal(await refused(cosmos.container({ indexingPolicy: starInside })), 400);
  const included = [{ path: "/status/?", indexes: [{ kind: "Range", dataType: "String" }] }];
  const container = await cosmos.container({ indexingPolicy: { includedPaths: included, excludedPaths: [root, tag] } });
  const { resource } = await container.read();
  assert.deepEqual(resource.indexingPolicy.includedPaths, [{ path: "/status/?" }]);
  assert(resource.indexingPolicy.excludedPaths.some(({ path }) => path === '/"_etag"/?'));
});

fact("seeds.queries", "the events of asora that are due are found over all users", async (cosmos) => {
  const name = "asora-notifications";
  const { containers } = await filled(cosmos, name);
  const numbers = async (query) => (await ask(name, containers, query)).rows.map(({ id }) => +id.slice(-4));
  assert.deepEqual((await numbers("pending-events")).sort((a, b) => a - b), [1, 2, 7, 8]);
  assert.deepEqual((await numbers("claimable-events")).sort((a, b) => a - b), [1, 2, 7, 9, 10]);
  assert.deepEqual(await numbers("notifications-of-user"), [1, 4, 2]);
  assert.deepEqual((await ask(name, containers, "unread-count")).rows, [2]);
});

fact("seeds.queries", "a device of asora without revokedAt is not one with null", async (cosmos) => {
  const name = "asora-notifications";
  const { containers } = await filled(cosmos, name, "--without-schemas");
  const lastSeenAt = "2025-11-20T10:00:00Z";
  await containers.device_tokens.items.create({ id: "no-date", userId: "user-1001", deviceId: "no-date", lastSeenAt });
  assert.equal((await ask(name, containers, "active-devices")).rows.length, 2);
  const { rows } = await ask(name, containers, "active-devices-of-any-writer");
  assert.deepEqual([rows.length, rows[0].id], [3, "no-date"]);
  const again = { ...blueprint(name).containers[3].fixtures[0], id: "another" };
  assert.equal(await refused(containers.device_tokens.items.create(again)), 409);
});

clockedFact("seeds.ttl", "a paused workflow outlives a month and an ended one does not", async (cosmos) => {
  const { containers } = await standUp(cosmos, "project-ascension");
  const states = containers["workflow-states"];
  const paused = blueprint("project-ascension").containers[0].fixtures.find(({ id }) => id === "workflow-200");
  const { item } = await states.items.create(paused);
  await cosmos.advance(31 * DAY);
  assert.equal((await item.read()).resource.status, "paused");
  await item.replace({ ...paused, status: "completed", ttl: 30 * DAY });
  await cosmos.advance(30 * DAY - 1);
  assert.equal((await item.read()).statusCode, 200);
  await cosmos.advance(1);
  assert.equal(await refused(item.read()), 404);
});

/** Seconds until the item goes. */
function lifetime({ defaultTtl }, { ttl = defaultTtl }) {
  return defaultTtl === undefined || ttl === -1 ? Infinity : ttl;
}

/** What two spellings of one policy have in common: the order of paths says nothing. */
export function samePolicy({ indexingMode, automatic, includedPaths, excludedPaths, compositeIndexes = [] }) {
  const paths = (list) => list.map(({ path }) => path).sort();
  return { indexingMode, automatic, included: paths(includedPaths), excluded: paths(excludedPaths), compositeIndexes };
}

async function assertThroughput(owner, asked) {
  const content = (await owner.readOffer()).resource?.content;
  if (asked?.autoscale) assert.equal(content.offerAutopilotSettings.maxThroughput, asked.autoscale);
  else if (asked?.manual) assert.equal(content.offerThroughput, asked.manual);
  else assert.equal(content?.offerThroughput ?? 400, 400, "what nobody asked for is the service's default, or nothing");
}
