"""The query matrix as the tests see it: the queries, the containers they are asked of, and when two answers agree.

`queries/` has the items and, for each query, the rows it must give. The items lie in one container of one range
and in one of four; both are filled once a session, and every SDK and transport asks the same two.
"""

import json
import math
import sys
from pathlib import Path

import pytest
from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.partition_key import NullPartitionKeyValue

from harness import KEY

QUERIES = Path(__file__).parent.parent / "queries"
GROUPS = ["select", "where", "order", "join", "aggregates", "functions", "parameters", "search", "paging"]
THROUGHPUT = {"one": 400, "four": 24_000}
PAGE_SIZES = [None, 1, 7]
SYSTEM = {"_rid", "_self", "_etag", "_ts", "_attachments"}

sys.path.insert(0, str(QUERIES))
import expect  # noqa: E402

if expect.check() != 0:
    raise pytest.UsageError("the query matrix is stale")

ITEMS = json.loads((QUERIES / "items.json").read_text())
MATRIX = {name: json.loads((QUERIES / f"{name}.json").read_text()) for name in GROUPS}


def entries(*groups, only="name"):
    """The queries of these groups that have a member of this name, one test each."""
    chosen = [(name, each) for name in groups for each in MATRIX[name] if only in each]
    return pytest.mark.parametrize("entry", [pytest.param(each, id=f"{name}-{each['name']}") for name, each in chosen])


def fill(server):
    """The two containers with all items, by their names: {ranges: (database, container)}."""
    policies = json.loads((QUERIES / "container.json").read_text())
    client = CosmosClient(server.endpoint("http"), KEY)
    database = client.create_database("matrix")
    for name, throughput in THROUGHPUT.items():
        container = database.create_container(
            name, PartitionKey("/pk"), offer_throughput=throughput, indexing_policy=policies["indexingPolicy"],
            vector_embedding_policy=policies["vectorEmbeddingPolicy"], full_text_policy=policies["fullTextPolicy"],
        )  # fmt: skip
        for item in ITEMS:
            container.create_item(item)
    return {name: ("matrix", name) for name in THROUGHPUT}


def scope(entry, cosmos):
    """The arguments that say which partitions are asked."""
    if entry["scope"] == "cross":
        return cosmos.everywhere
    key = entry["scope"]["pk"]
    return {"partition_key": NullPartitionKeyValue if key is None else key}


def asked(entry, **options):
    """The arguments of `query_items`."""
    sized = {name: value for name, value in options.items() if value is not None}
    given = {"parameters": entry["parameters"]} if "parameters" in entry else {}
    return {"query": entry["query"], **given, **sized}


# --- when two answers agree -------------------------------------------------------------------------------------

def assert_rows(entry, found, asking):
    """The rows are those expected: in order where the query has one, each as often as expected otherwise."""
    expected = entry["expect"]
    if entry.get("close"):
        agree = len(found) == len(expected) and all(map(close, found, expected))
    elif entry["ordered"]:
        agree = [text(row) for row in found] == [text(row) for row in expected]
    else:
        agree = sorted(map(text, found)) == sorted(map(text, expected))
    assert agree, f"{asking}: {entry['query']}\n  gave     {found}\n  expected {expected}"


def text(row):
    """One text for each value, whatever the order of its members and the way its numbers are written."""
    return json.dumps(plain(row), sort_keys=True)


def plain(value):
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items() if name not in SYSTEM}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def close(a, b):
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(close(a[name], b[name]) for name in a)
    return a == b
