// Bearer tokens, as managed identities send them, and roles.

import assert from "node:assert/strict";
import { KEY, fact, refused, sameContainer } from "../harness.mjs";

async function withItems(cosmos) {
  const container = await cosmos.container();
  await container.items.upsert({ id: "i", pk: "p" });
  return container;
}

fact("access.bearer", "a reader reads and queries and writes nothing", async (cosmos) => {
  const mine = sameContainer(await withItems(cosmos), cosmos.openWithToken("--role", "reader"));
  assert.equal((await mine.item("i", "p").read()).resource.id, "i");
  assert.equal((await mine.items.query("SELECT * FROM c").fetchAll()).resources.length, 1);
  assert.equal(await refused(mine.items.upsert({ id: "j", pk: "p" })), 403);
});

fact("access.bearer", "a contributor writes items and no metadata", async (cosmos) => {
  const client = cosmos.openWithToken("--role", "contributor");
  const mine = sameContainer(await withItems(cosmos), client);
  assert.equal((await mine.items.create({ id: "j", pk: "p" })).statusCode, 201);
  assert.equal((await mine.item("i", "p").delete()).statusCode, 204);
  assert.equal(await refused(client.databases.create({ id: "never" })), 403);
});

fact("access.bearer", "a scope is one container", async (cosmos) => {
  const [container, other] = [await withItems(cosmos), await withItems(cosmos)];
  const scope = `/dbs/${container.database.id}/colls/${container.id}`;
  const client = cosmos.openWithToken("--role", "reader", "--scope", scope);
  assert.equal((await sameContainer(container, client).item("i", "p").read()).resource.id, "i");
  assert.equal(await refused(sameContainer(other, client).item("i", "p").read()), 403);
});

fact("access.bearer", "a token for somebody else is unauthorized", async (cosmos) => {
  const client = cosmos.openWithToken("--role", "reader", "--audience", "https://graph.microsoft.com");
  assert.equal(await refused(client.database("never").read()), 401);
});

/** As the SDKs' own tests make it: nothing is signed, and the key is where a signature would be. */
function emulatorToken(key) {
  const name = "CosmosEmulatorPrimaryMaster";
  const now = Math.floor(Date.now() / 1000);
  const header = { typ: "JWT", alg: "RS256", x5t: name, kid: name };
  const iss = "https://sts.fake-issuer.net/7b1999a1-dfd7-440e-8204-00170979b984";
  const payload = { aud: "https://localhost.localhost", iss, iat: now, nbf: now, exp: now + 7200, oid: "me", sub: "localhost" };
  return [JSON.stringify(header), JSON.stringify(payload), key].map((part) => Buffer.from(part).toString("base64url")).join(".");
}

fact("access.emulator_token", "the emulator's token uses items and manages nothing", async (cosmos) => {
  const client = cosmos.openWithBearer(emulatorToken(KEY));
  const mine = sameContainer(await withItems(cosmos), client);
  assert.equal((await mine.item("i", "p").read()).resource.id, "i");
  assert.equal((await mine.items.create({ id: "j", pk: "p" })).statusCode, 201);
  assert.equal(await refused(client.databases.create({ id: "never" })), 403);
  const other = cosmos.openWithBearer(emulatorToken("YW5vdGhlciBrZXk="));
  assert.equal(await refused(other.database("never").read()), 401);
});
