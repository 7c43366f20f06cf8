// Stored procedures, triggers and functions as resources: made, found, changed, removed.

import assert from "node:assert/strict";
import { fact, refused } from "../harness.mjs";

const BODY = "function () { return 1; }";
const KINDS = [
  ["stored procedure", "storedProcedures", "storedProcedure", {}],
  ["trigger", "triggers", "trigger", { triggerType: "Pre", triggerOperation: "All" }],
  ["function", "userDefinedFunctions", "userDefinedFunction", {}],
];

for (const [noun, many, one, more] of KINDS) {
  fact("scripts.resources", `a ${noun} is made, found, changed and removed`, async (cosmos) => {
    const { scripts } = await cosmos.container();
    const { resource: made } = await scripts[many].create({ id: "a", body: BODY, ...more });
    assert.equal(made.body, BODY);
    assert.equal(await refused(scripts[many].create({ id: "a", body: BODY, ...more })), 409);
    assert.equal((await scripts[one]("a").read()).resource._rid, made._rid);
    const { resource: replaced } = await scripts[one]("a").replace({ id: "b", body: "function () {}", ...more });
    assert.deepEqual([replaced.id, replaced._rid], ["b", made._rid]);
    await scripts[many].create({ id: "c", body: BODY, ...more });
    const { resources } = await scripts[many].readAll({ maxItemCount: 1 }).fetchAll();
    assert.deepEqual(resources.map((script) => script.id).sort(), ["b", "c"]);
    const query = { query: "SELECT * FROM r WHERE r.id = @id", parameters: [{ name: "@id", value: "c" }] };
    const found = (await scripts[many].query(query).fetchAll()).resources;
    assert.deepEqual(found.map((script) => script.id), ["c"]);
    await scripts[one]("b").delete();
    assert.equal(await refused(scripts[one]("b").read()), 404);
  });
}
