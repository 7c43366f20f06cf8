"""Connecting: both transports, the key, and the program the README shows."""

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest
from azure.cosmos.exceptions import CosmosHttpResponseError

from harness import done, feature

QUICKSTART = Path(__file__).parents[1] / "snippets" / "quickstart.py"


@feature("account.connect")
async def test_the_account_names_the_address_that_was_dialled(cosmos):
    if cosmos.sdk == "python":
        account = cosmos.client.get_database_account()
    else:
        account = await cosmos.client._get_database_account()
    [write] = account.WritableLocations
    assert write["databaseAccountEndpoint"] == f"{cosmos.endpoint}/"
    assert account.ConsistencyPolicy["defaultConsistencyLevel"] == "Session"


@feature("account.bad_key")
async def test_a_wrong_key_is_refused(cosmos):
    with pytest.raises(CosmosHttpResponseError) as refusal:
        client = await cosmos.open(key=base64.b64encode(bytes(64)).decode())
        await done(client.create_database("never"))
    assert refusal.value.status_code == 401


@feature("account.quickstart")
async def test_the_quick_start_stores_and_reads_an_item(cosmos):
    environment = {**os.environ, "COSMOS_ENDPOINT": cosmos.endpoint, "PYTHONWARNINGS": "ignore"}
    run = subprocess.run([sys.executable, QUICKSTART], env=environment, capture_output=True, text=True, timeout=60)
    assert run.stdout == "274 moons\n", run.stderr
