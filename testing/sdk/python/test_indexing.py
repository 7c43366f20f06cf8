"""Indexing: policies of every kind, changed under items, left out of by single items, and told of by queries."""

import asyncio
import json
import time
from pathlib import Path

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.documents import IndexingDirective
from azure.cosmos.exceptions import CosmosHttpResponseError

from harness import assert_holds, done, feature, refused, rows

POLICIES = json.loads((Path(__file__).parent.parent / "indexing/policies.json").read_text())
PROGRESS = "x-ms-documentdb-collection-index-transformation-progress"
CHARGE = "x-ms-request-charge"
INDEXED_SECONDS_MAX = 30
ITEMS = 300


def item(n):
    return {
        "id": str(n), "pk": f"p{n % 5}", "n": n, "kind": f"k{n % 7}", "rank": n * 37 % 101,
        "tags": [f"t{n % 3}", f"t{n % 11}"], "info": {"half": n // 2}, "odd name": n % 2 == 0, "filler": "x" * 200,
    }  # fmt: skip


@feature("indexing.policies")
async def test_a_policy_of_every_kind_comes_back_as_it_was_given(cosmos):
    for policy in POLICIES["accepted"].values():
        container = await cosmos.container(indexing_policy=policy)
        assert_holds((await done(container.read()))["indexingPolicy"], policy)


@feature("indexing.policies")
async def test_a_policy_that_makes_no_sense_is_refused(cosmos):
    for name, policy in POLICIES["refused"].items():
        assert await refused(lambda: cosmos.container(indexing_policy=policy)) == 400, name  # noqa: B023


@feature("indexing.replace")
async def test_queries_are_right_while_the_policy_changes(cosmos):
    database = await cosmos.database()
    container = await done(database.create_container("c", PartitionKey("/pk")))
    for n in range(ITEMS):
        await done(container.create_item(item(n)))
    for name in POLICIES["changes"]:
        policy = POLICIES["accepted"][name]
        await done(database.replace_container(container, PartitionKey("/pk"), indexing_policy=policy))
        await assert_answers(cosmos, container)
        await until_indexed(container)
        assert_holds((await done(container.read()))["indexingPolicy"], policy)
        await assert_answers(cosmos, container)


@feature("indexing.replace")
async def test_items_are_written_while_the_policy_changes(cosmos):
    database = await cosmos.database()
    container = await done(database.create_container("c", PartitionKey("/pk")))
    for n in range(ITEMS):
        if n % 60 == 30:
            policy = POLICIES["accepted"][POLICIES["changes"][n // 60]]
            await done(database.replace_container(container, PartitionKey("/pk"), indexing_policy=policy))
        await done(container.create_item({**item(n), "kind": "before"}))
        await done(container.replace_item(str(n), item(n)))
    await assert_answers(cosmos, container)
    await until_indexed(container)
    await assert_answers(cosmos, container)


@feature("indexing.directive")
async def test_an_item_may_be_left_out_of_the_index_and_taken_in_again(cosmos):
    container = await cosmos.container()
    for n in range(20):
        directive = IndexingDirective.Exclude if n == 8 else IndexingDirective.Default
        await done(container.create_item(item(n), indexing_directive=directive))
    assert (await done(container.read_item("8", "p3")))["n"] == 8
    await assert_answers(cosmos, container, 20)
    await done(container.delete_item("8", "p3"))
    await done(container.create_item(item(8), indexing_directive=IndexingDirective.Include))
    await assert_answers(cosmos, container, 20)


@feature("indexing.directive")
async def test_an_item_is_indexed_on_request_where_nothing_else_is(cosmos):
    container = await cosmos.container(indexing_policy=POLICIES["accepted"]["on request"])
    for n in range(20):
        directive = IndexingDirective.Include if n % 2 else None
        await done(container.create_item(item(n), indexing_directive=directive))
    await assert_answers(cosmos, container, 20)


@feature("indexing.metrics")
async def test_a_query_tells_which_indexes_it_used(cosmos):
    container = await cosmos.container(indexing_policy=POLICIES["accepted"]["composites"])
    for n in range(20):
        await done(container.create_item(item(n)))
    metrics = await index_metrics(cosmos, container, "SELECT * FROM c WHERE c.kind = 'k3'")
    names = {f"{use}{kind}Indexes" for use in ("Utilized", "Potential") for kind in ("Single", "Composite")}
    assert metrics.keys() == names and all(isinstance(each, list) for each in metrics.values())
    assert [each["IndexSpec"] for each in metrics["UtilizedSingleIndexes"]] == ["/kind/?"]
    metrics = await index_metrics(cosmos, container, "SELECT * FROM c WHERE c.kind = 'k3' ORDER BY c.rank DESC")
    assert is_by_rank(metrics["UtilizedCompositeIndexes"]), metrics


@feature("indexing.metrics")
async def test_a_query_tells_which_indexes_would_help(cosmos):
    policy = {"includedPaths": [{"path": "/kind/?"}], "excludedPaths": [{"path": "/*"}]}
    container = await cosmos.container(indexing_policy=policy)
    for n in range(20):
        await done(container.create_item(item(n)))
    metrics = await index_metrics(cosmos, container, "SELECT * FROM c WHERE c.rank = 3")
    assert metrics["UtilizedSingleIndexes"] == []
    assert [each["IndexSpec"] for each in metrics["PotentialSingleIndexes"]] == ["/rank/?"]
    metrics = await index_metrics(cosmos, container, "SELECT * FROM c WHERE c.kind = 'k3' ORDER BY c.rank DESC")
    assert is_by_rank(metrics["PotentialCompositeIndexes"]), metrics


@feature("indexing.metrics")
async def test_the_partition_key_of_a_request_counts_as_a_filter(cosmos):
    container = await cosmos.container()
    for n in range(20):
        await done(container.create_item(item(n)))
    found = container.query_items("SELECT * FROM c", partition_key="p1", populate_index_metrics=True)
    assert len(await rows(found)) == 4
    metrics = container.client_connection.last_response_headers["x-ms-cosmos-index-utilization"]
    assert [each["IndexSpec"] for each in metrics["UtilizedSingleIndexes"]] == ["/pk/?"]


@feature("indexing.index_only")
async def test_an_aggregate_that_indexes_answer_retrieves_no_document(cosmos):
    container = await cosmos.container()
    for n in range(20):
        await done(container.create_item({**item(n), "pk": "p"}))
    for query, expected in (
        ("SELECT VALUE COUNT(1) FROM c", 20),
        ("SELECT VALUE COUNT(1) FROM c WHERE c.n < 5", 5),
        ("SELECT VALUE MAX(c.n) FROM c", 19),
    ):
        found = container.query_items(query, partition_key="p", populate_query_metrics=True)
        assert await rows(found) == [expected]
        text = container.client_connection.last_response_headers["x-ms-documentdb-query-metrics"]
        metrics = dict(entry.split("=") for entry in text.split(";"))
        assert (metrics["retrievedDocumentCount"], metrics["indexUtilizationRatio"]) == ("0", "1.00"), query


@feature("indexing.composite_order")
async def test_an_order_by_several_properties_needs_its_composite_index(cosmos):
    composite = [{"path": "/kind", "order": "ascending"}, {"path": "/rank", "order": "descending"}]
    container = await cosmos.container(indexing_policy={"compositeIndexes": [composite]})
    for n in range(20):
        await done(container.create_item({**item(n), "pk": "p"}))
    items = [item(n) for n in range(20)]

    async def asked(order):
        query = f"SELECT VALUE c.n FROM c WHERE c.pk = 'p' ORDER BY {order}"
        return await rows(container.query_items(query, partition_key="p"))

    expected = [each["n"] for each in sorted(items, key=lambda it: (it["kind"], -it["rank"]))]
    assert await asked("c.kind, c.rank DESC") == expected
    assert await asked("c.kind DESC, c.rank ASC") == expected[::-1]
    assert len(await asked("c.rank")) == 20
    for order in ("c.kind, c.rank", "c.rank DESC, c.kind", "c.pk, c.kind, c.rank DESC", "c.kind, c.n"):
        with pytest.raises(CosmosHttpResponseError, match="does not have a corresponding composite index") as error:
            await asked(order)
        assert error.value.status_code == 400, order


@feature("indexing.charge")
async def test_a_larger_item_is_charged_more(cosmos):
    container = await cosmos.container()
    charges = []
    for n, size in enumerate((100, 5_000, 50_000)):
        written = await done(container.create_item({"id": str(n), "pk": "p", "filler": "x" * size}))
        read = await done(container.read_item(str(n), "p"))
        replaced = await done(container.replace_item(str(n), {**item(n), "pk": "p", "filler": "y" * size}))
        charges.append([float(each.get_response_headers()[CHARGE]) for each in (written, read, replaced)])
    for smaller, larger in zip(charges, charges[1:], strict=False):
        assert all(0 < a < b for a, b in zip(smaller, larger, strict=True)), charges
    again = await done(container.read_item("0", "p"))
    assert float(again.get_response_headers()[CHARGE]) == charges[0][1], "the same costs the same"


@feature("indexing.charge")
async def test_a_query_is_charged_by_what_it_reads(cosmos):
    container = await cosmos.container()
    for n in range(100):
        await done(container.create_item(item(n)))
    few = await charge(cosmos, container, "SELECT * FROM c WHERE c.pk = 'p1' AND c.id = '1'")
    all_of_them = await charge(cosmos, container, "SELECT * FROM c")
    assert 0 < few < all_of_them


# --- what the tests ask -----------------------------------------------------------------------------------------

async def assert_answers(cosmos, container, count=ITEMS):
    """Every kind of question an index answers, asked of items 0 to `count`."""
    items = [item(n) for n in range(count)]

    async def found(condition, keep, **scope):
        query = f"SELECT c.n, c.rank FROM c WHERE {condition}"
        found = await rows(container.query_items(query, **(scope or cosmos.everywhere)))
        expected = [each["n"] for each in items if keep(each)]
        assert sorted(row["n"] for row in found) == expected, condition
        return [row["rank"] for row in found]

    await found("c.kind = 'k3'", lambda it: it["kind"] == "k3")
    await found("c.rank >= 20 AND c.rank < 40", lambda it: 20 <= it["rank"] < 40)
    await found("ARRAY_CONTAINS(c.tags, 't2')", lambda it: "t2" in it["tags"])
    await found("c['odd name'] AND c.info.half > 5", lambda it: it["odd name"] and it["info"]["half"] > 5)
    await found("c.kind = 'k2'", lambda it: (it["kind"], it["pk"]) == ("k2", "p1"), partition_key="p1")
    ranks = await found("c.kind = 'k1' ORDER BY c.rank DESC", lambda it: it["kind"] == "k1")
    assert ranks == sorted(ranks, reverse=True)
    counted = await rows(
        container.query_items("SELECT VALUE COUNT(1) FROM c WHERE c.kind = 'k4'", **cosmos.everywhere)
    )
    assert counted == [sum(it["kind"] == "k4" for it in items)]


async def until_indexed(container):
    """Waits until every item is indexed as the policy says."""
    deadline = time.monotonic() + INDEXED_SECONDS_MAX
    while (progress := int((await done(container.read())).get_response_headers()[PROGRESS])) != 100:
        assert 0 <= progress < 100 and time.monotonic() < deadline, f"{progress} % indexed"
        await asyncio.sleep(0.02)


async def index_metrics(cosmos, container, query):
    seen = await headers(cosmos, container, query, populate_index_metrics=True)
    return seen["x-ms-cosmos-index-utilization"]


def is_by_rank(composites):
    """Whether one of these gives the items of a kind in the order of their ranks, forwards or backwards."""
    begins = [[part.split(" ")[0] for part in each["IndexSpecs"]][:2] for each in composites]
    return ["/kind", "/rank"] in begins


async def charge(cosmos, container, query):
    return float((await headers(cosmos, container, query))[CHARGE])


async def headers(cosmos, container, query, **options):
    """The headers of the answer's last page, as the SDK gives them to a program."""
    await rows(container.query_items(query, **cosmos.everywhere, **options))
    return container.client_connection.last_response_headers
