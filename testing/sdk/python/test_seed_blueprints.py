"""Every blueprint on an empty database: policies, throughput, example items, queries and their indexes."""

import pytest
from jsonschema import Draft202012Validator

from blueprints import NAMES, ask, blueprint, composites, fill, filled, stand_up
from harness import done, feature, refused, rows, user_members
from test_throughput import has_none

ENVIRONMENTS = ["development", "staging", "production"]
# What the service gives a container whose blueprint says nothing about indexing.
EVERYTHING = {
    "indexingMode": "consistent", "automatic": True, "includedPaths": [{"path": "/*"}],
    "excludedPaths": [{"path": '/"_etag"/?'}],
}  # fmt: skip
each_blueprint = pytest.mark.parametrize("name", NAMES)


@each_blueprint
@feature("seeds.containers")
async def test_every_container_reads_back_as_its_blueprint_says(cosmos, name):
    """S0-13 S0-45 S0-58 S0-66 S1-42 S1-43 S2-48 S2-55 S3-20: policies, keys and times to live."""
    _, containers = await stand_up(cosmos, name)
    for asked in blueprint(name)["containers"]:
        read = await done(containers[asked["id"]].read())
        assert same_policy(read["indexingPolicy"]) == same_policy(asked.get("indexingPolicy", EVERYTHING)), asked["id"]
        assert read["partitionKey"]["paths"] == [asked["partitionKey"]]
        assert read.get("defaultTtl") == asked.get("defaultTtl")
        unique = read.get("uniqueKeyPolicy", {}).get("uniqueKeys", [])
        assert [each["paths"] for each in unique] == asked.get("uniqueKeys", [])


@each_blueprint
@feature("seeds.containers")
async def test_the_throughput_of_every_environment_reads_back(cosmos, name):
    """S1-49 S2-46 S2-50 S2-51 S2-53 S2-62 S3-02 S3-34 S3-35 S3-36, C-30: of autoscale, the most is stored."""
    for environment in ENVIRONMENTS:
        database, containers = await stand_up(cosmos, name, environment)
        design = blueprint(name)
        await assert_throughput(database, design.get("environments", {}).get(environment))
        for asked in design["containers"]:
            await assert_throughput(containers[asked["id"]], asked.get("environments", {}).get(environment))


@each_blueprint
@feature("seeds.items")
async def test_every_example_item_comes_back_as_it_was_written(cosmos, name):
    """S0-42 S0-55 S0-63 S1-09 S3-13: values, order of members, null and absence."""
    _, containers = await filled(cosmos, name)
    for asked in blueprint(name)["containers"]:
        key = asked["partitionKey"].lstrip("/")
        for item in asked["fixtures"]:
            read = await done(containers[asked["id"]].read_item(item["id"], item[key]))
            assert list(user_members(read).items()) == list(item.items())


@each_blueprint
@feature("seeds.queries")
async def test_every_query_gives_its_rows_by_the_index_that_serves_it(direct, name):
    """S0-14 S0-15 S0-46 S0-47 S0-59 S0-67 S2-14 S2-15 S3-23 to S3-28: rows over the example items, and the index."""
    _, containers = await filled(direct, name)
    for query, asked in blueprint(name)["queries"].items():
        found, metrics = await ask(direct, name, containers, query)
        assert len(found) == asked["rows"], query
        assert composites(metrics) == asked["index"], query


@each_blueprint
@feature("seeds.queries")
async def test_no_query_finds_anything_in_empty_containers(direct, name):
    _, containers = await stand_up(direct, name)
    for query, asked in blueprint(name)["queries"].items():
        found, _ = await ask(direct, name, containers, query)
        assert found == ([0] if "COUNT(1) FROM" in asked["sql"] else []), query


@each_blueprint
@feature("seeds.queries")
async def test_every_composite_index_serves_a_query(cosmos, name):
    """S0-112 S3-29: no index is there for nothing. The SDK is not asked; the blueprint is judged."""
    for container in blueprint(name)["containers"]:
        for parts in container.get("indexingPolicy", {}).get("compositeIndexes", []):
            spelled = [f"{part['path']} {part['order'][:-6].upper()}" for part in parts]
            queries = blueprint(name)["queries"].values()
            assert any(spelled in each["index"] for each in queries if each["container"] == container["id"]), spelled


@each_blueprint
@feature("seeds.items")
async def test_every_example_item_fits_its_schema(cosmos, name):
    """S3-12: and each schema is one."""
    for container in blueprint(name)["containers"]:
        for item in container["fixtures"]:
            schema = schema_of(container, item)
            Draft202012Validator.check_schema(schema)
            assert not list(Draft202012Validator(schema).iter_errors(item)), (container["id"], item["id"])


@each_blueprint
@feature("seeds.ttl")
async def test_example_items_go_when_the_design_says(clocked, name):
    """S0-12 S0-44 S0-57 S0-65 S1-18 S1-24 S2-47 S2-49 S2-54 S2-66 S2-67 S2-68, C-28 C-54: at its second."""
    _, containers = await stand_up(clocked, name)
    await fill(name, containers)
    left = {each["id"]: {item["id"]: lifetime(each, item) for item in each["fixtures"]}
            for each in blueprint(name)["containers"]}  # fmt: skip
    passed = 0
    for end in sorted({end for items in left.values() for end in items.values() if end is not None}):
        clocked.server.advance(end - 1 - passed)
        await assert_there(containers, left, end - 1)
        clocked.server.advance(1)
        passed = end
        await assert_there(containers, left, end)
    clocked.server.advance(1000 * 24 * 3600)
    await assert_there(containers, left, passed + 1000 * 24 * 3600)


async def assert_there(containers, left, now):
    for container, items in left.items():
        expected = sorted(item for item, end in items.items() if end is None or end > now)
        assert sorted(item["id"] for item in await rows(containers[container].read_all_items())) == expected


def lifetime(container, item):
    """Seconds until the item goes; None if it stays."""
    default = container.get("defaultTtl")
    if default is None:
        return None
    ttl = item.get("ttl", default)
    return None if ttl == -1 else ttl


@feature("seeds.refused")
async def test_the_policies_of_the_designs_need_the_blueprints_spelling(cosmos):
    """C-04 C-05 C-79, S1-42: no root, or `*` inside a path, is refused; both spellings of `_etag` are not."""
    root, tag = {"path": "/*"}, {"path": "/_etag/?"}
    without_root = {"includedPaths": [{"path": "/status/?"}], "excludedPaths": [tag]}
    assert await refused(lambda: cosmos.container(indexing_policy=without_root)) == 400
    star_inside = {"includedPaths": [root], "excludedPaths": [{"path": "/agents/*/result/*"}]}
    assert await refused(lambda: cosmos.container(indexing_policy=star_inside)) == 400
    legacy = [{"kind": "Range", "dataType": "String"}]
    container = await cosmos.container(
        indexing_policy={"includedPaths": [{"path": "/status/?", "indexes": legacy}], "excludedPaths": [root, tag]}
    )
    policy = (await done(container.read()))["indexingPolicy"]
    assert policy["includedPaths"] == [{"path": "/status/?"}]
    assert {"path": '/"_etag"/?'} in policy["excludedPaths"] and tag not in policy["excludedPaths"]


def same_policy(policy):
    """What two spellings of one policy have in common: the order of paths says nothing."""
    return {
        "mode": policy["indexingMode"], "automatic": policy["automatic"],
        "included": sorted(each["path"] for each in policy["includedPaths"]),
        "excluded": sorted(each["path"] for each in policy["excludedPaths"]),
        "composites": policy.get("compositeIndexes", []),
    }  # fmt: skip


def schema_of(container, item):
    if "schema" in container:
        return container["schema"]
    return container["schemas"]["of"][item[container["schemas"]["member"]]]


async def assert_throughput(resource, asked):
    """`asked` is what a blueprint says: manual, autoscale, or nothing that a server without limits need keep."""
    if not isinstance(asked, dict):
        # A container that says nothing in a database that says nothing gets the service's default.
        if await has_none(resource):
            return
        asked = {"manual": 400}
    read = await done(resource.get_throughput())
    if "autoscale" in asked:
        assert read.auto_scale_max_throughput == asked["autoscale"]
    else:
        assert read.offer_throughput == asked["manual"]
