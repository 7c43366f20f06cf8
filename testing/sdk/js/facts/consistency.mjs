// Consistency levels, and sessions that meet a server which lost its data.

import assert from "node:assert/strict";
import { fact, factOn, refused, sameContainer } from "../harness.mjs";
import { startServer } from "../server.mjs";

const LEVELS = ["Eventual", "ConsistentPrefix", "Session", "BoundedStaleness", "Strong"];
const SESSION = { consistencyLevel: "Session" };

for (const [strength, level] of LEVELS.entries()) {
  const name = `an account of ${level} serves that and weaker levels`;
  factOn(["--consistency", level], "consistency.levels", name, async (cosmos) => {
    const container = await cosmos.container();
    for (const [asked, consistencyLevel] of LEVELS.entries()) {
      const seen = sameContainer(container, cosmos.open({ consistencyLevel }));
      if (asked <= strength) {
        await container.items.upsert({ id: "a", pk: "p", asked });
        assert.equal((await seen.item("a", "p").read()).resource.asked, asked);
      } else {
        assert.equal(await refused(seen.item("a", "p").read()), 400);
      }
    }
    const { resource } = await cosmos.client.getDatabaseAccount();
    assert.equal(resource.consistencyPolicy, level);
  });
}

fact("session.ranges", "a session over several ranges reads what it wrote", async (cosmos) => {
  const container = sameContainer(await cosmos.container({ throughput: 12_000 }), cosmos.open(SESSION));
  for (let n = 0; n < 12; n++) {
    await container.items.upsert({ id: "a", pk: `p${n % 4}`, n });
    assert.equal((await container.item("a", `p${n % 4}`).read()).resource.n, n);
    const { resources } = await container.items.query("SELECT VALUE c.n FROM c").fetchAll();
    assert(resources.includes(n));
  }
  const { offer, resource } = await container.readOffer();
  await offer.replace({ ...resource, content: { ...resource.content, offerThroughput: 24_000 } });
  for (let n = 12; n < 24; n++) {
    await container.items.upsert({ id: "a", pk: `p${n % 4}`, n });
    assert.equal((await container.item("a", `p${n % 4}`).read()).resource.n, n);
  }
});

fact("session.reset", "a session outlives a server that lost its data", async (cosmos) => {
  const first = await startServer();
  const endpoint = first.endpoint(cosmos.transport);
  const open = () => cosmos.open({ endpoint, ...SESSION });
  const old = await containerOf(open());
  for (let n = 0; n < 30; n++) await old.items.upsert({ id: "a", pk: "p", n });
  assert.equal((await old.item("a", "p").read()).resource.n, 29);
  await first.stop();
  const second = await startServer("--cosmos-port", new URL(endpoint).port);
  try {
    const fresh = await containerOf(open());
    await fresh.items.create({ id: "a", pk: "p", n: 100 });
    // The SDK is told 404/1002, forgets its token and asks again by itself.
    assert.equal((await old.item("a", "p").read()).resource.n, 100);
  } finally {
    await second.stop();
  }
});

async function containerOf(client) {
  const { database } = await client.databases.create({ id: "d" });
  return (await database.containers.create({ id: "c", partitionKey: "/pk" })).container;
}
