"""The schemas of the blueprints refuse what the designs forbid.

The SDK is not asked: each case takes an example item that fits, breaks one member and has the schema judged by a
validator of its own. What the server does with a schema is told and tested elsewhere.
"""

import copy

import pytest
from jsonschema import Draft202012Validator

from blueprints import blueprint
from harness import feature

GONE = object()

# Container, what shows it, the member, and what it must not be.
ASCENSION = [
    ("workflow-states", "S0-16", "id", ""),
    ("workflow-states", "S0-17", "workflow_id", GONE),
    ("workflow-states", "S0-18", "workspace_id", GONE),
    ("workflow-states", "S0-19", "type", "parallel"),
    ("workflow-states", "S0-20", "name", GONE),
    ("workflow-states", "S0-21", "status", "running"),
    ("workflow-states", "S0-22", "current_step", -1),
    ("workflow-states", "S0-22", "total_steps", 1.5),
    ("workflow-states", "S0-23", "agents/0/agent_id", 7),
    ("workflow-states", "S0-24", "agents/0/status", "paused"),
    ("workflow-states", "S0-25", "agents/0/started_at", "yesterday"),
    ("workflow-states", "S0-25", "agents/0/duration_ms", -5),
    ("workflow-states", "S0-26", "agents/0/result", "done"),
    ("workflow-states", "S0-27", "agents/0/result/tool_calls", [{"tool_args": {}}]),
    ("workflow-states", "S0-28", "agents/0/result/token_usage/total_tokens", -1),
    ("workflow-states", "S0-29", "agents/0/result/error", {}),
    ("workflow-states", "S0-30", "checkpoints/0/state", []),
    ("workflow-states", "S0-31", "metadata/tags", "backend"),
    ("workflow-states", "S0-32", "metadata/priority", 0),
    ("workflow-states", "S0-32", "metadata/priority", 11),
    ("workflow-states", "S0-33", "metadata/max_retries", -1),
    ("workflow-states", "S0-34", "metadata/timeout_seconds", 0),
    ("workflow-states", "S0-35", "metadata/environment", "test"),
    ("workflow-states", "S0-36", "performance_metrics/total_cost_usd", "0.046"),
    ("workflow-states", "S0-37", "error_details", "failed"),
    ("workflow-states", "S0-38", "error_details", {"recovery_action": "ignore"}),
    ("workflow-states", "S0-39", "created_at", "2025-10-07"),
    ("workflow-states", "C-09", "doc_type", "note"),
    ("agent-memories", "S0-48", "session_id", GONE),
    ("agent-memories", "S0-49", "message_type", "tool"),
    ("agent-memories", "S0-50", "relevance_score", 1.01),
    ("agent-memories", "S0-50", "relevance_score", -0.1),
    ("agent-memories", "S0-51", "token_count", -1),
    ("agent-memories", "S0-52", "parent_message_id", 5),
    ("agent-memories", "S0-53", "metadata/reasoning_chain", [1]),
    ("agent-metrics", "S0-56", "metric_date", "07.10.2025"),
    ("agent-metrics", "S0-60", "value", "330000"),
    ("agent-metrics", "S0-61", "metric_type", "memory"),
    ("agent-metrics", "S0-62", "dimensions/model", 4),
    ("tool-invocations", "S0-64", "tool_date", "2025-10-7"),
    ("tool-invocations", "S0-68", "tool_name", GONE),
    ("tool-invocations", "S0-69", "status", "failed"),
    ("tool-invocations", "S0-70", "error_details", "none"),
    ("tool-invocations", "S0-71", "security_context", "user-456"),
    ("tool-invocations", "S0-72", "workflow_id", 0),
]
STUDIO = [
    ("workflows", "S1-30", "pattern", "sequential"),
    ("workflows", "S1-30", "status", "in_progress"),
    ("workflows", "S1-31", "createdAt", "now"),
    ("workflows", "S1-32", "tasks/0/agentType", GONE),
    ("workflows", "S1-32", "tasks/0/tokenUsage/prompt", -1),
    ("workflows", "S1-33", "context", "shared"),
    ("workflows", "S1-34", "metadata/totalTasks", 1.5),
    ("workflows", "C-28", "ttl", 2592000),
    ("checkpoints", "S1-35", "state/pendingTasks", GONE),
    ("checkpoints", "S1-35", "metadata/progressPercentage", 101),
    ("thread-message-store", "S1-36", "role", "robot"),
    ("agent-entity-store", "S1-37", "metrics/successRate", 1.1),
    ("agent-entity-store", "S1-37", "configuration/model", GONE),
]
ASORA = [
    ("notification_events", "S2-03", "userId", GONE),
    ("notification_events", "S2-04", "eventType", "POST_LIKED"),
    ("notification_events", "S2-05", "category", "SECURITY"),
    ("notification_events", "S2-06", "payload/targetId", GONE),
    ("notification_events", "S2-06", "payload/targetType", "story"),
    ("notification_events", "S2-81", "payload/snippet", "x" * 141),
    ("notification_events", "S2-07", "status", "DONE"),
    ("notification_events", "S2-08", "retryCount", 6),
    ("notification_events", "S2-09", "nextRetryAt", "soon"),
    ("notification_events", "S2-10", "lastError", 503),
    ("notification_events", "S2-11", "dedupeKey", []),
    ("notification_events", "S2-12", "createdAt", GONE),
    ("notifications", "S2-17", "category", "social"),
    ("notifications", "S2-18", "title", GONE),
    ("notifications", "S2-19", "deeplink", "https://asora.example/post/42"),
    ("notifications", "S2-20", "targetType", "story"),
    ("notifications", "S2-21", "read", "no"),
    ("notifications", "S2-22", "createdAt", 1763629202),
    ("notification_preferences", "S2-29", "timezone", "America / Los Angeles"),
    ("notification_preferences", "S2-30", "quietHours", 23 * [True]),
    ("notification_preferences", "S2-30", "quietHours/3", 1),
    ("notification_preferences", "S2-31", "categories/news", GONE),
    ("notification_preferences", "S2-32", "updatedAt", GONE),
    ("device_tokens", "S2-38", "deviceId", GONE),
    ("device_tokens", "S2-39", "platform", "wns"),
    ("device_tokens", "S2-40", "label", 15),
    ("device_tokens", "S2-41", "lastSeenAt", "today"),
    ("device_tokens", "C-47", "revokedAt", GONE),
]
COPILOT = [
    ("arch-456", "S3-07", "source", GONE),
    ("arch-456", "S3-65", "status", "done"),
    ("msg-124", "S3-08", "thread_id", GONE),
    ("msg-124", "S3-13", "date", "Wed, 15 Jan 2025 12:05:00 +0000"),
    ("msg-123-0", "S3-09", "embedding_generated", "yes"),
    ("msg-123-0", "C-51", "sequence", GONE),
    ("msg-123-0", "C-51", "chunk_index", GONE),
    ("thread-789", "S3-10", "draft_mentions", "draft-ietf-quic-multipath"),
    ("thread-789", "S3-63", "consensus_type", "rough"),
    ("sum-789-1", "S3-64", "summary_type", "daily"),
    ("sum-789-1", "S3-12", "collection", "messages"),
]


@pytest.mark.parametrize(
    ("name", "cases"),
    [("project-ascension", ASCENSION), ("agent-studio", STUDIO), ("asora-notifications", ASORA)],
    ids=lambda value: value if isinstance(value, str) else "",
)
@feature("seeds.items")
async def test_a_schema_refuses_each_broken_member(cosmos, name, cases):
    containers = {each["id"]: each for each in blueprint(name)["containers"]}
    for container, requirement, member, value in cases:
        design = containers[container]
        assert_refused(design["schema"], design["fixtures"][0], requirement, member, value)


@feature("seeds.items")
async def test_the_schema_of_each_collection_refuses_each_broken_member(cosmos):
    (design,) = blueprint("copilot")["containers"]
    items = {each["id"]: each for each in design["fixtures"]}
    for item, requirement, member, value in COPILOT:
        assert_refused(design["schemas"]["of"][items[item]["collection"]], items[item], requirement, member, value)


def assert_refused(schema, item, requirement, member, value):
    judge = Draft202012Validator(schema)
    assert judge.is_valid(item), item["id"]
    assert not judge.is_valid(broken(item, member, value)), (requirement, member, value)


def broken(item, member, value):
    *path, last = [int(step) if step.isdigit() else step for step in member.split("/")]
    item = copy.deepcopy(item)
    at = item
    for step in path:
        at = at[step]
    if value is GONE:
        del at[last]
    else:
        at[last] = value
    return item
