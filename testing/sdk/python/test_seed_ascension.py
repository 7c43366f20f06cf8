"""The meta-agent platform: workflow states, memories, metrics, and erasing a workspace."""

from azure.core import MatchConditions

from blueprints import ask, batch_refused, blueprint, filled, ids, stand_up
from harness import done, feature, refused, rows

NAME = "project-ascension"
DAY = 24 * 60 * 60
WRITE_CHARGE = "x-ms-request-charge"


@feature("seeds.queries")
async def test_a_workflow_is_found_by_either_form_of_its_id(cosmos):
    """S0-11, C-03 C-09: an id of its own or the workflow's; checkpoints and events beside it are other documents."""
    _, containers = await filled(cosmos, NAME)
    assert await ids(cosmos, NAME, containers, "workflow-state") == ["550e8400-e29b-41d4-a716-446655440001"]
    assert await ids(cosmos, NAME, containers, "workflow-state", workflow_id="workflow-124") == ["workflow-124"]
    assert await ids(cosmos, NAME, containers, "checkpoints-of-workflow") == ["cp_1"]
    states = containers["workflow-states"]
    assert (await done(states.read_item("workflow-124", "workflow-124")))["status"] == "in_progress"


@feature("seeds.queries")
async def test_lists_come_in_the_order_of_their_composite_index(cosmos):
    """S0-14 S0-15 S0-46 S0-47 S0-59 S0-67: filtered, and sorted as the index is."""
    _, containers = await filled(cosmos, NAME)
    first = "550e8400-e29b-41d4-a716-446655440001"
    assert await ids(cosmos, NAME, containers, "workflows-by-status") == ["workflow-124", first]
    assert await ids(cosmos, NAME, containers, "workflows-by-type") == ["workflow-124", first]
    said = "msg-550e8400-e29b-41d4-a716-446655440002"
    assert await ids(cosmos, NAME, containers, "session-replay") == [said, "msg-3", "msg-4"]
    assert await ids(cosmos, NAME, containers, "top-memories") == [said, "msg-4"]
    latency = "metric-550e8400-e29b-41d4-a716-446655440003"
    assert await ids(cosmos, NAME, containers, "metrics-by-day") == [
        latency, "metric-2", "metric-3", "metric-4", "metric-5",
    ]  # fmt: skip
    assert await ids(cosmos, NAME, containers, "tool-invocations-by-day") == ["tool-1", "tool-3", "tool-2", "tool-4"]


@feature("seeds.queries")
async def test_metrics_are_grouped_by_a_dimension(direct):
    """S0-62: although the dimension is not in the index."""
    _, containers = await filled(direct, NAME)
    found, _ = await ask(direct, NAME, containers, "metrics-by-model")
    assert sorted(found, key=lambda row: row["model"]) == [
        {"model": "gpt-4", "average": 225_000}, {"model": "gpt-4o", "average": 900},
    ]  # fmt: skip


@feature("seeds.queries")
async def test_what_is_not_indexed_is_still_found(cosmos):
    """S0-45 S0-113: content is left out of the index, so asking for it reads the documents."""
    _, containers = await filled(cosmos, NAME)
    query = "SELECT VALUE c.id FROM c WHERE CONTAINS(c.content, 'short-lived')"
    assert await rows(containers["agent-memories"].query_items(query, **cosmos.everywhere)) == ["msg-3"]


@feature("seeds.items")
async def test_leaving_large_text_out_of_the_index_makes_writes_cheaper(cosmos):
    """S0-111: the same memory under the design's policy, and where everything is indexed."""
    _, containers = await stand_up(cosmos, NAME)
    everything = await cosmos.container("/agent_id")
    item = next(each for each in blueprint(NAME)["containers"] if each["id"] == "agent-memories")["fixtures"][0]
    charges = []
    for container in (containers["agent-memories"], everything):
        written = await done(container.create_item(item))
        charges.append(float(written.get_response_headers()[WRITE_CHARGE]))
    assert charges[0] < charges[1]


@feature("seeds.items")
async def test_a_workspace_is_erased_from_every_container(cosmos):
    """S0-97: found by the design's query in each of the seven, deleted one by one, and gone; others keep theirs."""
    _, containers = await filled(cosmos, NAME)
    keys = {each["id"]: each["partitionKey"].lstrip("/") for each in blueprint(NAME)["containers"]}
    erasing = [query for query in blueprint(NAME)["queries"] if query.endswith("-of-workspace")]
    assert len(erasing) == len(keys) == 7
    for query in erasing:
        container = blueprint(NAME)["queries"][query]["container"]
        for item in (await ask(cosmos, NAME, containers, query))[0]:
            await done(containers[container].delete_item(item["id"], item[keys[container]]))
    for query in erasing:
        assert (await ask(cosmos, NAME, containers, query))[0] == []
    kept = [len((await ask(cosmos, NAME, containers, query, workspace_id="ws-tenant-002"))[0]) for query in erasing]
    assert sum(kept) == 5


@feature("seeds.items")
async def test_of_two_writers_of_a_state_one_is_refused(cosmos):
    """S0-10 S0-98: the second has the tag of what the first replaced."""
    _, containers = await filled(cosmos, NAME)
    states = containers["workflow-states"]
    read = await done(states.read_item("workflow-124", "workflow-124"))
    guard = {"etag": read["_etag"], "match_condition": MatchConditions.IfNotModified}
    changed = {**read, "status": "completed"}
    await done(states.replace_item("workflow-124", changed, **guard))
    assert await refused(lambda: states.replace_item("workflow-124", {**read, "status": "failed"}, **guard)) == 412
    assert (await done(states.read_item("workflow-124", "workflow-124")))["status"] == "completed"


@feature("seeds.ttl")
async def test_a_paused_workflow_outlives_a_month_and_an_ended_one_does_not(clocked):
    """S0-12 S0-40 S0-115, C-18 C-28: ttl -1 while it may go on, thirty days from its end."""
    _, containers = await stand_up(clocked, NAME)
    states = containers["workflow-states"]
    design = {each["id"]: each for each in blueprint(NAME)["containers"][0]["fixtures"]}
    await done(states.create_item(design["workflow-200"]))
    clocked.server.advance(31 * DAY)
    paused = await done(states.read_item("workflow-200", "workflow-200"))
    assert paused["status"] == "paused"
    await done(states.replace_item("workflow-200", {**paused, "status": "completed", "ttl": 30 * DAY}))
    clocked.server.advance(30 * DAY - 1)
    await done(states.read_item("workflow-200", "workflow-200"))
    clocked.server.advance(1)
    assert await refused(lambda: states.read_item("workflow-200", "workflow-200")) == 404


@feature("seeds.items")
async def test_a_day_of_metrics_is_inserted_by_batches_of_a_hundred(cosmos):
    """S0-87 S0-88, C-11: all of a day is one partition, so a batch takes any of it."""
    _, containers = await stand_up(cosmos, NAME)
    metrics = containers["agent-metrics"]
    design = next(each for each in blueprint(NAME)["containers"] if each["id"] == "agent-metrics")["fixtures"][0]
    for first in (0, 100):
        batch = [("create", ({**design, "id": f"metric-{n}"},)) for n in range(first, first + 100)]
        await done(metrics.execute_item_batch(batch, "2025-10-07"))
    query = "SELECT VALUE COUNT(1) FROM c WHERE c.metric_type = 'latency'"
    assert await rows(metrics.query_items(query, partition_key="2025-10-07")) == [200]


@feature("seeds.items")
async def test_a_state_and_its_checkpoint_are_written_together_or_not_at_all(cosmos):
    """S0-30 S1-10, C-09: both are in the workflow's partition, so one batch has both."""
    _, containers = await filled(cosmos, NAME)
    states = containers["workflow-states"]
    state = await done(states.read_item("workflow-124", "workflow-124"))
    checkpoint = {
        "id": "cp_1", "doc_type": "checkpoint", "workflow_id": "workflow-124", "workspace_id": "ws-tenant-001",
        "step": 0, "timestamp": "2025-10-08T08:05:00Z", "state": {"drafted": True}, "agent_context": {},
    }  # fmt: skip
    both = [("replace", ("workflow-124", {**state, "current_step": 1})), ("create", (checkpoint,))]
    await done(states.execute_item_batch(both, "workflow-124"))
    again = [("replace", ("workflow-124", {**state, "current_step": 2})), ("create", (checkpoint,))]
    assert await batch_refused(states, again, "workflow-124") == 409
    assert (await done(states.read_item("workflow-124", "workflow-124")))["current_step"] == 1
