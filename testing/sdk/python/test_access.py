"""Users, permissions, and the tokens that these give."""

import pytest
from azure.cosmos.documents import PermissionMode
from azure.cosmos.exceptions import CosmosHttpResponseError, CosmosResourceNotFoundError

from harness import done, feature, fresh, refused, rows, same_container


async def with_permission(cosmos, mode, key=None, container=None, **options):
    """A container with an item in two partitions, a user, and what the user's permission says."""
    container = container or await cosmos.container()
    for pk in ("p", "q"):
        await done(container.upsert_item({"id": "i", "pk": pk}))
    _, name, _, _ = container.container_link.split("/")
    database = cosmos.client.get_database_client(name)
    user = await done(database.create_user({"id": fresh("user")}))
    body = {"id": fresh("permission"), "permissionMode": mode, "resource": container.container_link}
    if key is not None:
        body["resourcePartitionKey"] = [key]
    permission = await done(user.create_permission(body, **options))
    return container, user, permission


def token_of(permission):
    return permission.properties["_token"]


async def opened(cosmos, container, permission):
    client = await cosmos.open(key={container.container_link: token_of(permission)})
    return same_container(container, client)


@feature("access.users")
async def test_users_are_made_renamed_listed_and_removed(cosmos):
    database = await cosmos.database()
    user = await done(database.create_user({"id": "anna"}))
    await done(database.create_user({"id": "bert"}))
    assert (await done(database.upsert_user({"id": "anna"}))).id == user.id
    renamed = await done(database.replace_user("anna", {"id": "carla"}))
    assert renamed.id == "carla"
    assert [row["id"] for row in await rows(database.list_users())] == ["bert", "carla"]
    query = database.query_users("SELECT * FROM r WHERE r.id=@id", parameters=[{"name": "@id", "value": "carla"}])
    [found] = await rows(query)
    await done(database.delete_user(found))
    with pytest.raises(CosmosResourceNotFoundError):
        await done(database.get_user_client("carla").read())


@feature("access.users")
async def test_permissions_are_made_changed_listed_and_removed(cosmos):
    container, user, permission = await with_permission(cosmos, PermissionMode.Read)
    assert permission.permission_mode == "read"
    assert permission.resource_link == container.container_link
    body = {"id": permission.id, "permissionMode": "All", "resource": container.container_link}
    replaced = await done(user.replace_permission(permission.id, body))
    assert replaced.permission_mode == "All" and token_of(replaced) != token_of(permission)
    [listed] = await rows(user.list_permissions())
    assert listed["_token"].startswith("type=resource&")
    [found] = await rows(user.query_permissions("SELECT * FROM p WHERE p.permissionMode='All'"))
    assert found["id"] == permission.id
    await done(user.delete_permission(permission.id))
    with pytest.raises(CosmosResourceNotFoundError):
        await done(user.get_permission(permission.id))


@feature("access.resource_tokens")
async def test_a_token_reads_and_writes_as_its_mode_says(cosmos):
    for mode in (PermissionMode.Read, PermissionMode.All):
        container, _, permission = await with_permission(cosmos, mode)
        mine = await opened(cosmos, container, permission)
        assert (await done(mine.read_item("i", "p")))["pk"] == "p"
        assert len(await rows(mine.query_items("SELECT * FROM c", **cosmos.everywhere))) == 2
        write = lambda: mine.upsert_item({"id": "new", "pk": "p"})
        if mode == PermissionMode.All:
            await done(write())
        else:
            assert await refused(write) == 403


@feature("access.resource_tokens")
async def test_a_list_of_permissions_opens_what_it_lists(cosmos):
    container, user, _ = await with_permission(cosmos, PermissionMode.Read)
    # Given a `permissionFeed`, this SDK keeps the last id of each link and then looks for whole paths; so not that.
    listed = await rows(user.list_permissions())
    client = await cosmos.open(key={permission["resource"]: permission["_token"] for permission in listed})
    mine = same_container(container, client)
    assert (await done(mine.read_item("i", "q")))["pk"] == "q"


@feature("access.resource_tokens")
async def test_a_token_for_one_partition_key_sees_no_other(cosmos):
    container, _, permission = await with_permission(cosmos, PermissionMode.All, key="p")
    mine = await opened(cosmos, container, permission)
    await done(mine.upsert_item({"id": "new", "pk": "p"}))
    assert (await done(mine.read_item("i", "p")))["id"] == "i"
    found = await rows(mine.query_items("SELECT VALUE c.pk FROM c", partition_key="p"))
    assert found == ["p", "p"]
    assert await refused(lambda: mine.read_item("i", "q")) == 403
    assert await refused(lambda: mine.upsert_item({"id": "new", "pk": "q"})) == 403
    with pytest.raises(CosmosHttpResponseError) as refusal:
        await rows(mine.query_items("SELECT * FROM c", **cosmos.everywhere))
    assert refusal.value.status_code == 403


@feature("access.resource_tokens")
async def test_a_token_opens_no_other_container(cosmos):
    container, _, permission = await with_permission(cosmos, PermissionMode.All)
    other = await cosmos.container()
    client = await cosmos.open(key={other.container_link: token_of(permission)})
    assert await refused(lambda: same_container(other, client).read_item("i", "p")) == 403


@feature("access.resource_tokens")
async def test_a_token_ends_with_its_time_and_with_its_permission(clocked):
    container, user, permission = await with_permission(
        clocked, PermissionMode.Read, resource_token_expiry_seconds=600
    )
    mine = await opened(clocked, container, permission)
    assert (await done(mine.read_item("i", "p")))["id"] == "i"
    clocked.server.advance(601)
    assert await refused(lambda: mine.read_item("i", "p")) == 403
    renewed = await done(user.get_permission(permission.id))
    mine = await opened(clocked, container, renewed)
    assert (await done(mine.read_item("i", "p")))["id"] == "i"
    await done(user.delete_permission(permission.id))
    assert await refused(lambda: mine.read_item("i", "p")) == 403


@feature("access.conflicts")
async def test_there_are_no_conflicts(cosmos):
    container = await cosmos.container()
    assert await rows(container.list_conflicts()) == []
    with pytest.raises(CosmosResourceNotFoundError):
        await done(container.get_conflict("none", partition_key="p"))
