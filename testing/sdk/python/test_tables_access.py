"""Who may use tables: stored policies, shared access signatures, bearer tokens."""

import pytest
from azure.core.credentials import AzureSasCredential
from azure.data.tables import (
    AccountSasPermissions,
    ResourceTypes,
    TableAccessPolicy,
    TableSasPermissions,
    generate_account_sas,
    generate_table_sas,
)

from harness import done, feature, rows
from storage import WRONG_KEY, hence, key, refused, table_name

FOREVER = "9999-12-31T00:00:00Z"
EVERYTHING = ResourceTypes(service=True, object=True)


def entity(row="r", partition="p", **more):
    return {"PartitionKey": partition, "RowKey": row, **more}


async def filled(storage):
    table = await storage.table()
    for partition, row in (("a", "1"), ("b", "1"), ("b", "2"), ("c", "1")):
        await done(table.create_entity(entity(row, partition)))
    return table


async def shared(storage, table, **given):
    """The table with a signature of its own."""
    given = {"expiry": hence(hours=1)} | given
    token = generate_table_sas(key(), table.table_name, **given)
    return (await storage.client("table", AzureSasCredential(token))).get_table_client(table.table_name)


async def of_account(storage, permission, resources=EVERYTHING, **given):
    token = generate_account_sas(key(), resources, permission, **({"expiry": hence(hours=1)} | given))
    return await storage.client("table", AzureSasCredential(token))


def places(found):
    return [f"{row['PartitionKey']}/{row['RowKey']}" for row in found]


@feature("tables.access.policies")
async def test_policies_are_kept_replaced_and_cleared(storage):
    table = await storage.table()
    assert await done(table.get_table_access_policy()) == {}
    start, expiry = hence(hours=-1).replace(microsecond=0), hence(hours=1).replace(microsecond=0)
    await done(table.set_table_access_policy({
        "all": TableAccessPolicy(start=start, expiry=expiry, permission="raud"), "empty": None,
    }))  # fmt: skip
    found = await done(table.get_table_access_policy())
    assert sorted(found) == ["all", "empty"]
    assert (found["all"].start, found["all"].expiry, found["all"].permission) == (start, expiry, "raud")
    await done(table.set_table_access_policy({"other": TableAccessPolicy(permission="r", expiry=FOREVER)}))
    found = await done(table.get_table_access_policy())
    assert (list(found), found["other"].permission) == (["other"], "r")
    await done(table.set_table_access_policy({}))
    assert await done(table.get_table_access_policy()) == {}


@feature("tables.access.policies")
async def test_there_are_at_most_five_policies(storage):
    table = await storage.table()
    policies = {str(n): TableAccessPolicy(permission="r", expiry=FOREVER) for n in range(6)}
    # The SDK says it with an error of its own.
    with pytest.raises(ValueError, match="more than 5 access policies"):
        await done(table.set_table_access_policy(policies))
    assert await done(table.get_table_access_policy()) == {}
    nowhere = storage.tables.get_table_client(table_name())
    assert await refused(nowhere.get_table_access_policy) == (404, "TableNotFound")


@feature("tables.access.table_sas")
async def test_a_signature_allows_what_it_names(storage):
    table = await filled(storage)
    reader = await shared(storage, table, permission=TableSasPermissions(read=True))
    assert len(await rows(reader.list_entities())) == 4
    assert (await done(reader.get_entity("b", "2")))["RowKey"] == "2"
    adder = await shared(storage, table, permission=TableSasPermissions(add=True))
    await done(adder.create_entity(entity("new")))
    updater = await shared(storage, table, permission=TableSasPermissions(update=True))
    await done(updater.update_entity(entity("new", n=1)))
    upserter = await shared(storage, table, permission=TableSasPermissions(add=True, update=True))
    await done(upserter.upsert_entity(entity("newer")))
    await done(upserter.submit_transaction([("create", entity("newest")), ("update", entity("newer", n=2))]))
    deleter = await shared(storage, table, permission=TableSasPermissions(delete=True))
    await done(deleter.delete_entity("p", "new"))
    assert places(await rows(table.query_entities("PartitionKey eq 'p'"))) == ["p/newer", "p/newest"]


@feature("tables.access.table_sas")
async def test_a_signature_allows_nothing_else(storage):
    table, other = await filled(storage), await filled(storage)
    mismatch = (403, "AuthorizationPermissionMismatch")
    reader = await shared(storage, table, permission="r")
    assert await refused(lambda: reader.create_entity(entity())) == mismatch
    assert await refused(lambda: reader.upsert_entity(entity())) == mismatch
    assert await refused(lambda: reader.update_entity(entity("1", "a"))) == mismatch
    assert await refused(lambda: reader.delete_entity("a", "1")) == mismatch
    assert (await refused(lambda: reader.submit_transaction([("create", entity())])))[0] == 403
    adder = await shared(storage, table, permission="a")
    assert await refused(lambda: rows(adder.list_entities())) == mismatch
    assert await refused(lambda: adder.upsert_entity(entity())) == mismatch
    elsewhere = await shared(storage, table, permission="raud")
    elsewhere.table_name = other.table_name
    assert (await refused(lambda: rows(elsewhere.list_entities())))[0] == 403
    assert (await refused(elsewhere.get_table_access_policy))[0] == 403
    assert len(await rows(table.list_entities())) == 4


@feature("tables.access.sas_range")
async def test_a_signature_of_a_range_shows_the_range(storage):
    table = await filled(storage)
    everything = {"permission": "raud"}
    inner = await shared(storage, table, **everything, start_pk="b", start_rk="1", end_pk="b", end_rk="2")
    assert places(await rows(inner.list_entities())) == ["b/1", "b/2"]
    assert places(await rows(inner.query_entities("RowKey eq '1'"))) == ["b/1"]
    await done(inner.upsert_entity(entity("2", "b", n=1)))
    for partition, row in (("a", "1"), ("b", "3"), ("c", "1")):
        assert (await refused(lambda: inner.upsert_entity(entity(row, partition))))[0] == 403  # noqa: B023
        assert (await refused(lambda: inner.delete_entity(partition, row)))[0] == 403  # noqa: B023
    until = await shared(storage, table, **everything, end_pk="b", end_rk="1")
    assert places(await rows(until.list_entities())) == ["a/1", "b/1"]
    since = await shared(storage, table, **everything, start_pk="b", start_rk="2")
    assert places(await rows(since.list_entities())) == ["b/2", "c/1"]
    assert places(await rows(table.list_entities())) == ["a/1", "b/1", "b/2", "c/1"]


@feature("tables.access.sas_refused")
async def test_a_signature_that_is_over_early_forged_or_changed_is_refused(storage):
    table = await filled(storage)
    failed = (403, "AuthenticationFailed")
    reading = lambda through: lambda: rows(through.list_entities())  # noqa: E731
    over = await shared(storage, table, permission="r", expiry=hence(hours=-1))
    assert await refused(reading(over)) == failed
    early = await shared(storage, table, permission="r", start=hence(hours=1), expiry=hence(hours=2))
    assert await refused(reading(early)) == failed
    forged = generate_table_sas(key(WRONG_KEY), table.table_name, permission="r", expiry=hence(hours=1))
    changed = generate_table_sas(key(), table.table_name, permission="r", expiry=hence(hours=1)).replace("sp=r", "sp=raud")
    for token in (forged, changed):
        client = await storage.client("table", AzureSasCredential(token))
        assert await refused(reading(client.get_table_client(table.table_name))) == failed


@feature("tables.access.sas_refused")
async def test_a_signature_for_another_transport_or_address_is_refused(storage):
    table = await filled(storage)
    reading = lambda through: lambda: rows(through.list_entities())  # noqa: E731
    secure = await shared(storage, table, permission="r", protocol="https")
    if storage.transport == "http":
        assert await refused(reading(secure)) == (403, "AuthorizationProtocolMismatch")
    else:
        assert len(await rows(secure.list_entities())) == 4
    here = await shared(storage, table, permission="r", ip_address_or_range="127.0.0.0-127.0.0.255")
    assert len(await rows(here.list_entities())) == 4
    away = await shared(storage, table, permission="r", ip_address_or_range="168.1.5.60-168.1.5.70")
    assert await refused(reading(away)) == (403, "AuthorizationSourceIPMismatch")


@feature("tables.access.sas_policy")
async def test_a_signature_of_a_policy_goes_with_the_policy(storage):
    table = await filled(storage)
    await done(table.set_table_access_policy({"p": TableAccessPolicy(permission="r", expiry=hence(hours=1))}))
    mine = await shared(storage, table, policy_id="p", expiry=None)
    assert len(await rows(mine.list_entities())) == 4
    assert await refused(lambda: mine.create_entity(entity())) == (403, "AuthorizationPermissionMismatch")
    await done(table.set_table_access_policy({"p": TableAccessPolicy(permission="ra", expiry=hence(hours=1))}))
    await done(mine.create_entity(entity()))
    await done(table.set_table_access_policy({"p": TableAccessPolicy(permission="ra", expiry=hence(hours=-1))}))
    assert (await refused(lambda: rows(mine.list_entities())))[0] == 403
    await done(table.set_table_access_policy({}))
    assert (await refused(lambda: rows(mine.list_entities())))[0] == 403


@feature("tables.access.account_sas")
async def test_a_signature_of_the_account_makes_tables_and_uses_them(storage):
    everything = AccountSasPermissions(read=True, write=True, delete=True, list=True, add=True, create=True, update=True)
    resources = ResourceTypes.from_string("sco")
    client = await of_account(storage, everything, resources)
    table = await done(client.create_table(table_name()))
    await done(table.upsert_entity(entity(n=1)))
    await done(table.submit_transaction([("create", entity("new")), ("delete", entity())]))
    assert places(await rows(table.list_entities())) == ["p/new"]
    assert table.table_name in [each.name for each in await rows(client.list_tables())]
    await done(client.delete_table(table.table_name))


@feature("tables.access.account_sas")
async def test_a_signature_of_the_account_allows_nothing_else(storage):
    table = await filled(storage)
    reader = await of_account(storage, AccountSasPermissions(read=True, list=True), ResourceTypes.from_string("sco"))
    mine = reader.get_table_client(table.table_name)
    assert len(await rows(mine.list_entities())) == 4
    mismatch = (403, "AuthorizationPermissionMismatch")
    assert await refused(lambda: mine.create_entity(entity())) == mismatch
    assert await refused(lambda: reader.create_table(table_name())) == mismatch
    services = await of_account(storage, AccountSasPermissions(read=True), ResourceTypes(service=True))
    mine = services.get_table_client(table.table_name)
    assert await refused(lambda: rows(mine.list_entities())) == (403, "AuthorizationResourceTypeMismatch")


@feature("tables.access.bearer")
async def test_a_reader_reads_and_writes_nothing(storage):
    table = await filled(storage)
    mine = (await storage.with_token("table", "--role", "Storage Table Data Reader")).get_table_client(table.table_name)
    assert len(await rows(mine.list_entities())) == 4
    mismatch = (403, "AuthorizationPermissionMismatch")
    assert await refused(lambda: mine.create_entity(entity())) == mismatch
    assert await refused(lambda: mine.delete_entity("a", "1")) == mismatch
    assert await refused(lambda: mine.submit_transaction([("create", entity())])) == mismatch


@feature("tables.access.bearer")
async def test_a_contributor_makes_tables_and_writes(storage):
    client = await storage.with_token("table", "--role", "Storage Table Data Contributor")
    table = await done(client.create_table(table_name()))
    await done(table.submit_transaction([("create", entity("a")), ("upsert", entity("b"))]))
    assert places(await rows(table.list_entities())) == ["p/a", "p/b"]
    await done(client.delete_table(table.table_name))


@feature("tables.access.bearer")
async def test_a_token_without_a_role_or_for_somebody_else_is_refused(storage):
    table = await filled(storage)
    mine = (await storage.with_token("table")).get_table_client(table.table_name)
    assert (await refused(lambda: rows(mine.list_entities())))[0] == 403
    queues = await storage.with_token("table", "--role", "Storage Queue Data Contributor")
    assert (await refused(lambda: rows(queues.list_tables())))[0] == 403
    role = ("--role", "Storage Table Data Contributor")
    foreign = await storage.with_token("table", *role, "--audience", "https://graph.microsoft.com")
    assert (await refused(lambda: rows(foreign.list_tables())))[0] == 401
