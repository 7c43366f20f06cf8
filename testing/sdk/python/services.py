"""The services of a server, asked over REST with the account's key; and stand-ins for FCM and APNs, to push to."""

import json
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from harness import KEY
from server import START_SECONDS_MAX, STOP_SECONDS_MAX, binary

WAIT_SECONDS_MAX = 30


class Services:
    def __init__(self, server):
        self._base = f"http://localhost:{server.services_port}"

    def ask(self, verb, path, body=None, status=200):
        """The answer's JSON, which has to come with this status."""
        found, answer = exchange(verb, self._base + path, body)
        assert found == status, f"{verb} {path}: {found} {answer}"
        return answer

    def of(self, user):
        return User(self, user)


class User:
    """One user of the notification service."""

    def __init__(self, services, name):
        self.services, self.name = services, name
        self._path = f"/v1/users/{urllib.parse.quote(name, safe='')}"

    def ask(self, verb, path, body=None, status=200):
        return self.services.ask(verb, self._path + path, body, status)

    def send(self, kind, target, **members):
        """The id of an event that was accepted; what the payload does not have is a member of the event."""
        actor = {"actorName": members.pop("actor")} if "actor" in members else {}
        payload = {"targetId": target, "targetType": "post", **actor}
        event = {"userId": self.name, "eventType": kind, "payload": payload, **members}
        (accepted,) = self.services.ask("POST", "/v1/notifications/events", event, 202)
        assert (accepted["userId"], accepted["status"]) == (self.name, "PENDING"), accepted
        return accepted["id"]

    def event(self, event):
        return self.services.ask("GET", f"/v1/notifications/events/{event}?{self._query()}")

    def sent(self, *event, **members):
        """As `send`, and the event once the service was done with it for now."""
        return self.settled(self.send(*event, **members))

    def settled(self, event):
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while (found := self.event(event))["status"] in ("PENDING", "PROCESSING"):
            assert time.monotonic() < deadline, f"waited in vain: {found}"
            time.sleep(0.01)
        return found

    def listed(self):
        return self.ask("GET", "/notifications?limit=100")["items"]

    def unread(self):
        return self.ask("GET", "/notifications/unread-count")["unreadCount"]

    def mark(self, notification, mark):
        return self.ask("POST", f"/notifications/{notification}/{mark}")

    def register(self, device, platform):
        body = {"deviceId": device, "platform": platform, "pushToken": token(device), "label": device}
        return self.ask("POST", "/devices", body, 201)

    def prefer(self, **preferences):
        """Nothing is quiet unless it is said."""
        everything = {"social": True, "news": True, "marketing": True}
        whole = {"timezone": "UTC", "quietHours": 24 * [False], "categories": everything, **preferences}
        return self.ask("PUT", "/preferences", whole)

    def _query(self):
        return urllib.parse.urlencode({"userId": self.name})


def token(device):
    """The push token of a device: APNs wants it in hexadecimal."""
    return device.encode().hex().rjust(64, "0")


class Phones:
    """`orrery notify fake-push`: started by the constructor, ended by `stop`."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="orrery-sdk-")
        ports = Path(self._folder.name, "ports.json")
        self.config = str(Path(self._folder.name, "providers.json"))
        free = ["--fcm-port", "0", "--apns-port", "0", "--control-port", "0"]
        command = [binary(), "notify", "fake-push", *free, "--folder", self._folder.name, "--ports-file", str(ports)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS_MAX
        while not ports.exists():
            assert self._process.poll() is None and time.monotonic() < deadline, "the stand-ins did not start"
            time.sleep(0.02)
        self._control = f"http://localhost:{json.loads(ports.read_text())['control']}/control"

    def fail(self, device, **answer):
        """What is answered to every push to this device from now on."""
        status, answered = exchange("POST", self._control, {"match": {"token": token(device)}, "answer": answer})
        assert status == 201, answered

    def pushed(self, *devices):
        """The collapse ids of what these devices took, in the order it came."""
        tokens = [token(device) for device in devices]
        _, received = exchange("GET", f"{self._control}/received")
        return [push["collapseId"] for push in received["pushes"] if push["status"] == 200 and push["token"] in tokens]

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()


def exchange(verb, url, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"x-api-key": KEY, "content-type": "application/json"}, method=verb)
    try:
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS_MAX) as response:
            return response.status, json.loads(response.read() or "null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or "null")
