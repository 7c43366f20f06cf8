// Runs every fact over both transports against one server, and records what came of it.
//
// A second server, whose clock stands still until a fact moves it, starts only if a fact asks for it. Each fact
// makes the databases it needs, so facts need no order and clean nothing up.

import { CosmosClient } from "@azure/cosmos";
import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { Agent } from "node:https";
import { after, test } from "node:test";
import { startServer } from "./server.mjs";

export const KEY = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";
/** A bare path would be version 1, and the SDK hashes some values of that wrong. */
const KEY_BY_PK = { paths: ["/pk"], kind: "Hash", version: 2 };
/** Some wrong answers make the SDK ask again for ever. */
const TEST_MILLIS_MAX = 60_000;
const HERE = new URL(".", import.meta.url);
const RESULTS = new URL("../results/javascript.jsonl", HERE);
const FEATURES = new Set(readFileSync(new URL("../features.toml", HERE), "utf8").match(/(?<=^key = ").*(?="$)/gm));

mkdirSync(new URL("../results/", HERE), { recursive: true });
writeFileSync(RESULTS, "");

/** Takes the certificate of any server. */
export const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
const clients = [];
const servers = new Map();
let names = 0;

/** One fact about one feature of features.toml, shown over http and over https. */
export function fact(feature, name, run) {
  register(feature, name, run, [], Cosmos);
}

/** As `fact`, on the server whose clock `cosmos.advance(seconds)` moves. */
export function clockedFact(feature, name, run) {
  register(feature, name, run, ["--clock", "manual"], Cosmos);
}

/** As `fact`, on a server with these flags; they may be a function that gives them once they are known. */
export function factOn(flags, feature, name, run) {
  register(feature, name, run, flags, Cosmos);
}

/** As `factOn`, with the SDKs that `Sdk` makes of a server and a transport. */
export function register(feature, name, run, flags, Sdk) {
  assert(FEATURES.has(feature), `${feature} is not in features.toml`);
  for (const transport of ["http", "https"]) {
    test(`${name} (${transport})`, { timeout: TEST_MILLIS_MAX }, async () => {
      let ok = false;
      try {
        const known = typeof flags === "function" ? await flags() : flags;
        await run(new Sdk(await server(known), transport));
        ok = true;
      } finally {
        appendFileSync(RESULTS, JSON.stringify({ feature, test: name, transport, ok }) + "\n");
      }
    });
  }
}

function server(flags) {
  const key = flags.join(" ");
  if (!servers.has(key)) servers.set(key, startServer(...flags));
  return servers.get(key);
}

after(async () => {
  for (const client of clients) client.dispose();
  agent.destroy();
  const started = await Promise.allSettled(servers.values());
  await Promise.all(started.map((outcome) => outcome.value?.stop()));
});

/** The SDK over one transport. */
class Cosmos {
  #server;
  #client;

  constructor(server, transport) {
    this.#server = server;
    this.transport = transport;
    this.endpoint = server.endpoint(transport);
  }

  /** The client of this fact. */
  get client() {
    this.#client ??= this.open();
    return this.#client;
  }

  /** A further client, with caches of its own. */
  open(options = {}) {
    const secure = this.transport === "https" ? { agent } : {};
    const client = new CosmosClient({ endpoint: this.endpoint, key: KEY, ...secure, ...options });
    clients.push(client);
    return client;
  }

  /** A client with a bearer token; the SDK sends one over https only. */
  openWithToken(...flags) {
    return this.openWithBearer(this.#server.token(...flags));
  }

  /** A client with this bearer token. */
  openWithBearer(token) {
    const aadCredentials = { getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 3_000_000 }) };
    const client = new CosmosClient({ endpoint: this.#server.endpoint("https"), agent, aadCredentials });
    clients.push(client);
    return client;
  }

  /** Applies the text of a blueprint. */
  apply(blueprint, ...flags) {
    return this.#server.apply(blueprint, ...flags);
  }

  /** Where the services of this server answer. */
  get services() {
    return this.#server.services;
  }

  schema(database, container, body) {
    return this.#server.schema(database, container, body);
  }

  advance(seconds) {
    return this.#server.advance(seconds);
  }

  async database(options = {}) {
    return (await this.client.databases.create({ id: fresh("db"), ...options })).database;
  }

  /** A container in a database of its own. */
  async container(options = {}) {
    const database = await this.database();
    return (await database.containers.create({ id: fresh("c"), partitionKey: KEY_BY_PK, ...options })).container;
  }
}

/** A name no other fact has. */
export function fresh(prefix) {
  return `${prefix}-${++names}`;
}

/** The same container as another client sees it. */
export function sameContainer(container, client) {
  return client.database(container.database.id).container(container.id);
}

/** The status a call is refused with. The SDK answers a read of nothing without throwing; that is a refusal too. */
export async function refused(call) {
  const status = await statusOf(call);
  assert(status >= 400, `the call was accepted with ${status}`);
  return status;
}

export async function statusOf(call) {
  try {
    return (await call).statusCode;
  } catch (error) {
    if (typeof error.code !== "number") throw error;
    return error.code;
  }
}

/** The item without what the server added, in the order it came. */
export function userMembers(item) {
  return Object.fromEntries(Object.entries(item).filter(([name]) => !name.startsWith("_")));
}

/** Everything expected is there; the server may add more (defaults, system paths). */
export function assertHolds(actual, expected) {
  assert(holds(actual, expected), `${JSON.stringify(expected)} is not all in ${JSON.stringify(actual)}`);
}

function holds(actual, expected) {
  if (Array.isArray(expected)) {
    return Array.isArray(actual) && expected.every((value) => actual.some((candidate) => holds(candidate, value)));
  }
  if (expected !== null && typeof expected === "object") {
    return Object.entries(expected).every(([name, value]) => holds(actual?.[name], value));
  }
  return actual === expected;
}
