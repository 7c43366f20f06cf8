// The change feed by the pull model: every start, every scope, both modes.

import { ChangeFeedMode, ChangeFeedStartFrom, StatusCodes } from "@azure/cosmos";
import assert from "node:assert/strict";
import { clockedFact, fact, sameContainer } from "../harness.mjs";

const BEGINNING = ChangeFeedStartFrom.Beginning();
const NOW = ChangeFeedStartFrom.Now();
const allVersions = { changeFeedMode: ChangeFeedMode.AllVersionsAndDeletes };

fact("change_feed.latest", "each item comes once where it was last written", async (cosmos) => {
  const container = await cosmos.container();
  for (let n = 0; n < 5; n++) await put(container, n);
  await put(container, 1);
  await container.item("i02", "p2").delete();
  const { found } = await changes(container, BEGINNING);
  assert.deepEqual(ids(found), ["i00", "i03", "i04", "i01"]);
  assert(found.every((item, at) => at === 0 || found[at - 1]._lsn < item._lsn));
});

fact("change_feed.latest", "from now only what comes is told", async (cosmos) => {
  const container = await cosmos.container();
  await put(container, 0);
  const { found, token } = await changes(container, NOW);
  assert.deepEqual(found, []);
  await put(container, 1);
  const reader = sameContainer(container, cosmos.open());
  const news = await changes(reader, ChangeFeedStartFrom.Continuation(token));
  assert.deepEqual(ids(news.found), ["i01"]);
  assert.deepEqual((await changes(reader, ChangeFeedStartFrom.Continuation(news.token))).found, []);
});

clockedFact("change_feed.latest", "a start at a time leaves out what is older", async (cosmos) => {
  const container = await cosmos.container({ throughput: 12_000 });
  for (let n = 0; n < 10; n++) await put(container, n);
  await cosmos.advance(3600);
  let last;
  for (let n = 10; n < 20; n++) last = await put(container, n);
  const start = ChangeFeedStartFrom.Time(new Date(last._ts * 1000));
  const { found, token } = await changes(container, start, { maxItemCount: 3 });
  assert.deepEqual(ids(found).sort(), names(10, 20));
  await put(container, 20);
  assert.deepEqual(ids((await changes(container, ChangeFeedStartFrom.Continuation(token))).found), ["i20"]);
});

fact("change_feed.latest", "pages have what was asked for and the iterator goes on", async (cosmos) => {
  const container = await cosmos.container();
  for (let n = 0; n < 25; n++) await put(container, n);
  const iterator = iterate(container, BEGINNING, { maxItemCount: 10 });
  const counts = [];
  for await (const page of iterator.getAsyncIterator()) {
    if (page.statusCode === StatusCodes.NotModified) break;
    counts.push(page.count);
    assert(page.requestCharge >= 1 && page.continuationToken);
  }
  assert.deepEqual(counts, [10, 10, 5]);
  await put(container, 30);
  assert.deepEqual(ids((await iterator.readNext()).result), ["i30"]);
});

fact("change_feed.latest", "the older iterator reads to its end", async (cosmos) => {
  const container = await cosmos.container();
  for (let n = 0; n < 5; n++) await put(container, n);
  await container.items.create({ id: "other", pk: "p1" });
  const feed = container.items.changeFeed("p1", { startFromBeginning: true, maxItemCount: 1 });
  const found = [];
  while (feed.hasMoreResults) found.push(...((await feed.fetchNext()).result ?? []));
  assert.deepEqual(ids(found), ["i01", "other"]);
});

fact("change_feed.scopes", "a partition key narrows the feed", async (cosmos) => {
  const container = await cosmos.container({ throughput: 12_000 });
  for (let n = 0; n < 25; n++) await put(container, n);
  const { found, token } = await changes(container, ChangeFeedStartFrom.Beginning("p3"), { maxItemCount: 2 });
  assert.deepEqual(ids(found), ["i03", "i13", "i23"]);
  await put(container, 4);
  await put(container, 3);
  assert.deepEqual(ids((await changes(container, ChangeFeedStartFrom.Continuation(token))).found), ["i03"]);
});

fact("change_feed.scopes", "feed ranges together have every change once", async (cosmos) => {
  const container = await cosmos.container({ throughput: 24_000 });
  for (let n = 0; n < 40; n++) await put(container, n);
  const ranges = await container.getFeedRanges();
  assert.equal(ranges.length, 4);
  const found = [];
  for (const range of ranges) {
    const part = (await changes(container, ChangeFeedStartFrom.Beginning(range), { maxItemCount: 3 })).found;
    assert(part.every((item, at) => at === 0 || part[at - 1]._lsn < item._lsn));
    found.push(...part);
  }
  assert.deepEqual(ids(found).sort(), names(0, 40));
});

fact("change_feed.scopes", "a whole container of several ranges is one feed", async (cosmos) => {
  const container = await cosmos.container({ throughput: 24_000 });
  for (let n = 0; n < 40; n++) await put(container, n);
  const { found, token } = await changes(container, BEGINNING, { maxItemCount: 4 });
  assert.deepEqual(ids(found).sort(), names(0, 40));
  for (let n = 40; n < 50; n++) await put(container, n);
  const rest = await changes(container, ChangeFeedStartFrom.Continuation(token));
  assert.deepEqual(ids(rest.found).sort(), names(40, 50));
});

fact("change_feed.split", "a feed that began before the split ends after it", async (cosmos) => {
  const container = await cosmos.container({ throughput: 400 });
  for (let n = 0; n < 20; n++) await put(container, n);
  const iterator = iterate(container, BEGINNING, { maxItemCount: 6 });
  const found = [...(await iterator.readNext()).result];
  const operator = sameContainer(container, cosmos.open());
  const { offer, resource } = await operator.readOffer();
  await offer.replace({ ...resource, content: { ...resource.content, offerThroughput: 12_000 } });
  for (let n = 20; n < 30; n++) await put(operator, n);
  found.push(...(await drained(iterator)).found);
  assert.deepEqual(ids(found).sort(), names(0, 30));
});

fact("change_feed.all_versions", "every version names the one before, and a delete shows it", async (cosmos) => {
  const container = await cosmos.container({ throughput: 12_000 });
  await put(container, 0);
  const { token } = await changes(container, NOW, allVersions);
  await put(container, 1, { text: "first" });
  await put(container, 1, { text: "second" });
  await container.item("i01", "p1").delete();
  const start = ChangeFeedStartFrom.Continuation(token);
  const { found } = await changes(container, start, { ...allVersions, maxItemCount: 1 });
  assert.deepEqual(found.map(({ metadata }) => metadata.operationType), ["create", "replace", "delete"]);
  const [create, replace, remove] = found;
  assert.equal(create.current.text, "first");
  assert.equal(create.previous, undefined);
  assert.deepEqual([replace.current.text, replace.previous], ["second", undefined]);
  assert.equal(replace.metadata.previousImageLSN, create.metadata.lsn);
  assert.deepEqual([remove.current, remove.previous.text], [{}, "second"]);
  assert.deepEqual([remove.metadata.id, remove.metadata.partitionKey], ["i01", ["p1"]]);
});

fact("change_feed.all_versions", "the versions of a partition or a range alone", async (cosmos) => {
  const container = await cosmos.container({ throughput: 12_000 });
  const iterators = ["p1", ...(await container.getFeedRanges())].map((scope) =>
    iterate(container, ChangeFeedStartFrom.Now(scope), allVersions),
  );
  for (const iterator of iterators) assert.equal((await iterator.readNext()).statusCode, StatusCodes.NotModified);
  for (let n = 0; n < 12; n++) await put(container, n);
  const [ofKey, ...ofRanges] = await Promise.all(iterators.map(async (iterator) => (await drained(iterator)).found));
  assert.deepEqual(ofKey.map(({ current }) => current.id), ["i01", "i11"]);
  assert.deepEqual(ids(ofRanges.flat().map(({ current }) => current)).sort(), names(0, 12));
});

fact("change_feed.all_versions", "all versions do not begin at the beginning", async (cosmos) => {
  const container = await cosmos.container();
  await assert.rejects(() => iterate(container, BEGINNING, allVersions).readNext(), { code: 400 });
});

clockedFact("change_feed.all_versions", "an item that expired is a delete that says so", async (cosmos) => {
  const container = await cosmos.container({ defaultTtl: -1 });
  const iterator = iterate(container, NOW, allVersions);
  await iterator.readNext();
  await container.items.create({ id: "short", pk: "p", ttl: 5 });
  await cosmos.advance(6);
  // The reaper runs in the background; nothing else comes until it has.
  const found = [];
  while (found.length < 2) found.push(...(await drained(iterator)).found);
  assert.equal(found[1].metadata.timeToLiveExpired, true);
  assert.equal(found[1].previous.id, "short");
});

clockedFact("change_feed.retention", "a continuation older than the retention is refused", async (cosmos) => {
  const container = await cosmos.container({ changeFeedPolicy: { retentionDuration: 60 } });
  const { token } = await changes(container, NOW, allVersions);
  await put(container, 0);
  await cosmos.advance(59 * 60);
  const start = ChangeFeedStartFrom.Continuation(token);
  assert.equal((await changes(container, start, allVersions)).found.length, 1);
  await cosmos.advance(2 * 60);
  await assert.rejects(() => iterate(container, start, allVersions).readNext(), { code: 400 });
  assert.deepEqual(ids((await changes(container, BEGINNING)).found), ["i00"]);
});

function iterate(container, changeFeedStartFrom, options) {
  return container.items.getChangeFeedIterator({ changeFeedStartFrom, ...options });
}

function changes(container, start, options) {
  return drained(iterate(container, start, options));
}

/** All that is new, and where to go on. */
async function drained(iterator) {
  const found = [];
  for (;;) {
    const page = await iterator.readNext();
    if (page.statusCode === StatusCodes.NotModified) return { found, token: page.continuationToken };
    found.push(...page.result);
  }
}

async function put(container, n, members) {
  return (await container.items.upsert({ id: names(n, n + 1)[0], pk: `p${n % 10}`, ...members })).resource;
}

function names(from, to) {
  return Array.from({ length: to - from }, (_, n) => `i${String(from + n).padStart(2, "0")}`);
}

function ids(found) {
  return found.map(({ id }) => id);
}
