"""What the tests see of the two Python SDKs.

The tests call the SDKs themselves. `azure.cosmos` answers at once and `azure.cosmos.aio` with something to
await, so a test awaits every call through `done`, and every feed through `rows` or `pages`: one text, both SDKs.
"""

import asyncio
import inspect
import itertools
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from azure.core.credentials import AccessToken
from azure.cosmos import CosmosClient, PartitionKey
from azure.cosmos.aio import CosmosClient as AioCosmosClient
from azure.cosmos.exceptions import CosmosHttpResponseError

KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

_numbers = itertools.count(1)


class Cosmos:
    """One SDK over one transport against one server, with a client that every test may use."""

    def __init__(self, sdk, transport, server):
        self.sdk, self.transport, self.server = sdk, transport, server
        self.endpoint = server.endpoint(transport)
        # The one argument that only one of the two takes: `aio` always asks every partition.
        self.everywhere = {"enable_cross_partition_query": True} if sdk == "python" else {}
        self._opened = []
        self.client = None

    async def open(self, key=KEY, **options):
        """A further client, with caches of its own."""
        if self.sdk == "python":
            client = CosmosClient(self.endpoint, key, **options)
        else:
            client = AioCosmosClient(self.endpoint, key, **options)
            self._opened.append(client)
            await client.__aenter__()
        return client

    async def close(self):
        for client in self._opened:
            await client.__aexit__(None, None, None)

    async def database(self, **options):
        return await done(self.client.create_database(fresh("db"), **options))

    async def container(self, partition_key="/pk", **options):
        """A container in a database of its own. A text is taken as the path of its partition key."""
        key = PartitionKey(partition_key) if isinstance(partition_key, str) else partition_key
        database = await self.database()
        return await done(database.create_container(fresh("c"), key, **options))

    async def together(self, *calls):
        """Runs the calls at the same time; gives each one's status, 200 standing for every success."""
        if self.sdk == "python":
            with ThreadPoolExecutor(len(calls)) as pool:
                return list(pool.map(lambda call: asyncio.run(status(call)), calls))
        return await asyncio.gather(*(status(call) for call in calls))


class Credential:
    """A TokenCredential that always gives the same token."""

    def __init__(self, token):
        self.token = AccessToken(token, int(time.time()) + 3000)

    def get_token(self, *scopes, **_):
        assert scopes
        return self.token

    def close(self):
        pass


class AioCredential(Credential):
    async def get_token(self, *scopes, **_):
        return super().get_token(*scopes)

    async def close(self):
        pass


def fresh(prefix):
    """A name no other test has."""
    return f"{prefix}-{next(_numbers)}"


def same_container(container, client):
    """The same container as another client sees it."""
    _, database, _, name = container.container_link.split("/")
    return client.get_database_client(database).get_container_client(name)


async def done(answer):
    return await answer if inspect.isawaitable(answer) else answer


async def rows(feed):
    if hasattr(feed, "__aiter__"):
        return [row async for row in feed]
    return list(feed)


async def pages(feed, token=None, limit=None):
    """The rows page by page, and the token after the last page taken."""
    found, pager = [], feed.by_page(token)
    if hasattr(pager, "__aiter__"):
        async for page in pager:
            found.append([row async for row in page])
            if len(found) == limit:
                break
    else:
        for page in itertools.islice(pager, limit):
            found.append(list(page))
    return found, pager.continuation_token


async def status(call):
    try:
        await done(call())
        return 200
    except CosmosHttpResponseError as error:
        return error.status_code


async def refused(call):
    """The status a call is refused with; a call that succeeds fails the test."""
    answer = await status(call)
    assert answer != 200, "the call was accepted"
    return answer


def user_members(item):
    """The item without what the server added, in the order it came."""
    return {name: value for name, value in item.items() if not name.startswith("_")}


def assert_holds(actual, expected):
    """Everything expected is there; the server may add more (defaults, system paths)."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            assert name in actual, f"{name} is missing from {actual}"
            assert_holds(actual[name], value)
    elif isinstance(expected, list):
        for value in expected:
            assert any(_holds(candidate, value) for candidate in actual), f"{value} is missing from {actual}"
    else:
        assert actual == expected


def _holds(actual, expected):
    try:
        assert_holds(actual, expected)
        return True
    except (AssertionError, TypeError):
        return False


feature = pytest.mark.feature
