"""Bearer tokens, as managed identities send them, and roles. The SDKs send them over https only."""

import base64
import json
import time

from azure.cosmos import CosmosClient
from azure.cosmos.aio import CosmosClient as AioCosmosClient

from harness import KEY, AioCredential, Credential, done, feature, refused, rows, same_container


async def opened(cosmos, *flags, token=None):
    endpoint, token = cosmos.server.endpoint("https"), token or cosmos.server.token(*flags)
    if cosmos.sdk == "python":
        return CosmosClient(endpoint, Credential(token))
    client = AioCosmosClient(endpoint, AioCredential(token))
    cosmos._opened.append(client)
    await client.__aenter__()
    return client


def piece(part):
    text = part if isinstance(part, str) else json.dumps(part)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def emulator_token(key=KEY, **claims):
    """As the SDKs' own tests make it: nothing is signed, and the key is where a signature would be."""
    name, now = "CosmosEmulatorPrimaryMaster", int(time.time())
    header = {"typ": "JWT", "alg": "RS256", "x5t": name, "kid": name}
    issuer = "https://sts.fake-issuer.net/7b1999a1-dfd7-440e-8204-00170979b984"
    payload = {"aud": "https://localhost.localhost", "iss": issuer, "iat": now, "nbf": now, "exp": now + 7200,
               "oid": "96313034-4739-43cb-93cd-74193adbe5b6", "sub": "localhost", **claims}  # fmt: skip
    return ".".join(piece(part) for part in (header, payload, key))


async def with_items(cosmos):
    container = await cosmos.container()
    await done(container.upsert_item({"id": "i", "pk": "p"}))
    return container


@feature("access.bearer")
async def test_a_reader_reads_and_queries_and_writes_nothing(cosmos):
    container = await with_items(cosmos)
    mine = same_container(container, await opened(cosmos, "--role", "reader"))
    assert (await done(mine.read_item("i", "p")))["id"] == "i"
    assert [row["id"] for row in await rows(mine.query_items("SELECT * FROM c", partition_key="p"))] == ["i"]
    assert (await done(mine.read()))["id"] == container.id
    assert await refused(lambda: mine.upsert_item({"id": "j", "pk": "p"})) == 403
    assert await refused(lambda: mine.delete_item("i", "p")) == 403


@feature("access.bearer")
async def test_a_contributor_writes_items_and_no_metadata(cosmos):
    container = await with_items(cosmos)
    client = await opened(cosmos, "--role", "contributor")
    mine = same_container(container, client)
    await done(mine.upsert_item({"id": "j", "pk": "p"}))
    await done(mine.create_item({"id": "k", "pk": "p"}))
    await done(mine.delete_item("i", "p"))
    assert await refused(lambda: client.create_database("never")) == 403


@feature("access.bearer")
async def test_a_scope_is_one_container(cosmos):
    container, other = await with_items(cosmos), await with_items(cosmos)
    client = await opened(cosmos, "--role", "reader", "--scope", f"/{container.container_link}")
    assert (await done(same_container(container, client).read_item("i", "p")))["id"] == "i"
    assert await refused(lambda: same_container(other, client).read_item("i", "p")) == 403


@feature("access.bearer")
async def test_a_token_for_somebody_else_is_unauthorized(cosmos):
    def reading(*flags):
        async def call():
            client = await opened(cosmos, *flags)
            await done(client.get_database_client("never").read())

        return call

    assert await refused(reading("--role", "reader", "--audience", "https://graph.microsoft.com")) == 401
    assert await refused(reading()) == 403


@feature("access.emulator_token")
async def test_the_emulators_token_uses_items_and_manages_nothing(cosmos):
    container = await with_items(cosmos)
    client = await opened(cosmos, token=emulator_token())
    mine = same_container(container, client)
    assert (await done(mine.read_item("i", "p")))["id"] == "i"
    await done(mine.upsert_item({"id": "j", "pk": "p"}))
    assert len(await rows(mine.query_items("SELECT * FROM c", partition_key="p"))) == 2
    await done(mine.delete_item("j", "p"))
    assert await refused(lambda: client.create_database("none")) == 403


@feature("access.emulator_token")
async def test_an_emulators_token_with_another_key_is_refused(cosmos):
    other = base64.b64encode(b"another key").decode()
    for token in (emulator_token(key=other), emulator_token(exp=int(time.time()) - 7200)):
        assert await refused(lambda: opened_and_read(cosmos, token)) == 401


async def opened_and_read(cosmos, token):
    client = await opened(cosmos, token=token)
    return await rows(client.list_databases())
