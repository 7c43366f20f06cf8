"""Entity group transactions: every kind of operation, all of them or none."""

import pytest
from azure.core import MatchConditions
from azure.data.tables import RequestTooLargeError, TableTransactionError, UpdateMode

from harness import done, feature, rows
from storage import refused

REPLACE = {"mode": UpdateMode.REPLACE}


def entity(row, **more):
    return {"PartitionKey": "p", "RowKey": row, **more}


async def found(table):
    return {row["RowKey"]: row.get("n") for row in await rows(table.list_entities())}


async def culprit(table, operations):
    """Which operation a transaction failed for, with which status and code."""
    with pytest.raises(TableTransactionError) as raised:
        await done(table.submit_transaction(operations))
    error = raised.value
    return error.index, error.status_code, error.error_code


@feature("tables.transactions.commit")
async def test_a_transaction_does_every_kind_of_operation(storage):
    table = await storage.table()
    for row in ("merged", "replaced", "upmerged", "upreplaced", "gone", "tagged"):
        await done(table.create_entity(entity(row, n=1, m=1)))
    tagged = await done(table.get_entity("p", "tagged"))
    answers = await done(table.submit_transaction([
        ("create", entity("new", n=2)),
        ("update", entity("merged", n=2)),
        ("update", entity("replaced", n=2), REPLACE),
        ("upsert", entity("upmerged", n=2)),
        ("upsert", entity("upreplaced", n=2), REPLACE),
        ("upsert", entity("upnew", n=2)),
        ("delete", entity("gone")),
        ("update", entity("tagged", n=2), {"etag": tagged.metadata["etag"], "match_condition": MatchConditions.IfNotModified}),
    ]))  # fmt: skip
    assert len(answers) == 8
    expected = {"new": (2, None), "merged": (2, 1), "replaced": (2, None), "upmerged": (2, 1), "upreplaced": (2, None)}
    expected |= {"upnew": (2, None), "tagged": (2, 1)}
    assert {row["RowKey"]: (row["n"], row.get("m")) for row in await rows(table.list_entities())} == expected
    for answer, row in zip(answers, ("new", "merged", "replaced"), strict=False):
        assert answer["etag"] == (await done(table.get_entity("p", row))).metadata["etag"]


@feature("tables.transactions.commit")
async def test_keys_and_values_of_every_character(storage):
    table = await storage.table()
    text = "--changeset \r\n\r\n 'ü 🌙' {} --batch"
    entity = {"PartitionKey": "it's ü", "RowKey": "a (b), 'c' 100%", "text": text}
    await done(table.submit_transaction([("create", entity)]))
    await done(table.submit_transaction([("update", {**entity, "n": 1})]))
    assert dict(await done(table.get_entity(entity["PartitionKey"], entity["RowKey"]))) == {**entity, "n": 1}
    await done(table.submit_transaction([("delete", entity)]))
    assert await rows(table.list_entities()) == []


@feature("tables.transactions.rollback")
async def test_one_operation_that_fails_undoes_the_others(storage):
    table = await storage.table()
    await done(table.create_entity(entity("there", n=1)))
    stale = {"etag": "W/\"datetime'2001-01-01T00%3A00%3A00.0000000Z'\"", "match_condition": MatchConditions.IfNotModified}
    cases = [
        (("create", entity("there", n=2)), 409, "EntityAlreadyExists"),
        (("update", entity("missing")), 404, "ResourceNotFound"),
        (("update", entity("missing"), REPLACE), 404, "ResourceNotFound"),
        (("delete", entity("missing")), 404, "ResourceNotFound"),
        (("update", entity("there", n=2), stale), 412, "UpdateConditionNotSatisfied"),
        (("delete", entity("there"), stale), 412, "UpdateConditionNotSatisfied"),
    ]
    for wrong, status, code in cases:
        operations = [("create", entity("a")), ("upsert", entity("b")), wrong, ("create", entity("c"))]
        assert await culprit(table, operations) == (2, status, code), wrong
    assert await found(table) == {"there": 1}


@feature("tables.transactions.refused")
async def test_a_row_may_be_there_once(storage):
    table = await storage.table()
    operations = [("create", entity("a")), ("create", entity("b")), ("upsert", entity("a"))]
    assert await culprit(table, operations) == (2, 400, "InvalidDuplicateRow")
    assert await found(table) == {}


@feature("tables.transactions.refused")
async def test_there_are_at_most_a_hundred_operations(storage):
    table = await storage.table()
    many = [("create", entity(f"{n:03}", n=n)) for n in range(101)]
    index, status, _ = await culprit(table, many)
    assert (index, status) == (99, 400)
    assert await found(table) == {}
    assert len(await done(table.submit_transaction(many[:100]))) == 100
    assert await found(table) == {f"{n:03}": n for n in range(100)}


@feature("tables.transactions.refused")
async def test_a_transaction_has_at_most_four_mebibytes(storage):
    table = await storage.table()
    large = {f"t{n}": "x" * 30_000 for n in range(16)}
    many = [("create", entity(str(n), **large)) for n in range(9)]
    with pytest.raises(RequestTooLargeError) as raised:
        await done(table.submit_transaction(many))
    assert raised.value.status_code == 413 or raised.value.error_code == "RequestBodyTooLarge"
    assert await found(table) == {}
    await done(table.submit_transaction(many[:8]))
    assert len(await found(table)) == 8


@feature("tables.transactions.refused")
async def test_a_transaction_without_operations_does_nothing(storage):
    table = await storage.table()
    assert await done(table.submit_transaction([])) == []


@feature("tables.transactions.refused")
async def test_a_transaction_on_no_table_is_refused(storage):
    nowhere = storage.tables.get_table_client("nowhere")
    assert await refused(lambda: nowhere.submit_transaction([("create", entity("a"))])) == (404, "TableNotFound")
