"""Feeds: every item once, page by page, range by range, and while a container splits."""

from harness import done, feature, pages, rows, same_container


@feature("feeds.read_all")
async def test_read_all_gives_every_item_once_in_pages(cosmos):
    container = await filled(cosmos, 25)
    found, _ = await pages(container.read_all_items(max_item_count=10))
    assert all(len(page) <= 10 for page in found)
    assert ids(sum(found, [])) == names(25)


@feature("feeds.read_all")
async def test_an_empty_container_reads_as_nothing(cosmos):
    container = await cosmos.container()
    assert await rows(container.read_all_items()) == []


@feature("feeds.read_all")
async def test_select_star_gives_every_item_or_one_partition(cosmos):
    container = await filled(cosmos, 25)
    everything = container.query_items("SELECT * FROM c", max_item_count=10, **cosmos.everywhere)
    assert ids(await rows(everything)) == names(25)
    assert ids(await rows(container.query_items("SELECT * FROM c", partition_key="p7"))) == ["i07", "i17"]


@feature("feeds.read_all")
async def test_large_items_end_a_page_early_and_none_is_lost(cosmos):
    container = await cosmos.container()
    for number in range(6):
        await done(container.create_item({"id": f"i{number:02}", "pk": "p", "text": "x" * 1_000_000}))
    found, _ = await pages(container.read_all_items(max_item_count=100))
    assert len(found) > 1
    assert ids(sum(found, [])) == names(6)


@feature("feeds.resume")
async def test_a_token_goes_on_where_the_page_ended(cosmos):
    container = await filled(cosmos, 25)
    start, token = await pages(container.read_all_items(max_item_count=5), limit=2)
    assert token
    reader = same_container(container, await cosmos.open())
    rest, _ = await pages(reader.read_all_items(max_item_count=5), token=token)
    assert ids(sum(start + rest, [])) == names(25)


@feature("feeds.insertion_order")
async def test_items_come_in_the_order_of_their_creation(cosmos):
    container = await cosmos.container()
    created = [{"id": f"i{number * 7 % 25:02}", "pk": f"p{number % 3}", "n": number} for number in range(25)]
    for each in created:
        await done(container.create_item(each))
    await done(container.upsert_item({**created[4], "again": True}))
    everything = list(range(25))
    found, _ = await pages(container.read_all_items(max_item_count=4))
    assert [row["n"] for row in sum(found, [])] == everything
    query = container.query_items("SELECT * FROM c", max_item_count=4, **cosmos.everywhere)
    assert [row["n"] for row in await rows(query)] == everything
    query = container.query_items("SELECT c.n FROM c WHERE c.n != 3", partition_key="p0", max_item_count=4)
    assert [row["n"] for row in await rows(query)] == [n for n in everything if n % 3 == 0 and n != 3]


@feature("feeds.ranges")
async def test_throughput_decides_the_number_of_ranges(cosmos):
    for throughput, ranges in [(400, 1), (12_000, 2), (30_000, 5)]:
        container = await cosmos.container(offer_throughput=throughput)
        assert len(await rows(container.read_feed_ranges())) == ranges


@feature("feeds.ranges")
async def test_items_of_several_ranges_are_written_and_read(cosmos):
    container = await filled(cosmos, 40, offer_throughput=30_000)
    found, _ = await pages(container.read_all_items(max_item_count=7))
    assert ids(sum(found, [])) == names(40)
    ranges_seen = set()
    for number in range(10):
        read = await done(container.read_item(f"i{number:02}", f"p{number}"))
        ranges_seen.add(read.get_response_headers()["x-ms-documentdb-partitionkeyrangeid"])
    assert len(ranges_seen) > 1


@feature("feeds.range_of_key")
async def test_the_range_of_a_key_lies_in_one_of_the_containers_ranges(cosmos):
    container = await cosmos.container(offer_throughput=12_000)
    ranges = await rows(container.read_feed_ranges())
    for number in range(10):
        own = await done(container.feed_range_from_partition_key(f"p{number}"))
        inside = [await done(container.is_feed_range_subset(each, own)) for each in ranges]
        assert inside.count(True) == 1


@feature("feeds.by_range")
async def test_the_ranges_together_have_every_item_once(cosmos):
    container = await filled(cosmos, 40, offer_throughput=12_000)
    found = []
    for each in await rows(container.read_feed_ranges()):
        part = await rows(container.query_items("SELECT * FROM c", feed_range=each, max_item_count=7))
        assert 0 < len(part) < 40
        found += part
    assert ids(found) == names(40)


@feature("feeds.by_range")
async def test_the_range_of_a_key_has_its_items_alone(cosmos):
    container = await filled(cosmos, 40, offer_throughput=12_000)
    own = await done(container.feed_range_from_partition_key("p3"))
    found = await rows(container.query_items("SELECT * FROM c", feed_range=own))
    assert ids(found) == ["i03", "i13", "i23", "i33"]


@feature("feeds.split")
async def test_a_client_goes_on_while_its_container_splits(cosmos):
    container = await filled(cosmos, 20, offer_throughput=400)
    assert len(await rows(container.read_feed_ranges())) == 1
    operator = same_container(container, await cosmos.open())
    await done(operator.replace_throughput(12_000))
    for number in range(20, 40):
        await done(container.create_item(item(number)))
    for number in range(40):
        assert (await done(container.read_item(f"i{number:02}", f"p{number % 10}")))["n"] == number
    assert ids(await rows(container.read_all_items(max_item_count=7))) == names(40)
    assert len(await rows(container.read_feed_ranges(force_refresh=True))) == 2


@feature("feeds.split")
async def test_a_feed_that_began_before_the_split_ends_after_it(cosmos):
    container = await filled(cosmos, 30, offer_throughput=400)
    start, token = await pages(container.read_all_items(max_item_count=4), limit=2)
    await done(container.replace_throughput(12_000))
    rest, _ = await pages(container.read_all_items(max_item_count=4), token=token)
    assert ids(sum(start + rest, [])) == names(30)


async def filled(cosmos, count, **options):
    container = await cosmos.container(**options)
    for number in range(count):
        await done(container.create_item(item(number)))
    return container


def item(number):
    return {"id": f"i{number:02}", "pk": f"p{number % 10}", "n": number}


def names(count):
    return [f"i{number:02}" for number in range(count)]


def ids(found):
    return sorted(row["id"] for row in found)
