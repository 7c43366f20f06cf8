"""Queries over several partitions: the server leaves merging to the SDK, as the service does."""

import json

import pytest
from azure.cosmos.exceptions import CosmosHttpResponseError

import matrix
from harness import feature, pages, rows
from matrix import asked, assert_rows, entries
from test_queries import same

# What the SDK's pipeline cannot merge, or merges to something else than one range answers.
BEYOND = {
    # It compares no two types, and nothing with a key that is missing.
    "mixed_types_scalars", "mixed_types_descending", "a_missing_key_comes_first", "distinct_of_every_type",
    # It adds up what it can, and knows no empty answer.
    "sum_of_mixed_types_is_undefined", "avg_of_nothing_is_no_row", "avg_of_mixed_types_is_undefined",
    "min_of_nothing_is_no_row",
}  # fmt: skip


@pytest.fixture(scope="session")
def merged(server):
    return matrix.fill(server)


def is_beyond(entry):
    """GROUP BY, aggregates without VALUE and counts of distinct rows are not in the SDK."""
    query = entry["query"].upper()
    is_listed = "GROUP BY" in query or entry["name"] in BEYOND or entry["name"] == "count_of_distinct"
    is_bare = any(f"{name}(" in query for name in ("COUNT", "SUM", "AVG", "MIN", "MAX")) and "SELECT VALUE" not in query
    return is_listed or (is_bare and "(SELECT" not in query)


async def refusal(feed):
    with pytest.raises(CosmosHttpResponseError) as error:
        await rows(feed)
    assert error.value.status_code == 400
    return error.value


@feature("queries.cross_partition")
@entries("order", "aggregates", "paging")
async def test_the_sdk_merges_the_ranges(cosmos, merged, entry):
    if entry["scope"] != "cross" or is_beyond(entry):
        return
    found, _ = await pages(same(cosmos, merged["four"]).query_items(**asked(entry, max_item_count=7), **cosmos.everywhere))
    assert_rows(entry, sum(found, []), "by the pipeline")


@feature("queries.cross_partition")
async def test_the_greatest_of_nothing_is_null(cosmos, merged):
    for ranges in ("one", "four"):
        query = same(cosmos, merged[ranges]).query_items("SELECT VALUE MAX(c.n) FROM c WHERE c.none = 1", **cosmos.everywhere)
        assert await rows(query) == [None]


@feature("queries.cross_partition")
async def test_aggregates_without_value_are_refused(cosmos, merged):
    for text in ("SELECT COUNT(1) FROM c", "SELECT c.pk, COUNT(1) AS k FROM c GROUP BY c.pk"):
        error = await refusal(same(cosmos, merged["one"]).query_items(text, **cosmos.everywhere))
        assert "VALUE <AggregateFunc>" in str(error)


@feature("queries.cross_partition")
async def test_a_query_over_all_partitions_must_say_so(cosmos, merged):
    container = same(cosmos, merged["four"])
    if cosmos.sdk == "python":
        for feed in (container.query_items("SELECT * FROM c"), container.query_conflicts("SELECT * FROM c")):
            assert "Cross partition query is required but disabled" in str(await refusal(feed))
    assert await rows(container.query_items("SELECT VALUE 1", **cosmos.everywhere)) == [1]


@feature("queries.cross_partition")
async def test_each_range_is_a_page_and_its_token_is_json(cosmos, merged):
    container = same(cosmos, merged["four"])
    seen, token, shapes = [], None, []
    while token or not seen:
        found, token = await pages(container.query_items("SELECT * FROM c", **cosmos.everywhere), token=token, limit=1)
        seen.append(sum(found, []))
        shapes += [json.loads(token)] if token else []
    assert len(seen) == 4, "a page for each range"
    assert sorted(item["id"] for page in seen for item in page) == sorted(item["id"] for item in matrix.ITEMS)
    assert set(shapes[0]) == {"token", "range"} and set(shapes[1][0]) == {"token", "range"}
    assert shapes[0]["range"]["min"] == shapes[0]["range"]["min"].upper() != ""
