"""What the tests see of the Python SDKs of tables, queues and blobs; as `harness`, with the same `done`, `rows` and `pages`."""

import asyncio
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

from azure.core.credentials import AzureNamedKeyCredential, AzureSasCredential
from azure.core.exceptions import HttpResponseError
from azure.data.tables import TableServiceClient
from azure.data.tables.aio import TableServiceClient as AioTableServiceClient
from azure.storage.blob import BlobServiceClient
from azure.storage.blob.aio import BlobServiceClient as AioBlobServiceClient
from azure.storage.queue import QueueServiceClient
from azure.storage.queue.aio import QueueServiceClient as AioQueueServiceClient

from harness import AioCredential, Credential, done, fresh

ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
# 64 zero bytes, which is a well-formed key and nobody's.
WRONG_KEY = "A" * 86 + "=="
AUDIENCE = "https://storage.azure.com/"
CLIENTS = {
    ("python", "table"): TableServiceClient,
    ("python", "queue"): QueueServiceClient,
    ("python", "blob"): BlobServiceClient,
    ("python-aio", "table"): AioTableServiceClient,
    ("python-aio", "queue"): AioQueueServiceClient,
    ("python-aio", "blob"): AioBlobServiceClient,
}
# The certificate is the server's own; and a server that fails is not asked again for a minute.
OPTIONS = {"connection_verify": False, "retry_total": 0}


class Storage:
    """Both SDKs over one transport against one server, with a client of each service that every test may use."""

    def __init__(self, sdk, transport, server):
        self.sdk, self.transport, self.server = sdk, transport, server
        self._opened = []
        self.tables = self.queues = self.blobs = None

    async def open(self):
        self.tables = await self.client("table")
        self.queues = await self.client("queue")
        self.blobs = await self.client("blob")

    def endpoint(self, service, transport=None, account=ACCOUNT):
        return self.server.storage_endpoint(service, transport or self.transport, account)

    def connection_string(self, service):
        """As the banner of the server prints it."""
        endpoint = f"{service.capitalize()}Endpoint={self.endpoint(service)}"
        return f"DefaultEndpointsProtocol={self.transport};AccountName={ACCOUNT};AccountKey={KEY};{endpoint};"

    async def client(self, service, credential=None, transport=None, **options):
        """A further client; with the account's key unless something else is given."""
        return await self.client_at(service, self.endpoint(service, transport), credential, **options)

    async def client_at(self, service, endpoint, credential=None, **options):
        kind = CLIENTS[self.sdk, service]
        return await self._entered(kind(endpoint, credential=credential or key(), **OPTIONS, **options))

    async def client_with_sas(self, service, sas):
        """A client with a shared access signature and no key."""
        kind = CLIENTS[self.sdk, service]
        return await self._entered(kind(self.endpoint(service), credential=AzureSasCredential(sas), **OPTIONS))

    async def connected(self, service):
        """A client made of the connection string."""
        kind = CLIENTS[self.sdk, service]
        return await self._entered(kind.from_connection_string(self.connection_string(service), **OPTIONS))

    async def with_token(self, service, *flags):
        """A client with a bearer token; the SDKs send one over https only."""
        named = () if "--audience" in flags else ("--audience", AUDIENCE)
        token = self.server.token(*named, *flags)
        credential = Credential(token) if self.sdk == "python" else AioCredential(token)
        return await self.client(service, credential, "https")

    async def table(self):
        return await done(self.tables.create_table(table_name()))

    async def container(self, **options):
        return await done(self.blobs.create_container(fresh("container"), **options))

    async def queue(self, **options):
        return await done(self.queues.create_queue(fresh("queue"), **options))

    async def together(self, *calls):
        """Runs the calls at the same time; gives each one's status, 200 standing for every success."""
        if self.sdk == "python":
            with ThreadPoolExecutor(len(calls)) as pool:
                return list(pool.map(lambda call: asyncio.run(status(call)), calls))
        return await asyncio.gather(*(status(call) for call in calls))

    async def close(self):
        for client in self._opened:
            await done(client.close())

    async def _entered(self, client):
        self._opened.append(client)
        return client


def key(value=KEY):
    return AzureNamedKeyCredential(ACCOUNT, value)


def table_name(prefix="table"):
    """A name no other test has; tables are named by letters and digits."""
    return fresh(prefix).replace("-", "")


async def status(call):
    try:
        await done(call())
        return 200
    except HttpResponseError as error:
        return error.status_code


async def refused(call):
    """The status and the code a call is refused with; a call that succeeds fails the test."""
    try:
        await done(call())
    except HttpResponseError as error:
        return error.status_code, code(error)
    raise AssertionError("the call was accepted")


def code(error):
    """What the SDK made of the answer; where it made nothing, what the header says."""
    told = getattr(error, "error_code", None)
    return getattr(told, "value", told) or error.response.headers.get("x-ms-error-code")


def hence(**time):
    return datetime.now(timezone.utc) + timedelta(**time)


def preflight(url, origin, verb, headers=None):
    """What a browser asks before it sends a request: the status, and the headers of the answer."""
    asked = {"Origin": origin, "Access-Control-Request-Method": verb}
    if headers:
        asked["Access-Control-Request-Headers"] = headers
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=asked, method="OPTIONS"), timeout=30) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.headers
