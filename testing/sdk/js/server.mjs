// One running server: free ports, and data in a folder that goes away with it.

import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const START_MILLIS_MAX = 30_000;

/** Starts a server and returns once it answers. */
export async function startServer(...flags) {
  const binary = process.env.ORRERY_BIN;
  if (!binary || !existsSync(binary)) throw new Error(`ORRERY_BIN names no server binary: ${binary}`);
  const folder = mkdtempSync(join(tmpdir(), "orrery-sdk-"));
  const [ports, log] = [join(folder, "ports.json"), join(folder, "log")];
  const output = openSync(log, "w");
  const child = spawn(binary, command(folder, ports, flags), { stdio: ["ignore", output, output] });
  const stop = () => stopServer(child, folder);
  await waitFor(ports, child, log).catch(async (error) => {
    await stop();
    throw error;
  });
  const numbers = JSON.parse(readFileSync(ports, "utf8"));
  const { cosmos, services } = numbers;
  return {
    /** Of the service `table` or `queue`, with the account in the path. */
    storageEndpoint: (service, transport, account) => `${transport}://127.0.0.1:${numbers[service]}/${account}`,
    endpoint: (transport) => `${transport}://localhost:${cosmos}`,
    services: `http://localhost:${services}`,
    advance: (seconds) => advance(services, seconds),
    /** Applies the text of a blueprint, twice: the second time there must be nothing to do. */
    apply: (blueprint, ...flags) => apply(binary, folder, { cosmos, services }, blueprint, flags),
    /** Sets what the items of a container must look like. */
    schema: (database, container, body) => setSchema(services, database, container, body),
    /** A bearer token that this server takes. */
    token: (...flags) => execFileSync(binary, ["token", "--data", join(folder, "data"), ...flags], { encoding: "utf8" }).trim(),
    stop,
  };
}

function command(folder, ports, flags) {
  return [
    ...["serve", "--data", join(folder, "data"), "--host", "127.0.0.1"],
    ...["--free-ports", "--durability", "relaxed", "--ports-file", ports, ...flags],
  ];
}

async function waitFor(ports, child, log) {
  const deadline = Date.now() + START_MILLIS_MAX;
  while (!existsSync(ports)) {
    if (child.exitCode !== null || Date.now() > deadline) {
      throw new Error(`the server did not start:\n${readFileSync(log, "utf8").slice(-2000)}`);
    }
    await sleep(20);
  }
}

function apply(binary, folder, { cosmos }, blueprint, flags) {
  const file = join(folder, `${randomUUID()}.yaml`);
  writeFileSync(file, blueprint);
  const url = ["--url", `http://localhost:${cosmos}`];
  for (const more of [[], ["--check"]]) {
    execFileSync(binary, ["apply", file, ...url, ...flags, ...more], { stdio: ["ignore", "pipe", "pipe"] });
  }
}

async function setSchema(port, database, container, body) {
  const url = `http://localhost:${port}/v1/schemas/${database}/${container}`;
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "PUT", headers, body: JSON.stringify(body) });
  if (response.status !== 200) throw new Error(`the schema was not set: ${response.status} ${await response.text()}`);
}

/** Moves the clock of a server that was started with `--clock manual`. */
async function advance(port, seconds) {
  const response = await fetch(`http://localhost:${port}/v1/clock`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ advance_seconds: seconds }),
  });
  if (response.status !== 200) throw new Error(`the clock did not move: ${response.status} ${await response.text()}`);
}

async function stopServer(child, folder) {
  if (child.exitCode === null) {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
    await ended;
    clearTimeout(late);
  }
  rmSync(folder, { recursive: true, force: true });
}
