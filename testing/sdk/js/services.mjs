// The services of a server, asked over REST with the account's key; and stand-ins for FCM and APNs, to push to.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { KEY } from "./harness.mjs";

const WAIT_MILLIS_MAX = 30_000;

/** One user of the notification service. */
export class User {
  #base;

  constructor(cosmos, name) {
    this.#base = cosmos.services;
    this.name = name;
  }

  ask(verb, path, body, status = 200) {
    return exchange(verb, `${this.#base}/v1/users/${encodeURIComponent(this.name)}${path}`, body, status);
  }

  /** The id of an event that was accepted. */
  async send(eventType, targetId, { actorName, ...members } = {}) {
    const event = { userId: this.name, eventType, payload: { targetId, targetType: "post", actorName }, ...members };
    const [accepted] = await exchange("POST", `${this.#base}/v1/notifications/events`, event, 202);
    assert.deepEqual([accepted.userId, accepted.status], [this.name, "PENDING"]);
    return accepted.id;
  }

  event(id) {
    return exchange("GET", `${this.#base}/v1/notifications/events/${id}?userId=${encodeURIComponent(this.name)}`);
  }

  /** As `send`, and the event once the service was done with it for now. */
  async sent(...event) {
    return this.settled(await this.send(...event));
  }

  async settled(id) {
    const deadline = Date.now() + WAIT_MILLIS_MAX;
    for (;;) {
      const event = await this.event(id);
      if (!["PENDING", "PROCESSING"].includes(event.status)) return event;
      assert(Date.now() < deadline, `waited in vain: ${JSON.stringify(event)}`);
      await sleep(10);
    }
  }

  async listed() {
    return (await this.ask("GET", "/notifications?limit=100")).items;
  }

  async unread() {
    return (await this.ask("GET", "/notifications/unread-count")).unreadCount;
  }

  mark(notification, mark) {
    return this.ask("POST", `/notifications/${notification}/${mark}`);
  }

  register(device, platform) {
    const body = { deviceId: device, platform, pushToken: tokenOf(device), label: device };
    return this.ask("POST", "/devices", body, 201);
  }

  /** Nothing is quiet unless it is said. */
  prefer(preferences = {}) {
    const categories = { social: true, news: true, marketing: true };
    const whole = { timezone: "UTC", quietHours: Array(24).fill(false), categories, ...preferences };
    return this.ask("PUT", "/preferences", whole);
  }
}

/** The push token of a device: APNs wants it in hexadecimal. */
export function tokenOf(device) {
  return Buffer.from(device).toString("hex").padStart(64, "0");
}

/** Starts `orrery notify fake-push`. */
export async function startPhones() {
  const folder = mkdtempSync(join(tmpdir(), "orrery-sdk-"));
  const ports = join(folder, "ports.json");
  const free = ["--fcm-port", "0", "--apns-port", "0", "--control-port", "0"];
  const flags = ["notify", "fake-push", ...free, "--folder", folder, "--ports-file", ports];
  const child = spawn(process.env.ORRERY_BIN, flags, { stdio: ["ignore", "ignore", "inherit"] });
  const deadline = Date.now() + WAIT_MILLIS_MAX;
  while (!existsSync(ports)) {
    assert(child.exitCode === null && Date.now() < deadline, "the stand-ins did not start");
    await sleep(20);
  }
  const control = `http://localhost:${JSON.parse(readFileSync(ports, "utf8")).control}/control`;
  return {
    config: join(folder, "providers.json"),
    /** What is answered to every push to this device from now on. */
    fail: (device, answer) => exchange("POST", control, { match: { token: tokenOf(device) }, answer }, 201),
    /** The collapse ids of what this device took, in the order it came. */
    async pushed(device) {
      const { pushes } = await exchange("GET", `${control}/received?token=${tokenOf(device)}`);
      return pushes.filter(({ status }) => status === 200).map(({ collapseId }) => collapseId);
    },
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      if (child.exitCode === null && child.kill("SIGTERM")) await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The answer's JSON, which has to come with this status. */
export async function exchange(verb, url, body, status = 200) {
  const headers = { "x-api-key": KEY, "content-type": "application/json" };
  const response = await fetch(url, { method: verb, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  assert.equal(response.status, status, `${verb} ${url}: ${text}`);
  return text ? JSON.parse(text) : undefined;
}
