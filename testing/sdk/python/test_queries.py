"""Queries: every one of the matrix, on one range and on four, in pages of several sizes.

What the language means is asked of a server that answers every query itself; `test_cross_partition.py` asks the SDK's
own pipeline.
"""

import pytest
from azure.cosmos.exceptions import CosmosHttpResponseError

import matrix
from harness import done, feature, pages, rows
from matrix import PAGE_SIZES, asked, assert_rows, entries, scope


@pytest.fixture(scope="session")
def filled(direct_server):
    return matrix.fill(direct_server)


def ask(group):
    """The test of a group of queries."""

    @feature(f"queries.{group}")
    @entries(group)
    async def test(direct, filled, entry):
        for ranges, size in runs(direct):
            container = same(direct, filled[ranges])
            found, _ = await pages(container.query_items(**asked(entry, max_item_count=size), **scope(entry, direct)))
            assert size is None or all(len(page) <= size for page in found)
            assert_rows(entry, sum(found, []), f"{ranges} ranges, pages of {size}")

    return test


def runs(direct):
    """Every container and page size over http with the plain SDK; once with the others, which differ in little."""
    if (direct.sdk, direct.transport) == ("python", "http"):
        return [(ranges, size) for ranges in ("one", "four") for size in PAGE_SIZES]
    return [("four", 7)]


test_select = ask("select")
test_where = ask("where")
test_order = ask("order")
test_join = ask("join")
test_aggregates = ask("aggregates")
test_functions = ask("functions")
test_parameters = ask("parameters")
test_search = ask("search")
test_paging = ask("paging")


@feature("queries.resume")
@entries("paging")
async def test_each_page_is_found_by_its_token_alone(direct, filled, entry):
    for ranges in ("one", "four"):
        container = same(direct, filled[ranges])
        found, token = [], None
        while token or not found:
            query = container.query_items(**asked(entry, max_item_count=7), **scope(entry, direct))
            page, token = await pages(query, token=token, limit=1)
            found.append(sum(page, []))
        assert_rows(entry, sum(found, []), f"{ranges} ranges, page by page")


@feature("queries.by_range")
@entries(*matrix.GROUPS, only="splits")
async def test_the_ranges_together_give_every_row_once(direct, filled, entry):
    container = same(direct, filled["four"])
    ranges = await rows(container.read_feed_ranges())
    assert len(ranges) == 4
    found = [await rows(container.query_items(**asked(entry), feed_range=each)) for each in ranges]
    assert_rows(entry, sum(found, []), "range by range")


@feature("queries.by_range")
async def test_every_range_has_some_of_the_items(direct, filled):
    container = same(direct, filled["four"])
    counts = []
    for each in await rows(container.read_feed_ranges()):
        counts.append(len(await rows(container.query_items("SELECT * FROM c", feed_range=each))))
    assert sum(counts) == len(matrix.ITEMS) and min(counts) > 5, counts


READ_MANY = matrix.json.loads((matrix.QUERIES / "read_many.json").read_text())


@feature("queries.read_many")
@pytest.mark.parametrize("wanted", [pytest.param(each["items"], id=each["name"]) for each in READ_MANY])
async def test_read_many_gives_what_is_there(direct, filled, wanted):
    if wanted == "all":
        wanted = [[item["id"], item["pk"]] for item in matrix.ITEMS if isinstance(item.get("pk"), str)]
    expected = [item for item in matrix.ITEMS if any(same_key(item, *each) for each in wanted)]
    for ranges in ("one", "four"):
        found = await done(same(direct, filled[ranges]).read_items([tuple(each) for each in wanted]))
        assert sorted(map(matrix.text, found)) == sorted(map(matrix.text, expected))


@feature("queries.rank")
async def test_the_words_of_a_phrase_are_scored_separately(cosmos):
    container = await cosmos.container()
    texts = {"none": "Kingdom of Norway", "one": "United Kingdom", "both": "The United States", "more": "united states"}
    for id, text in texts.items():
        await done(container.create_item({"id": id, "pk": "p", "text": text}))
    query = "SELECT TOP 4 VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, 'United States')"
    assert await rows(container.query_items(query, partition_key="p")) == ["both", "more", "one", "none"]


@feature("queries.rank")
async def test_a_ranking_has_no_direction(cosmos):
    container = await cosmos.container()
    for order, why in (
        ("RANK FullTextScore(c.text, 'a') DESC", "Specifying a sort order .ASC or DESC. in the ORDER BY RANK clause"),
        ("VectorDistance(c.v, [1, 2]) ASC", "Specifying a sorting order .ASC or DESC. with VectorDistance"),
    ):
        with pytest.raises(CosmosHttpResponseError, match=why) as error:
            await rows(container.query_items(f"SELECT TOP 3 * FROM c ORDER BY {order}", partition_key="p"))
        assert error.value.status_code == 400


def same_key(item, id, key):
    return item["id"] == id and type(item.get("pk")) is type(key) and item["pk"] == key


def same(direct, place):
    """The container as the SDK of this test sees it."""
    database, container = place
    return direct.client.get_database_client(database).get_container_client(container)
