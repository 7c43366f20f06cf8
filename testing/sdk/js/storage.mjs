// What the facts see of the SDKs of tables and queues; as `harness.mjs`, which runs them.

import { AzureNamedKeyCredential, AzureSASCredential, TableClient, TableServiceClient } from "@azure/data-tables";
import { QueueClient, QueueServiceClient, StorageSharedKeyCredential } from "@azure/storage-queue";
import assert from "node:assert/strict";
import { agent, fresh, register } from "./harness.mjs";

export const ACCOUNT = "devstoreaccount1";
export const KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
/** 64 zero bytes, which is a well-formed key and nobody's. */
export const WRONG_KEY = "A".repeat(86) + "==";
export const TABLE_KEY = new AzureNamedKeyCredential(ACCOUNT, KEY);
export const QUEUE_KEY = new StorageSharedKeyCredential(ACCOUNT, KEY);
export const FAILED = [403, "AuthenticationFailed"];
export const MISMATCH = [403, "AuthorizationPermissionMismatch"];
const AUDIENCE = "https://storage.azure.com/";

/** One fact about one feature of features.toml, shown over http and over https. */
export function storageFact(feature, name, run) {
  register(feature, name, run, [], Storage);
}

/** As `storageFact`, on the server whose clock `storage.advance(seconds)` moves. */
export function clockedStorageFact(feature, name, run) {
  register(feature, name, run, ["--clock", "manual"], Storage);
}

/** Both SDKs over one transport. */
class Storage {
  #server;

  constructor(server, transport) {
    this.#server = server;
    this.transport = transport;
    this.tables = this.tableService();
    this.queues = this.queueService();
  }

  endpoint(service, transport = this.transport, account = ACCOUNT) {
    return this.#server.storageEndpoint(service, transport, account);
  }

  /** As the banner of the server prints it. */
  connectionString(service) {
    const name = service[0].toUpperCase() + service.slice(1);
    const endpoint = `${name}Endpoint=${this.endpoint(service)}`;
    return `DefaultEndpointsProtocol=${this.transport};AccountName=${ACCOUNT};AccountKey=${KEY};${endpoint};`;
  }

  /** What clients over this transport need. A server that fails is not asked again for a minute. */
  options(transport = this.transport) {
    const agents = transport === "https" ? { agent } : {};
    return { ...agents, allowInsecureConnection: transport === "http", retryOptions: { maxRetries: 0, maxTries: 1 } };
  }

  tableService(credential = TABLE_KEY, url = this.endpoint("table")) {
    return new TableServiceClient(url, credential, this.options(transportOf(url)));
  }

  /** The table as it is seen with this credential: a key, the text of a signature, or a bearer. */
  tableAs(name, credential = TABLE_KEY, transport = this.transport) {
    const given = typeof credential === "string" ? new AzureSASCredential(credential) : credential;
    return new TableClient(this.endpoint("table", transport), name, given, this.options(transport));
  }

  /** A new table. */
  async table(name = tableName()) {
    const table = this.tableAs(name);
    await table.createTable();
    return table;
  }

  queueService(credential = QUEUE_KEY, url = this.endpoint("queue")) {
    return new QueueServiceClient(url, credential, this.options(transportOf(url)));
  }

  /** The queue as it is seen with this credential: the text of a signature, a key or a bearer. */
  queueAs(name, credential, transport = this.transport) {
    const url = `${this.endpoint("queue", transport)}/${name}`;
    const options = this.options(transport);
    if (typeof credential === "string") return new QueueClient(`${url}?${credential}`, undefined, options);
    return new QueueClient(url, credential, options);
  }

  /** A new queue. */
  async queue(options = {}) {
    const queue = this.queues.getQueueClient(fresh("queue"));
    await queue.create(options);
    return queue;
  }

  /** A bearer token; the SDKs send one over https only. */
  bearer(...flags) {
    const audience = flags.includes("--audience") ? [] : ["--audience", AUDIENCE];
    const token = this.#server.token(...audience, ...flags);
    return { getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 3_000_000 }) };
  }

  advance(seconds) {
    return this.#server.advance(seconds);
  }
}

function transportOf(url) {
  return new URL(url).protocol.replace(":", "");
}

/** A name no other fact has; tables are named by letters and digits. */
export function tableName(prefix = "table") {
  return fresh(prefix).replaceAll("-", "");
}

/** The status and the code a call is refused with; a call that succeeds fails the fact. */
export async function refused(call) {
  try {
    await call;
  } catch (error) {
    if (typeof error.statusCode !== "number") throw error;
    return [error.statusCode, codeOf(error)];
  }
  assert.fail("the call was accepted");
}

/** What the SDK made of the answer; where it made nothing, what the header says. */
function codeOf(error) {
  const told = error.details?.odataError?.code ?? error.code ?? error.details?.errorCode;
  return told ?? error.response?.headers.get("x-ms-error-code");
}

/** Everything of a feed of one of the SDKs. */
export async function all(feed) {
  const rows = [];
  for await (const row of feed) rows.push(row);
  return rows;
}

export function hence(hours) {
  return new Date(Date.now() + hours * 3_600_000);
}

/** What a browser asks before it sends a request. */
export async function preflight(url, origin, verb, headers) {
  const asked = { origin, "access-control-request-method": verb };
  if (headers) asked["access-control-request-headers"] = headers;
  return fetch(url, { method: "OPTIONS", headers: asked });
}
