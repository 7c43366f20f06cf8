"""Queries of entities: every filter of `tables/filters.json`, parameters, selection, pages and their tokens."""

import base64
import json
import uuid
from datetime import datetime, timezone
from pathlib import Path

import pytest
from azure.data.tables import EntityProperty, TableServiceClient

from harness import done, feature, pages, rows
from storage import ACCOUNT, OPTIONS, key, refused

FOLDER = Path(__file__).parent.parent / "tables"
ENTITIES = json.loads((FOLDER / "entities.json").read_text())
FILTERS = json.loads((FOLDER / "filters.json").read_text())


def typed(entity):
    """The entity as the SDK takes it: annotations of the wire become properties with a type."""
    types = {name.removesuffix("@odata.type"): value for name, value in entity.items() if "@" in name}
    return {name: of_type(value, types.get(name)) for name, value in entity.items() if "@" not in name}


def of_type(value, edm):
    if edm == "Edm.Binary":
        return base64.b64decode(value)
    return EntityProperty(value, edm) if edm else value


@pytest.fixture(scope="session")
def filled(server):
    """The name of a table with all entities of `entities.json`."""
    endpoint = server.storage_endpoint("table", "http", ACCOUNT)
    table = TableServiceClient(endpoint, credential=key(), **OPTIONS).create_table("matrix")
    for entity in ENTITIES:
        table.create_entity(typed(entity))
    return table.table_name


def each(only):
    return pytest.mark.parametrize("entry", [pytest.param(one, id=one["name"]) for one in FILTERS if only in one])


@each("expect")
@feature("tables.queries.filters")
async def test_a_filter_gives_its_rows_in_order(storage, filled, entry):
    table = storage.tables.get_table_client(filled)
    found = await rows(table.query_entities(entry["filter"]))
    assert [f"{row['PartitionKey']}/{row['RowKey']}" for row in found] == entry["expect"]


@each("refused")
@feature("tables.queries.refused")
async def test_a_filter_that_is_none_is_refused(storage, filled, entry):
    table = storage.tables.get_table_client(filled)
    assert await refused(lambda: rows(table.query_entities(entry["filter"]))) == tuple(entry["refused"])


@feature("tables.queries.refused")
async def test_a_page_has_at_most_a_thousand_rows(storage, filled):
    table = storage.tables.get_table_client(filled)
    assert (await refused(lambda: rows(table.list_entities(results_per_page=1001))))[0] == 400


@feature("tables.queries.parameters")
async def test_parameters_of_every_type(storage):
    table = await storage.table()
    values = {
        "text": "it's", "n": -5, "long": EntityProperty(2**40, "Edm.Int64"), "ratio": 1.5, "on": True,
        "id": uuid.uuid4(), "at": datetime(2024, 1, 1, 12, 30, 0, 250_000, tzinfo=timezone.utc), "bytes": b"\x00\xff",
    }  # fmt: skip
    await done(table.create_entity({"PartitionKey": "p", "RowKey": "r", **values}))
    await done(table.create_entity({"PartitionKey": "p", "RowKey": "other"}))
    for name, value in values.items():
        asked = value.value if isinstance(value, EntityProperty) else value
        found = await rows(table.query_entities(f"{name} eq @value", parameters={"value": asked}))
        assert [row["RowKey"] for row in found] == ["r"], name
    # Numbers of 32 bits without a sign are sent without the letter of long ones.
    await done(table.create_entity({"PartitionKey": "p", "RowKey": "big", "n": EntityProperty(2**31, "Edm.Int64")}))
    found = await rows(table.query_entities("n ge @n", parameters={"n": 2**31}))
    assert [row["RowKey"] for row in found] == ["big"]


@feature("tables.queries.select")
async def test_only_selected_properties_are_queried(storage, filled):
    table = storage.tables.get_table_client(filled)
    found = await rows(table.query_entities("PartitionKey eq 'p' and RowKey le 'b'", select=["RowKey", "n", "text"]))
    assert [dict(row) for row in found] == [
        {"RowKey": "a", "n": 1, "text": "apple"}, {"RowKey": "b", "n": 2, "text": "banana"},
    ]  # fmt: skip
    found = await rows(table.query_entities("text eq 'pear'", select="n"))
    assert [dict(row) for row in found] == [{"n": 10}]


async def with_rows(storage, count):
    table = await storage.table()
    for start in range(0, count, 100):
        entities = [{"PartitionKey": "p", "RowKey": f"{n:05}"} for n in range(start, min(count, start + 100))]
        await done(table.submit_transaction([("create", entity) for entity in entities]))
    return table


def keys(found):
    return [row["RowKey"] for page in found for row in page]


@feature("tables.queries.pages")
async def test_pages_have_a_thousand_rows_or_as_many_as_asked(storage):
    table = await with_rows(storage, 1100)
    every = [f"{n:05}" for n in range(1100)]
    found, token = await pages(table.list_entities())
    assert ([len(page) for page in found], keys(found), token) == ([1000, 100], every, None)
    found, _ = await pages(table.query_entities("PartitionKey eq 'p'", results_per_page=300))
    assert ([len(page) for page in found], keys(found)) == ([300, 300, 300, 200], every)
    found, _ = await pages(table.query_entities("RowKey ge '00500'", results_per_page=7), limit=2)
    assert keys(found) == every[500:514]


@feature("tables.queries.pages")
async def test_another_client_goes_on_from_a_token(storage):
    table = await with_rows(storage, 20)
    first, token = await pages(table.list_entities(results_per_page=8), limit=1)
    assert token["PartitionKey"] and all(text.isascii() for text in token.values() if text)
    other = (await storage.client("table")).get_table_client(table.table_name)
    rest, _ = await pages(other.list_entities(results_per_page=8), token)
    assert keys(first + rest) == [f"{n:05}" for n in range(20)]


@feature("tables.queries.pages")
async def test_a_token_outlives_writes_before_and_behind_it(storage):
    table = await with_rows(storage, 20)
    first, token = await pages(table.list_entities(results_per_page=10), limit=1)
    for gone in ("00003", "00009", "00010", "00011"):
        await done(table.delete_entity("p", gone))
    await done(table.create_entity({"PartitionKey": "p", "RowKey": "00000a"}))
    await done(table.create_entity({"PartitionKey": "p", "RowKey": "00015a"}))
    rest, _ = await pages(table.list_entities(results_per_page=3), token)
    expected = [f"{n:05}" for n in range(12, 20)]
    assert keys(rest) == [*expected[:4], "00015a", *expected[4:]]
    assert keys(first) == [f"{n:05}" for n in range(10)]


@feature("tables.queries.pages")
async def test_pages_of_keys_beyond_ascii(storage):
    table = await storage.table()
    names = ["a", "ß", "ä", "日本", "🌙", "Ａ"]
    for name in names:
        await done(table.create_entity({"PartitionKey": name, "RowKey": name}))
    found, _ = await pages(table.list_entities(results_per_page=1))
    # By code units of UTF-16, in which the moon begins with D83C.
    assert keys(found) == names
