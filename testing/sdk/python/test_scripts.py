"""Stored procedures, triggers and user-defined functions."""

import inspect
from urllib.parse import unquote

import pytest
from azure.cosmos.exceptions import CosmosHttpResponseError

from harness import done, feature, refused, rows

IMPORT = """
function bulkImport(docs) {
    var collection = getContext().getCollection();
    var count = 0;
    if (!docs) throw new Error("The array is undefined or null.");
    if (docs.length === 0) { getContext().getResponse().setBody(0); return; }
    tryCreate(docs[count], callback);
    function tryCreate(doc, callback) {
        var isAccepted = collection.createDocument(collection.getSelfLink(), doc, callback);
        if (!isAccepted) getContext().getResponse().setBody(count);
    }
    function callback(err, doc, options) {
        if (err) throw err;
        count++;
        if (count >= docs.length) getContext().getResponse().setBody(count);
        else tryCreate(docs[count], callback);
    }
}
"""


async def procedure(container, body, id="p"):
    await done(container.scripts.create_stored_procedure({"id": id, "body": body}))


async def run(container, params=None, id="p", **options):
    execute = container.scripts.execute_stored_procedure
    # The two SDKs have different names for the arguments.
    named = "params" if "params" in inspect.signature(inspect.unwrap(execute)).parameters else "parameters"
    return await done(execute(id, partition_key="p", **{named: params}, **options))


async def count(container):
    return len(await rows(container.read_all_items()))


@feature("scripts.text")
async def test_a_text_that_is_not_javascript_fails_when_it_is_run(cosmos):
    container = await cosmos.container()
    await procedure(container, "function (")
    assert await refused(lambda: run(container, [])) == 400


@feature("scripts.run")
async def test_arguments_go_in_and_the_response_comes_out(cosmos):
    container = await cosmos.container()
    await procedure(container, "function (a, b) { getContext().getResponse().setBody({sum: a + b.n, text: 'é'}) }")
    assert await run(container, [1, {"n": 2}]) == {"sum": 3, "text": "é"}
    await procedure(container, "function () { getContext().getResponse().setBody(arguments.length) }", "none")
    assert await run(container, id="none") == 0
    assert await refused(lambda: container.scripts.execute_stored_procedure("not-there", partition_key="p")) == 404


@feature("scripts.run")
async def test_a_procedure_works_on_the_documents_of_its_partition(cosmos):
    container = await cosmos.container()
    await done(container.create_item({"id": "a", "pk": "p", "n": 1}))
    await done(container.create_item({"id": "a", "pk": "q", "n": 100}))
    await procedure(container, """function (by) {
        var c = getContext().getCollection();
        c.readDocument(c.getAltLink() + "/docs/a", function (err, doc) {
            if (err) throw err;
            doc.n += by;
            c.replaceDocument(doc._self, doc, {etag: doc._etag}, function (err, now) {
                if (err) throw err;
                getContext().getResponse().setBody(now.n);
            });
        });
    }""")
    assert await run(container, [5]) == 6
    assert (await done(container.read_item("a", "p")))["n"] == 6
    assert (await done(container.read_item("a", "q")))["n"] == 100


@feature("scripts.atomic")
async def test_what_a_procedure_throws_takes_everything_back(cosmos):
    container = await cosmos.container()
    await procedure(container, IMPORT)
    docs = [{"id": str(n), "pk": "p"} for n in (1, 2, 3, 2)]
    with pytest.raises(CosmosHttpResponseError) as error:
        await run(container, [docs])
    assert (error.value.status_code, error.value.sub_status) == (400, 409)
    assert await count(container) == 0
    elsewhere = [{"id": "1", "pk": "p"}, {"id": "2", "pk": "q"}]
    assert await refused(lambda: run(container, [elsewhere])) == 400
    assert await count(container) == 0


@feature("scripts.continuation")
async def test_a_bulk_import_is_called_until_all_is_there(cosmos):
    container = await cosmos.container()
    await procedure(container, IMPORT)
    docs = [{"id": str(n), "pk": "p", "text": "x" * 1000} for n in range(1500)]
    done_so_far = 0
    while done_so_far < len(docs):
        taken = await run(container, [docs[done_so_far:]])
        assert taken > 0
        done_so_far += taken
    assert await count(container) == 1500


@feature("scripts.query")
async def test_a_procedure_follows_the_pages_of_a_query(cosmos):
    container = await cosmos.container()
    for n in range(5):
        await done(container.create_item({"id": str(n), "pk": "p", "n": n}))
    await procedure(container, """function (min) {
        var c = getContext().getCollection(), sum = 0, pages = 0;
        (function page(continuation) {
            var query = {query: "SELECT * FROM c WHERE c.n >= @min", parameters: [{name: "@min", value: min}]};
            var accepted = c.queryDocuments(c.getSelfLink(), query, {pageSize: 2, continuation: continuation},
                function (err, docs, options) {
                    if (err) throw err;
                    pages++;
                    docs.forEach(function (doc) { sum += doc.n; });
                    if (options.continuation) page(options.continuation);
                    else getContext().getResponse().setBody([sum, pages]);
                });
            if (!accepted) throw new Error("not accepted");
        })();
    }""")
    assert await run(container, [1]) == [10, 2]


@feature("scripts.query")
async def test_queries_as_functions(cosmos):
    container = await cosmos.container()
    for n in range(4):
        await done(container.create_item({"id": str(n), "pk": "p", "n": n}))
    await procedure(container, """function () {
        __.chain().filter(function (doc) { return doc.n > 0; })
            .sortByDescending(function (doc) { return doc.n; }).pluck("n").value();
    }""")
    assert await run(container) == [3, 2, 1]


@feature("scripts.triggers")
async def test_triggers_run_around_the_write_that_names_them(cosmos):
    container = await cosmos.container()
    await done(container.scripts.create_trigger({
        "id": "stamp", "triggerType": "Pre", "triggerOperation": "All",
        "body": """function () { var r = getContext().getRequest(), doc = r.getBody();
                   doc.stamped = r.getOperationType(); r.setBody(doc); }"""}))
    await done(container.scripts.create_trigger({
        "id": "note", "triggerType": "Post", "triggerOperation": "All",
        "body": """function () { var doc = getContext().getResponse().getBody();
                   __.upsertDocument(__.getSelfLink(), {id: "note", pk: "p", last: doc.id}); }"""}))
    made = await done(container.create_item(
        {"id": "a", "pk": "p"}, pre_trigger_include="stamp", post_trigger_include="note"))
    assert made["stamped"] == "Create"
    assert (await done(container.read_item("note", "p")))["last"] == "a"
    await done(container.upsert_item({"id": "a", "pk": "p"}, pre_trigger_include="stamp"))
    assert (await done(container.read_item("a", "p")))["stamped"] == "Upsert"
    await done(container.replace_item("a", {"id": "a", "pk": "p"}))
    assert "stamped" not in await done(container.read_item("a", "p"))


@feature("scripts.triggers")
async def test_what_a_trigger_throws_takes_the_write_back(cosmos):
    container = await cosmos.container()
    for time in ("Pre", "Post"):
        await done(container.scripts.create_trigger({
            "id": time, "triggerType": time, "triggerOperation": "All", "body": "function () { throw new Error('no'); }"}))
    item = {"id": "a", "pk": "p"}
    assert await refused(lambda: container.create_item(item, pre_trigger_include="Pre")) == 400
    assert await refused(lambda: container.create_item(item, post_trigger_include="Post")) == 400
    await done(container.create_item(item))
    assert await refused(lambda: container.delete_item("a", "p", post_trigger_include="Post")) == 400
    assert await count(container) == 1


@feature("scripts.triggers.operation")
async def test_a_trigger_of_another_operation_is_refused(cosmos):
    container = await cosmos.container()
    await done(container.scripts.create_trigger({
        "id": "t", "triggerType": "Pre", "triggerOperation": "Create", "body": "function () {}"}))
    item = {"id": "a", "pk": "p"}
    await done(container.create_item(item, pre_trigger_include="t"))
    assert await refused(lambda: container.replace_item("a", item, pre_trigger_include="t")) == 400
    assert await refused(lambda: container.upsert_item(item, pre_trigger_include="t")) == 400
    assert await refused(lambda: container.delete_item("a", "p", pre_trigger_include="t")) == 400


@feature("scripts.append")
async def test_a_response_is_put_together_by_append_value(cosmos):
    container = await cosmos.container()
    await procedure(container, "function () { for (var i = 0; i < 10; i++) getContext().getResponse().appendValue('Body', i); }")
    assert await run(container) == "0123456789"


@feature("scripts.functions")
async def test_a_function_is_called_in_a_query(cosmos):
    container = await cosmos.container()
    for n in (10, 2000):
        await done(container.create_item({"id": str(n), "pk": "p", "income": n}))
    await done(container.scripts.create_user_defined_function({
        "id": "tax", "body": "function (income) { return income < 1000 ? income * 0.1 : income * 0.4; }"}))
    found = container.query_items("SELECT VALUE udf.tax(c.income) FROM c ORDER BY c.income", partition_key="p")
    assert await rows(found) == [1, 800]
    found = container.query_items("SELECT VALUE c.id FROM c WHERE udf.tax(c.income) > 100", **cosmos.everywhere)
    assert await rows(found) == ["2000"]
    assert await refused(lambda: rows(container.query_items("SELECT VALUE udf.none(1) FROM c", partition_key="p"))) == 400


@feature("scripts.log")
async def test_the_log_comes_in_a_header(cosmos):
    container = await cosmos.container()
    await procedure(container, "function (x) { console.log('got %s and %d;', x, 4); console.log('done'); }")
    await run(container, ["ü"], enable_script_logging=True)
    headers = container.client_connection.last_response_headers
    assert unquote(headers["x-ms-documentdb-script-log-results"]) == "got ü and 4;done"
