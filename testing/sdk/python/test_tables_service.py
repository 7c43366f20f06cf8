"""The table service and its tables: who connects, properties of the service, create, list, delete."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from azure.data.tables import TableAnalyticsLogging, TableCorsRule, TableMetrics, TableRetentionPolicy

from harness import done, feature, pages, rows
from storage import ACCOUNT, KEY, WRONG_KEY, key, preflight, refused, table_name

SNIPPET = Path(__file__).parents[1] / "snippets" / "storage.py"
LOG = {"read": True, "write": False, "delete": True, "retention_policy": TableRetentionPolicy(enabled=True, days=5)}


async def names(feed):
    return [table.name for table in await rows(feed)]


@feature("tables.connect")
async def test_a_client_of_the_connection_string_works(storage):
    client = await storage.connected("table")
    table = await done(client.create_table(table_name()))
    await done(table.create_entity({"PartitionKey": "p", "RowKey": "r"}))
    assert (await done(table.get_entity("p", "r")))["RowKey"] == "r"


@feature("tables.connect")
async def test_the_program_of_the_readme_stores_an_entity_and_does_a_job(storage):
    # As it stands it trusts no certificate of ours.
    endpoints = [f"{service.capitalize()}Endpoint={storage.endpoint(service, 'http')};" for service in ("queue", "table")]
    connection = f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};" + "".join(endpoints)
    environment = {**os.environ, "STORAGE_CONNECTION": connection, "PYTHONWARNINGS": "ignore"}
    run = subprocess.run([sys.executable, SNIPPET], env=environment, capture_output=True, text=True, timeout=60)
    assert run.stdout == "ship order 1 of ann 42\n", run.stderr


@feature("tables.bad_key")
async def test_a_wrong_key_is_refused(storage):
    client = await storage.client("table", key(WRONG_KEY))
    assert await refused(lambda: client.create_table(table_name())) == (403, "AuthenticationFailed")
    assert await refused(lambda: rows(client.list_tables())) == (403, "AuthenticationFailed")


@feature("tables.stats")
async def test_the_replica_tells_that_it_lives(storage):
    stats = await done(storage.tables.get_service_stats())
    assert stats["geo_replication"]["status"] == "live"
    assert stats["geo_replication"]["last_sync_time"] is not None


@feature("tables.properties")
async def test_what_is_not_set_stays_as_it_was(storage):
    client = storage.tables
    week = TableRetentionPolicy(enabled=True, days=7)
    await done(client.set_service_properties(
        analytics_logging=TableAnalyticsLogging(**LOG),
        hour_metrics=TableMetrics(enabled=True, include_apis=True, retention_policy=week),
        minute_metrics=TableMetrics(enabled=False),
    ))  # fmt: skip
    await done(client.set_service_properties(minute_metrics=TableMetrics(enabled=True, include_apis=False)))
    found = await done(client.get_service_properties())
    logging, hour, minute = found["analytics_logging"], found["hour_metrics"], found["minute_metrics"]
    assert (logging.read, logging.write, logging.delete) == (True, False, True)
    assert (logging.retention_policy.enabled, logging.retention_policy.days) == (True, 5)
    assert (hour.enabled, hour.include_apis, hour.retention_policy.days) == (True, True, 7)
    assert (minute.enabled, minute.include_apis, minute.retention_policy.enabled) == (True, False, False)


@feature("tables.cors")
async def test_rules_are_kept_and_answer_preflights(storage):
    client, url = storage.tables, storage.endpoint("table", "http") + "/Tables"
    rule = TableCorsRule(
        ["http://one.example", "http://two.example"], ["GET", "PUT"],
        allowed_headers=["x-ms-meta-*", "accept"], exposed_headers=["x-ms-*"], max_age_in_seconds=200,
    )  # fmt: skip
    await done(client.set_service_properties(cors=[rule]))
    (found,) = (await done(client.get_service_properties()))["cors"]
    assert found.allowed_origins == rule.allowed_origins
    assert found.allowed_methods == rule.allowed_methods
    assert found.allowed_headers == rule.allowed_headers
    assert found.exposed_headers == rule.exposed_headers
    assert found.max_age_in_seconds == 200
    status, headers = preflight(url, "http://two.example", "PUT", "x-ms-meta-name")
    assert (status, headers["Access-Control-Allow-Origin"]) == (200, "http://two.example")
    assert headers["Access-Control-Max-Age"] == "200"
    assert preflight(url, "http://three.example", "PUT")[0] == 403
    assert preflight(url, "http://one.example", "DELETE")[0] == 403
    await done(client.set_service_properties(cors=[]))
    assert not (await done(client.get_service_properties()))["cors"]
    assert preflight(url, "http://one.example", "GET")[0] == 403


@feature("tables.cors")
async def test_there_are_at_most_five_rules(storage):
    rules = [TableCorsRule([f"http://{n}.example"], ["GET"]) for n in range(6)]
    assert (await refused(lambda: storage.tables.set_service_properties(cors=rules)))[0] == 400


@feature("tables.create")
async def test_a_table_is_created(storage):
    name = table_name()
    assert (await done(storage.tables.create_table(name))).table_name == name
    assert name in await names(storage.tables.list_tables())
    alone = storage.tables.get_table_client(table_name())
    assert (await done(alone.create_table())).name == alone.table_name


@feature("tables.conflict")
async def test_a_second_table_of_a_name_is_refused(storage):
    table = await storage.table()
    assert await refused(table.create_table) == (409, "TableAlreadyExists")
    again = storage.tables.get_table_client(table.table_name.upper())
    assert await refused(again.create_table) == (409, "TableAlreadyExists")


@feature("tables.create_if_not_exists")
async def test_a_table_is_created_if_it_is_not_there(storage):
    name = table_name()
    for _ in range(2):
        table = await done(storage.tables.create_table_if_not_exists(name))
        await done(table.upsert_entity({"PartitionKey": "p", "RowKey": "r"}))


@feature("tables.names")
async def test_names_of_tables_are_letters_and_digits(storage):
    for wrong in ("my-table", "1table", "ab", "a" * 64, "my_table"):
        # The SDK says it with an error of its own.
        with pytest.raises(ValueError, match="between 3-63 characters"):
            await done(storage.tables.create_table(wrong))
    longest = table_name("t").ljust(63, "x")
    await done(storage.tables.create_table(longest))
    await done(storage.tables.delete_table(longest))


@feature("tables.names")
async def test_names_keep_their_case_and_are_found_in_any(storage):
    name = table_name("MixedCase")
    table = await done(storage.tables.create_table(name))
    await done(table.create_entity({"PartitionKey": "p", "RowKey": "r", "n": 1}))
    lower = storage.tables.get_table_client(name.lower())
    assert (await done(lower.get_entity("p", "r")))["n"] == 1
    assert name in await names(storage.tables.list_tables())


@feature("tables.list")
async def test_tables_are_listed_by_pages(storage):
    prefix = table_name("listed") + "x"
    made = [f"{prefix}{letter}" for letter in "abcde"]
    for name in made:
        await done(storage.tables.create_table(name))
    found, _ = await pages(storage.tables.list_tables(results_per_page=2))
    assert all(len(page) <= 2 for page in found)
    listed = [table.name for page in found for table in page]
    assert [name for name in listed if name.startswith(prefix)] == made


@feature("tables.list")
async def test_a_list_goes_on_from_its_token(storage):
    for _ in range(3):
        await storage.table()
    every = await names(storage.tables.list_tables())
    first, token = await pages(storage.tables.list_tables(results_per_page=2), limit=1)
    rest, _ = await pages(storage.tables.list_tables(results_per_page=1000), token)
    assert [table.name for page in first + rest for table in page] == every


@feature("tables.filter")
async def test_tables_are_filtered_by_name(storage):
    prefix = table_name("filtered") + "x"
    for letter in "abc":
        await done(storage.tables.create_table(prefix + letter))
    query = storage.tables.query_tables
    assert await names(query(f"TableName eq '{prefix}b'")) == [prefix + "b"]
    within = f"TableName ge '{prefix}a' and TableName lt '{prefix}c'"
    assert await names(query(within)) == [prefix + "a", prefix + "b"]
    assert await names(query("TableName eq @name", parameters={"name": prefix + "c"})) == [prefix + "c"]
    assert await names(query("TableName eq 'nothing'")) == []


@feature("tables.delete")
async def test_a_table_is_deleted_with_its_entities_and_made_again(storage):
    table = await storage.table()
    await done(table.create_entity({"PartitionKey": "p", "RowKey": "r"}))
    await done(storage.tables.delete_table(table.table_name))
    assert table.table_name not in await names(storage.tables.list_tables())
    assert await refused(lambda: rows(table.list_entities())) == (404, "TableNotFound")
    assert await refused(lambda: table.create_entity({"PartitionKey": "p", "RowKey": "r"})) == (404, "TableNotFound")
    # What is not there is deleted already, says the SDK.
    await done(table.delete_table())
    await done(table.create_table())
    assert await rows(table.list_entities()) == []
