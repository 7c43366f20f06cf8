"""Partition key values: every kind there is, and hierarchies of them."""

from azure.cosmos import PartitionKey
from azure.cosmos.partition_key import NonePartitionKeyValue, NullPartitionKeyValue

from harness import done, feature, refused, rows

VALUES = ["", "text", "東京 🚀", 0, 1, -1, 1.5, 2**53 + 1, True, False]


@feature("items.key_values")
async def test_text_numbers_and_booleans_are_partition_keys_of_their_own(cosmos):
    container = await cosmos.container()
    for value in VALUES:
        await done(container.create_item({"id": "a", "pk": value, "kind": repr(value)}))
    for value in VALUES:
        assert (await done(container.read_item("a", value)))["kind"] == repr(value)
    assert len(await rows(container.read_all_items())) == len(VALUES)


@feature("items.key_values")
async def test_null_and_missing_are_two_partitions(cosmos):
    container = await cosmos.container()
    await done(container.create_item({"id": "a", "pk": None, "kind": "null"}))
    await done(container.create_item({"id": "a", "kind": "missing"}))
    assert (await done(container.read_item("a", NullPartitionKeyValue)))["kind"] == "null"
    assert (await done(container.read_item("a", NonePartitionKeyValue)))["kind"] == "missing"
    await done(container.delete_item("a", NonePartitionKeyValue))
    assert await refused(lambda: container.read_item("a", NonePartitionKeyValue)) == 404
    assert (await done(container.read_item("a", NullPartitionKeyValue)))["kind"] == "null"


@feature("items.key_values")
async def test_a_partition_key_may_lie_deep_in_the_item(cosmos):
    container = await cosmos.container("/owner/name")
    await done(container.create_item({"id": "a", "owner": {"name": "ada"}}))
    assert (await done(container.read_item("a", "ada")))["owner"] == {"name": "ada"}
    assert await refused(lambda: container.read_item("a", "bob")) == 404


@feature("items.key_values")
async def test_the_id_may_be_the_partition_key(cosmos):
    container = await cosmos.container("/id")
    await done(container.upsert_item({"id": "a", "n": 1}))
    await done(container.upsert_item({"id": "a", "n": 2}))
    assert (await done(container.read_item("a", "a")))["n"] == 2


@feature("items.key_hierarchical")
async def test_items_of_a_hierarchy_are_told_apart_at_every_level(cosmos):
    container = await cosmos.container(PartitionKey(["/tenant", "/user", "/session"], kind="MultiHash"))
    keys = [[t, u, s] for t in ("t1", "t2") for u in (1, "1") for s in (True, None)]
    for tenant, user, session in keys:
        item = {"id": "a", "tenant": tenant, "user": user, "session": session, "key": repr((tenant, user, session))}
        await done(container.create_item(item))
    for key in keys:
        assert (await done(container.read_item("a", key)))["key"] == repr(tuple(key))
    await done(container.delete_item("a", ["t1", 1, True]))
    assert await refused(lambda: container.read_item("a", ["t1", 1, True])) == 404
    assert len(await rows(container.read_all_items())) == len(keys) - 1


@feature("items.key_hierarchical")
async def test_a_point_read_needs_the_whole_key(cosmos):
    container = await cosmos.container(PartitionKey(["/tenant", "/user"], kind="MultiHash"))
    await done(container.create_item({"id": "a", "tenant": "t", "user": "u"}))
    assert await refused(lambda: container.read_item("a", ["t"])) == 400


@feature("items.key_hierarchical")
async def test_a_prefix_of_the_key_reads_what_is_under_it(cosmos):
    container = await cosmos.container(PartitionKey(["/tenant", "/user"], kind="MultiHash"))
    for tenant, user in [("t1", "u1"), ("t1", "u2"), ("t2", "u1")]:
        await done(container.create_item({"id": "a", "tenant": tenant, "user": user}))
    found = await rows(container.query_items("SELECT * FROM c", partition_key=["t1"]))
    assert sorted(item["user"] for item in found) == ["u1", "u2"]
