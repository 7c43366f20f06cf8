"""Databases: made, found, listed, removed."""

from harness import done, feature, fresh, refused, rows


@feature("databases.create")
async def test_a_new_database_has_its_system_properties(cosmos):
    name = fresh("db")
    database, properties = await done(cosmos.client.create_database(name, return_properties=True))
    assert database.id == properties["id"] == name
    assert properties["_self"] == f"dbs/{properties['_rid']}/"
    assert properties["_etag"] and properties["_ts"] > 0


@feature("databases.conflict")
async def test_a_second_database_of_that_name_is_a_conflict(cosmos):
    database = await cosmos.database()
    assert await refused(lambda: cosmos.client.create_database(database.id)) == 409


@feature("databases.create_if_not_exists")
async def test_create_if_not_exists_finds_what_is_there(cosmos):
    name = fresh("db")
    _, made = await done(cosmos.client.create_database_if_not_exists(name, return_properties=True))
    _, found = await done(cosmos.client.create_database_if_not_exists(name, return_properties=True))
    assert made["_rid"] == found["_rid"]


@feature("databases.read")
async def test_a_database_reads_as_it_was_made(cosmos):
    name = fresh("db")
    database, made = await done(cosmos.client.create_database(name, return_properties=True))
    read = await done(database.read())
    assert (read["id"], read["_rid"], read["_etag"]) == (name, made["_rid"], made["_etag"])


@feature("databases.not_found")
async def test_a_database_nobody_made_is_not_found(cosmos):
    assert await refused(lambda: cosmos.client.get_database_client(fresh("none")).read()) == 404
    assert await refused(lambda: cosmos.client.delete_database(fresh("none"))) == 404


@feature("databases.list")
async def test_the_list_has_every_database(cosmos):
    made = {(await cosmos.database()).id for _ in range(3)}
    listed = [database["id"] for database in await rows(cosmos.client.list_databases(max_item_count=2))]
    assert made <= set(listed)
    assert len(listed) == len(set(listed))


@feature("databases.query")
async def test_a_query_finds_a_database_by_its_id(cosmos):
    await cosmos.database()
    database = await cosmos.database()
    query = "SELECT * FROM root r WHERE r.id=@id"
    found = await rows(cosmos.client.query_databases(query, parameters=[{"name": "@id", "value": database.id}]))
    assert [row["id"] for row in found] == [database.id]


@feature("databases.delete")
async def test_a_deleted_database_takes_its_containers_along(cosmos):
    container = await cosmos.container()
    database = container.container_link.split("/")[1]
    await done(container.create_item({"id": "a", "pk": "p"}))
    await done(cosmos.client.delete_database(database))
    assert await refused(lambda: cosmos.client.get_database_client(database).read()) == 404
    assert await refused(lambda: container.read()) == 404
    await done(cosmos.client.create_database(database))
    assert await rows(cosmos.client.get_database_client(database).list_containers()) == []
