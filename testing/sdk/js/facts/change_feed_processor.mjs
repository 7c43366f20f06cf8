// The processor pattern: workers share the ranges of a container, by leases that are items taken by ETag.
//
// What a worker did counts when its lease says so. A lease is replaced only by who holds its newest ETag, so a worker
// that was thought dead and comes back finds its lease gone, and nothing counts twice.

import { ChangeFeedStartFrom, StatusCodes } from "@azure/cosmos";
import assert from "node:assert/strict";
import { fact, fresh } from "../harness.mjs";

const PAGE = 3;

/** Takes free leases, and does one page of each that it holds when it is told to. */
class Worker {
  held = new Map();

  constructor(name, container, ranges, leases) {
    Object.assign(this, { name, container, ranges, leases });
  }

  /** Takes leases that nobody holds, or somebody who is known to be dead. */
  async acquire(limit, dead = []) {
    const { resources } = await this.leases.items.readAll().fetchAll();
    for (const lease of resources) {
      const isFree = lease.owner === null || dead.includes(lease.owner);
      if (isFree && this.held.size < limit) await this.store(lease, { owner: this.name });
    }
  }

  /** One page after the lease's token; nothing is stored yet. */
  async read(id) {
    const { range, token } = this.held.get(id);
    const changeFeedStartFrom = token
      ? ChangeFeedStartFrom.Continuation(token)
      : ChangeFeedStartFrom.Beginning(this.ranges[range]);
    const page = await this.container.items.getChangeFeedIterator({ changeFeedStartFrom, maxItemCount: PAGE }).readNext();
    const isNews = page.statusCode !== StatusCodes.NotModified;
    return { seen: isNews ? page.result.map(({ n }) => n) : [], token: page.continuationToken };
  }

  async checkpoint(id, { seen, token }) {
    const lease = this.held.get(id);
    await this.store(lease, { seen: [...lease.seen, ...seen], token });
  }

  /** One page of every lease; false when nothing was new. */
  async work() {
    let isBusy = false;
    for (const id of this.held.keys()) {
      const page = await this.read(id);
      if (page.seen.length === 0) continue;
      isBusy = true;
      await this.checkpoint(id, page);
    }
    return isBusy;
  }

  async store(lease, changes) {
    const accessCondition = { type: "IfMatch", condition: lease._etag };
    const { resource } = await this.leases.item(lease.id, lease.id).replace({ ...lease, ...changes }, { accessCondition });
    this.held.set(lease.id, resource);
  }
}

fact("change_feed.processor", "workers that die and come back see every change once in order", async (cosmos) => {
  const container = await cosmos.container({ throughput: 24_000 });
  const leases = await cosmos.container({ partitionKey: "/id" });
  const ranges = await container.getFeedRanges();
  for (const range of ranges.keys()) {
    await leases.items.create({ id: fresh("lease"), range, owner: null, token: null, seen: [] });
  }
  let count = 0;
  const write = async (more) => {
    for (const end = count + more; count < end; count++) {
      await container.items.create({ id: String(count), pk: `p${count % 10}`, n: count });
    }
  };
  const [one, two] = ["one", "two"].map((name) => new Worker(name, container, ranges, leases));
  await write(40);
  await one.acquire(2);
  await two.acquire(2);
  assert.equal(new Set([...one.held.keys(), ...two.held.keys()]).size, 4);
  await one.work();
  await write(20);
  await two.work();
  // `one` dies between its work and its checkpoint: the work does not count.
  const lost = one.held.keys().next().value;
  const halfDone = await one.read(lost);
  const heir = new Worker("heir", container, ranges, leases);
  await heir.acquire(2, ["one"]);
  await write(20);
  const settle = async () => {
    for (let isBusy = true; isBusy; ) isBusy = [await heir.work(), await two.work()].some(Boolean);
  };
  await settle();
  // It was not dead after all: its lease is not its own any more.
  await assert.rejects(() => one.checkpoint(lost, halfDone), { code: 412 });
  await write(5);
  await settle();
  const { resources } = await leases.items.readAll().fetchAll();
  const seen = resources.map((lease) => lease.seen);
  assert.deepEqual(seen.flat().sort((a, b) => a - b), Array.from({ length: count }, (_, n) => n), "every change once");
  for (const each of seen) assert(each.every((n, at) => at === 0 || each[at - 1] < n), "in the order of the writes");
});
