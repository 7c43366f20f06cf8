"""Throughput that is enforced: 429, and what the SDK makes of it."""

import threading

import pytest
from azure.cosmos import PartitionKey, ThroughputProperties
from azure.cosmos.exceptions import CosmosHttpResponseError

from harness import done, feature, fresh, refused, rows, status

STILL = ("--throttle", "on", "--clock", "manual")
NO_INDEX = {"indexingMode": "none", "automatic": False}


async def still(cosmos_on):
    """On a clock that stands still: what is spent stays spent until the test moves it."""
    cosmos = await cosmos_on(*STILL)
    cosmos.server.advance(2)
    return cosmos


async def spend(container, **options):
    """Creates items until the SDK gives up; how many there are then, and its error."""
    for number in range(5000):
        try:
            await done(container.create_item({"id": fresh("i"), "pk": "p"}, **options))
        except CosmosHttpResponseError as error:
            return number, error
    raise AssertionError("nobody was turned away")


@feature("throttling.retry")
async def test_the_sdk_waits_and_goes_on(cosmos_on):
    cosmos = await still(cosmos_on)
    container = await cosmos.container(offer_throughput=400, indexing_policy=NO_INDEX)
    # More than there is, so that a fifth of a second is owed: nine retries last longer than the clock stands still.
    large = await done(container.create_item({"id": "large", "pk": "p", "text": "x" * 1_050_000}))
    assert float(large.get_response_headers()["x-ms-request-charge"]) > 470
    later = threading.Timer(0.3, lambda: cosmos.server.advance(2))
    later.start()
    await done(container.create_item({"id": "after", "pk": "p"}))
    later.join()
    assert (await done(container.read_item("after", "p")))["id"] == "after"


@feature("throttling.exhausted")
async def test_the_sdk_gives_up_after_its_retries(cosmos_on):
    cosmos = await still(cosmos_on)
    container = await cosmos.container(offer_throughput=400, indexing_policy=NO_INDEX)
    served, error = await spend(container)
    assert served == 80, "400 request units by five"
    assert (error.status_code, error.sub_status) == (429, 3200)
    assert int(error.headers["x-ms-retry-after-ms"]) > 0
    assert float(error.headers["x-ms-request-charge"]) > 0
    cosmos.server.advance(1)
    assert (await spend(container))[0] == 80


@feature("throttling.exhausted")
async def test_queries_are_throttled_too(cosmos_on):
    cosmos = await still(cosmos_on)
    container = await cosmos.container(offer_throughput=400, indexing_policy=NO_INDEX)
    await spend(container)
    with pytest.raises(CosmosHttpResponseError) as refusal:
        await rows(container.query_items("SELECT * FROM c", partition_key="p"))
    assert refusal.value.status_code == 429
    cosmos.server.advance(1)
    assert len(await rows(container.query_items("SELECT * FROM c", partition_key="p"))) == 80


@feature("throttling.priority")
async def test_low_priority_is_turned_away_first(cosmos_on):
    cosmos = await still(cosmos_on)
    container = await cosmos.container(offer_throughput=400, indexing_policy=NO_INDEX)
    served, error = await spend(container, priority="Low")
    assert (served, error.status_code) == (40, 429)
    assert (await spend(container, priority="High"))[0] == 40


@feature("throttling.change")
async def test_more_throughput_works_at_once(cosmos_on):
    cosmos = await still(cosmos_on)
    container = await cosmos.container(offer_throughput=400, indexing_policy=NO_INDEX)
    await spend(container)
    await done(container.replace_throughput(4000))
    cosmos.server.advance(1)
    assert (await spend(container))[0] == 800


@feature("throttling.change")
async def test_an_autoscale_container_shows_what_is_in_use(cosmos_on):
    cosmos = await still(cosmos_on)
    autoscale = ThroughputProperties(auto_scale_max_throughput=1000)
    container = await cosmos.container(offer_throughput=autoscale, indexing_policy=NO_INDEX)

    async def in_use():
        return (await done(container.get_throughput())).properties["content"]["offerThroughput"]

    assert await in_use() == 100
    assert (await spend(container))[0] == 200
    assert await in_use() == 1000
    cosmos.server.advance(2)
    assert await in_use() == 100


@feature("throttling.shared")
async def test_containers_share_the_throughput_of_their_database(cosmos_on):
    cosmos = await still(cosmos_on)
    database = await cosmos.database(offer_throughput=400)
    one, two = [
        await done(database.create_container(name, PartitionKey("/pk"), indexing_policy=NO_INDEX))
        for name in ("one", "two")
    ]
    assert (await spend(one))[0] == 80
    assert (await spend(two))[0] == 0


@feature("throttling.serverless")
async def test_a_serverless_account_takes_no_throughput(cosmos_on):
    cosmos = await cosmos_on("--serverless", *STILL)
    cosmos.server.advance(2)
    container = await cosmos.container()
    await done(container.create_item({"id": "a", "pk": "p"}))
    assert await refused(lambda: cosmos.container(offer_throughput=400)) == 400
    assert await refused(lambda: cosmos.database(offer_throughput=400)) == 400
    assert await refused(lambda: container.get_throughput()) == 400
    assert await status(lambda: container.read_item("a", "p")) == 200
