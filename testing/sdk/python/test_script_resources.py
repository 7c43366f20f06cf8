"""Stored procedures, triggers and functions as resources: made, found, changed, removed."""

import pytest
from azure.cosmos.documents import TriggerOperation, TriggerType
from azure.cosmos.exceptions import CosmosResourceExistsError, CosmosResourceNotFoundError

from harness import done, feature, rows

BODY = "function () { return 1; }"
KINDS = [
    ("stored_procedure", "stored_procedures", {}),
    ("trigger", "triggers", {"triggerType": TriggerType.Pre, "triggerOperation": TriggerOperation.All}),
    ("user_defined_function", "user_defined_functions", {}),
]


@pytest.mark.parametrize("one,many,more", KINDS, ids=[kind[0] for kind in KINDS])
@feature("scripts.resources")
async def test_a_script_is_made_found_changed_and_removed(cosmos, one, many, more):
    scripts = (await cosmos.container()).scripts
    call = lambda verb, *arguments: getattr(scripts, f"{verb}_{one}")(*arguments)
    # Newer SDKs name functions shorter when they are read.
    get = getattr(scripts, f"get_{one}")
    made = await done(call("create", {"id": "a", "body": BODY, **more}))
    assert {name: made[name] for name in ("id", "body", *more)} == {"id": "a", "body": BODY, **more}
    with pytest.raises(CosmosResourceExistsError):
        await done(call("create", {"id": "a", "body": BODY, **more}))
    assert (await done(get("a")))["_rid"] == made["_rid"]
    assert (await done(get(made)))["id"] == "a", "by its resource ids"
    replaced = await done(call("replace", "a", {"id": "b", "body": "function () {}", **more}))
    assert (replaced["id"], replaced["_rid"], replaced["body"]) == ("b", made["_rid"], "function () {}")
    await done(call("create", {"id": "c", "body": BODY, **more}))
    assert [row["id"] for row in await rows(getattr(scripts, f"list_{many}")(max_item_count=1))] == ["b", "c"]
    query = getattr(scripts, f"query_{many}")
    found = await rows(query("SELECT * FROM root r WHERE r.id=@id", parameters=[{"name": "@id", "value": "c"}]))
    assert [row["id"] for row in found] == ["c"]
    await done(call("delete", replaced))
    with pytest.raises(CosmosResourceNotFoundError):
        await done(get("b"))
