"""Schemas of a container: what does not match is refused, or written with a warning."""

import json
import urllib.request

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError

from harness import done, feature, refused

SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
WARNINGS = "x-orrery-schema-warnings"


async def held_to(cosmos, validation):
    """A container whose items have a number `n`."""
    database = await cosmos.database()
    container = await done(database.create_container("c", PartitionKey("/pk")))
    request = urllib.request.Request(
        f"http://localhost:{cosmos.server.services_port}/v1/schemas/{database.id}/c",
        data=json.dumps({"validation": validation, "schema": SCHEMA}).encode(),
        headers={"content-type": "application/json"},
        method="PUT",
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        assert response.status == 200
    return container


def item(id, n):
    return {"id": id, "pk": "p", "n": n}


@feature("containers.schema_enforced")
async def test_what_does_not_match_is_refused_with_its_place(cosmos):
    container = await held_to(cosmos, "enforce")
    await done(container.create_item(item("a", 1)))
    set_n = [{"op": "set", "path": "/n", "value": "x"}]
    for call in (
        lambda: container.create_item(item("b", "x")),
        lambda: container.upsert_item(item("a", "x")),
        lambda: container.replace_item("a", item("a", "x")),
        lambda: container.patch_item("a", "p", set_n),
    ):
        with pytest.raises(CosmosHttpResponseError) as error:
            await done(call())
        assert error.value.status_code == 400
        said = error.value.message.replace("\\", "")
        assert '/n: "x" is not of type "integer"' in said
    assert (await done(container.read_item("a", "p")))["n"] == 1
    assert await refused(lambda: container.read_item("b", "p")) == 404


@feature("containers.schema_warned")
async def test_what_does_not_match_is_written_with_a_warning(cosmos):
    container = await held_to(cosmos, "warn")
    written = await done(container.create_item(item("a", "x")))
    assert written.get_response_headers()[WARNINGS] == "1"
    written = await done(container.upsert_item(item("a", 1)))
    assert WARNINGS not in written.get_response_headers()
