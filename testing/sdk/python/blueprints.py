"""The blueprints as the tests see them: applied by `orrery apply`, filled with their items, asked their queries."""

import json
import re
from functools import cache
from pathlib import Path

import yaml
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError

from harness import done, fresh, rows

FOLDER = Path(__file__).parents[3] / "blueprints"
NAMES = ["project-ascension", "agent-studio", "asora-notifications", "copilot"]
METRICS = "x-ms-cosmos-index-utilization"


@cache
def blueprint(name):
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text())


async def stand_up(cosmos, name, environment="development", *flags):
    """The blueprint, applied by `orrery apply` to a database of its own; its containers by id."""
    design = blueprint(name)
    database = fresh(design["database"])
    cosmos.server.apply(renamed(name, database), "--env", environment, *flags)
    database = cosmos.client.get_database_client(database)
    return database, {each["id"]: database.get_container_client(each["id"]) for each in design["containers"]}


def renamed(name, database):
    """The blueprint's text with another database."""
    text, count = re.subn(r"(?m)^database: .*$", f"database: {database}", (FOLDER / f"{name}.yaml").read_text())
    assert count == 1, name
    return text


async def fill(name, containers):
    for each in blueprint(name)["containers"]:
        for item in each["fixtures"]:
            await done(containers[each["id"]].create_item(item))


async def filled(cosmos, name, *flags):
    database, containers = await stand_up(cosmos, name, "development", *flags)
    await fill(name, containers)
    return database, containers


async def ask(cosmos, name, containers, query, **given):
    """The rows of a named query, with its example parameters unless others are given, and the indexes it used."""
    asked = blueprint(name)["queries"][query]
    values = {key: given.get(key, each["example"]) for key, each in asked["parameters"].items()}
    partition = asked.get("partitionKey")
    scope = {"partition_key": values[partition]} if partition else cosmos.everywhere
    container = containers[asked["container"]]
    parameters = [{"name": f"@{key}", "value": value} for key, value in values.items()]
    found = await rows(
        container.query_items(asked["sql"], parameters=parameters, populate_index_metrics=True, **scope)
    )
    used = container.client_connection.last_response_headers.get(METRICS)
    return found, json.loads(used) if isinstance(used, str) else used


async def ids(cosmos, name, containers, query, **given):
    return [row["id"] for row in (await ask(cosmos, name, containers, query, **given))[0]]


async def batch_refused(container, operations, key):
    """The status that a batch is refused with: the first operation that fails, or the batch itself."""
    try:
        await done(container.execute_item_batch(operations, key))
    except (CosmosBatchOperationError, CosmosHttpResponseError) as error:
        return error.status_code
    raise AssertionError("the batch was accepted")


def composites(metrics, use="Utilized"):
    """The composite indexes that an answer names, spelled as blueprints spell them."""
    return [each["IndexSpecs"] for each in metrics[f"{use}CompositeIndexes"]]
