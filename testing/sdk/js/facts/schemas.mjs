// Schemas of a container: what does not match is refused, or written with a warning.

import assert from "node:assert/strict";
import { fact } from "../harness.mjs";

const SCHEMA = { type: "object", required: ["n"], properties: { n: { type: "integer" } } };
const WARNINGS = "x-orrery-schema-warnings";

/** A container whose items have a number `n`. */
async function heldTo(cosmos, validation) {
  const container = await cosmos.container();
  await cosmos.schema(container.database.id, container.id, { validation, schema: SCHEMA });
  return container;
}

const item = (id, n) => ({ id, pk: "p", n });

fact("containers.schema_enforced", "what does not match is refused with its place", async (cosmos) => {
  const container = await heldTo(cosmos, "enforce");
  await container.items.create(item("a", 1));
  const calls = [
    () => container.items.create(item("b", "x")),
    () => container.items.upsert(item("a", "x")),
    () => container.item("a", "p").replace(item("a", "x")),
    () => container.item("a", "p").patch([{ op: "set", path: "/n", value: "x" }]),
  ];
  for (const call of calls) {
    await assert.rejects(call, (error) => error.code === 400 && error.message.includes("/n: ") && error.message.includes("is not of type"));
  }
  assert.equal((await container.item("a", "p").read()).resource.n, 1);
  const batch = await container.items.batch([{ operationType: "Create", resourceBody: item("c", "x") }], "p");
  assert.equal(batch.result[0].statusCode, 400);
});

fact("containers.schema_warned", "what does not match is written with a warning", async (cosmos) => {
  const container = await heldTo(cosmos, "warn");
  assert.equal((await container.items.create(item("a", "x"))).headers[WARNINGS], "1");
  assert.equal((await container.items.upsert(item("a", 1))).headers[WARNINGS], undefined);
});
