"""Seed 004 in tables and queues: what `orrery apply agents-storage --fixtures` makes, as the SDKs of storage see it."""

from datetime import datetime

import pytest
from azure.data.tables import UpdateMode

from blueprints import FOLDER, blueprint
from harness import done, feature, rows

NAME = "agents-storage"
TABLES = ["Tenants", "Users", "Agents", "Runs", "Turns", "RunsRecent", "RunById", "RunsByUser", "TurnsRecent"]
TYPES = {"String": str, "Int32": int, "DateTime": datetime}
account = blueprint(NAME)["storage"][0]
each_table = pytest.mark.parametrize("design", account["tables"], ids=lambda table: table["table"])


async def stand_up(storage):
    storage.server.apply((FOLDER / f"{NAME}.yaml").read_text(), fixtures=True)


@feature("seeds.containers")
async def test_the_tables_and_queues_of_the_design_are_there(storage):
    """S4-02 S4-04 S4-44 S4-45 S4-46, C-59 C-67: the seed's five tables, the index tables, the queues."""
    await stand_up(storage)
    tables = [table.name for table in await rows(storage.tables.list_tables())]
    assert [table["table"] for table in account["tables"]] == TABLES
    assert set(TABLES) <= set(tables)
    queues = [queue.name for queue in await rows(storage.queues.list_queues())]
    wanted = [f"turns-ingest-{shard:02}" for shard in range(8)] + ["background-tasks", "dlq-turns"]
    assert [queue["queue"] for queue in account["queues"]] == wanted
    assert set(wanted) <= set(queues)


@each_table
@feature("seeds.items")
async def test_every_example_row_comes_back_with_its_types(storage, design):
    """S4-12 to S4-16, S4-22 S4-23 S4-24, C-58: keys and columns as the design has them."""
    await stand_up(storage)
    table = storage.tables.get_table_client(design["table"])
    for wanted in design["entities"]:
        found = await done(table.get_entity(wanted["PartitionKey"], wanted["RowKey"]))
        assert set(found) == set(wanted)
        for name, edm in design["columns"].items():
            assert isinstance(found[name], TYPES[edm]), name
            assert getattr(found[name], "tables_service_value", found[name]) == wanted[name]


@feature("seeds.items")
async def test_applying_again_leaves_a_changed_row_alone(storage):
    await stand_up(storage)
    users = storage.tables.get_table_client("Users")
    changed = {"PartitionKey": "tenant-123", "RowKey": "user-456", "Role": "owner"}
    await done(users.update_entity(changed, mode=UpdateMode.MERGE))
    await stand_up(storage)
    assert (await done(users.get_entity("tenant-123", "user-456")))["Role"] == "owner"
    await done(users.update_entity({**changed, "Role": "member"}, mode=UpdateMode.MERGE))


@feature("seeds.items")
async def test_the_index_tables_lead_to_the_rows(storage):
    """S4-17 S4-18 S4-19 S4-59 S4-60, C-59 C-67: partition scans with a filter; the newest first; a run by its id."""
    await stand_up(storage)
    runs, turns = (storage.tables.get_table_client(name) for name in ("Runs", "Turns"))

    async def ask(name, asked):
        return await rows(storage.tables.get_table_client(name).query_entities(asked))

    agents = await ask("Agents", "PartitionKey eq 'tenant-123'")
    assert [agent["RowKey"] for agent in agents] == ["agent-abc"]
    of_agent = await ask("Runs", "PartitionKey eq 'tenant-123' and AgentId eq 'agent-abc'")
    assert [run["RunId"] for run in of_agent] == ["run-xyz"]
    place = await done(storage.tables.get_table_client("RunById").get_entity("run-xyz", "run-xyz"))
    run = await done(runs.get_entity(place["TenantId"], place["RunRowKey"]))
    assert (run["RunId"], run["TurnCount"]) == ("run-xyz", 12)
    for name, partition in [("RunsRecent", "tenant-123"), ("RunsByUser", "tenant-123|user-456")]:
        first = (await ask(name, f"PartitionKey eq '{partition}'"))[0]
        assert (await done(runs.get_entity("tenant-123", first["RunRowKey"])))["RunId"] == first["RunId"]
    recent = (await ask("TurnsRecent", "PartitionKey eq 'tenant-123'"))[0]
    turn = await done(turns.get_entity(recent["RunId"], recent["TurnRowKey"]))
    assert (turn["TurnId"], turn["TenantId"]) == ("turn-001", "tenant-123")


@feature("seeds.items")
async def test_the_ticks_in_index_keys_are_those_of_the_runs(storage):
    """C-59: nineteen digits, the ticks that are left until the last moment of 9999. The SDK is not asked; the file is."""
    rows_of = {table["table"]: table["entities"] for table in account["tables"]}
    for name, at in [("RunsRecent", "RunRowKey"), ("RunsByUser", "RunRowKey"), ("TurnsRecent", "TurnRowKey")]:
        for row in rows_of[name]:
            left = row["RowKey"].split("|")[0]
            made = datetime.strptime(row[at].split("|")[0], "%Y-%m-%dT%H:%M:%S.0000000Z")
            since = (made - datetime(1, 1, 1)).total_seconds()
            assert left == f"{3155378975999999999 - int(since) * 10**7:019}"


@feature("seeds.containers")
async def test_every_queue_takes_and_gives_a_message(storage):
    """S4-50: received, still there until it is deleted."""
    await stand_up(storage)
    for design in account["queues"]:
        queue = storage.queues.get_queue_client(design["queue"])
        sent = await done(queue.send_message('{"turnId":"turn-001"}'))
        got = await done(queue.receive_message(visibility_timeout=30))
        assert (got.id, got.content, got.dequeue_count) == (sent.id, '{"turnId":"turn-001"}', 1)
        assert (await done(queue.get_queue_properties())).approximate_message_count == 1
        await done(queue.delete_message(got))
        assert (await done(queue.get_queue_properties())).approximate_message_count == 0
