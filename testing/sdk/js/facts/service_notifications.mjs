// The notification service's data as the SDK sees it: the seed's queries verbatim, and writes past the service.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after } from "node:test";
import { ask, blueprint, composites } from "../blueprints.mjs";
import { clockedFact, fact, factOn, fresh } from "../harness.mjs";
import { User, startPhones, tokenOf } from "../services.mjs";
import { samePolicy } from "./seeds.mjs";

const NAME = "asora-notifications";
const TEXT = readFileSync(new URL(`../../../../blueprints/${NAME}.yaml`, import.meta.url), "utf8");
const DAY = 24 * 60 * 60;
const OF_USER = ["events-of-user", "all-notifications-of-user", "all-preferences-of-user", "all-devices-of-user"];
/** What the service keeps beside the seed's items, for who asks for everything of a user; no other query finds it. */
const BESIDE = {
  "events-of-user": ["aggregate", "outbox"],
  "all-notifications-of-user": ["outbox"],
  "all-devices-of-user": ["guard", "outbox"],
};

let started;
const phones = () => (started ??= startPhones());
const pushing = async () => ["--push-config", (await phones()).config];
after(async () => (await started)?.stop());

function containersOf(cosmos) {
  const database = cosmos.client.database("asora");
  return Object.fromEntries(blueprint(NAME).containers.map(({ id }) => [id, database.container(id)]));
}

/** The containers, with the schemas that the blueprint enforces. */
function applied(cosmos) {
  cosmos.apply(TEXT, "--env", "development");
  return containersOf(cosmos);
}

/** Something of everything, for a user and beside them for another. */
async function lived(cosmos) {
  const [user, other] = [new User(cosmos, fresh("ann")), new User(cosmos, fresh("ben"))];
  await user.prefer({ timezone: "Asia/Kolkata", categories: { social: true, news: true, marketing: false } });
  const dedupeKey = "like:post-7";
  const likes = [];
  for (const actorName of ["Noor", "Teo", "Ana"]) {
    likes.push(await user.sent("POST_LIKE", "post-7", { actorName, dedupeKey }));
  }
  const follower = await user.sent("FOLLOWER_NEW", "ben", { actorName: "Ben" });
  const comment = await user.sent("POST_COMMENT", "post-7", { actorName: "Ilse" });
  const promotion = await user.sent("MARKETING_PROMOTION", "post-9");
  await user.mark(follower.id, "read");
  await user.mark(comment.id, "dismiss");
  const devices = [0, 1, 2, 3].map(() => fresh("device"));
  const [phone, tablet, watch, laptop] = devices;
  for (const device of devices) await user.register(device, device === tablet || device === watch ? "apns" : "fcm");
  await user.ask("POST", `/devices/${tablet}/revoke`);
  await user.ask("PATCH", `/devices/${watch}`, {});
  const alarm = await user.sent("SECURITY_NEW_DEVICE", "post-7");
  const { fail, pushed } = await phones();
  await fail(watch, { status: 503, reason: "ServiceUnavailable", retryAfter: 600 });
  const share = await user.sent("POST_SHARE", "post-7", { actorName: "Mika" });
  const later = new Date(Date.now() + 3_000 * DAY).toISOString();
  const news = await user.event(await user.send("NEWS_SYSTEM_UPDATE", "post-7", { scheduledAt: later }));
  await other.prefer();
  await other.register(phone, "fcm");
  const elsewhere = await other.sent("POST_LIKE", "post-7", { actorName: "Noor", dedupeKey });
  assert.deepEqual(
    [...likes, follower, promotion, alarm, share, news, elsewhere].map(({ status, outcome }) => outcome ?? status),
    [
      ...["no_devices", "DEDUPLICATED", "DEDUPLICATED", "no_devices", "suppressed_category"],
      ...["delivered", "FAILED", "PENDING", "delivered"],
    ],
  );
  assert.deepEqual([await pushed(watch), await pushed(laptop)], [[alarm.id], [alarm.id, share.id]]);
  return { user, other, likes, follower, comment, promotion, alarm, share, news, later, devices };
}

/** For each query of the blueprint what it is asked with, and what it has to find of the user. */
async function expected(day) {
  const { user, later, devices, share, news } = day;
  const of = { userId: user.name };
  const ids = (...found) => found.map(({ id }) => id);
  const [first, second, third] = ids(...day.likes);
  const [follower, comment, promotion, alarm] = ids(day.follower, day.comment, day.promotion, day.alarm);
  const [phone, tablet, watch, laptop] = devices;
  const dedupe = { ...of, key: "like:post-7", window: day.likes[0].createdAt };
  const [begun, again] = [share.createdAt, share.nextRetryAt];
  return {
    "pending-events": [[{ now: begun }, [news.id]], [{ now: again }, [share.id, news.id]]],
    "claimable-events": [[{ now: begun }, []], [{ now: again }, [share.id]], [{ now: later }, [share.id, news.id]]],
    "events-with-dedupe-key": [[dedupe, [first, second, third]], [{ ...dedupe, window: again }, []]],
    "other-events-with-dedupe-key": [[{ ...dedupe, id: first }, [second, third]]],
    "unread-count": [[of, [await user.unread()]]],
    "notifications-of-user": [[of, (await user.listed()).map(({ id }) => id)]],
    "notifications-in-window": [
      [{ ...of, category: "SOCIAL", window: day.follower.createdAt }, [follower, comment, share.id]],
      [{ ...of, category: "SECURITY", window: day.likes[0].createdAt }, [alarm]],
      [{ ...of, category: "MARKETING", window: day.likes[0].createdAt }, []],
    ],
    "preferences-of-user": [[of, [user.name]]],
    "active-devices": [[of, [watch, laptop]]],
    "active-devices-of-any-writer": [[of, [watch, laptop]]],
    "device-by-device-id": devices.map((device) => [{ ...of, deviceId: device }, [device]]),
    "revoked-devices": [[{ before: later }, [phone, tablet]], [{ before: "2020-01-01T00:00:00Z" }, []]],
    "events-of-user": [[of, [first, second, third, follower, comment, promotion, alarm, share.id, news.id]]],
    "all-notifications-of-user": [[of, [first, follower, comment, alarm, share.id]]],
    "all-preferences-of-user": [[of, [user.name]]],
    "all-devices-of-user": [[of, devices]],
  };
}

factOn(pushing, "services.queries", "every query of the blueprint finds what the service wrote", async (cosmos) => {
  const containers = applied(cosmos);
  const day = await lived(cosmos);
  const asked = await expected(day);
  const { queries } = blueprint(NAME);
  assert.deepEqual(Object.keys(asked).sort(), Object.keys(queries).sort());
  for (const [query, cases] of Object.entries(asked)) {
    for (const [given, wanted] of cases) {
      const { rows, metrics } = await ask(NAME, containers, query, given);
      assert.deepEqual(composites(metrics), queries[query].index, query);
      if (query === "unread-count") {
        assert.deepEqual([rows, wanted], [[3], [3]]);
        continue;
      }
      const kinds = new Set(rows.map(({ kind }) => kind).filter((kind) => kind !== undefined));
      assert.deepEqual([...kinds].sort(), BESIDE[query] ?? [], query);
      const own = rows.filter(({ kind, userId }) => kind === undefined && userId === day.user.name);
      const found = own.map(({ id }) => id);
      const ordered = queries[query].sql.includes("ORDER BY");
      assert.deepEqual(ordered ? found : found.sort(), ordered ? wanted : [...wanted].sort(), query);
    }
  }
});

factOn(pushing, "services.queries", "rows are what the service answers", async (cosmos) => {
  const containers = applied(cosmos);
  const { user, likes, alarm, news, devices } = await lived(cosmos);
  const found = async (query) => {
    const { rows } = await ask(NAME, containers, query, { userId: user.name });
    return new Map(rows.map((row) => [row.id, row]));
  };
  const [listed, registered] = [await user.listed(), (await user.ask("GET", "/devices")).items];
  const [stored, kept] = [await found("notifications-of-user"), await found("all-devices-of-user")];
  const [events, settings] = [await found("events-of-user"), await found("preferences-of-user")];
  const pairs = [
    ...listed.map((told) => [told, stored.get(told.id)]),
    ...registered.map((told) => [told, kept.get(told.id)]),
    ...[...likes, alarm, news].map((told) => [told, events.get(told.id)]),
    [await user.ask("GET", "/preferences"), settings.get(user.name)],
  ];
  for (const [told, row] of pairs) {
    assert.deepEqual(Object.fromEntries(Object.keys(told).map((name) => [name, row[name] ?? null])), told);
  }
  assert.equal(stored.get(likes[0].id).title, "Noor and 2 others liked your post");
  assert.deepEqual(devices.map((device) => kept.get(device).pushToken), devices.map(tokenOf));
  assert(!registered.some((device) => "pushToken" in device));
});

factOn(pushing, "services.queries", "the badge is that of the list for query and service", async (cosmos) => {
  const containers = applied(cosmos);
  const user = new User(cosmos, fresh("ann"));
  const made = [];
  for (let n = 0; n < 4; n++) made.push((await user.sent("POST_SHARE", `post-${n}`, { actorName: "Ben" })).id);
  const assertUnread = async (count) => {
    const { rows } = await ask(NAME, containers, "unread-count", { userId: user.name });
    const { rows: seen } = await ask(NAME, containers, "notifications-of-user", { userId: user.name });
    const listed = await user.listed();
    assert.deepEqual(seen.map(({ id }) => id), listed.map(({ id }) => id));
    assert.deepEqual([await user.unread(), ...rows, listed.filter(({ read }) => !read).length], Array(3).fill(count));
  };
  await assertUnread(4);
  const marks = [[0, "read", 3], [0, "read", 3], [1, "dismiss", 2], [2, "read", 1], [2, "dismiss", 1]];
  for (const [n, mark, left] of marks) {
    await user.mark(made[n], mark);
    await assertUnread(left);
  }
  await user.ask("POST", "/notifications/read-all", {});
  await assertUnread(0);
});

fact("services.writes", "an event that the SDK writes is dispatched", async (cosmos) => {
  const user = new User(cosmos, fresh("ann"));
  await user.prefer();
  const containers = containersOf(cosmos);
  const [design] = blueprint(NAME).containers[0].fixtures;
  const item = { ...design, id: fresh("event"), userId: user.name, createdAt: new Date().toISOString() };
  await containers.notification_events.items.create(item);
  const event = await user.settled(item.id);
  assert.deepEqual([event.status, event.outcome], ["COMPLETED", "no_devices"]);
  const { rows } = await ask(NAME, containers, "notifications-of-user", { userId: user.name });
  assert.deepEqual(rows.map(({ id }) => id), (await user.listed()).map(({ id }) => id));
  assert.deepEqual(rows.map(({ title }) => title), ["Noor liked your post"]);
  const again = { ...item, id: fresh("event"), payload: { ...item.payload, actorName: "Teo" } };
  await containers.notification_events.items.create(again);
  assert.equal((await user.settled(again.id)).status, "DEDUPLICATED");
  assert.deepEqual((await user.listed()).map(({ count }) => count), [2]);
});

factOn(pushing, "services.writes", "the service goes by what the SDK changes", async (cosmos) => {
  const containers = applied(cosmos);
  const user = new User(cosmos, fresh("ann"));
  const change = async (container, id, members) => {
    const item = containers[container].item(id, user.name);
    await item.replace({ ...(await item.read()).resource, ...members });
  };
  const now = new Date().toISOString();
  const first = await user.sent("POST_LIKE", "post-7", { actorName: "Ben" });
  await change("notifications", first.id, { read: true, readAt: now });
  assert.equal(await user.unread(), 0);
  await user.prefer();
  const [kept, gone] = [fresh("device"), fresh("device")];
  await user.register(kept, "fcm");
  await user.register(gone, "fcm");
  await change("device_tokens", gone, { revokedAt: now });
  const second = await user.sent("POST_LIKE", "post-8", { actorName: "Ben" });
  const { pushed } = await phones();
  assert.deepEqual([second.outcome, await pushed(kept), await pushed(gone)], ["delivered", [second.id], []]);
  await change("notification_preferences", user.name, { categories: { social: false, news: true, marketing: true } });
  assert.equal((await user.sent("POST_LIKE", "post-9", { actorName: "Ben" })).outcome, "suppressed_category");
});

factOn(pushing, "services.erasure", "who is erased by the service is in no answer", async (cosmos) => {
  const containers = applied(cosmos);
  const { user, other, later } = await lived(cosmos);
  await user.ask("DELETE", "");
  for (const query of OF_USER) {
    assert.deepEqual((await ask(NAME, containers, query, { userId: user.name })).rows, [], query);
    assert.notDeepEqual((await ask(NAME, containers, query, { userId: other.name })).rows, [], query);
  }
  const { rows } = await ask(NAME, containers, "pending-events", { now: later });
  assert(rows.every(({ userId }) => userId !== user.name));
});

fact("services.containers", "the service makes the containers of the blueprint", async (cosmos) => {
  await new User(cosmos, fresh("ann")).prefer();
  const containers = containersOf(cosmos);
  for (const asked of blueprint(NAME).containers) {
    const { resource } = await containers[asked.id].read();
    assert.deepEqual(samePolicy(resource.indexingPolicy), samePolicy(asked.indexingPolicy), asked.id);
    assert.deepEqual(resource.partitionKey.paths, [asked.partitionKey]);
    assert.equal(resource.defaultTtl, asked.defaultTtl);
    const unique = resource.uniqueKeyPolicy?.uniqueKeys ?? [];
    assert.deepEqual(unique.map(({ paths }) => paths), asked.uniqueKeys ?? []);
  }
});

clockedFact("services.ttl", "what the service wrote goes after thirty days whatever was marked", async (cosmos) => {
  const user = new User(cosmos, fresh("ann"));
  const containers = containersOf(cosmos);
  await user.prefer();
  const made = [];
  for (const target of ["post-1", "post-2"]) made.push((await user.sent("POST_LIKE", target, { actorName: "Ben" })).id);
  await user.register(fresh("device"), "fcm");
  const left = () =>
    Promise.all(
      OF_USER.map(async (query) => {
        const { rows } = await ask(NAME, containers, query, { userId: user.name });
        return rows.filter(({ kind }) => kind === undefined).map(({ id }) => id).sort();
      }),
    );
  const everything = await left();
  assert.deepEqual(everything.slice(0, 2), [[...made].sort(), [...made].sort()]);
  await cosmos.advance(10 * DAY);
  await user.mark(made[0], "read");
  await cosmos.advance(20 * DAY - 60);
  assert.deepEqual(await left(), everything);
  await cosmos.advance(61);
  assert.deepEqual(await left(), [[], [], ...everything.slice(2)]);
});
