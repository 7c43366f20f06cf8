"""The change feed by the pull model: every start, every scope, both modes."""

from datetime import datetime, timezone

from harness import done, feature, pages, refused, rows, same_container

ALL_VERSIONS = {"mode": "AllVersionsAndDeletes"}
BEGINNING = {"start_time": "Beginning"}


@feature("change_feed.latest")
async def test_each_item_comes_once_where_it_was_last_written(cosmos):
    container = await cosmos.container()
    for number in range(5):
        await put(container, number)
    await put(container, 1)
    await done(container.delete_item("i02", "p2"))
    found = await rows(container.query_items_change_feed(**BEGINNING))
    assert ids(found) == ["i00", "i03", "i04", "i01"]
    lsns = [item["_lsn"] for item in found]
    assert lsns == sorted(lsns)


@feature("change_feed.latest")
async def test_without_a_start_only_what_comes_is_told(cosmos):
    container = await cosmos.container()
    await put(container, 0)
    for start in [{}, {"start_time": "Now"}, {"is_start_from_beginning": False}]:
        found, token = await changes(container, **start)
        assert found == []
        await put(container, 1)
        found, token = await changes(container, continuation=token)
        assert ids(found) == ["i01"]
        assert await changes(container, continuation=token) == ([], token_of(container))


@feature("change_feed.latest")
async def test_a_start_at_a_time_leaves_out_what_is_older(clocked):
    container = await clocked.container(offer_throughput=12_000)
    for number in range(10):
        await put(container, number)
    clocked.server.advance(3600)
    for number in range(10, 20):
        last = await put(container, number)
    moment = datetime.fromtimestamp(last["_ts"], timezone.utc)
    # 4.17 cannot read a continuation of its own that began at a time: it takes its milliseconds for seconds.
    found, _ = await changes(container, start_time=moment, max_item_count=3)
    assert sorted(ids(found)) == names(range(10, 20))


@feature("change_feed.latest")
async def test_pages_have_what_was_asked_for_and_go_on(cosmos):
    container = await cosmos.container()
    for number in range(25):
        await put(container, number)
    found, _ = await pages(container.query_items_change_feed(max_item_count=10, **BEGINNING))
    assert [len(page) for page in found] == [10, 10, 5]
    start, token = await pages(container.query_items_change_feed(max_item_count=4, **BEGINNING), limit=2)
    reader = same_container(container, await cosmos.open())
    rest = await rows(reader.query_items_change_feed(continuation=token, max_item_count=4))
    assert ids(sum(start, []) + rest) == names(range(25))


@feature("change_feed.latest")
async def test_items_and_pages_of_a_response_hook_and_a_priority(cosmos):
    container = await cosmos.container()
    await put(container, 0)
    charges = []
    feed = container.query_items_change_feed(
        priority="Low", response_hook=lambda headers, _: charges.append(headers["x-ms-request-charge"]), **BEGINNING
    )  # fmt: skip
    assert ids(await rows(feed)) == ["i00"]
    assert float(charges[0]) > 1


@feature("change_feed.scopes")
async def test_a_partition_key_narrows_the_feed(cosmos):
    container = await cosmos.container(offer_throughput=12_000)
    for number in range(25):
        await put(container, number)
    found, token = await changes(container, partition_key="p3", **BEGINNING)
    assert ids(found) == ["i03", "i13", "i23"]
    await put(container, 4)
    await put(container, 3)
    assert ids((await changes(container, continuation=token))[0]) == ["i03"]


@feature("change_feed.scopes")
async def test_feed_ranges_together_have_every_change_once(cosmos):
    container = await cosmos.container(offer_throughput=24_000)
    for number in range(40):
        await put(container, number)
    ranges = await rows(container.read_feed_ranges())
    found = []
    for each in ranges:
        part = await rows(container.query_items_change_feed(feed_range=each, max_item_count=3, **BEGINNING))
        assert [item["_lsn"] for item in part] == sorted(item["_lsn"] for item in part)
        found += part
    assert len(ranges) == 4 and sorted(ids(found)) == names(range(40))
    own = await done(container.feed_range_from_partition_key("p7"))
    assert ids((await changes(container, feed_range=own, **BEGINNING))[0]) == ["i07", "i17", "i27", "i37"]


@feature("change_feed.scopes")
async def test_a_whole_container_of_several_ranges_is_one_feed(cosmos):
    container = await cosmos.container(offer_throughput=24_000)
    for number in range(40):
        await put(container, number)
    found, token = await changes(container, max_item_count=4, **BEGINNING)
    assert sorted(ids(found)) == names(range(40))
    for number in range(40, 50):
        await put(container, number)
    assert sorted(ids((await changes(container, continuation=token))[0])) == names(range(40, 50))


@feature("change_feed.scopes")
async def test_a_range_by_its_number_goes_on_by_its_etag(cosmos):
    container = await cosmos.container()
    for number in range(6):
        await put(container, number)
    old = {"partition_key_range_id": "0", "is_start_from_beginning": True}
    start, token = await pages(container.query_items_change_feed(max_item_count=4, **old), limit=1)
    assert token.strip('"').isdigit()
    rest = await rows(container.query_items_change_feed(partition_key_range_id="0", continuation=token))
    assert ids(start[0]) + ids(rest) == names(range(6))


@feature("change_feed.split")
async def test_a_feed_that_began_before_the_split_ends_after_it(cosmos):
    container = await cosmos.container(offer_throughput=400)
    for number in range(20):
        await put(container, number)
    start, token = await pages(container.query_items_change_feed(max_item_count=6, **BEGINNING), limit=1)
    operator = same_container(container, await cosmos.open())
    await done(operator.replace_throughput(12_000))
    for number in range(20, 30):
        await put(operator, number)
    found = sum(start, []) + (await changes(container, continuation=token, max_item_count=6))[0]
    assert sorted(ids(found)) == names(range(30))


@feature("change_feed.all_versions")
async def test_every_version_names_the_one_before_and_a_delete_shows_it(cosmos):
    container = await cosmos.container(offer_throughput=12_000)
    await put(container, 0)
    found, token = await changes(container, **ALL_VERSIONS)
    assert found == []
    await put(container, 1, text="first")
    await put(container, 1, text="second")
    await done(container.delete_item("i01", "p1"))
    found, token = await changes(container, continuation=token, max_item_count=1)
    assert [change["metadata"]["operationType"] for change in found] == ["create", "replace", "delete"]
    create, replace, delete = found
    assert create["current"]["text"] == "first" and "previous" not in create
    assert replace["current"]["text"] == "second" and "previous" not in replace
    assert replace["metadata"]["previousImageLSN"] == create["metadata"]["lsn"]
    assert delete["current"] == {} and delete["previous"]["text"] == "second"
    assert (delete["metadata"]["id"], delete["metadata"]["partitionKey"]) == ("i01", ["p1"])
    assert not delete["metadata"]["timeToLiveExpired"]
    assert (await changes(container, continuation=token))[0] == []


@feature("change_feed.all_versions")
async def test_a_container_that_asks_for_pre_images_shows_what_was_replaced(cosmos):
    container = await cosmos.container(change_feed_policy={"retentionDuration": 10, "preImages": True})
    _, token = await changes(container, **ALL_VERSIONS)
    await put(container, 1, text="first")
    await put(container, 1, text="second")
    found, _ = await changes(container, continuation=token)
    assert (found[1]["current"]["text"], found[1]["previous"]["text"]) == ("second", "first")


@feature("change_feed.all_versions")
async def test_the_versions_of_a_partition_or_a_range_alone(cosmos):
    container = await cosmos.container(offer_throughput=12_000)
    own = await done(container.feed_range_from_partition_key("p1"))
    scopes = [{"partition_key": "p1"}, {"feed_range": own}]
    tokens = [(await changes(container, **scope, **ALL_VERSIONS))[1] for scope in scopes]
    for number in range(12):
        await put(container, number)
    for token in tokens:
        found, _ = await changes(container, continuation=token)
        assert [change["current"]["id"] for change in found] == ["i01", "i11"]


@feature("change_feed.all_versions")
async def test_an_item_that_expired_is_a_delete_that_says_so(clocked):
    container = await clocked.container(default_ttl=-1)
    _, token = await changes(container, **ALL_VERSIONS)
    await done(container.create_item({"id": "short", "pk": "p", "ttl": 5}))
    clocked.server.advance(6)
    found = []
    # The reaper runs in the background; nothing else comes until it has.
    while len(found) < 2:
        news, token = await changes(container, continuation=token)
        found += news
    assert found[1]["metadata"]["timeToLiveExpired"] and found[1]["previous"]["id"] == "short"


@feature("change_feed.retention")
async def test_a_continuation_older_than_the_retention_is_refused(clocked):
    container = await clocked.container()
    _, token = await changes(container, **ALL_VERSIONS)
    await put(container, 0)
    clocked.server.advance(6 * 86_400)
    assert len((await changes(container, continuation=token))[0]) == 1
    clocked.server.advance(2 * 86_400)
    assert await refused(lambda: changes(container, continuation=token)) == 400
    assert ids((await changes(container, **BEGINNING))[0]) == ["i00"]


async def changes(container, **options):
    """All that is new, and where to go on."""
    found = await rows(container.query_items_change_feed(**options))
    return found, token_of(container)


def token_of(container):
    return container.client_connection.last_response_headers["etag"]


async def put(container, number, **members):
    item = {"id": f"i{number:02}", "pk": f"p{number % 10}", **members}
    return await done(container.upsert_item(item))


def names(numbers):
    return [f"i{number:02}" for number in numbers]


def ids(found):
    return [item["id"] for item in found]
