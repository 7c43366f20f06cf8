"""Containers: their policies, their partition keys, and what may change later."""

import base64
import hashlib
import hmac
import json
import urllib.parse
import urllib.request
from email.utils import formatdate

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError
from azure.cosmos.partition_key import NonePartitionKeyValue

from harness import KEY, assert_holds, done, feature, refused, rows, same_container

INDEXING = {
    "indexingMode": "consistent",
    "automatic": True,
    "includedPaths": [{"path": "/*"}],
    "excludedPaths": [{"path": "/secret/?"}],
    "compositeIndexes": [[{"path": "/a", "order": "ascending"}, {"path": "/b", "order": "descending"}]],
    "spatialIndexes": [{"path": "/place/*", "types": ["Point", "Polygon"]}],
    "vectorIndexes": [{"path": "/vector", "type": "quantizedFlat"}],
    "fullTextIndexes": [{"path": "/text"}],
}
UNIQUE = {"uniqueKeys": [{"paths": ["/email"]}, {"paths": ["/first", "/last"]}]}
CONFLICTS = {"mode": "LastWriterWins", "conflictResolutionPath": "/rank"}
VECTORS = {
    "vectorEmbeddings": [
        {"path": "/vector", "dataType": "float32", "dimensions": 16, "distanceFunction": "cosine"}
    ]
}
FULL_TEXT = {"defaultLanguage": "en-US", "fullTextPaths": [{"path": "/text", "language": "en-US"}]}


@feature("containers.create")
async def test_a_new_container_has_its_system_properties_and_defaults(cosmos):
    container = await cosmos.container()
    properties = await done(container.read())
    database = properties["_self"].split("/")[1]
    assert properties["_self"] == f"dbs/{database}/colls/{properties['_rid']}/"
    assert_holds(properties["partitionKey"], {"paths": ["/pk"], "kind": "Hash", "version": 2})
    assert_holds(properties["indexingPolicy"], {"indexingMode": "consistent", "includedPaths": [{"path": "/*"}]})
    assert "defaultTtl" not in properties


@feature("containers.policies")
async def test_every_policy_comes_back_as_it_was_given(cosmos):
    container = await cosmos.container(
        indexing_policy=INDEXING,
        unique_key_policy=UNIQUE,
        conflict_resolution_policy=CONFLICTS,
        vector_embedding_policy=VECTORS,
        full_text_policy=FULL_TEXT,
        default_ttl=3600,
        analytical_storage_ttl=-1,
        change_feed_policy={"retentionDuration": 10},
    )
    properties = await done(container.read())
    assert_holds(properties["indexingPolicy"], INDEXING)
    assert_holds(properties["uniqueKeyPolicy"], UNIQUE)
    assert_holds(properties["conflictResolutionPolicy"], CONFLICTS)
    assert_holds(properties["vectorEmbeddingPolicy"], VECTORS)
    assert_holds(properties["fullTextPolicy"], FULL_TEXT)
    assert (properties["defaultTtl"], properties["analyticalStorageTtl"]) == (3600, -1)
    assert properties["changeFeedPolicy"] == {"retentionDuration": 10}


@feature("containers.policies")
async def test_a_vector_index_without_its_embedding_is_refused(cosmos):
    policy = {**INDEXING, "vectorIndexes": [{"path": "/other", "type": "flat"}]}
    assert await refused(lambda: cosmos.container(indexing_policy=policy, vector_embedding_policy=VECTORS)) == 400


@feature("containers.computed_properties")
async def test_computed_properties_come_back_as_they_were_given(cosmos):
    computed = [{"name": "lowerName", "query": "SELECT VALUE LOWER(c.name) FROM c"}]
    container = await cosmos.container(computed_properties=computed)
    assert (await done(container.read()))["computedProperties"] == computed


@feature("containers.conflict")
async def test_a_second_container_of_that_name_is_a_conflict(cosmos):
    database = await cosmos.database()
    await done(database.create_container("c", PartitionKey("/pk")))
    assert await refused(lambda: database.create_container("c", PartitionKey("/pk"))) == 409


@feature("containers.create_if_not_exists")
async def test_create_if_not_exists_finds_what_is_there(cosmos):
    database = await cosmos.database()
    made = await done(database.create_container_if_not_exists("c", PartitionKey("/pk")))
    found = await done(database.create_container_if_not_exists("c", PartitionKey("/pk")))
    assert (await done(made.read()))["_rid"] == (await done(found.read()))["_rid"]


@feature("containers.read")
async def test_a_read_with_quota_and_statistics_answers_both(cosmos):
    container = await cosmos.container()
    await done(container.create_item({"id": "a", "pk": "p"}))
    read = await done(container.read(populate_partition_key_range_statistics=True, populate_quota_info=True))
    headers = read.get_response_headers()
    assert len(read["statistics"]) == 1
    assert "collectionSize=52428800;" in headers["x-ms-resource-quota"]
    assert "documentSize=" in headers["x-ms-resource-usage"]


@feature("containers.not_found")
async def test_a_container_nobody_made_is_not_found(cosmos):
    database = await cosmos.database()
    assert await refused(lambda: database.get_container_client("none").read()) == 404
    assert await refused(lambda: database.delete_container("none")) == 404
    assert await refused(lambda: database.get_container_client("none").read_item("a", "p")) == 404


@feature("containers.replace")
async def test_indexing_policy_and_ttl_may_change(cosmos):
    database = await cosmos.database()
    container = await done(database.create_container("c", PartitionKey("/pk"), default_ttl=60))
    await done(container.create_item({"id": "a", "pk": "p"}))
    policy = {"indexingMode": "consistent", "includedPaths": [{"path": "/kept/?"}], "excludedPaths": [{"path": "/*"}]}
    await done(database.replace_container("c", PartitionKey("/pk"), indexing_policy=policy, default_ttl=-1))
    properties = await done(container.read())
    assert_holds(properties["indexingPolicy"], policy)
    assert properties["defaultTtl"] == -1
    assert (await done(container.read_item("a", "p")))["id"] == "a"


@feature("containers.replace")
async def test_a_ttl_that_is_left_out_is_switched_off(cosmos):
    database = await cosmos.database()
    container = await done(database.create_container("c", PartitionKey("/pk"), default_ttl=60))
    await done(database.replace_container("c", PartitionKey("/pk")))
    assert "defaultTtl" not in await done(container.read())


@feature("containers.replace")
async def test_the_partition_key_may_not_change(cosmos):
    database = await cosmos.database()
    await done(database.create_container("c", PartitionKey("/pk")))
    assert await refused(lambda: database.replace_container("c", PartitionKey("/other"))) == 400


@feature("containers.list")
async def test_the_list_has_every_container_of_its_database_alone(cosmos):
    await cosmos.container()
    database = await cosmos.database()
    for name in ("one", "two", "three"):
        await done(database.create_container(name, PartitionKey("/pk")))
    listed = [container["id"] for container in await rows(database.list_containers(max_item_count=2))]
    assert sorted(listed) == ["one", "three", "two"]


@feature("containers.query")
async def test_a_query_finds_a_container_by_its_id(cosmos):
    database = await cosmos.database()
    for name in ("one", "two"):
        await done(database.create_container(name, PartitionKey("/pk")))
    query = "SELECT * FROM root r WHERE r.id=@id"
    found = await rows(database.query_containers(query, parameters=[{"name": "@id", "value": "two"}]))
    assert [container["id"] for container in found] == ["two"]


@feature("containers.delete")
async def test_a_deleted_container_is_gone(cosmos):
    database = await cosmos.database()
    container = await done(database.create_container("c", PartitionKey("/pk")))
    await done(database.delete_container("c"))
    assert await refused(lambda: container.read()) == 404
    assert await rows(database.list_containers()) == []


@feature("containers.recreate")
async def test_a_client_goes_on_after_its_container_was_made_again(cosmos):
    database = await cosmos.database()
    container = await done(database.create_container("c", PartitionKey("/pk")))
    await done(container.create_item({"id": "a", "pk": "p", "life": 1}))
    other = (await cosmos.open()).get_database_client(database.id)
    await done(other.delete_container("c"))
    await done(other.create_container("c", PartitionKey("/pk")))
    assert await refused(lambda: container.read_item("a", "p")) == 404
    await done(container.create_item({"id": "a", "pk": "p", "life": 2}))
    assert (await done(container.read_item("a", "p")))["life"] == 2


@feature("containers.recreate")
async def test_a_client_learns_the_partition_key_of_a_container_made_again(cosmos):
    database = await cosmos.database()
    container = await done(database.create_container("c", PartitionKey("/pk")))
    await done(container.create_item({"id": "a", "pk": "p"}))
    other = (await cosmos.open()).get_database_client(database.id)
    await done(other.delete_container("c"))
    await done(other.create_container("c", PartitionKey("/tenant")))
    await done(container.create_item({"id": "a", "tenant": "t"}))
    assert (await done(container.read_item("a", "t")))["tenant"] == "t"


@feature("containers.key_without_version")
async def test_a_partition_key_without_a_version_is_version_1(cosmos):
    bare = PartitionKey("/pk")
    del bare["version"]
    container = await cosmos.container(bare, offer_throughput=12_000)
    assert (await done(container.read()))["partitionKey"] == {"paths": ["/pk"], "kind": "Hash"}
    keys = ["redmond", "", 5, 1.5, True, False]
    for key in keys:
        await done(container.create_item({"id": "a", "pk": key}))
    # The client hashes keys to find their ranges.
    found = await done(container.read_items([("a", key) for key in keys]))
    assert len(found) == len(keys)


@feature("containers.policies")
async def test_vector_policies_are_refused_in_the_services_words(cosmos):
    vectors = {"vectorEmbeddings": [{**VECTORS["vectorEmbeddings"][0], "path": "/v", "dimensions": 256}]}

    async def check(index, sentence):
        policy = {"vectorIndexes": [{"path": "/v", **index}]}
        made = cosmos.container(indexing_policy=policy, vector_embedding_policy=vectors)
        with pytest.raises(CosmosHttpResponseError) as refusal:
            await made
        assert refusal.value.status_code == 400 and sentence in refusal.value.http_error_message

    size = "The Vector Indexing Policy parameter QuantizationByteSize value :: 0 is out of range. "
    size += "The allowed range is between 1 and 256."
    await check({"type": "quantizedFlat", "quantizationByteSize": 0}, size)
    sharded = {"type": "diskANN", "vectorIndexShardKey": ["/country", "/city", "/zipcode"]}
    count = "The number of shard paths defined in the Vector Indexing Policy: 3 exceeds the maximum: 1."
    await check(sharded, count)
    path = "The Vector Indexing Policy has an invalid Shard Path: country."
    await check({"type": "diskANN", "vectorIndexShardKey": ["country"]}, path)
    await check({"type": "diskANN", "vectorIndexShardKey": "/country"}, "One of the specified inputs is invalid")


@feature("containers.replace")
async def test_a_replace_repeats_the_vector_policy(cosmos):
    database = await cosmos.database()
    policy = {"vectorIndexes": [{"path": "/vector", "type": "flat"}]}
    options = {"indexing_policy": policy, "vector_embedding_policy": VECTORS}
    container = await done(database.create_container("c", PartitionKey("/pk"), **options))

    async def check(sentence, **options):
        with pytest.raises(CosmosHttpResponseError) as refusal:
            await done(database.replace_container("c", PartitionKey("/pk"), **options))
        assert refusal.value.status_code == 400 and sentence in refusal.value.http_error_message

    missing = "The Vector Indexing Policy's path::/vector not matching in Embedding's path."
    await check(missing, indexing_policy=policy)
    larger = {"vectorEmbeddings": [{**VECTORS["vectorEmbeddings"][0], "dimensions": 17}]}
    changed = "Paths in existing embedding policy cannot be modified in Collection Replace"
    await check(changed, indexing_policy=policy, vector_embedding_policy=larger)
    await done(database.replace_container("c", PartitionKey("/pk"), default_ttl=60, **options))
    assert (await done(container.read()))["vectorEmbeddingPolicy"] == VECTORS


async def old(cosmos, verb, kind, link, path, body):
    """A request as clients sent it before partition keys; the SDKs speak only later versions."""
    headers = {"x-ms-version": "2018-09-17", "x-ms-date": formatdate(usegmt=True)}
    text = "\n".join([verb.lower(), kind, link, headers["x-ms-date"].lower(), "", ""])
    signed = hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()
    token = f"type=master&ver=1.0&sig={base64.b64encode(signed).decode()}"
    headers["authorization"] = urllib.parse.quote(token, "-_.!~*'()")
    url = cosmos.server.endpoint("http").rstrip("/") + path
    request = urllib.request.Request(url, json.dumps(body).encode(), headers, method=verb)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


@feature("containers.unpartitioned")
async def test_a_container_without_a_partition_key_is_used_by_later_clients(cosmos):
    database = await cosmos.database()
    made = await old(cosmos, "POST", "colls", f"dbs/{database.id}", f"//dbs/{database.id}/colls/", {"id": "c"})
    assert "partitionKey" not in made
    link = f"dbs/{database.id}/colls/c"
    await old(cosmos, "POST", "docs", link, f"//{link}/docs/", {"id": "first"})
    container = database.get_container_client("c")
    key = (await done(container.read()))["partitionKey"]
    assert key == {"paths": ["/_partitionKey"], "kind": "Hash", "systemKey": True}
    none = {"partition_key": NonePartitionKeyValue}
    assert (await done(container.read_item("first", **none)))["id"] == "first"
    await done(container.create_item({"id": "second"}))
    await done(container.replace_item("second", {"id": "third"}))
    await done(container.upsert_item({"id": "second"}))
    found = await rows(container.query_items("SELECT * FROM c", **none))
    assert sorted(item["id"] for item in found) == ["first", "second", "third"]
    assert len(await rows(container.read_all_items())) == 3
    for name in ("first", "second", "third"):
        await done(container.delete_item(name, **none))
    assert await rows(container.read_all_items()) == []


@feature("containers.key_versions")
async def test_both_versions_of_the_partition_key_keep_their_items(cosmos):
    for version in (1, 2):
        container = await cosmos.container(PartitionKey("/pk", version=version))
        assert (await done(container.read()))["partitionKey"]["version"] == version
        # Version 1 tells keys apart by their first 100 characters, version 2 by all.
        long = "a" * (90 if version == 1 else 150)
        await done(container.create_item({"id": "a", "pk": long + "1"}))
        await done(container.create_item({"id": "a", "pk": long + "2"}))
        assert (await done(container.read_item("a", long + "2")))["pk"] == long + "2"
        assert len(await rows(container.read_all_items())) == 2


@feature("containers.key_hierarchical")
async def test_a_hierarchical_key_keeps_its_paths(cosmos):
    key = PartitionKey(["/tenant", "/user", "/session"], kind="MultiHash")
    container = await cosmos.container(key)
    read = (await done(container.read()))["partitionKey"]
    assert_holds(read, {"paths": ["/tenant", "/user", "/session"], "kind": "MultiHash", "version": 2})
    assert read["paths"] == ["/tenant", "/user", "/session"]
    reader = same_container(container, await cosmos.open())
    await done(container.create_item({"id": "a", "tenant": "t", "user": "u", "session": "s"}))
    assert (await done(reader.read_item("a", ["t", "u", "s"])))["user"] == "u"
