"""Runs every test with both SDKs over both transports, and records what came of it.

One server serves the whole session; a second one, whose clock stands still until a test moves it, starts only if
a test asks for it. Each test makes the databases it needs, so tests need no order and clean nothing up.
"""

import asyncio
import inspect
import json
import signal
import tomllib
from pathlib import Path

import pytest

from harness import Cosmos
from server import Server
from storage import Storage

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results"
SDKS = ("python", "python-aio")
TEST_SECONDS_MAX = 60
WAYS = [(sdk, transport) for sdk in SDKS for transport in ("http", "https")]

each_way = pytest.fixture(scope="session", params=WAYS, ids=lambda way: f"{way[0]}-{way[1]}")


@pytest.fixture(scope="session")
def loop():
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture(scope="session")
def server():
    server = Server()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def clock_server():
    server = Server("--clock", "manual")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def direct_server():
    server = Server("--cross-partition", "direct")
    yield server
    server.stop()


@each_way
def direct(request, loop, direct_server):
    """As `cosmos`, on the server that answers queries over several partitions itself."""
    yield from _opened(request.param, loop, direct_server)


@each_way
def cosmos(request, loop, server):
    yield from _opened(request.param, loop, server)


@each_way
def clocked(request, loop, clock_server):
    """As `cosmos`, on the server whose clock `clocked.server.advance` moves."""
    yield from _opened(request.param, loop, clock_server)


@each_way
def storage(request, loop, server):
    """Tables and queues: the SDKs of storage on the server of `cosmos`."""
    yield from _opened_storage(request.param, loop, server)


@each_way
def clocked_storage(request, loop, clock_server):
    """As `storage`, on the server whose clock `clocked_storage.server.advance` moves."""
    yield from _opened_storage(request.param, loop, clock_server)


def _opened_storage(way, loop, server):
    storage = Storage(*way, server)
    loop.run_until_complete(storage.open())
    yield storage
    loop.run_until_complete(storage.close())


def _opened(way, loop, server):
    cosmos = Cosmos(*way, server)
    cosmos.client = loop.run_until_complete(cosmos.open())
    yield cosmos
    loop.run_until_complete(cosmos.close())


@pytest.fixture(scope="session")
def servers():
    """Servers by their flags, each started when a test first asks for it."""
    started = {}

    def server(*flags):
        if flags not in started:
            started[flags] = Server(*flags)
        return started[flags]

    yield server
    for each in started.values():
        each.stop()


@each_way
def cosmos_on(request, loop, servers):
    """Gives `cosmos` on a server with these flags: `await cosmos_on("--throttle", "on")`."""
    opened = []

    async def on(*flags):
        cosmos = Cosmos(*request.param, servers(*flags))
        cosmos.client = await cosmos.open()
        opened.append(cosmos)
        return cosmos

    yield on
    for cosmos in opened:
        loop.run_until_complete(cosmos.close())


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    wanted = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    # Some wrong answers make an SDK ask again for ever; the alarm ends the test, not the suite.
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(TEST_SECONDS_MAX)
    try:
        pyfuncitem.funcargs["loop"].run_until_complete(pyfuncitem.obj(**wanted))
    finally:
        signal.alarm(0)
    return True


def _too_long(*_):
    raise TimeoutError(f"the test ran for {TEST_SECONDS_MAX} seconds")


def pytest_sessionstart():
    RESULTS.mkdir(exist_ok=True)
    for sdk in SDKS:
        (RESULTS / f"{sdk}.jsonl").write_text("")


def pytest_collection_modifyitems(items):
    features = tomllib.loads((HERE.parent / "features.toml").read_text())["feature"]
    known = {feature["key"] for feature in features}
    for item in items:
        if _feature(item) not in known:
            raise pytest.UsageError(f"{item.name} needs a @feature from features.toml")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    # A test whose server or client did not start fails in its setup and never reaches the call.
    if report.when == "call" or (report.when == "setup" and report.failed):
        _record(item, report.passed)
    return report


def _record(item, ok):
    sdk, transport = next(value for value in item.callspec.params.values() if value in WAYS)
    row = {"feature": _feature(item), "test": item.originalname, "transport": transport, "ok": ok}
    with open(RESULTS / f"{sdk}.jsonl", "a") as results:
        results.write(json.dumps(row) + "\n")


def _feature(item):
    mark = item.get_closest_marker("feature")
    return mark.args[0] if mark else None
