"""The mail archives of copilot: one container, five collections."""

from azure.cosmos import PartitionKey

from blueprints import ask, batch_refused, blueprint, filled, ids, stand_up
from harness import done, feature, refused, rows

NAME = "copilot"
DAY = 24 * 60 * 60


@feature("seeds.queries")
async def test_lists_come_in_the_order_of_their_composite_index(cosmos):
    """S3-23 S3-24 S3-25 S3-26 S3-27 S3-28: filtered by collection and one more, then sorted."""
    _, containers = await filled(cosmos, NAME)
    expected = {
        "archives-by-source": ["arch-457", "arch-456"],
        "messages-of-archive": ["msg-125", "msg-124", "unique-document-id"],
        "messages-of-thread": ["msg-124", "unique-document-id"],
        "threads-of-archive": ["thread-790", "thread-789"],
        "summaries-of-thread": ["sum-789-2", "sum-789-1"],
        "chunks-of-message": ["msg-123-0", "msg-123-1", "msg-123-2"],
    }
    for query, found in expected.items():
        assert await ids(cosmos, NAME, containers, query) == found, query


@feature("seeds.queries")
async def test_a_collection_is_one_partition(cosmos):
    """S3-06 S3-30: with the partition named, the same rows, and no others to be seen."""
    _, containers = await filled(cosmos, NAME)
    documents = containers["documents"]
    for collection in ("archives", "messages", "chunks", "threads", "summaries"):
        scoped = await rows(documents.query_items("SELECT * FROM c", partition_key=collection))
        fixtures = blueprint(NAME)["containers"][0]["fixtures"]
        assert len(scoped) == sum(each["collection"] == collection for each in fixtures)
        assert {each["collection"] for each in scoped} == {collection}


@feature("seeds.queries")
async def test_one_query_spans_collections(direct):
    """S3-15, C-52: a thread with its messages, as one list; joining them is the reader's work."""
    _, containers = await filled(direct, NAME)
    found, _ = await ask(direct, NAME, containers, "thread-with-messages")
    assert sorted((each["collection"], each["id"]) for each in found) == [
        ("messages", "msg-124"), ("messages", "unique-document-id"), ("threads", "thread-789"),
    ]  # fmt: skip
    counted, _ = await ask(direct, NAME, containers, "documents-by-collection")
    assert {each["collection"]: each["documents"] for each in counted} == {
        "archives": 3, "messages": 4, "chunks": 4, "threads": 3, "summaries": 3,
    }  # fmt: skip


@feature("seeds.queries")
async def test_messages_of_all_archives_between_two_dates(cosmos):
    """S3-68: the first moment is in, the last is not."""
    _, containers = await filled(cosmos, NAME)
    assert await ids(cosmos, NAME, containers, "messages-between") == ["msg-124", "msg-201"]
    edges = {"from": "2025-01-15T10:30:00Z", "to": "2025-01-16T09:00:00Z"}
    assert await ids(cosmos, NAME, containers, "messages-between", **edges) == ["unique-document-id", "msg-124"]


@feature("seeds.ttl")
async def test_collections_may_live_differently_long_after_all(clocked):
    """S3-21, C-54: the container has no time to live of its own, each item may."""
    _, containers = await stand_up(clocked, NAME)
    fixtures = {each["id"]: each for each in blueprint(NAME)["containers"][0]["fixtures"]}
    documents = containers["documents"]
    await done(documents.create_item({**fixtures["msg-123-0"], "ttl": 7 * DAY}))
    await done(documents.create_item({**fixtures["sum-789-1"], "ttl": 90 * DAY}))
    await done(documents.create_item(fixtures["thread-789"]))
    for days, left in [(7, ["sum-789-1", "thread-789"]), (83, ["thread-789"]), (1000, ["thread-789"])]:
        clocked.server.advance(days * DAY)
        assert sorted(each["id"] for each in await rows(documents.read_all_items())) == left


SPLIT = {
    "archives": "/source", "messages": "/thread_id", "chunks": "/message_id",
    "threads": "/id", "summaries": "/thread_id",
}  # fmt: skip


@feature("seeds.containers")
async def test_every_item_has_a_place_in_the_layout_with_a_container_a_collection(cosmos):
    """S3-42 S3-43 S3-44 S3-45 S3-46, C-55: the keys of the design's migration, and each item found by its key."""
    database = await cosmos.database()
    split = {name: await done(database.create_container(name, PartitionKey(key))) for name, key in SPLIT.items()}
    for item in blueprint(NAME)["containers"][0]["fixtures"]:
        collection = item["collection"]
        await done(split[collection].create_item(item))
        key = item[SPLIT[collection].lstrip("/")]
        assert (await done(split[collection].read_item(item["id"], key)))["id"] == item["id"]
        assert await refused(lambda: split[collection].read_item(item["id"], "elsewhere")) == 404  # noqa: B023


@feature("seeds.items")
async def test_a_batch_within_a_collection_is_all_or_nothing(cosmos):
    """S3-16, C-53: a collection is a partition; a batch that would span two is refused."""
    _, containers = await filled(cosmos, NAME)
    documents = containers["documents"]
    fixtures = {each["id"]: each for each in blueprint(NAME)["containers"][0]["fixtures"]}
    message, thread = {**fixtures["msg-124"], "id": "msg-126"}, {**fixtures["thread-789"], "id": "thread-791"}
    again = [("create", (message,)), ("create", (fixtures["msg-124"],))]
    assert await batch_refused(documents, again, "messages") == 409
    assert await refused(lambda: documents.read_item("msg-126", "messages")) == 404
    spanning = [("create", (message,)), ("create", (thread,))]
    assert await batch_refused(documents, spanning, "messages") == 400
    assert await refused(lambda: documents.read_item("msg-126", "messages")) == 404
    await done(documents.execute_item_batch([("create", (message,))], "messages"))
