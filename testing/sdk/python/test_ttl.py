"""Time to live, on a server whose clock moves only when told to."""

from azure.cosmos import PartitionKey

from harness import done, feature, refused, rows

DAY = 24 * 60 * 60


@feature("ttl.item")
async def test_an_item_goes_when_its_own_ttl_is_over(clocked):
    container = await clocked.container(default_ttl=30 * DAY)
    await done(container.create_item({"id": "short", "pk": "p", "ttl": 5}))
    await done(container.create_item({"id": "long", "pk": "p"}))
    await done(container.create_item({"id": "forever", "pk": "p", "ttl": -1}))
    clocked.server.advance(4)
    assert (await done(container.read_item("short", "p")))["ttl"] == 5
    clocked.server.advance(1)
    assert await refused(lambda: container.read_item("short", "p")) == 404
    assert sorted(item["id"] for item in await rows(container.read_all_items())) == ["forever", "long"]
    await done(container.create_item({"id": "short", "pk": "p"}))


@feature("ttl.container")
async def test_an_item_goes_when_the_default_ttl_is_over(clocked):
    container = await clocked.container(default_ttl=30 * DAY)
    await done(container.create_item({"id": "default", "pk": "p"}))
    await done(container.create_item({"id": "forever", "pk": "p", "ttl": -1}))
    clocked.server.advance(29 * DAY)
    await done(container.read_item("default", "p"))
    clocked.server.advance(DAY)
    assert await refused(lambda: container.read_item("default", "p")) == 404
    assert [item["id"] for item in await rows(container.read_all_items())] == ["forever"]


@feature("ttl.container")
async def test_a_write_starts_the_time_again(clocked):
    container = await clocked.container(default_ttl=10)
    await done(container.create_item({"id": "a", "pk": "p"}))
    clocked.server.advance(9)
    await done(container.upsert_item({"id": "a", "pk": "p", "n": 2}))
    clocked.server.advance(9)
    assert (await done(container.read_item("a", "p")))["n"] == 2
    clocked.server.advance(1)
    assert await refused(lambda: container.read_item("a", "p")) == 404


@feature("ttl.container")
async def test_without_a_default_ttl_items_stay_whatever_they_say(clocked):
    container = await clocked.container()
    await done(container.create_item({"id": "a", "pk": "p", "ttl": 5}))
    clocked.server.advance(60)
    assert (await done(container.read_item("a", "p")))["ttl"] == 5


@feature("ttl.container")
async def test_a_default_ttl_given_later_holds_for_items_already_there(clocked):
    database = await clocked.database()
    container = await done(database.create_container("c", PartitionKey("/pk")))
    await done(container.create_item({"id": "a", "pk": "p"}))
    clocked.server.advance(60)
    await done(database.replace_container("c", PartitionKey("/pk"), default_ttl=30))
    assert await refused(lambda: container.read_item("a", "p")) == 404
