"""One running server: free ports, and data in a folder that goes away with it."""

import json
import os
import subprocess
import tempfile
import time
import urllib.request
import uuid
from pathlib import Path

START_SECONDS_MAX = 30
STOP_SECONDS_MAX = 10


class Server:
    """Started by the constructor, which returns once the server answers; ended by `stop`."""

    def __init__(self, *flags):
        self._folder = tempfile.TemporaryDirectory(prefix="orrery-sdk-")
        self._log = Path(self._folder.name, "log")
        ports = Path(self._folder.name, "ports.json")
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(self._command(ports, flags), stdout=log, stderr=log)
        self._ports = self._wait_for(ports)
        self.cosmos_port, self.services_port = self._ports["cosmos"], self._ports["services"]

    def endpoint(self, transport):
        return f"{transport}://localhost:{self.cosmos_port}"

    def storage_endpoint(self, service, transport, account):
        """Of the service `table`, `queue` or `blob`, with the account in the path."""
        return f"{transport}://127.0.0.1:{self._ports[service]}/{account}"

    def token(self, *flags):
        """A bearer token that this server takes."""
        command = [binary(), "token", "--data", str(Path(self._folder.name, "data")), *flags]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()

    def apply(self, blueprint, *flags, fixtures=False):
        """Applies the text of a blueprint, twice: the second time there must be nothing to do."""
        file = Path(self._folder.name, f"{uuid.uuid4()}.yaml")
        file.write_text(blueprint)
        command = [binary(), "apply", str(file), "--url", self.endpoint("http"), *flags]
        for more in (["--fixtures"] if fixtures else [], ["--check"]):
            done = subprocess.run([*command, *more], capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, done.stdout + done.stderr

    def advance(self, seconds):
        """Moves the clock of a server that was started with `--clock manual`."""
        request = urllib.request.Request(
            f"http://localhost:{self.services_port}/v1/clock",
            data=json.dumps({"advance_seconds": seconds}).encode(),
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            assert response.status == 200

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def _command(self, ports, flags):
        return [
            binary(), "serve", "--data", str(Path(self._folder.name, "data")), "--host", "127.0.0.1",
            "--free-ports", "--durability", "relaxed", "--ports-file", str(ports), *flags,
        ]  # fmt: skip

    def _wait_for(self, ports):
        deadline = time.monotonic() + START_SECONDS_MAX
        while not ports.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                log = self._log.read_text(errors="replace")[-2000:]
                self.stop()
                raise RuntimeError(f"the server did not start:\n{log}")
            time.sleep(0.02)
        return json.loads(ports.read_text())


def binary():
    path = os.environ.get("ORRERY_BIN")
    if not path or not Path(path).is_file():
        raise RuntimeError(f"ORRERY_BIN names no server binary: {path!r}")
    return path
