// Session consistency: what one client wrote, another reads when it is given the token.

import assert from "node:assert/strict";
import { fact, sameContainer } from "../harness.mjs";

const SESSION = { consistencyLevel: "Session" };

fact("session.read_your_writes", "a token carries a write to another client", async (cosmos) => {
  const writer = await cosmos.container();
  const reader = sameContainer(writer, cosmos.open(SESSION));
  for (let n = 0; n < 5; n++) {
    const { headers } = await writer.items.upsert({ id: "a", pk: "p", n });
    const sessionToken = headers["x-ms-session-token"];
    assert.match(sessionToken, /^0:-1#\d+$/);
    assert.equal((await reader.item("a", "p").read({ sessionToken })).resource.n, n);
  }
});

fact("session.read_your_writes", "a client in a session reads what it wrote", async (cosmos) => {
  const container = sameContainer(await cosmos.container(), cosmos.open(SESSION));
  for (let n = 0; n < 5; n++) {
    await container.items.upsert({ id: "a", pk: "p", n });
    assert.equal((await container.item("a", "p").read()).resource.n, n);
    assert.equal((await container.items.readAll().fetchAll()).resources[0].n, n);
  }
});
