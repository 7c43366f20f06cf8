//! Scripts that would never end, or take all there is: refused, with nothing written, and the server goes on.

use crate::call::Call;
use crate::world::{ITEMS, World};
use serde_json::json;

async fn check(body: &str, place: (u16, u32), part: &str) {
    let world = World::new().await;
    let body = format!(
        "function () {{ __.createDocument(__.getSelfLink(), {{ id: 'x', pk: 'p' }}, () => {{ {body} }}) }}"
    );
    world.throws(&body, &json!([]), place, part).await;
    assert_eq!(world.count().await, 0, "nothing of it is kept");
    assert_eq!(world.gives("function () { __.response.setBody(1) }", &json!([])).await, 1);
}

#[tokio::test]
async fn an_endless_script_ends() {
    check("while (true) { try { while (true) {} } catch (e) {} }", (408, 0), "exceeded maximum alloted time")
        .await;
}

#[tokio::test]
async fn an_endless_pattern_ends() {
    check("/^(a+)+$/.test('a'.repeat(50) + 'b')", (408, 0), "exceeded maximum alloted time").await;
}

#[tokio::test]
async fn an_endless_chain_of_promises_ends() {
    check(
        "(function again() { Promise.resolve().then(again) })()",
        (408, 0),
        "exceeded maximum alloted time",
    )
    .await;
}

#[tokio::test]
async fn memory_without_end_is_refused() {
    check("const all = []; while (true) all.push('x'.repeat(1000) + all.length)", (400, 400), "more memory")
        .await;
}

#[tokio::test]
async fn a_recursion_without_end_is_refused() {
    check("(function deep() { deep() })()", (400, 400), "stack").await;
}

#[tokio::test]
async fn a_response_that_is_too_large_is_refused() {
    check("__.response.setBody('x'.repeat(5 * 1024 * 1024))", (413, 0), "The script's response").await;
}

#[tokio::test]
async fn a_document_that_is_too_large_is_refused() {
    let body = "__.createDocument(__.getSelfLink(), { id: 'y', pk: 'p', t: 'x'.repeat(2200000) })";
    check(body, (400, 413), "the largest item").await;
}

#[tokio::test]
async fn a_script_that_deletes_too_much_is_refused_further_deletes() {
    let world = World::new().await;
    for n in 0..6 {
        let item =
            json!({"id": n.to_string(), "pk": "p", "email": n, "text": "x".repeat(1_900_000)}).to_string();
        world.made(Call::post(ITEMS, item).partition(r#"["p"]"#)).await;
    }
    // What is deleted stays in the transaction until it is committed, so there is room for a few of these.
    let body = "function (from) { let gone = 0; (function next() {
      if (from + gone === 6) return __.response.setBody(gone);
      const taken = __.deleteDocument(__.getAltLink() + '/docs/' + (from + gone), (err) => { if (err) throw err; gone++; next() });
      if (!taken) __.response.setBody(gone);
    })() }";
    let first = world.gives(body, &json!([0])).await.as_u64().unwrap();
    assert!(0 < first && first < 6, "{first}");
    let mut gone = first;
    while gone < 6 {
        let more = world.gives(body, &json!([gone])).await.as_u64().unwrap();
        assert!(more > 0, "each call comes further");
        gone += more;
    }
    assert_eq!(world.count().await, 0);
}

#[tokio::test]
async fn while_scripts_run_items_are_served() {
    let world = World::new().await;
    let endless = world.running("function () { while (true) {} }", &json!([])).await;
    let (mut running, mut asking) = (Box::pin(world.call(&endless)), Box::pin(world.item("x")));
    let first = std::future::poll_fn(|context| {
        if let std::task::Poll::Ready(reply) = asking.as_mut().poll(context) {
            return std::task::Poll::Ready(reply.status);
        }
        running.as_mut().poll(context).map(|_| 0)
    });
    assert_eq!(first.await, 201, "a write to the same partition does not wait for a script in its first try");
    assert_eq!(running.await.status, 408);
    assert_eq!(world.call(&Call::get("dbs")).await.status, 200);
}
