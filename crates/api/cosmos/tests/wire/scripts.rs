//! Stored procedures: arguments in, a response out, and one transaction between (S1-10).

use crate::call::{Call, READ_ONLY_KEY};
use crate::world::{ITEMS, World};
use orrery_testing_client::OwnedReply;
use serde_json::{Value, json};

const PROCEDURES: &str = "dbs/d/colls/c/sprocs";

/// Creates `count` documents named `<prefix>0`, `<prefix>1`, …, then throws if it is told to.
const CREATE_MANY: &str = "function (prefix, count, fails) {
  var made = 0;
  function next() {
    if (made === count) { if (fails) throw new Error(fails); return __.response.setBody(made); }
    var taken = __.createDocument(__.getSelfLink(), { id: prefix + made, pk: 'p', email: prefix + made }, function (err) {
      if (err) throw err; made++; next();
    });
    if (!taken) __.response.setBody(made);
  }
  next();
}";

impl World {
    /// Makes a stored procedure `id`.
    pub async fn procedure(&self, id: &str, body: &str) {
        self.made(Call::post(PROCEDURES, json!({"id": id, "body": body}).to_string())).await;
    }

    /// Runs a body as a stored procedure in the partition `p`.
    pub async fn run(&self, body: &str, arguments: &Value) -> OwnedReply {
        self.call(&self.running(body, arguments).await).await
    }

    pub async fn running(&self, body: &str, arguments: &Value) -> Call {
        let made = Call::post(PROCEDURES, json!({"id": "s", "body": body}).to_string()).upsert();
        let reply = self.call(&made).await;
        assert!(reply.status < 300, "{}", String::from_utf8_lossy(&reply.body));
        execute("s", arguments)
    }

    /// What it sets its response to.
    pub async fn gives(&self, body: &str, arguments: &Value) -> Value {
        let reply = self.run(body, arguments).await;
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        reply.json().unwrap_or(Value::Null)
    }

    pub async fn throws(&self, body: &str, arguments: &Value, place: (u16, u32), part: &str) -> OwnedReply {
        let call = self.running(body, arguments).await;
        self.refused(call, place, part).await
    }

    /// How many items there are.
    pub async fn count(&self) -> usize {
        let feed = self.answered(200, Call::get(ITEMS)).await.json().unwrap();
        feed["Documents"].as_array().unwrap().len()
    }
}

pub fn execute(id: &str, arguments: &Value) -> Call {
    Call::post(&format!("{PROCEDURES}/{id}"), arguments.to_string()).partition(r#"["p"]"#)
}

#[tokio::test]
async fn arguments_go_in_and_the_response_comes_out() {
    let world = World::new().await;
    let sum = "function (a, b) { getContext().getResponse().setBody(a + b) }";
    assert_eq!(world.gives(sum, &json!([1, 2])).await, 3);
    assert_eq!(world.gives(sum, &json!(["x", "é🚀"])).await, "xé🚀");
    assert_eq!(
        world.gives("function (x) { __.response.setBody({ x }) }", &json!([{"a": [null]}])).await,
        json!({"x": {"a": [null]}})
    );
    let nothing = world.run("function () {}", &json!([])).await;
    assert_eq!((nothing.status, nothing.body.len()), (200, 0));
}

#[tokio::test]
async fn no_body_is_no_arguments_and_other_bodies_are_refused() {
    let world = World::new().await;
    world.procedure("n", "function () { __.response.setBody(arguments.length) }").await;
    let call = |body: &str| Call::post("dbs/d/colls/c/sprocs/n", body).partition(r#"["p"]"#);
    assert_eq!(world.answered(200, call("")).await.json().unwrap(), 0);
    assert_eq!(world.answered(200, call("[1,2]")).await.json().unwrap(), 2);
    for body in ["{}", "1", "[1", "nonsense", "[1]]"] {
        world.refused(call(body), (400, 0), "arguments of the stored procedure").await;
    }
}

#[tokio::test]
async fn a_partition_key_and_a_procedure_are_needed() {
    let world = World::new().await;
    world.procedure("s", "function () {}").await;
    world
        .refused(
            Call::post("dbs/d/colls/c/sprocs/s", "[]"),
            (400, 1001),
            "PartitionKey value must be supplied",
        )
        .await;
    let two = Call::post("dbs/d/colls/c/sprocs/s", "[]").partition(r#"["p","q"]"#);
    world.refused(two, (400, 1001), "components").await;
    world.refused(execute("nothing", &json!([])), (404, 0), "stored procedure").await;
    world.refused(execute("s", &json!([])).signed_with(READ_ONLY_KEY), (403, 0), "").await;
    let gone = Call::post("dbs/d/colls/none/sprocs/s", "[]").partition(r#"["p"]"#);
    world.refused(gone, (404, 1003), "no container").await;
}

#[tokio::test]
async fn documents_are_made_read_replaced_queried_and_deleted() {
    let world = World::new().await;
    let all = "async function () {
      const done = (call) => new Promise((yes, no) => { if (!call((err, value, told) => err ? no(err) : yes([value, told]))) no(new Error('not taken')) });
      const here = __.getSelfLink();
      const [made] = await done(cb => __.createDocument(here, { id: 'a', pk: 'p', email: 'a', n: 1 }, cb));
      const [read] = await done(cb => __.readDocument(made._self, cb));
      const [named] = await done(cb => __.readDocument(__.getAltLink() + '/docs/a', cb));
      const [replaced] = await done(cb => __.replaceDocument(made._self, { ...read, n: 2 }, { etag: read._etag }, cb));
      const [, told] = await done(cb => __.upsertDocument(here, { id: 'b', pk: 'p', email: 'b', n: 3 }, cb));
      const [rows] = await done(cb => __.queryDocuments(here, { query: 'SELECT VALUE c.n FROM c WHERE c.n > @n ORDER BY c.n DESC', parameters: [{ name: '@n', value: 1 }] }, cb));
      await done(cb => __.deleteDocument(replaced._self, { etag: replaced._etag }, cb));
      const [left] = await done(cb => __.readDocuments(here, cb));
      __.response.setBody([made.n, read._etag === made._etag, named.id, replaced.n, replaced._etag !== made._etag, rows, left.map(d => d.id), told]);
    }";
    assert_eq!(world.gives(all, &json!([])).await, json!([1, true, "a", 2, true, [3, 2], ["b"], {}]));
    let left = world.answered(200, Call::get(&format!("{ITEMS}/b")).partition(r#"["p"]"#)).await;
    assert_eq!(left.json().unwrap()["n"], 3);
}

#[tokio::test]
async fn an_exception_rolls_a_script_back() {
    let world = World::new().await;
    world.item("old").await;
    assert_eq!(world.gives(CREATE_MANY, &json!(["a", 3])).await, 3);
    world.throws(CREATE_MANY, &json!(["b", 3, "enough"]), (400, 400), "Exception = Error: enough").await;
    assert_eq!(world.count().await, 4);
    // The last of them is there already, so none is made.
    world.procedure("again", CREATE_MANY).await;
    world.refused(execute("again", &json!(["a", 1])), (400, 409), "already exists").await;
    let both =
        "function () { __.deleteDocument(__.getAltLink() + '/docs/old', () => { throw new Error('no') }) }";
    world.throws(both, &json!([]), (400, 400), "no").await;
    assert_eq!(world.count().await, 4);
}

#[tokio::test]
async fn an_error_has_the_number_that_it_was_thrown_with() {
    let world = World::new().await;
    let thrown = "function (n) { throw new Error(n, 'said') }";
    for (number, substatus) in [(404, 404), (412, 412), (1024, 400), (0, 400)] {
        world.throws(thrown, &json!([number]), (400, substatus), "Error: said").await;
    }
    let reply =
        world.throws("function outer() {\n  missing();\n}", &json!([]), (400, 400), "ReferenceError").await;
    assert!(String::from_utf8_lossy(&reply.body).contains("at outer (s.js:2"), "the stack names the line");
    world
        .throws("function () { getContext().abort(new Error(403, 'stop')) }", &json!([]), (400, 403), "stop")
        .await;
}

#[tokio::test]
async fn a_refused_operation_leaves_no_trace_if_the_script_continues() {
    let world = World::new().await;
    world
        .container("u", &json!({"uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/a"]}, {"paths": ["/b"]}]}}))
        .await;
    let items = "dbs/d/colls/u/docs";
    for body in [r#"{"id":"1","pk":"p","a":1,"b":1}"#, r#"{"id":"2","pk":"p","a":2,"b":2}"#] {
        world.made(Call::post(items, body).partition(r#"["p"]"#)).await;
    }
    // The first unique value is free and the second is not; the item must not be renamed, nor the value be taken.
    let body = "function () {
      __.replaceDocument(__.getAltLink() + '/docs/1', { id: 'one', pk: 'p', a: 9, b: 2 }, (err) => {
        __.createDocument(__.getSelfLink(), { id: '3', pk: 'p', a: 9, b: 3 }, (worse) => {
          __.response.setBody([err.number, worse === undefined]) }) }) }";
    let sproc = json!({"id": "s", "body": body}).to_string();
    world.made(Call::post("dbs/d/colls/u/sprocs", sproc)).await;
    let call = Call::post("dbs/d/colls/u/sprocs/s", "[]").partition(r#"["p"]"#);
    assert_eq!(world.answered(200, call).await.json().unwrap(), json!([409, true]));
    let feed = world.answered(200, Call::get(items)).await.json().unwrap();
    let ids: Vec<&Value> = feed["Documents"].as_array().unwrap().iter().map(|item| &item["id"]).collect();
    assert_eq!(ids, ["1", "2", "3"]);
}

#[tokio::test]
async fn other_partitions_cannot_be_reached() {
    let world = World::new().await;
    world.made(Call::post(ITEMS, r#"{"id":"x","pk":"q","email":"x"}"#).partition(r#"["q"]"#)).await;
    let create = "function () { __.createDocument(__.getSelfLink(), { id: 'y', pk: 'q' }) }";
    world
        .throws(create, &json!([]), (400, 400), "other than the one for which client request was submitted")
        .await;
    let read = "function () { __.readDocument(__.getAltLink() + '/docs/x') }";
    world.throws(read, &json!([]), (400, 404), "does not exist").await;
    let query = "function () { __.queryDocuments(__.getSelfLink(), 'SELECT * FROM c', (err, feed) => __.response.setBody(feed.length)) }";
    assert_eq!(world.gives(query, &json!([])).await, 0);
}

#[tokio::test]
async fn a_query_sees_what_its_script_wrote_and_pages_by_continuation() {
    let world = World::new().await;
    for id in ["a", "b", "c"] {
        world.item(id).await;
    }
    let body = "function () {
      __.createDocument(__.getSelfLink(), { id: 'd', pk: 'p', email: 'd' });
      __.deleteDocument(__.getAltLink() + '/docs/a');
      const ids = [];
      (function page(continuation) {
        __.queryDocuments(__.getSelfLink(), 'SELECT c.id FROM c WHERE c.email > \"a\"', { pageSize: 1, continuation }, (err, feed, told) => {
          if (err) throw err;
          ids.push(...feed.map(d => d.id));
          if (told.continuation) page(told.continuation); else __.response.setBody(ids);
        });
      })();
    }";
    assert_eq!(world.gives(body, &json!([])).await, json!(["b", "c", "d"]));
    let aggregate = "function () { __.queryDocuments(__.getSelfLink(), 'SELECT VALUE COUNT(1) FROM c', (err, feed) => __.response.setBody(feed)) }";
    assert_eq!(world.gives(aggregate, &json!([])).await, json!([3]));
    let wrong = "function () { __.queryDocuments(__.getSelfLink(), 'SELEKT') }";
    world.throws(wrong, &json!([]), (400, 400), "SC1001").await;
    let forged =
        "function () { __.queryDocuments(__.getSelfLink(), 'SELECT * FROM c', { continuation: 'forged' }) }";
    world.throws(forged, &json!([]), (400, 400), "Invalid Continuation Token").await;
}

#[tokio::test]
async fn a_bulk_import_is_one_transaction() {
    let world = World::new().await;
    assert_eq!(world.gives(CREATE_MANY, &json!(["n", 100])).await, 100);
    assert_eq!(world.count().await, 100);
}

#[tokio::test]
async fn the_log_comes_in_a_header_when_it_is_asked_for() {
    let world = World::new().await;
    let call = world
        .running("function (x) { console.log('got', x, '%'); if (x > 1) throw new Error('no') }", &json!([1]))
        .await;
    let reply = world.answered(200, call.clone()).await;
    assert_eq!(reply.header("x-ms-documentdb-script-log-results"), None);
    let reply = world.answered(200, call.header("x-ms-documentdb-script-enable-logging", "True")).await;
    assert_eq!(reply.header("x-ms-documentdb-script-log-results"), Some("got%201%20%25"));
    let failing = execute("s", &json!([2])).header("x-ms-documentdb-script-enable-logging", "true");
    let reply = world.refused(failing, (400, 400), "no").await;
    assert_eq!(reply.header("x-ms-documentdb-script-log-results"), Some("got%202%20%25"));
    let long = world.running("function () { console.log('é'.repeat(100000)) }", &json!([])).await;
    let reply = world.answered(200, long.header("x-ms-documentdb-script-enable-logging", "true")).await;
    assert!(reply.header("x-ms-documentdb-script-log-results").unwrap().len() <= 8192);
}

#[tokio::test]
async fn a_reply_has_what_replies_about_items_have() {
    let world = World::new().await;
    let reply = world.run(CREATE_MANY, &json!(["a", 2])).await;
    let header = |name: &str| reply.header(name).unwrap().to_owned();
    assert!(header("x-ms-session-token").starts_with("0:-1#"));
    assert_eq!(header("x-ms-alt-content-path"), "dbs/d/colls/c");
    let one: f64 = world.item("one").await.header("x-ms-request-charge").unwrap().parse().unwrap();
    let two: f64 = header("x-ms-request-charge").parse().unwrap();
    assert!(two > 2.0 * one - 1.0 && two < 2.0 * one + 2.0, "{two} for two creates of {one}");
    let refused = world.throws("function () { throw 1 }", &json!([]), (400, 400), "1").await;
    assert!(refused.header("x-ms-session-token").is_some());
}

#[tokio::test]
async fn the_clock_of_a_script_is_the_servers() {
    let world = World::new().await;
    let body = "function () { __.createDocument(__.getSelfLink(), { id: 't', pk: 'p' }, (err, made) => __.response.setBody([Date.now(), made._ts])) }";
    assert_eq!(world.gives(body, &json!([])).await, json!([1_800_000_000_000_u64, 1_800_000_000]));
}

#[tokio::test]
async fn expired_items_are_not_there_for_scripts() {
    let world = World::new().await;
    world.made(Call::post(ITEMS, r#"{"id":"x","pk":"p","email":"x","ttl":10}"#).partition(r#"["p"]"#)).await;
    world.env.advance(std::time::Duration::from_secs(11)).unwrap();
    let body = "function () { __.queryDocuments(__.getSelfLink(), 'SELECT * FROM c', (err, feed) => {
      __.createDocument(__.getSelfLink(), { id: 'x', pk: 'p', email: 'x' }, (err, made) => { if (err) throw err; __.response.setBody([feed.length, made.ttl === undefined]) }) }) }";
    assert_eq!(world.gives(body, &json!([])).await, json!([0, true]));
}

#[tokio::test]
async fn a_text_that_is_not_javascript_is_stored_and_fails_when_it_is_run() {
    let world = World::new().await;
    world.procedure("s", "function ( {").await;
    world.refused(execute("s", &json!([])), (400, 65_535), "SyntaxError").await;
    let right = json!({"id": "s", "body": "function () { __.response.setBody(1) }"}).to_string();
    world.answered(200, Call::put("dbs/d/colls/c/sprocs/s", right)).await;
    assert_eq!(world.answered(200, execute("s", &json!([]))).await.json().unwrap(), 1);
    let wrong = json!({"id": "s", "body": "function f() { var = }"}).to_string();
    world.answered(200, Call::put("dbs/d/colls/c/sprocs/s", wrong)).await;
    world.refused(execute("s", &json!([])), (400, 65_535), "SyntaxError").await;
}

#[tokio::test]
async fn many_clients_of_one_counter_lose_no_count() {
    let world = World::new().await;
    world.made(Call::post(ITEMS, r#"{"id":"n","pk":"p","email":"n","n":0}"#).partition(r#"["p"]"#)).await;
    let body =
        "function () { __.readDocument(__.getAltLink() + '/docs/n', (err, doc) => { if (err) throw err;
      doc.n++; __.replaceDocument(doc._self, doc, { etag: doc._etag }, (err) => { if (err) throw err }) }) }";
    let call = &world.running(body, &json!([])).await;
    let world = &world;
    let all = (0..4).map(|_| async move {
        for _ in 0..10 {
            world.answered(200, call.clone()).await;
        }
    });
    let mut all: Vec<_> = all.map(Box::pin).collect();
    std::future::poll_fn(|context| {
        all.retain_mut(|one| one.as_mut().poll(context).is_pending());
        if all.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    let counted = world.answered(200, Call::get(&format!("{ITEMS}/n")).partition(r#"["p"]"#)).await;
    assert_eq!(counted.json().unwrap()["n"], 40);
}

#[tokio::test]
async fn documents_are_found_by_their_links_whether_or_not_they_are_indexed() {
    let world = World::new().await;
    world.container("plain", &json!({"indexingPolicy": {"indexingMode": "none", "automatic": false}})).await;
    for container in ["c", "plain"] {
        let path = format!("dbs/d/colls/{container}");
        for n in 0..30 {
            let item = json!({"id": n.to_string(), "pk": "p", "email": n}).to_string();
            world.made(Call::post(&format!("{path}/docs"), item).partition(r#"["p"]"#)).await;
        }
        // Renames one by its link, asks for it by the same link, and deletes all but that by theirs.
        let body = "function () { __.readDocuments(__.getSelfLink(), { pageSize: -1 }, (err, all) => {
          const first = all[0]._self;
          __.replaceDocument(first, { id: 'other', pk: 'p', email: 'o' }, (err) => { if (err) throw err });
          __.readDocument(first, (err, doc) => { if (err) throw err; __.response.setBody(doc.id) });
          all.slice(1).forEach((doc) => __.deleteDocument(doc._self, (err) => { if (err) throw err })); }) }";
        world.made(Call::post(&format!("{path}/sprocs"), json!({"id": "s", "body": body}).to_string())).await;
        let run = Call::post(&format!("{path}/sprocs/s"), "[]").partition(r#"["p"]"#);
        assert_eq!(world.answered(200, run).await.json().unwrap(), "other", "{container}");
        let left = world.answered(200, Call::get(&format!("{path}/docs"))).await.json().unwrap();
        assert_eq!(left["_count"], 1, "{container}");
    }
}
