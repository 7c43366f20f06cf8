// Connecting: both transports, the key, and the program the README shows.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fact, refused } from "../harness.mjs";

const MODULES = fileURLToPath(new URL("../node_modules", import.meta.url));
const QUICKSTART = new URL("../../snippets/quickstart.mjs", import.meta.url);

fact("account.connect", "the account names the address that was dialled", async (cosmos) => {
  const { resource } = await cosmos.client.getDatabaseAccount();
  assert.equal(await cosmos.client.getWriteEndpoint(), `${cosmos.endpoint}/`);
  assert.equal(resource.consistencyPolicy, "Session");
});

fact("account.bad_key", "a wrong key is refused", async (cosmos) => {
  const client = cosmos.open({ key: Buffer.alloc(64).toString("base64") });
  assert.equal(await refused(client.databases.create({ id: "never" })), 401);
});

fact("account.quickstart", "the quick start stores and reads an item", async (cosmos) => {
  // An import is looked up from the folder of the file, so the program runs from where the SDK is installed.
  const folder = mkdtempSync(join(MODULES, "quickstart-"));
  copyFileSync(QUICKSTART, join(folder, "quickstart.mjs"));
  const env = { ...process.env, COSMOS_ENDPOINT: cosmos.endpoint, NODE_TLS_REJECT_UNAUTHORIZED: "0" };
  delete env.NODE_TEST_CONTEXT;
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "quickstart.mjs")], { env });
    assert.equal(stdout, "274 moons\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
