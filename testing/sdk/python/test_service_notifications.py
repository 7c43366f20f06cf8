"""The notification service's data as an SDK sees it: the seed's queries verbatim, and writes past the service.

The service is driven over REST and pushes to stand-ins of the providers. Its containers are there beforehand, with the
schemas that the blueprint enforces, where a test asks for `lived`; elsewhere the service makes them itself.
"""

from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import pytest
from jsonschema import Draft202012Validator

from blueprints import FOLDER, ask, blueprint, composites, ids
from harness import done, feature, fresh, refused, rows, user_members
from services import Phones, Services, token
from test_seed_blueprints import same_policy

NAME = "asora-notifications"
DAY = 24 * 60 * 60
OF_USER = ["events-of-user", "all-notifications-of-user", "all-preferences-of-user", "all-devices-of-user"]
# What the service keeps beside the seed's items, for who asks for everything of a user; no other query finds it.
BESIDE = {
    "events-of-user": {"aggregate", "outbox"},
    "all-notifications-of-user": {"outbox"},
    "all-devices-of-user": {"guard", "outbox"},
}


@pytest.fixture(scope="session")
def phones():
    phones = Phones()
    yield phones
    phones.stop()


def containers_of(cosmos):
    database = cosmos.client.get_database_client("asora")
    return {each["id"]: database.get_container_client(each["id"]) for each in blueprint(NAME)["containers"]}


async def serving(cosmos_on, phones):
    """A server that pushes to the stand-ins, with the blueprint applied; and its containers."""
    cosmos = await cosmos_on("--push-config", phones.config)
    cosmos.server.apply((FOLDER / f"{NAME}.yaml").read_text(), "--env", "development")
    return cosmos, Services(cosmos.server), containers_of(cosmos)


async def lived(services, phones):
    """Something of everything, for a user and beside them for another: their ids, by what they are."""
    user, other = services.of(fresh("ann")), services.of(fresh("ben"))
    user.prefer(timezone="Asia/Kolkata", categories={"social": True, "news": True, "marketing": False})
    key = {"dedupeKey": "like:post-7"}
    likes = [user.sent("POST_LIKE", "post-7", actor=actor, **key) for actor in ("Noor", "Teo", "Ana")]
    follower = user.sent("FOLLOWER_NEW", "ben", actor="Ben")
    comment = user.sent("POST_COMMENT", "post-7", actor="Ilse")
    promotion = user.sent("MARKETING_PROMOTION", "post-9")
    user.mark(follower["id"], "read")
    user.mark(comment["id"], "dismiss")
    phone, tablet, watch, laptop = devices = [fresh("device") for _ in range(4)]
    for device, platform in zip(devices, ["fcm", "apns", "apns", "fcm"]):
        user.register(device, platform)
    user.ask("POST", f"/devices/{tablet}/revoke")
    user.ask("PATCH", f"/devices/{watch}", {})
    alarm = user.sent("SECURITY_NEW_DEVICE", "post-7")
    phones.fail(watch, status=503, reason="ServiceUnavailable", retryAfter=600)
    share = user.sent("POST_SHARE", "post-7", actor="Mika")
    later = stamp(timedelta(days=3))
    news = user.event(user.send("NEWS_SYSTEM_UPDATE", "post-7", scheduledAt=later))
    other.prefer()
    other.register(phone, "fcm")
    elsewhere = other.sent("POST_LIKE", "post-7", actor="Noor", **key)
    statuses = [event["status"] for event in [*likes, follower, comment, promotion, alarm, share, news, elsewhere]]
    assert statuses == [
        "COMPLETED", "DEDUPLICATED", "DEDUPLICATED", "COMPLETED", "COMPLETED", "COMPLETED", "COMPLETED", "FAILED",
        "PENDING", "COMPLETED",
    ]  # fmt: skip
    outcomes = [event["outcome"] for event in [likes[0], promotion, alarm]]
    assert outcomes == ["no_devices", "suppressed_category", "delivered"]
    assert phones.pushed(watch) == [alarm["id"]] and phones.pushed(laptop) == [alarm["id"], share["id"]]
    return SimpleNamespace(**{name: value for name, value in locals().items() if name not in ("services", "phones")})


def expected(day):
    """For each query of the blueprint what it is asked with, and what it has to find of the user."""
    of = {"userId": day.user.name}
    first, second, third = (event["id"] for event in day.likes)
    dedupe = {**of, "key": "like:post-7", "window": day.likes[0]["createdAt"]}
    follower, comment, promotion, alarm, share, news = (
        event["id"] for event in (day.follower, day.comment, day.promotion, day.alarm, day.share, day.news)
    )
    begun, again = day.share["createdAt"], day.share["nextRetryAt"]
    return {
        "pending-events": [({"now": begun}, [news]), ({"now": again}, [share, news])],
        "claimable-events": [({"now": begun}, []), ({"now": again}, [share]), ({"now": day.later}, [share, news])],
        "events-with-dedupe-key": [(dedupe, [first, second, third]), ({**dedupe, "window": again}, [])],
        "other-events-with-dedupe-key": [({**dedupe, "id": first}, [second, third])],
        "unread-count": [(of, [day.user.unread()])],
        "notifications-of-user": [(of, [item["id"] for item in day.user.listed()])],
        "notifications-in-window": [
            ({**of, "category": "SOCIAL", "window": day.follower["createdAt"]}, [follower, comment, share]),
            ({**of, "category": "SECURITY", "window": day.likes[0]["createdAt"]}, [alarm]),
            ({**of, "category": "MARKETING", "window": day.likes[0]["createdAt"]}, []),
        ],
        "preferences-of-user": [(of, [day.user.name])],
        "active-devices": [(of, [day.watch, day.laptop])],
        "active-devices-of-any-writer": [(of, [day.watch, day.laptop])],
        "device-by-device-id": [({**of, "deviceId": device}, [device]) for device in day.devices],
        "revoked-devices": [({"before": day.later}, [day.phone, day.tablet]), ({"before": "2020-01-01T00:00:00Z"}, [])],
        "events-of-user": [(of, [first, second, third, follower, comment, promotion, alarm, share, news])],
        "all-notifications-of-user": [(of, [first, follower, comment, alarm, share])],
        "all-preferences-of-user": [(of, [day.user.name])],
        "all-devices-of-user": [(of, day.devices)],
    }  # fmt: skip


@feature("services.queries")
async def test_every_query_of_the_blueprint_finds_what_the_service_wrote(cosmos_on, phones):
    """B-9, S2-14 S2-15 S2-24 S2-25 S2-26 S2-36 S2-43 S2-45 S2-69 S2-70: verbatim, by the index that the blueprint
    names; the guard, the aggregates and the outbox are in no answer but those that ask for everything."""
    cosmos, services, containers = await serving(cosmos_on, phones)
    day = await lived(services, phones)
    asked = expected(day)
    assert asked.keys() == blueprint(NAME)["queries"].keys()
    for query, cases in asked.items():
        for given, wanted in cases:
            found, metrics = await ask(cosmos, NAME, containers, query, **given)
            assert composites(metrics) == blueprint(NAME)["queries"][query]["index"], query
            if query == "unread-count":
                assert found == wanted == [3]
                continue
            kinds = {row["kind"] for row in found if "kind" in row}
            assert kinds == BESIDE.get(query, set()), query
            of_user = [row["id"] for row in found if row["userId"] == day.user.name and "kind" not in row]
            in_order = "ORDER BY" in blueprint(NAME)["queries"][query]["sql"]
            assert (of_user if in_order else sorted(of_user)) == (wanted if in_order else sorted(wanted)), query


@feature("services.queries")
async def test_rows_are_what_the_service_answers(cosmos_on, phones):
    """B-9, S2-18 S2-41: member for member, push tokens too, which the service itself never tells."""
    cosmos, services, containers = await serving(cosmos_on, phones)
    day = await lived(services, phones)
    of = {"userId": day.user.name}

    async def found(query, **given):
        return {row["id"]: row for row in (await ask(cosmos, NAME, containers, query, **of, **given))[0]}

    listed = day.user.listed()
    stored = await found("notifications-of-user")
    assert stored[day.likes[0]["id"]]["title"] == "Noor and 2 others liked your post"
    devices = day.user.ask("GET", "/devices")["items"]
    kept = await found("all-devices-of-user")
    events = await found("events-of-user")
    preferences = day.user.ask("GET", "/preferences")
    pairs = [(item, stored[item["id"]]) for item in listed] + [(device, kept[device["id"]]) for device in devices]
    pairs += [(event, events[event["id"]]) for event in [*day.likes, day.alarm, day.news]]
    pairs += [(preferences, (await found("preferences-of-user"))[day.user.name])]
    for told, row in pairs:
        assert {name: row.get(name) for name in told} == told
    assert [kept[device]["pushToken"] for device in day.devices] == [token(device) for device in day.devices]
    assert not any("pushToken" in device for device in devices)
    reasons = [kept[device].get("revokeReason") for device in day.devices]
    assert reasons == ["evicted", "user", None, None]


@feature("services.queries")
async def test_everything_that_the_service_writes_fits_the_schemas(cosmos_on, phones):
    """S2-03 to S2-12, S2-17 to S2-22, S2-29 to S2-32, S2-39 to S2-41: of the blueprint, as judged by another library;
    and what does not fit is refused where the service's items are."""
    cosmos, services, containers = await serving(cosmos_on, phones)
    day = await lived(services, phones)
    schemas = {each["id"]: each["schema"] for each in blueprint(NAME)["containers"]}
    for query in OF_USER:
        container = blueprint(NAME)["queries"][query]["container"]
        judge = Draft202012Validator(schemas[container])
        for row in (await ask(cosmos, NAME, containers, query, userId=day.user.name))[0]:
            assert not list(judge.iter_errors(user_members(row))), row
    unknown = {**seed_event(day.user.name), "eventType": "PARTY_STARTED"}
    assert await refused(lambda: containers["notification_events"].create_item(unknown)) == 400


@feature("services.queries")
async def test_the_badge_is_that_of_the_list_for_query_and_service(cosmos_on, phones):
    """K7, S2-24 S2-84: whatever is marked."""
    cosmos, services, containers = await serving(cosmos_on, phones)
    user = services.of(fresh("ann"))
    read, dismissed, both, _ = (user.sent("POST_SHARE", f"post-{n}", actor="Ben")["id"] for n in range(4))

    async def assert_unread(count):
        found = (await ask(cosmos, NAME, containers, "unread-count", userId=user.name))[0]
        items = user.listed()
        listed = await ids(cosmos, NAME, containers, "notifications-of-user", userId=user.name)
        assert listed == [item["id"] for item in items]
        assert [user.unread(), *found, sum(not item["read"] for item in items)] == 3 * [count]

    await assert_unread(4)
    for left, (notification, mark) in zip(
        [3, 3, 2, 1, 1], [(read, "read"), (read, "read"), (dismissed, "dismiss"), (both, "read"), (both, "dismiss")]
    ):
        user.mark(notification, mark)
        await assert_unread(left)
    user.ask("POST", "/notifications/read-all", {})
    await assert_unread(0)


@feature("services.writes")
async def test_an_event_that_an_sdk_writes_is_dispatched(cosmos):
    """S2-73: an item of the seed's shape, straight into the container; it becomes what one of the service's becomes."""
    user = Services(cosmos.server).of(fresh("ann"))
    user.prefer()
    containers = containers_of(cosmos)
    item = seed_event(user.name)
    await done(containers["notification_events"].create_item(item))
    event = user.settled(item["id"])
    assert (event["status"], event["outcome"], event["processedAt"] is not None) == ("COMPLETED", "no_devices", True)
    (found,) = (await ask(cosmos, NAME, containers, "notifications-of-user", userId=user.name))[0]
    assert [found["id"]] == [listed["id"] for listed in user.listed()]
    assert (found["title"], found["deeplink"]) == ("Noor liked your post", "asora://post/post-42")
    again = {**item, "id": fresh("event"), "payload": {**item["payload"], "actorName": "Teo"}}
    await done(containers["notification_events"].create_item(again))
    assert user.settled(again["id"])["status"] == "DEDUPLICATED"
    assert [listed["count"] for listed in user.listed()] == [2]


@feature("services.writes")
async def test_the_service_goes_by_what_an_sdk_changes(cosmos_on, phones):
    """S2-31 S2-43 S2-89: marks, settings and devices are items, whoever writes them."""
    _, services, containers = await serving(cosmos_on, phones)
    user = services.of(fresh("ann"))
    first = user.sent("POST_LIKE", "post-7", actor="Ben")["id"]
    item = await done(containers["notifications"].read_item(first, user.name))
    await done(containers["notifications"].replace_item(first, {**item, "read": True, "readAt": stamp()}))
    assert (user.unread(), user.listed()[0]["read"]) == (0, True)
    user.prefer()
    kept, gone = fresh("device"), fresh("device")
    user.register(kept, "fcm")
    user.register(gone, "fcm")
    device = await done(containers["device_tokens"].read_item(gone, user.name))
    await done(containers["device_tokens"].replace_item(gone, {**device, "revokedAt": stamp()}))
    second = user.sent("POST_LIKE", "post-8", actor="Ben")
    assert (second["outcome"], phones.pushed(kept), phones.pushed(gone)) == ("delivered", [second["id"]], [])
    settings = await done(containers["notification_preferences"].read_item(user.name, user.name))
    settings = {**settings, "categories": {**settings["categories"], "social": False}}
    await done(containers["notification_preferences"].replace_item(user.name, settings))
    assert user.sent("POST_LIKE", "post-9", actor="Ben")["outcome"] == "suppressed_category"


@feature("services.containers")
async def test_the_service_makes_the_containers_of_the_blueprint(cosmos):
    """S2-01 S2-47 S2-48 S2-49 S2-50 S2-51 S2-52 S2-54: keys, policies and times to live, without `orrery apply`."""
    Services(cosmos.server).of(fresh("ann")).prefer()
    containers = containers_of(cosmos)
    for asked in blueprint(NAME)["containers"]:
        read = await done(containers[asked["id"]].read())
        assert same_policy(read["indexingPolicy"]) == same_policy(asked["indexingPolicy"]), asked["id"]
        assert read["partitionKey"]["paths"] == [asked["partitionKey"]]
        assert read.get("defaultTtl") == asked.get("defaultTtl"), asked["id"]
        unique = read.get("uniqueKeyPolicy", {}).get("uniqueKeys", [])
        assert [each["paths"] for each in unique] == asked.get("uniqueKeys", [])


@feature("services.erasure")
async def test_who_is_erased_by_the_service_is_in_no_answer(cosmos_on, phones):
    """B-8, S2-70: nothing of them in the four containers, whatever kind of item; everything of others."""
    cosmos, services, containers = await serving(cosmos_on, phones)
    day = await lived(services, phones)
    day.user.ask("DELETE", "")
    for query in OF_USER:
        assert (await ask(cosmos, NAME, containers, query, userId=day.user.name))[0] == [], query
        assert (await ask(cosmos, NAME, containers, query, userId=day.other.name))[0] != [], query
    for query in ("pending-events", "claimable-events"):
        found = (await ask(cosmos, NAME, containers, query, now=day.later))[0]
        assert day.user.name not in [row["userId"] for row in found], query
    event = {"userId": day.user.name, "eventType": "POST_LIKE", "payload": {"targetId": "p", "targetType": "post"}}
    (dropped,) = services.ask("POST", "/v1/notifications/events", event, 202)
    assert (dropped["status"], dropped["reason"]) == ("dropped", "user_erased")


@feature("services.ttl")
async def test_what_the_service_wrote_goes_after_thirty_days_whatever_was_marked(clocked):
    """S2-66 S2-67 S2-68, C-36: a mark on the tenth day keeps nothing for longer; settings and devices stay."""
    user = Services(clocked.server).of(fresh("ann"))
    containers = containers_of(clocked)
    user.prefer()
    marked, plain = (user.sent("POST_LIKE", f"post-{n}", actor="Ben")["id"] for n in range(2))
    user.register(fresh("device"), "fcm")

    async def left():
        own = {"partition_key": user.name}
        text = "SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.kind)"
        return [
            sorted(await rows(containers[blueprint(NAME)["queries"][query]["container"]].query_items(text, **own)))
            for query in OF_USER
        ]

    everything = await left()
    assert everything[:2] == 2 * [sorted([marked, plain])]
    clocked.server.advance(10 * DAY)
    user.mark(marked, "read")
    clocked.server.advance(20 * DAY - 60)
    assert await left() == everything
    clocked.server.advance(61)
    assert await left() == [[], [], *everything[2:]]


def seed_event(user):
    """The blueprint's first event, of this user and of now."""
    event = blueprint(NAME)["containers"][0]["fixtures"][0]
    return {**event, "id": fresh("event"), "userId": user, "createdAt": stamp()}


def stamp(ahead=timedelta()):
    """As the service writes times."""
    now = datetime.now(timezone.utc) + ahead
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
