"""The notifications of Asora: which events are due, what a user sees, devices, and erasure."""

from blueprints import ask, blueprint, filled, ids, stand_up
from harness import done, feature, pages, refused, rows

NAME = "asora-notifications"
DAY = 24 * 60 * 60
EVENT = "7b1f0a52-6a0e-4a3c-9a55-0d3a4f1c00{:02}"
NOTIFICATION = "5e0c7c3e-2f60-4b7e-8d8e-11d2b0aa00{:02}"
DEVICE = "9c5b94b1-35ad-49bb-b118-8e8fc24abf{}"
CHARGE = "x-ms-request-charge"


def numbered(pattern, *numbers):
    return [pattern.format(number) for number in numbers]


@feature("seeds.queries")
async def test_the_events_that_are_due_are_found_over_all_users(cosmos):
    """S2-14, C-38: the design's query, and the one that also sees leases and what was put off."""
    _, containers = await filled(cosmos, NAME)
    assert sorted(await ids(cosmos, NAME, containers, "pending-events")) == numbered(EVENT, 1, 2, 7, 8)
    assert sorted(await ids(cosmos, NAME, containers, "claimable-events")) == numbered(EVENT, 1, 2, 7, 9, 10)
    later = "2025-11-20T23:00:00Z"
    assert EVENT.format("04") in await ids(cosmos, NAME, containers, "pending-events", now=later)
    assert EVENT.format("03") not in await ids(cosmos, NAME, containers, "pending-events", now=later)


@feature("seeds.queries")
async def test_an_event_with_the_same_key_in_the_window_is_found(cosmos):
    """S2-15: from the second the window begins; without itself where it asks."""
    _, containers = await filled(cosmos, NAME)
    assert sorted(await ids(cosmos, NAME, containers, "events-with-dedupe-key")) == numbered(EVENT, 1, 5)
    assert await ids(cosmos, NAME, containers, "other-events-with-dedupe-key") == numbered(EVENT, 5)
    just = {"window": "2025-11-20T08:40:00Z"}
    assert EVENT.format("05") in await ids(cosmos, NAME, containers, "events-with-dedupe-key", **just)
    after = {"window": "2025-11-20T08:40:01Z"}
    assert EVENT.format("05") not in await ids(cosmos, NAME, containers, "events-with-dedupe-key", **after)


@feature("seeds.queries")
async def test_a_user_sees_what_is_not_dismissed_newest_first(cosmos):
    """S2-24 S2-25 S2-26 S2-84: list, badge and rate limit agree."""
    _, containers = await filled(cosmos, NAME)
    assert await ids(cosmos, NAME, containers, "notifications-of-user") == numbered(NOTIFICATION, 1, 4, 2)
    assert (await ask(cosmos, NAME, containers, "unread-count"))[0] == [2]
    assert sorted(await ids(cosmos, NAME, containers, "notifications-in-window")) == numbered(NOTIFICATION, 1, 3)


@feature("seeds.queries")
async def test_pages_of_notifications_are_stable_while_new_ones_come(cosmos):
    """S2-25: a page goes on where the last one ended, whatever was added above it."""
    _, containers = await filled(cosmos, NAME)
    notifications = containers["notifications"]
    asked = blueprint(NAME)["queries"]["notifications-of-user"]

    def feed():
        options = {"parameters": [{"name": "@userId", "value": "user-1001"}], "partition_key": "user-1001"}
        return notifications.query_items(asked["sql"], max_item_count=1, **options)

    (first,), token = await pages(feed(), limit=1)
    newest = blueprint(NAME)["containers"][1]["fixtures"][0]
    await done(notifications.create_item({**newest, "id": "newer", "createdAt": "2025-11-20T11:00:00Z"}))
    rest, _ = await pages(feed(), token)
    assert [item["id"] for page in [first, *rest] for item in page] == numbered(NOTIFICATION, 1, 4, 2)


@feature("seeds.queries")
async def test_a_device_without_revoked_at_is_not_one_with_null(cosmos):
    """S2-43, C-47: what is absent is not null; both forms of the query say what they say."""
    # The schema would not let such a device in.
    _, containers = await filled(cosmos, NAME, "--without-schemas")
    assert await ids(cosmos, NAME, containers, "active-devices") == [DEVICE.format(81), DEVICE.format(80)]
    absent = {"id": "no-date", "userId": "user-1001", "deviceId": "no-date", "lastSeenAt": "2025-11-20T10:00:00Z"}
    await done(containers["device_tokens"].create_item(absent))
    assert await ids(cosmos, NAME, containers, "active-devices") == [DEVICE.format(81), DEVICE.format(80)]
    assert await ids(cosmos, NAME, containers, "active-devices-of-any-writer") == [
        "no-date", DEVICE.format(81), DEVICE.format(80),
    ]  # fmt: skip


@feature("seeds.items")
async def test_a_device_is_registered_once_a_user(cosmos):
    """S2-38, C-46: a unique key, within the user's partition."""
    _, containers = await filled(cosmos, NAME)
    devices = containers["device_tokens"]
    again = {**blueprint(NAME)["containers"][3]["fixtures"][0], "id": "another"}
    assert await refused(lambda: devices.create_item(again)) == 409
    await done(devices.create_item({**again, "userId": "user-3000"}))


@feature("seeds.queries")
async def test_a_token_is_refreshed_by_device_id(cosmos):
    """S2-45 S2-88: found, replaced, and seen last of all."""
    _, containers = await filled(cosmos, NAME)
    (device,) = (await ask(cosmos, NAME, containers, "device-by-device-id", deviceId=DEVICE.format(80)))[0]
    device = {**device, "pushToken": "apns-token-9", "lastSeenAt": "2025-11-20T12:00:00Z"}
    await done(containers["device_tokens"].replace_item(device["id"], device))
    assert (await ids(cosmos, NAME, containers, "active-devices"))[0] == DEVICE.format(80)


@feature("seeds.queries")
async def test_preferences_are_read_by_the_user_s_id(cosmos):
    """S2-28 S2-36: one document, by a point read or the query; the design's hours and the default's are 24 each."""
    _, containers = await filled(cosmos, NAME)
    read = await done(containers["notification_preferences"].read_item("user-2002", "user-2002"))
    assert [hour for hour, quiet in enumerate(read["quietHours"]) if quiet] == [0, 1, 2, 3, 4, 5, 6, 22, 23]
    (found,) = (await ask(cosmos, NAME, containers, "preferences-of-user", userId="user-2002"))[0]
    assert found == dict(read)


@feature("seeds.items")
async def test_a_user_is_erased_from_all_four_containers(cosmos):
    """S2-70: every document of the user by its id, and nobody else's."""
    _, containers = await filled(cosmos, NAME)
    of_user = ["events-of-user", "all-notifications-of-user", "all-preferences-of-user", "all-devices-of-user"]
    for query in of_user:
        container = containers[blueprint(NAME)["queries"][query]["container"]]
        for item in (await ask(cosmos, NAME, containers, query))[0]:
            await done(container.delete_item(item["id"], "user-1001"))
    for query in of_user:
        assert (await ask(cosmos, NAME, containers, query))[0] == []
        assert (await ask(cosmos, NAME, containers, query, userId="user-2002"))[0] != []


ERASE = """
function erase() {
  const collection = getContext().getCollection();
  let erased = 0;
  collection.queryDocuments(collection.getSelfLink(), "SELECT * FROM c", {}, (error, items) => {
    if (error) throw error;
    for (const item of items) {
      collection.deleteDocument(item._self, {}, (problem) => {
        if (problem) throw problem;
        getContext().getResponse().setBody(++erased);
      });
    }
  });
}
"""


@feature("seeds.items")
async def test_a_user_is_erased_by_a_stored_procedure(cosmos):
    """S2-71: in one transaction of the user's partition."""
    _, containers = await filled(cosmos, NAME)
    events = containers["notification_events"]
    await done(events.scripts.create_stored_procedure({"id": "erase", "body": ERASE}))
    erased = await done(events.scripts.execute_stored_procedure("erase", partition_key="user-1001"))
    assert erased == 6
    assert sorted(item["userId"] for item in await rows(events.read_all_items())) == 3 * ["user-2002"] + ["user-2003"]


@feature("seeds.items")
async def test_charges_are_of_the_size_that_the_design_plans_with(cosmos):
    """S2-56 S2-58 S2-59 S2-60: half to one and a half times its numbers."""
    _, containers = await stand_up(cosmos, NAME)
    events, notifications, preferences = (
        containers[name] for name in ("notification_events", "notifications", "notification_preferences")
    )
    design = {each["id"]: each["fixtures"][0] for each in blueprint(NAME)["containers"]}

    async def charge(call):
        return float((await done(call)).get_response_headers()[CHARGE])

    measured = {"enqueue": await charge(events.create_item(design["notification_events"]))}
    for n in range(20):
        item = {**design["notifications"], "id": str(n), "createdAt": f"2025-11-20T09:{n:02}:00Z"}
        await done(notifications.create_item(item))
    asked = blueprint(NAME)["queries"]["notifications-of-user"]["sql"]
    parameters = [{"name": "@userId", "value": "user-1001"}]
    feed = notifications.query_items(asked, parameters=parameters, partition_key="user-1001", max_item_count=20)
    assert len((await pages(feed, limit=1))[0][0]) == 20
    measured["page"] = float(notifications.client_connection.last_response_headers[CHARGE])
    read = {**design["notifications"], "id": "3", "read": True, "readAt": "2025-11-20T10:00:00Z"}
    measured["mark read"] = await charge(notifications.replace_item("3", read))
    await done(preferences.create_item(design["notification_preferences"]))
    measured["preferences"] = await charge(preferences.upsert_item(design["notification_preferences"]))
    planned = {"enqueue": 5, "page": 3, "mark read": 5, "preferences": 5}
    assert all(0.5 * ru <= measured[name] <= 1.5 * ru for name, ru in planned.items()), measured


@feature("seeds.ttl")
async def test_a_mark_starts_the_thirty_days_again_unless_the_item_says_when(clocked):
    """S2-66 S2-67, C-36: time to live counts from the last write, so the writer gives the rest of the thirty days."""
    _, containers = await stand_up(clocked, NAME)
    notifications = containers["notifications"]
    design = blueprint(NAME)["containers"][1]["fixtures"][0]
    await done(notifications.create_item({**design, "id": "plain"}))
    await done(notifications.create_item({**design, "id": "exact"}))
    clocked.server.advance(10 * DAY)
    await done(notifications.replace_item("plain", {**design, "id": "plain", "read": True}))
    await done(notifications.replace_item("exact", {**design, "id": "exact", "read": True, "ttl": 20 * DAY}))
    clocked.server.advance(20 * DAY)
    assert [item["id"] for item in await rows(notifications.read_all_items())] == ["plain"]
    clocked.server.advance(10 * DAY)
    assert await rows(notifications.read_all_items()) == []


@feature("seeds.items")
async def test_a_user_is_erased_by_partition_key(cosmos):
    """S2-70 S2-71, C-49: one call a container, since the user is the partition."""
    _, containers = await filled(cosmos, NAME)
    of_user = ["events-of-user", "all-notifications-of-user", "all-preferences-of-user", "all-devices-of-user"]
    for container in containers.values():
        await done(container.delete_all_items_by_partition_key("user-1001"))
    for query in of_user:
        assert (await ask(cosmos, NAME, containers, query))[0] == []
        assert (await ask(cosmos, NAME, containers, query, userId="user-2002"))[0] != []
