"""Items: written, read, replaced, removed, and kept exactly as they were given."""

import json

from harness import done, feature, fresh, refused, user_members

ODD_IDS = [
    "a b", "a+b", "100%", "a%20b", "a&b=c", "it's", "(a);b,c", "a:b@c", '"quoted"', "{a}[b]", "~!$*", "ümläut",
    "東京", "🚀 to the moon", "ﷺ", "a.b.c", "-", "x" * 255,
]  # fmt: skip
ITEM_BYTES_MAX = 2 * 1024 * 1024


@feature("items.create")
async def test_a_created_item_comes_back_with_its_system_properties(cosmos):
    container = await cosmos.container()
    made = await done(container.create_item({"id": "a", "pk": "p", "nested": {"list": [1, "two", None, True]}}))
    parent = (await done(container.read()))["_self"]
    assert user_members(made) == {"id": "a", "pk": "p", "nested": {"list": [1, "two", None, True]}}
    assert made["_self"] == f"{parent}docs/{made['_rid']}/"
    assert made["_etag"] == made.get_response_headers()["etag"]
    assert made["_attachments"] == "attachments/" and made["_ts"] > 0
    assert float(made.get_response_headers()["x-ms-request-charge"]) > 0


@feature("items.create")
async def test_an_item_without_an_id_is_refused_or_given_one(cosmos):
    container = await cosmos.container()
    assert await refused(lambda: container.create_item({"pk": "p"})) == 400
    made = await done(container.create_item({"pk": "p"}, enable_automatic_id_generation=True))
    assert (await done(container.read_item(made["id"], "p")))["_rid"] == made["_rid"]


@feature("items.conflict")
async def test_a_second_item_of_that_id_is_a_conflict_in_its_partition_alone(cosmos):
    container = await cosmos.container()
    await done(container.create_item({"id": "a", "pk": "p", "n": 1}))
    assert await refused(lambda: container.create_item({"id": "a", "pk": "p", "n": 2})) == 409
    assert (await done(container.read_item("a", "p")))["n"] == 1
    await done(container.create_item({"id": "a", "pk": "q", "n": 3}))
    assert (await done(container.read_item("a", "q")))["n"] == 3


@feature("items.read")
async def test_a_read_answers_what_the_write_answered(cosmos):
    container = await cosmos.container()
    made = await done(container.create_item({"id": "a", "pk": "p", "zeta": 1, "alpha": {"b": 2, "a": 1.5}}))
    read = await done(container.read_item("a", "p"))
    assert dict(read) == dict(made)
    assert json.dumps(user_members(read)) == '{"id": "a", "pk": "p", "zeta": 1, "alpha": {"b": 2, "a": 1.5}}'
    assert read.get_response_headers()["x-ms-documentdb-partitionkeyrangeid"] == "0"


@feature("items.not_found")
async def test_an_item_nobody_made_is_not_found(cosmos):
    container = await cosmos.container()
    await done(container.create_item({"id": "a", "pk": "p"}))
    assert await refused(lambda: container.read_item("b", "p")) == 404
    assert await refused(lambda: container.read_item("a", "q")) == 404
    assert await refused(lambda: container.replace_item("b", {"id": "b", "pk": "p"})) == 404
    assert await refused(lambda: container.delete_item("b", "p")) == 404


@feature("items.upsert")
async def test_an_upsert_makes_and_then_replaces(cosmos):
    container = await cosmos.container()
    made = await done(container.upsert_item({"id": "a", "pk": "p", "n": 1, "old": True}))
    replaced = await done(container.upsert_item({"id": "a", "pk": "p", "n": 2}))
    assert replaced["_rid"] == made["_rid"] and replaced["_etag"] != made["_etag"]
    assert user_members(await done(container.read_item("a", "p"))) == {"id": "a", "pk": "p", "n": 2}


@feature("items.replace")
async def test_a_replace_leaves_nothing_of_the_item_before(cosmos):
    container = await cosmos.container()
    made = await done(container.create_item({"id": "a", "pk": "p", "old": True}))
    replaced = await done(container.replace_item("a", {"id": "a", "pk": "p", "new": True}))
    assert replaced["_rid"] == made["_rid"] and replaced["_etag"] != made["_etag"]
    assert user_members(await done(container.read_item("a", "p"))) == {"id": "a", "pk": "p", "new": True}


@feature("items.delete")
async def test_a_deleted_item_is_gone_and_its_id_free(cosmos):
    container = await cosmos.container()
    made = await done(container.create_item({"id": "a", "pk": "p"}))
    await done(container.delete_item("a", "p"))
    assert await refused(lambda: container.read_item("a", "p")) == 404
    again = await done(container.create_item({"id": "a", "pk": "p"}))
    assert again["_rid"] != made["_rid"]


@feature("items.delete")
async def test_a_whole_item_stands_for_its_id(cosmos):
    container = await cosmos.container()
    made = await done(container.create_item({"id": "a", "pk": "p"}))
    assert (await done(container.read_item(made, "p")))["id"] == "a"
    replaced = await done(container.replace_item(made, {"id": "a", "pk": "p", "n": 1}))
    await done(container.delete_item(replaced, "p"))
    assert await refused(lambda: container.read_item("a", "p")) == 404
    assert await refused(lambda: container.delete_item(replaced, "p")) == 404


@feature("items.ids")
async def test_odd_ids_work_in_every_operation(cosmos):
    container = await cosmos.container()
    for name in ODD_IDS:
        await done(container.create_item({"id": name, "pk": name}))
        assert (await done(container.read_item(name, name)))["id"] == name
        await done(container.replace_item(name, {"id": name, "pk": name, "n": 1}))
        await done(container.upsert_item({"id": name, "pk": name, "n": 2}))
        assert (await done(container.read_item(name, name)))["n"] == 2
        await done(container.delete_item(name, name))
        assert await refused(lambda: container.read_item(name, name)) == 404


@feature("items.ids")
async def test_odd_names_work_for_databases_and_containers(cosmos):
    name = fresh("a b+c%20ü東")
    database = await done(cosmos.client.create_database(name))
    container = await done(database.create_container(name, {"paths": ["/pk"], "kind": "Hash"}))
    await done(container.create_item({"id": "a", "pk": "p"}))
    assert (await done(container.read_item("a", "p")))["id"] == "a"
    assert (await done(container.read()))["id"] == name


@feature("items.unknown_members")
async def test_members_a_program_does_not_know_survive_its_write(cosmos):
    container = await cosmos.container()
    given = {"id": "a", "pk": "p", "n": 1, "": "empty", "$weird name/~": {"deep": [[], {}, None]}, "n ": "space"}
    await done(container.create_item(given))
    item = await done(container.read_item("a", "p"))
    item["n"] = 2
    await done(container.replace_item("a", item))
    assert user_members(await done(container.read_item("a", "p"))) == {**given, "n": 2}


@feature("items.integers")
async def test_64_bit_integers_and_doubles_come_back_exactly(cosmos):
    container = await cosmos.container()
    numbers = [0, -1, 2**53 + 1, 2**63 - 1, -(2**63), 0.1, 1.5e300, -2.5e-10, 1e21]
    await done(container.create_item({"id": "a", "pk": "p", "numbers": numbers}))
    assert (await done(container.read_item("a", "p")))["numbers"] == numbers


@feature("items.size")
async def test_two_megabytes_are_stored_and_more_is_refused(cosmos):
    container = await cosmos.container()
    await done(container.create_item(_sized("fits", ITEM_BYTES_MAX - 1024)))
    assert len((await done(container.read_item("fits", "p")))["text"]) > ITEM_BYTES_MAX - 2048
    assert await refused(lambda: container.create_item(_sized("over", ITEM_BYTES_MAX + 1024))) == 413
    assert await refused(lambda: container.create_item(_sized("way over", 2 * ITEM_BYTES_MAX))) == 413
    assert await refused(lambda: container.read_item("over", "p")) == 404


@feature("items.minimal")
async def test_a_write_may_answer_without_the_item(cosmos):
    container = await cosmos.container()
    made = await done(container.create_item({"id": "a", "pk": "p", "n": 1}, no_response=True))
    assert dict(made) == {}
    replaced = await done(container.replace_item("a", {"id": "a", "pk": "p", "n": 2}, no_response=True))
    upserted = await done(container.upsert_item({"id": "a", "pk": "p", "n": 3}, no_response=True))
    assert dict(replaced) == dict(upserted) == {}
    read = await done(container.read_item("a", "p"))
    assert read["n"] == 3
    assert read["_etag"] == upserted.get_response_headers()["etag"]


@feature("items.unique_keys")
async def test_a_unique_key_holds_within_its_partition(cosmos):
    container = await cosmos.container(unique_key_policy={"uniqueKeys": [{"paths": ["/email"]}]})
    await done(container.create_item({"id": "a", "pk": "p", "email": "x@example.org"}))
    assert await refused(lambda: container.create_item({"id": "b", "pk": "p", "email": "x@example.org"})) == 409
    assert await refused(lambda: container.upsert_item({"id": "b", "pk": "p", "email": "x@example.org"})) == 409
    await done(container.create_item({"id": "b", "pk": "q", "email": "x@example.org"}))
    await done(container.create_item({"id": "c", "pk": "p", "email": "y@example.org"}))
    assert await refused(lambda: container.replace_item("c", {"id": "c", "pk": "p", "email": "x@example.org"})) == 409


@feature("items.unique_keys")
async def test_a_unique_value_is_free_again_after_its_item(cosmos):
    container = await cosmos.container(unique_key_policy={"uniqueKeys": [{"paths": ["/email"]}]})
    await done(container.create_item({"id": "a", "pk": "p"}))
    assert await refused(lambda: container.create_item({"id": "b", "pk": "p"})) == 409  # missing counts as null
    await done(container.replace_item("a", {"id": "a", "pk": "p", "email": "x@example.org"}))
    await done(container.create_item({"id": "b", "pk": "p"}))
    await done(container.delete_item("a", "p"))
    await done(container.create_item({"id": "c", "pk": "p", "email": "x@example.org"}))


def _sized(name, size):
    """An item whose JSON text has this many bytes as the SDK writes it."""
    item = {"id": name, "pk": "p", "text": ""}
    item["text"] = "x" * (size - len(json.dumps(item, separators=(",", ":"))))
    return item
