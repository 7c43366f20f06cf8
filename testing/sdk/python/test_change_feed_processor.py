"""The processor pattern: workers share the ranges of a container, by leases that are items taken by ETag.

What a worker did counts when its lease says so. A lease is replaced only by who holds its newest ETag, so a worker
that was thought dead and comes back finds its lease gone, and nothing counts twice.
"""

from azure.core import MatchConditions
from azure.cosmos.exceptions import CosmosAccessConditionFailedError

from harness import done, feature, fresh, pages, rows

PAGE = 3


class Worker:
    """Takes free leases, and does one page of each that it holds when it is told to."""

    def __init__(self, name, container, leases):
        self.name, self.container, self.leases, self.held = name, container, leases, {}

    async def acquire(self, limit, dead=()):
        """Takes leases that nobody holds, or somebody who is known to be dead."""
        for lease in await rows(self.leases.read_all_items()):
            is_free = lease["owner"] is None or lease["owner"] in dead
            if is_free and len(self.held) < limit:
                await self.store(lease, owner=self.name)

    async def read(self, name):
        """One page after the lease's token; nothing is stored yet."""
        lease = self.held[name]
        start = {"continuation": lease["token"]} if lease["token"] else {"start_time": "Beginning"}
        feed = self.container.query_items_change_feed(feed_range=lease["range"], max_item_count=PAGE, **start)
        found, token = await pages(feed, limit=1)
        return [item["n"] for item in sum(found, [])], token

    async def checkpoint(self, name, seen, token):
        await self.store(self.held[name], seen=self.held[name]["seen"] + seen, token=token)

    async def work(self):
        """One page of every lease; false when nothing was new."""
        is_busy = False
        for name in list(self.held):
            seen, token = await self.read(name)
            if seen:
                is_busy = True
                await self.checkpoint(name, seen, token)
        return is_busy

    async def store(self, lease, **changes):
        condition = {"etag": lease["_etag"], "match_condition": MatchConditions.IfNotModified}
        self.held[lease["id"]] = await done(self.leases.replace_item(lease["id"], {**lease, **changes}, **condition))


@feature("change_feed.processor")
async def test_workers_that_die_and_come_back_see_every_change_once_in_order(cosmos):
    container = await cosmos.container(offer_throughput=24_000)
    leases = await cosmos.container("/id")
    for each in await rows(container.read_feed_ranges()):
        lease = {"id": fresh("lease"), "range": each, "owner": None, "token": None, "seen": []}
        await done(leases.create_item(lease))
    written = Written(container)
    await written.more(40)
    one, two = Worker("one", container, leases), Worker("two", container, leases)
    await one.acquire(2)
    await two.acquire(2)
    assert len(one.held) == len(two.held) == 2 and not one.held.keys() & two.held.keys()
    await one.work()
    await written.more(20)
    await two.work()
    # `one` dies between its work and its checkpoint: the work does not count.
    lost = next(iter(one.held))
    half_done, token = await one.read(lost)
    heir = Worker("heir", container, leases)
    await heir.acquire(2, dead=["one"])
    await written.more(20)
    while await heir.work() | await two.work():
        pass
    # It was not dead after all: its lease is not its own any more.
    try:
        await one.checkpoint(lost, half_done, token)
        raise AssertionError("a lost lease was written")
    except CosmosAccessConditionFailedError:
        pass
    await written.more(5)
    while await heir.work() | await two.work():
        pass
    written.check([lease["seen"] for lease in await rows(leases.read_all_items())])


class Written:
    def __init__(self, container):
        self.container, self.count = container, 0

    async def more(self, count):
        for number in range(self.count, self.count + count):
            await done(self.container.create_item({"id": str(number), "pk": f"p{number % 10}", "n": number}))
        self.count += count

    def check(self, seen_by_range):
        everything = sum(seen_by_range, [])
        assert sorted(everything) == list(range(self.count)), "every change once"
        for seen in seen_by_range:
            assert seen == sorted(seen), "in the order of the writes"
