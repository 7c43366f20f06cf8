"""Agent Studio: concurrency, aggregates, large documents, and the life of workflows and checkpoints."""

from azure.core import MatchConditions

from blueprints import ask, blueprint, filled, ids, stand_up
from harness import done, feature, refused

NAME = "agent-studio"
DAY = 24 * 60 * 60


def example(container):
    return next(each for each in blueprint(NAME)["containers"] if each["id"] == container)["fixtures"][0]


@feature("seeds.items")
async def test_an_upsert_with_a_stale_tag_is_refused_and_a_retry_with_the_latest_succeeds(cosmos):
    """S1-15 S1-38 S1-41: the design's own pattern, 412 and read again."""
    _, containers = await filled(cosmos, NAME)
    workflows = containers["workflows"]
    stale = await done(workflows.read_item("wf_abc123", "wf_abc123"))
    await done(workflows.upsert_item({**stale, "status": "Paused"}))

    async def complete(read):
        changed = {**read, "status": "Completed", "ttl": 30 * DAY}
        guard = {"etag": read["_etag"], "match_condition": MatchConditions.IfNotModified}
        return await done(workflows.upsert_item(changed, **guard))

    assert await refused(lambda: complete(stale)) == 412
    await complete(await done(workflows.read_item("wf_abc123", "wf_abc123")))
    assert (await done(workflows.read_item("wf_abc123", "wf_abc123")))["status"] == "Completed"


@feature("seeds.queries")
async def test_lists_come_in_their_order(cosmos):
    """S1-44 S1-46 S1-47: by a range index, newest or oldest first."""
    _, containers = await filled(cosmos, NAME)
    assert await ids(cosmos, NAME, containers, "workflows-created-since") == ["wf_abc123", "wf_jkl012", "wf_def456"]
    assert await ids(cosmos, NAME, containers, "workflows-of-user") == ["wf_jkl012", "wf_ghi789"]
    assert await ids(cosmos, NAME, containers, "checkpoints-of-workflow") == ["cp_xyz789", "cp_xyz788"]
    assert await ids(cosmos, NAME, containers, "history-of-thread") == ["msg_abc000", "msg_abc001"]


@feature("seeds.queries")
async def test_analytics_add_up_over_all_workflows(direct):
    """S1-13 S1-90: groups, sums over joined tasks, and a subquery."""
    _, containers = await filled(direct, NAME)
    cost = {row["status"]: row for row in (await ask(direct, NAME, containers, "cost-by-status"))[0]}
    assert {status: row["workflows"] for status, row in cost.items()} == {
        "Running": 1, "Paused": 1, "Completed": 1, "Failed": 1,
    }  # fmt: skip
    assert cost["Completed"]["cost"] == 0.031
    tokens = (await ask(direct, NAME, containers, "tokens-by-agent-type"))[0]
    assert {row["agentType"]: row["tokens"] for row in tokens} == {"Architect": 3200, "Builder": 1200}
    assert sorted(await ids(direct, NAME, containers, "workflows-with-pending-work")) == ["wf_abc123", "wf_def456"]


@feature("seeds.items")
async def test_a_workflow_of_two_megabytes_is_the_largest(cosmos):
    """S1-16: C-29 is why a checkpoint larger than this goes elsewhere."""
    _, containers = await stand_up(cosmos, NAME)
    workflow = {**example("workflows"), "context": {"sharedData": "x" * 2_000_000}}
    await done(containers["workflows"].create_item(workflow))
    read = await done(containers["workflows"].read_item("wf_abc123", "wf_abc123"))
    assert len(read["context"]["sharedData"]) == 2_000_000
    larger = {**workflow, "id": "wf_larger", "context": {"sharedData": "x" * 2_200_000}}
    assert await refused(lambda: containers["workflows"].create_item(larger)) == 413


@feature("seeds.items")
async def test_members_that_the_design_does_not_know_are_kept(cosmos):
    """S1-09: through a read and a write of the whole."""
    _, containers = await filled(cosmos, NAME)
    agents = containers["agent-entity-store"]
    read = await done(agents.read_item("agent_architect_001", "Architect"))
    await done(agents.replace_item(read["id"], {**read, "voice": {"pitch": [1, None, "a"]}}))
    again = await done(agents.read_item("agent_architect_001", "Architect"))
    await done(agents.replace_item(read["id"], {**again, "updatedAt": "2025-10-15T00:00:00Z"}))
    assert (await done(agents.read_item("agent_architect_001", "Architect")))["voice"] == {"pitch": [1, None, "a"]}


@feature("seeds.items")
async def test_the_design_s_policy_makes_writes_cheaper(cosmos):
    """S1-44 S1-52 S1-75: four paths indexed instead of all; how much cheaper depends on the items."""
    _, containers = await stand_up(cosmos, NAME)
    everything = await cosmos.container("/id")
    charges = []
    for container in (containers["workflows"], everything):
        written = await done(container.create_item(example("workflows")))
        charges.append(float(written.get_response_headers()["x-ms-request-charge"]))
    assert charges[0] <= 0.7 * charges[1], charges


@feature("seeds.ttl")
async def test_checkpoints_go_after_thirty_days_and_a_running_workflow_stays(clocked):
    """S1-18 S1-24 S1-34, C-28: with its own ttl or the container's."""
    _, containers = await filled(clocked, NAME)
    clocked.server.advance(30 * DAY - 1)
    assert len((await ask(clocked, NAME, containers, "checkpoints-of-workflow"))[0]) == 2
    assert await ids(clocked, NAME, containers, "workflows-of-user") == ["wf_jkl012", "wf_ghi789"]
    clocked.server.advance(1)
    assert await ids(clocked, NAME, containers, "checkpoints-of-workflow") == []
    assert await ids(clocked, NAME, containers, "workflows-of-user") == []
    clocked.server.advance(1000 * DAY)
    assert await ids(clocked, NAME, containers, "workflows-by-status") == ["wf_abc123"]
    assert await ids(clocked, NAME, containers, "workflows-by-status", status="Paused") == ["wf_def456"]
