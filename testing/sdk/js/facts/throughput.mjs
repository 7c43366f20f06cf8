// Throughput: manual, autoscale, on a container, on a database, and none at all.

import assert from "node:assert/strict";
import { fact, refused } from "../harness.mjs";

fact("throughput.manual", "manual throughput reads back and may change", async (cosmos) => {
  const container = await cosmos.container({ throughput: 400 });
  assert.equal((await content(container)).offerThroughput, 400);
  await change(container, { offerThroughput: 700 });
  assert.equal((await content(container)).offerThroughput, 700);
});

fact("throughput.manual", "too little throughput is refused", async (cosmos) => {
  assert.equal(await refused(cosmos.container({ throughput: 100 })), 400);
  const container = await cosmos.container({ throughput: 400 });
  assert.equal(await refused(change(container, { offerThroughput: 100 })), 400);
  assert.equal((await content(container)).offerThroughput, 400);
});

fact("throughput.autoscale", "autoscale throughput reads back and may change", async (cosmos) => {
  const container = await cosmos.container({
    maxThroughput: 4000,
    autoUpgradePolicy: { throughputPolicy: { incrementPercent: 10 } },
  });
  const settings = (await content(container)).offerAutopilotSettings;
  assert.equal(settings.maxThroughput, 4000);
  assert.equal(settings.autoUpgradePolicy.throughputPolicy.incrementPercent, 10);
  await change(container, { offerAutopilotSettings: { maxThroughput: 5000 } });
  assert.equal((await content(container)).offerAutopilotSettings.maxThroughput, 5000);
});

fact("throughput.database", "the throughput of a database reads back and may change", async (cosmos) => {
  const database = await cosmos.database({ throughput: 1000 });
  assert.equal((await content(database)).offerThroughput, 1000);
  await change(database, { offerThroughput: 1200 });
  assert.equal((await content(database)).offerThroughput, 1200);
});

fact("throughput.none", "a database without throughput says so", async (cosmos) => {
  const database = await cosmos.database();
  assert.equal((await database.readOffer()).resource, undefined);
});

fact("throughput.none", "a container that shares its database has none of its own", async (cosmos) => {
  const { containers } = await cosmos.database({ throughput: 1000 });
  const { container: shared } = await containers.create({ id: "shared", partitionKey: "/pk" });
  const { container: own } = await containers.create({ id: "own", partitionKey: "/pk", throughput: 500 });
  assert.equal((await shared.readOffer()).resource, undefined);
  assert.equal((await content(own)).offerThroughput, 500);
});

async function content(owner) {
  return (await owner.readOffer()).resource.content;
}

async function change(owner, members) {
  const { offer, resource } = await owner.readOffer();
  return offer.replace({ ...resource, content: { ...resource.content, ...members } });
}
