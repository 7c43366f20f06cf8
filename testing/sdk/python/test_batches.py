"""Transactional batches, and deleting a partition."""

import pytest
from azure.cosmos.exceptions import CosmosBatchOperationError
from azure.cosmos import PartitionKey

from harness import done, feature, refused, rows, user_members


def item(id, **more):
    return {"id": id, "pk": "p", **more}


async def ids(cosmos, container):
    found = await rows(container.query_items("SELECT VALUE c.id FROM c", **cosmos.everywhere))
    return sorted(found)


async def culprit(container, operations):
    """Which operation a batch failed for, with which status; and the statuses of all of them."""
    with pytest.raises(CosmosBatchOperationError) as raised:
        await done(container.execute_item_batch(operations, "p"))
    error = raised.value
    return error.error_index, error.status_code, [answer["statusCode"] for answer in error.operation_responses]


@feature("items.batch")
async def test_a_batch_does_every_kind_of_operation(cosmos):
    container = await cosmos.container()
    await done(container.create_item(item("old")))
    operations = [
        ("create", (item("a", n=1),)),
        ("upsert", (item("b"),)),
        ("replace", ("a", item("a", n=2))),
        ("patch", ("a", [{"op": "incr", "path": "/n", "value": 1}]), {"filter_predicate": "from c where c.n = 2"}),
        ("read", ("a",)),
        ("delete", ("old",)),
    ]
    answers = await done(container.execute_item_batch(operations, "p"))
    assert [answer["statusCode"] for answer in answers] == [201, 201, 200, 200, 200, 204]
    assert user_members(answers[4]["resourceBody"]) == item("a", n=3)
    assert len({answer.get("eTag") for answer in answers[:4]}) == 4
    assert (await done(container.read_item("a", "p")))["_etag"] == answers[3]["eTag"]
    assert await ids(cosmos, container) == ["a", "b"]
    charge = float(answers.get_response_headers()["x-ms-request-charge"])
    assert charge == pytest.approx(sum(answer["requestCharge"] for answer in answers))


@feature("items.batch")
async def test_a_batch_has_at_most_a_hundred_operations(cosmos):
    container = await cosmos.container()
    many = [("create", (item(str(n)),)) for n in range(101)]
    assert await refused(lambda: container.execute_item_batch(many, "p")) == 400
    assert len(await done(container.execute_item_batch(many[:100], "p"))) == 100
    large = [("upsert", (item(str(n), filler="x" * 1_100_000),)) for n in range(2)]
    assert await refused(lambda: container.execute_item_batch(large, "p")) == 413


@feature("items.batch_rollback")
async def test_one_operation_that_fails_undoes_the_others(cosmos):
    container = await cosmos.container()
    await done(container.create_item(item("there")))
    new = ("create", (item("new"),))
    cases = [
        (("create", (item("there"),)), 409),
        (("read", ("missing",)), 404),
        (("delete", ("missing",)), 404),
        (("replace", ("there", item("there")), {"if_match_etag": '"stale"'}), 412),
        (("upsert", ({"id": "x", "pk": "another"},)), 400),
        (("patch", ("there", [{"op": "remove", "path": "/missing"}])), 400),
        (("patch", ("there", [{"op": "set", "path": "/n", "value": 1}]), {"filter_predicate": "from c where c.n = 1"}), 412),
    ]
    for wrong, status in cases:
        assert await culprit(container, [new, wrong, new]) == (1, status, [424, status, 424]), wrong
    assert await ids(cosmos, container) == ["there"]


@feature("items.delete_by_key")
async def test_all_items_of_a_partition_are_deleted(cosmos):
    container = await cosmos.container()
    for start in range(0, 300, 100):
        await done(container.execute_item_batch([("create", (item(str(n)),)) for n in range(start, start + 100)], "p"))
    await done(container.create_item({"id": "other", "pk": "q"}))
    await done(container.delete_all_items_by_partition_key("p"))
    assert await ids(cosmos, container) == ["other"]
    await done(container.create_item(item("1")))


@feature("items.delete_by_key")
async def test_a_hierarchical_key_is_deleted_as_a_whole(cosmos):
    container = await cosmos.container(PartitionKey(["/a", "/b"], kind="MultiHash"))
    for number, (a, b) in enumerate([("t", "x"), ("t", "y"), ("u", "x")]):
        await done(container.create_item({"id": str(number), "a": a, "b": b}))
    await done(container.delete_all_items_by_partition_key(["t", "x"]))
    assert await ids(cosmos, container) == ["1", "2"]
    assert await refused(lambda: container.delete_all_items_by_partition_key(["t"])) == 400
