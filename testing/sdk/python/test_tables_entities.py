"""Entities: all types, inserts, upserts, updates, deletes, tags, keys, limits."""

import math
import uuid
from datetime import datetime, timezone

import pytest
from azure.core import MatchConditions
from azure.data.tables import EdmType, EntityProperty, UpdateMode

from harness import done, feature, rows
from storage import refused

ONLY_THIS = MatchConditions.IfNotModified
MERGE, REPLACE = UpdateMode.MERGE, UpdateMode.REPLACE


def entity(row="r", **more):
    return {"PartitionKey": "p", "RowKey": row, **more}


async def insert(storage, **properties):
    table = await storage.table()
    return table, await done(table.create_entity(entity(**properties)))


async def read(table, row="r"):
    return await done(table.get_entity("p", row))


@feature("tables.entities.types")
async def test_every_type_comes_back_as_it_was_sent(storage):
    values = {
        "text": "O'Neil \n\t <&> ü 🌙",
        "empty": "",
        "yes": True,
        "no": False,
        "least": -(2**31),
        "most": 2**31 - 1,
        "half": 0.5,
        "whole": 3.0,
        "huge": 1.7976931348623157e308,
        "tiny": 5e-324,
        "infinite": math.inf,
        "less": -math.inf,
        "id": uuid.UUID("c9da6455-213d-42c9-9a79-3e9149a57833"),
        "at": datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=timezone.utc),
        "long_ago": datetime(1601, 1, 1, tzinfo=timezone.utc),
        "bytes": bytes(range(256)),
        "no_bytes": b"",
        "most_long": EntityProperty(2**63 - 1, EdmType.INT64),
        "least_long": EntityProperty(-(2**63), EdmType.INT64),
        "small_long": EntityProperty(5, EdmType.INT64),
    }
    table, _ = await insert(storage, **values)
    for found in (await read(table), (await rows(table.list_entities()))[0]):
        assert dict(found) == entity(**values)
        assert {name: type(value) for name, value in found.items() if name in ("whole", "most", "yes")} == {
            "whole": float, "most": int, "yes": bool,
        }  # fmt: skip


@feature("tables.entities.types")
async def test_not_a_number_comes_back(storage):
    table, _ = await insert(storage, n=math.nan)
    assert math.isnan((await read(table))["n"])


@feature("tables.entities.types")
async def test_a_time_keeps_its_seven_digits(storage):
    text = "2024-02-29T23:59:59.1234567Z"
    table, _ = await insert(storage, at=EntityProperty(text, EdmType.DATETIME))
    found = (await read(table))["at"]
    assert found.tables_service_value == text
    await done(table.upsert_entity(entity("other", at=found)))
    assert (await read(table, "other"))["at"].tables_service_value == text


@feature("tables.entities.types")
async def test_what_is_none_is_not_stored(storage):
    table, _ = await insert(storage, n=1, nothing=None)
    assert dict(await read(table)) == entity(n=1)
    await done(table.update_entity(entity(n=None, m=2)))
    assert dict(await read(table)) == entity(n=1, m=2)


@feature("tables.entities.metadata")
async def test_tag_and_timestamp_tell_one_moment(storage):
    table, answer = await insert(storage, n=1)
    metadata = (await read(table)).metadata
    assert metadata["etag"] == answer["etag"]
    assert metadata["timestamp"].tables_service_value.replace(":", "%3A") in answer["etag"]
    second = await done(table.update_entity(entity(n=2)))
    later = (await read(table)).metadata
    assert later["etag"] == second["etag"] != answer["etag"]
    assert later["timestamp"].tables_service_value > metadata["timestamp"].tables_service_value
    (listed,) = await rows(table.list_entities())
    assert listed.metadata == later


@feature("tables.entities.metadata")
async def test_full_metadata_has_links_and_no_metadata_has_none(storage):
    table, answer = await insert(storage, at=datetime(2024, 1, 1, tzinfo=timezone.utc))
    accept = lambda level: {"headers": {"Accept": f"application/json;odata={level}metadata"}}  # noqa: E731
    full = (await done(table.get_entity("p", "r", **accept("full")))).metadata
    link = f"{table.table_name}(PartitionKey='p',RowKey='r')"
    assert full["editLink"] == link
    assert full["id"] == f"{storage.endpoint('table')}/{link}"
    assert full["type"] == f"devstoreaccount1.{table.table_name}"
    assert full["etag"] == answer["etag"]
    none = await done(table.get_entity("p", "r", **accept("no")))
    assert "id" not in none.metadata and none["at"] == "2024-01-01T00:00:00.000000Z"


@feature("tables.entities.metadata")
async def test_a_timestamp_of_the_client_is_ignored(storage):
    table, answer = await insert(storage, Timestamp=datetime(2001, 1, 1, tzinfo=timezone.utc))
    found = await read(table)
    assert found.metadata["etag"] == answer["etag"] and found.metadata["timestamp"].year > 2001


@feature("tables.entities.insert")
async def test_an_insert_gives_the_entity_back_if_asked(storage):
    table = await storage.table()
    answer = await done(table.create_entity(entity("a", n=1), response_preference="return-content"))
    assert answer["preference_applied"] == "return-content"
    assert answer["content"]["n"] == 1 and answer["content"]["odata.etag"] == answer["etag"]
    answer = await done(table.create_entity(entity("b"), response_preference="return-no-content"))
    assert answer["preference_applied"] == "return-no-content" and not answer["content"]


@feature("tables.entities.conflict")
async def test_a_second_insert_is_refused_and_changes_nothing(storage):
    table, _ = await insert(storage, n=1)
    assert await refused(lambda: table.create_entity(entity(n=2))) == (409, "EntityAlreadyExists")
    assert (await read(table))["n"] == 1


@feature("tables.entities.read")
async def test_only_selected_properties_are_read(storage):
    table, _ = await insert(storage, a=1, b=2, c=3)
    found = await done(table.get_entity("p", "r", select=["a", "c"]))
    assert dict(found) == {"a": 1, "c": 3}
    found = await done(table.get_entity("p", "r", select="PartitionKey,RowKey,b,missing"))
    assert {name: value for name, value in found.items() if value is not None} == entity(b=2)


@feature("tables.entities.not_found")
async def test_what_is_not_there_is_not_found(storage):
    table = await storage.table()
    assert await refused(lambda: table.get_entity("p", "none")) == (404, "ResourceNotFound")
    assert await refused(lambda: table.update_entity(entity("none"))) == (404, "ResourceNotFound")
    assert await refused(lambda: table.update_entity(entity("none"), REPLACE)) == (404, "ResourceNotFound")
    # What is not there is deleted already, says the SDK.
    await done(table.delete_entity("p", "none"))
    nowhere = storage.tables.get_table_client("nowhere")
    assert await refused(lambda: nowhere.get_entity("p", "r")) == (404, "TableNotFound")
    assert await refused(lambda: nowhere.upsert_entity(entity())) == (404, "TableNotFound")


@feature("tables.entities.upsert")
async def test_an_upsert_inserts_then_merges_or_replaces(storage):
    table = await storage.table()
    for mode, expected in ((MERGE, {"a": 1, "b": 3, "c": 4}), (REPLACE, {"b": 3, "c": 4})):
        row = mode.value
        first = await done(table.upsert_entity(entity(row, a=1, b=2), mode))
        second = await done(table.upsert_entity(entity(row, b=3, c=4), mode))
        assert dict(await read(table, row)) == entity(row, **expected)
        assert first["etag"] != second["etag"] == (await read(table, row)).metadata["etag"]


@feature("tables.entities.update")
async def test_an_update_merges_or_replaces(storage):
    table = await storage.table()
    for mode, expected in ((MERGE, {"a": 1, "b": "two", "c": 4}), (REPLACE, {"b": "two", "c": 4})):
        row = mode.value
        await done(table.create_entity(entity(row, a=1, b=2)))
        await done(table.update_entity(entity(row, b="two", c=4), mode))
        assert dict(await read(table, row)) == entity(row, **expected)


@feature("tables.entities.tunnel")
async def test_a_merge_under_another_verb_is_a_merge(storage):
    """At `localhost` the SDK takes any port but 10002 for Cosmos, which wants POST and a header."""
    table, _ = await insert(storage, a=1)
    endpoint = storage.endpoint("table").replace("127.0.0.1", "localhost")
    cosmos = await storage.client_at("table", endpoint)
    through = cosmos.get_table_client(table.table_name)
    await done(through.update_entity(entity(b=2)))
    await done(through.upsert_entity(entity(c=3)))
    await done(through.submit_transaction([("upsert", entity(d=4)), ("create", entity("new"))]))
    assert dict(await read(table)) == entity(a=1, b=2, c=3, d=4)


@feature("tables.entities.delete")
async def test_an_entity_is_deleted(storage):
    table, _ = await insert(storage)
    await done(table.create_entity(entity("other")))
    await done(table.delete_entity("p", "r"))
    assert await refused(lambda: read(table)) == (404, "ResourceNotFound")
    await done(table.delete_entity(await read(table, "other")))
    assert await rows(table.list_entities()) == []


@feature("tables.etags.update")
async def test_an_update_with_a_stale_tag_is_refused_and_changes_nothing(storage):
    for mode in (MERGE, REPLACE):
        table, first = await insert(storage, n=1)
        update = lambda n, tag: table.update_entity(entity(n=n), mode, etag=tag, match_condition=ONLY_THIS)  # noqa: E731,B023
        second = await done(update(2, first["etag"]))
        assert await refused(lambda: update(3, first["etag"])) == (412, "UpdateConditionNotSatisfied")  # noqa: B023
        assert (await read(table))["n"] == 2
        await done(update(4, second["etag"]))
        assert (await read(table))["n"] == 4


@feature("tables.etags.delete")
async def test_a_delete_with_a_stale_tag_is_refused(storage):
    table, _ = await insert(storage, n=1)
    stale = await read(table)
    await done(table.update_entity(entity(n=2)))
    delete = lambda found: table.delete_entity(found, match_condition=ONLY_THIS)  # noqa: E731
    assert await refused(lambda: delete(stale)) == (412, "UpdateConditionNotSatisfied")
    await done(delete(await read(table)))
    assert await rows(table.list_entities()) == []


@feature("tables.etags.two_writers")
async def test_of_two_writers_with_one_tag_one_succeeds(storage):
    table, first = await insert(storage, by="nobody")
    other = (await storage.client("table")).get_table_client(table.table_name)

    def write(through, name):
        return lambda: through.update_entity(entity(by=name), etag=first["etag"], match_condition=ONLY_THIS)

    outcomes = await storage.together(write(table, "first"), write(other, "second"))
    assert sorted(outcomes) == [200, 412]
    assert (await read(table))["by"] == ["first", "second"][outcomes.index(200)]


@feature("tables.entities.keys")
async def test_keys_may_be_almost_anything(storage):
    table = await storage.table()
    texts = ["", " ", "O'Neil", "''", "a,b=(c)", "PartitionKey='x'", "100%", "a+b", "%27", "ü 🌙", "x" * 512, "&;@$"]
    for text in texts:
        await done(table.create_entity({"PartitionKey": text, "RowKey": text, "text": text}))
        await done(table.update_entity({"PartitionKey": text, "RowKey": text, "n": 1}))
        found = await done(table.get_entity(text, text))
        assert (found["PartitionKey"], found["RowKey"], found["text"], found["n"]) == (text, text, text, 1)
        asked = table.query_entities("PartitionKey eq @key and RowKey eq @key", parameters={"key": text})
        assert [row["text"] for row in await rows(asked)] == [text]
    listed = [row["RowKey"] for row in await rows(table.list_entities(results_per_page=3))]
    assert sorted(listed) == sorted(texts)
    for text in texts:
        await done(table.delete_entity(text, text))
    assert await rows(table.list_entities()) == []


@feature("tables.entities.keys")
async def test_keys_with_forbidden_characters_are_refused(storage):
    table = await storage.table()
    for text in ("a/b", "a\\b", "a#b", "a?b", "a\tb", "a\x7fb"):
        assert (await refused(lambda: table.create_entity(entity(text))))[0] == 400, text  # noqa: B023
    assert (await refused(lambda: table.create_entity(entity("x" * 1025))))[0] == 400
    assert await rows(table.list_entities()) == []


@feature("tables.entities.keys")
async def test_an_entity_needs_both_keys(storage):
    table = await storage.table()
    for missing in ("PartitionKey", "RowKey"):
        # The SDK says it with an error of its own.
        with pytest.raises(ValueError, match=f"{missing} must be present"):
            await done(table.create_entity({name: value for name, value in entity().items() if name != missing}))


@feature("tables.entities.limits")
async def test_limits_of_properties(storage):
    table = await storage.table()
    create = lambda **properties: lambda: table.create_entity(entity(**properties))  # noqa: E731
    assert await refused(create(text="x" * 32_769)) == (400, "PropertyValueTooLarge")
    assert await refused(create(bytes=b"x" * 65_537)) == (400, "PropertyValueTooLarge")
    assert await refused(create(**{f"n{n}": n for n in range(253)})) == (400, "TooManyProperties")
    assert await refused(create(**{"x" * 256: 1})) == (400, "PropertyNameTooLong")
    assert await refused(create(**{"a-b": 1})) == (400, "PropertyNameInvalid")
    assert await refused(create(**{f"t{n}": "x" * 32_768 for n in range(17)})) == (400, "EntityTooLarge")
    assert await rows(table.list_entities()) == []
    await done(create(text="x" * 32_768, bytes=b"x" * 65_536, **{"y" * 255: 1})())
    await done(table.create_entity(entity("many", **{f"n{n}": n for n in range(252)})))
    assert len(await read(table, "many")) == 254


@feature("tables.entities.limits")
async def test_a_number_that_does_not_fit_its_type_is_refused(storage):
    table = await storage.table()
    wrong = [EntityProperty("not a guid", EdmType.GUID), EntityProperty("yesterday", EdmType.DATETIME)]
    for value in wrong:
        assert await refused(lambda: table.create_entity(entity(value=value))) == (400, "InvalidInput"), value  # noqa: B023
