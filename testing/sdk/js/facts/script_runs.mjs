// Stored procedures, triggers and user-defined functions.

import assert from "node:assert/strict";
import { fact, refused } from "../harness.mjs";

/** Creates the documents one after another; says how many were taken. */
function bulkImport(docs) {
  const collection = getContext().getCollection();
  let count = 0;
  const next = () => {
    if (count === docs.length) return getContext().getResponse().setBody(count);
    const accepted = collection.createDocument(collection.getSelfLink(), docs[count], (err) => {
      if (err) throw err;
      count++;
      next();
    });
    if (!accepted) getContext().getResponse().setBody(count);
  };
  next();
}

async function procedure(container, body, id = "p") {
  return (await container.scripts.storedProcedures.create({ id, body })).storedProcedure;
}

async function ids(container) {
  return (await container.items.readAll().fetchAll()).resources.map(({ id }) => id).sort();
}

fact("scripts.text", "a text that is not JavaScript fails when it is run", async (cosmos) => {
  const wrong = await procedure(await cosmos.container(), "function (");
  assert.equal(await refused(wrong.execute("p", [])), 400);
});

fact("scripts.run", "arguments go in and the response comes out", async (cosmos) => {
  const container = await cosmos.container();
  const sum = await procedure(container, (a, b) => getContext().getResponse().setBody({ sum: a + b.n }));
  assert.deepEqual((await sum.execute("p", [1, { n: 2 }])).resource, { sum: 3 });
  const none = await procedure(container, "function () { __.response.setBody(arguments.length) }", "none");
  assert.equal((await none.execute("p")).resource, 0);
  assert.equal(await refused(container.scripts.storedProcedure("not-there").execute("p", [])), 404);
});

fact("scripts.atomic", "what a procedure throws takes everything back", async (cosmos) => {
  const container = await cosmos.container();
  const load = await procedure(container, bulkImport);
  const docs = ["1", "2", "3", "2"].map((id) => ({ id, pk: "p" }));
  const error = await load.execute("p", [docs]).then(assert.fail, (error) => error);
  assert.deepEqual([error.code, error.substatus], [400, 409]);
  assert.deepEqual(await ids(container), []);
  assert.equal(await refused(load.execute("p", [[{ id: "1", pk: "p" }, { id: "2", pk: "other" }]])), 400);
  assert.deepEqual(await ids(container), []);
});

fact("scripts.continuation", "a bulk import is called until all is there", async (cosmos) => {
  const container = await cosmos.container();
  const load = await procedure(container, bulkImport);
  const docs = Array.from({ length: 1000 }, (_, n) => ({ id: String(n), pk: "p", text: "x".repeat(1000) }));
  for (let taken = 0; taken < docs.length; ) {
    const { resource: more } = await load.execute("p", [docs.slice(taken)]);
    assert(more > 0);
    taken += more;
  }
  assert.equal((await ids(container)).length, 1000);
});

fact("scripts.query", "a procedure asks, page by page and by functions", async (cosmos) => {
  const container = await cosmos.container();
  for (let n = 0; n < 5; n++) await container.items.create({ id: String(n), pk: "p", n });
  const pages = await procedure(container, function (min) {
    const query = { query: "SELECT VALUE c.n FROM c WHERE c.n >= @min", parameters: [{ name: "@min", value: min }] };
    const found = [];
    (function page(continuation) {
      __.queryDocuments(__.getSelfLink(), query, { pageSize: 2, continuation }, (err, rows, options) => {
        if (err) throw err;
        found.push(rows);
        if (options.continuation) page(options.continuation);
        else __.response.setBody(found);
      });
    })();
  });
  assert.deepEqual((await pages.execute("p", [1])).resource, [[1, 2], [3, 4]]);
  const chain = await procedure(container, function () {
    __.chain()
      .filter((doc) => doc.n > 2)
      .map((doc) => doc.id)
      .value();
  }, "chain");
  assert.deepEqual((await chain.execute("p", [])).resource, ["3", "4"]);
});

fact("scripts.log", "the log comes in a header", async (cosmos) => {
  const container = await cosmos.container();
  const says = await procedure(container, (x) => {
    console.log("got %s and %d;", x, 4);
    console.log("done");
  });
  const { headers } = await says.execute("p", ["ü"], { enableScriptLogging: true });
  assert.equal(decodeURIComponent(headers["x-ms-documentdb-script-log-results"]), "got ü and 4;done");
});

fact("scripts.append", "a response is put together by appendValue", async (cosmos) => {
  const counts = await procedure(await cosmos.container(), () => {
    for (let i = 0; i < 10; i++) getContext().getResponse().appendValue("Body", i);
  });
  assert.equal((await counts.execute("p", [])).resource, "0123456789");
});

fact("scripts.triggers", "triggers run around the write that names them", async (cosmos) => {
  const container = await cosmos.container();
  await container.scripts.triggers.create({
    id: "stamp", triggerType: "Pre", triggerOperation: "All",
    body: function () {
      const request = getContext().getRequest();
      request.setBody({ ...request.getBody(), stamped: request.getOperationType() });
    },
  });
  await container.scripts.triggers.create({
    id: "note", triggerType: "Post", triggerOperation: "All",
    body: function () {
      __.upsertDocument(__.getSelfLink(), { id: "note", pk: "p", last: getContext().getRequest().getBody()?.id ?? "gone" });
    },
  });
  const named = { preTriggerInclude: ["stamp"], postTriggerInclude: ["note"] };
  const { resource: made, item } = await container.items.create({ id: "a", pk: "p" }, named);
  assert.equal(made.stamped, "Create");
  assert.equal((await container.item("note", "p").read()).resource.last, "a");
  assert.equal((await item.replace({ id: "a", pk: "p" }, named)).resource.stamped, "Replace");
  assert.equal((await container.items.upsert({ id: "b", pk: "p" }, named)).resource.stamped, "Upsert");
  assert.equal((await container.item("note", "p").read()).resource.last, "b");
  await item.delete({ postTriggerInclude: ["note"] });
  assert.equal((await container.item("note", "p").read()).resource.last, "gone");
  assert.deepEqual(await ids(container), ["b", "note"]);
});

fact("scripts.triggers.operation", "a trigger of another operation is refused", async (cosmos) => {
  const container = await cosmos.container();
  await container.scripts.triggers.create({ id: "t", triggerType: "Pre", triggerOperation: "Create", body: () => {} });
  const named = { preTriggerInclude: ["t"] };
  const { item } = await container.items.create({ id: "a", pk: "p" }, named);
  assert.equal(await refused(item.replace({ id: "a", pk: "p" }, named)), 400);
  assert.equal(await refused(container.items.upsert({ id: "a", pk: "p" }, named)), 400);
  assert.equal(await refused(item.delete(named)), 400);
  assert.deepEqual(await ids(container), ["a"]);
});

fact("scripts.triggers", "what a trigger throws takes the write back", async (cosmos) => {
  const container = await cosmos.container();
  const body = "function () { throw new Error('no'); }";
  await container.scripts.triggers.create({ id: "no", triggerType: "Post", triggerOperation: "All", body });
  assert.equal(await refused(container.items.create({ id: "a", pk: "p" }, { postTriggerInclude: "no" })), 400);
  assert.deepEqual(await ids(container), []);
});

fact("scripts.functions", "a function is called in a query", async (cosmos) => {
  const container = await cosmos.container();
  for (const income of [10, 2000]) await container.items.create({ id: String(income), pk: "p", income });
  const body = (income) => (income < 1000 ? income * 0.1 : income * 0.4);
  await container.scripts.userDefinedFunctions.create({ id: "tax", body });
  const ask = async (query) => (await container.items.query(query).fetchAll()).resources;
  assert.deepEqual(await ask("SELECT VALUE udf.tax(c.income) FROM c ORDER BY c.income"), [1, 800]);
  assert.deepEqual(await ask("SELECT VALUE c.id FROM c WHERE udf.tax(c.income) > 100"), ["2000"]);
  assert.equal(await refused(container.items.query("SELECT VALUE udf.none(1) FROM c").fetchAll()), 400);
});
