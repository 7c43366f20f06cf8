"""Consistency levels, and sessions that meet a server which lost its data."""

from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError

from harness import Cosmos, done, feature, refused, rows, same_container
from server import Server

LEVELS = ["Eventual", "ConsistentPrefix", "Session", "BoundedStaleness", "Strong"]


@feature("consistency.levels")
async def test_a_client_may_ask_for_the_accounts_level_or_a_weaker_one(cosmos_on):
    for strength, level in enumerate(LEVELS):
        cosmos = await cosmos_on("--consistency", level)
        container = await cosmos.container()
        await done(container.create_item({"id": "a", "pk": "p"}))
        for asked, name in enumerate(LEVELS):
            client = await cosmos.open(consistency_level=name)
            seen = same_container(container, client)
            if asked <= strength:
                assert (await done(seen.read_item("a", "p")))["id"] == "a"
                assert len(await rows(seen.read_all_items())) == 1
            else:
                assert await refused(lambda: seen.read_item("a", "p")) == 400


@feature("consistency.levels")
async def test_every_level_reads_what_was_written(cosmos_on):
    for level in LEVELS:
        cosmos = await cosmos_on("--consistency", level)
        writer = await cosmos.container()
        reader = same_container(writer, await cosmos.open())
        for n in range(5):
            await done(writer.upsert_item({"id": "a", "pk": "p", "n": n}))
            assert (await done(reader.read_item("a", "p")))["n"] == n


@feature("session.ranges")
async def test_a_session_over_several_ranges_reads_what_it_wrote(cosmos):
    container = await cosmos.container(offer_throughput=12_000)
    for n in range(12):
        await done(container.upsert_item({"id": "a", "pk": f"p{n % 4}", "n": n}))
        assert (await done(container.read_item("a", f"p{n % 4}")))["n"] == n
        seen = await rows(container.query_items("SELECT VALUE c.n FROM c", **cosmos.everywhere))
        assert n in seen
    await done(container.replace_throughput(24_000))
    for n in range(12, 24):
        await done(container.upsert_item({"id": "a", "pk": f"p{n % 4}", "n": n}))
        assert (await done(container.read_item("a", f"p{n % 4}")))["n"] == n


@feature("session.reset")
async def test_a_session_outlives_a_server_that_lost_its_data(cosmos):
    first = Server()
    port = str(first.cosmos_port)
    before = Cosmos(cosmos.sdk, cosmos.transport, first)
    before.client = await before.open()
    old = await container_of(before.client)
    for n in range(30):
        await done(old.upsert_item({"id": "a", "pk": "p", "n": n}))
    assert (await done(old.read_item("a", "p")))["n"] == 29
    first.stop()
    second = Server("--cosmos-port", port)
    try:
        after = Cosmos(cosmos.sdk, cosmos.transport, second)
        new = await container_of(await after.open())
        await done(new.create_item({"id": "a", "pk": "p", "n": 100}))
        # The SDK asks twice with its token, forgets it, and tells its caller; after that it goes on.
        try:
            seen = await done(old.read_item("a", "p"))
        except CosmosHttpResponseError as error:
            assert (error.status_code, error.sub_status) == (404, 1002)
            seen = await done(old.read_item("a", "p"))
        assert seen["n"] == 100
        await after.close()
    finally:
        await before.close()
        second.stop()


async def container_of(client):
    database = await done(client.create_database("d"))
    return await done(database.create_container("c", PartitionKey("/pk")))
