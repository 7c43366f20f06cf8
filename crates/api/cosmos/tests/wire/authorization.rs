//! Who is let in: signatures, read-only keys, dates.

use crate::call::{Call, READ_ONLY_KEY, READ_WRITE_KEY, signature, token};
use crate::world::{CONTAINER, ITEMS, World};
use std::time::Duration;

#[tokio::test]
async fn a_token_that_proves_nothing_is_unauthorized() {
    let world = World::new().await;
    let of = |header: &str| Call::get(ITEMS).authorization(header);
    let signed = signature(READ_WRITE_KEY, "");
    world.refused(Call::get(ITEMS).unsigned(), (401, 0), "Required Header authorization is missing").await;
    for garbled in ["x", "type=master", "type=master&ver=1.0", "%FF%FE", "type%3Dmaster%26sig", "a&b&c"] {
        world.refused(of(garbled), (401, 0), "authorization header is not valid").await;
    }
    world.refused(of(&token("resource", &signed)), (401, 0), "not one that this account gave").await;
    world.refused(of(&token("aad", &signed)), (401, 5002), "takes no bearer tokens").await;
    world.refused(of(&token("sas", &signed)), (401, 0), "Shared access signatures").await;
    world.refused(of(&token("master", "short")), (401, 0), "can't serve the request").await;
    world.refused(of(&token("master", &signed)), (401, 0), "can't serve the request").await;
    world.refused(Call::get(ITEMS).signed_with("bm90IGEga2V5"), (401, 0), "can't serve the request").await;
}

#[tokio::test]
async fn the_refusal_shows_what_the_server_signed() {
    let world = World::new().await;
    let call =
        Call::get("dbs/d/colls/c/docs/i").signed_with("bm90IGEga2V5").date("Sun, 15 Nov 2026 01:02:43 GMT");
    let payload = r"'get\ndocs\ndbs/d/colls/c/docs/i\nsun, 15 nov 2026 01:02:43 gmt\n\n'";
    world.refused(call, (401, 0), payload).await;
}

#[tokio::test]
async fn a_signature_is_for_one_verb_one_resource_and_one_date() {
    let world = World::new().await;
    let date = "Sun, 15 Nov 2026 01:02:43 GMT";
    let good = ["get", "docs", CONTAINER, "sun, 15 nov 2026 01:02:43 gmt", ""];
    let call = |lines: [&str; 5]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        Call::get(ITEMS).date(date).authorization(&token("master", &signature(READ_WRITE_KEY, &text)))
    };
    world.answered(200, call(good)).await;
    for (line, other) in
        ["post", "colls", "dbs/d/colls/C", "sun, 15 nov 2026 01:02:44 gmt", "x"].into_iter().enumerate()
    {
        let mut wrong = good;
        wrong[line] = other;
        world.refused(call(wrong), (401, 0), "can't serve the request").await;
    }
    world.refused(call(good).date(""), (401, 0), "x-ms-date is missing").await;
}

#[tokio::test]
async fn a_signature_over_a_last_segment_does_not_open_it_in_another_place() {
    let world = World::new().await;
    world.item("i").await;
    let database = world.answered(200, Call::get("dbs/d")).await.json().unwrap();
    let container = world.answered(200, Call::get(CONTAINER)).await.json().unwrap();
    let (database, container) = (database["_rid"].as_str().unwrap(), container["_rid"].as_str().unwrap());
    let date = world.env.now().to_http();
    let call = |path: &str| {
        let last = path.rsplit('/').next().unwrap().to_lowercase();
        let text = format!("get\ndocs\n{last}\n{}\n\n", date.to_lowercase());
        let call = Call::get(path).partition(r#"["p"]"#).date(&date);
        call.authorization(&token("master", &signature(READ_WRITE_KEY, &text)))
    };
    for path in [
        format!("dbs/{database}/colls/{container}/docs/i"),
        format!("dbs/{database}/colls/c/docs/i"),
        format!("dbs/{database}/colls/{container}/docs/AAAAAAAAAAABAAAAAAAAAA=="),
    ] {
        world.refused(call(&path), (401, 0), "can't serve the request").await;
    }
    let item = world.answered(200, Call::get("dbs/d/colls/c/docs/i").partition(r#"["p"]"#)).await;
    let itself = item.json().unwrap()["_self"].as_str().unwrap().trim_end_matches('/').to_owned();
    world.answered(200, call(&itself)).await;
}

#[tokio::test]
async fn the_date_header_will_do_and_the_secondary_key_too() {
    let world = World::new().await;
    let date = "Sun, 15 Nov 2026 01:02:43 GMT";
    let text = format!("get\ndocs\n{CONTAINER}\n\n{}\n", date.to_lowercase());
    let call = Call::get(ITEMS)
        .date("")
        .header("date", date)
        .authorization(&token("master", &signature("c2Vjb25kYXJ5", &text)));
    world.answered(200, call).await;
}

#[tokio::test]
async fn a_read_only_key_reads_and_queries_and_writes_nothing() {
    let world = World::new().await;
    world.item("i").await;
    let read = |call: Call| call.signed_with(READ_ONLY_KEY);
    world.answered(200, read(Call::get("dbs/d"))).await;
    world.answered(200, read(Call::get("dbs/d/colls/c/docs/i").partition(r#"["p"]"#))).await;
    world.answered(200, read(Call::get(ITEMS))).await;
    world.answered(200, read(Call::post(ITEMS, r#"{"query":"SELECT * FROM c"}"#).query())).await;
    let item = || r#"{"id":"i","pk":"p"}"#;
    let writes = [
        Call::post("dbs", r#"{"id":"e"}"#),
        Call::delete("dbs/d"),
        Call::post("dbs/d/colls", r#"{"id":"e","partitionKey":{"paths":["/pk"]}}"#),
        Call::put(CONTAINER, r#"{"id":"c"}"#),
        Call::post(ITEMS, item()),
        Call::post(ITEMS, item()).upsert(),
        Call::put("dbs/d/colls/c/docs/i", item()),
        Call::delete("dbs/d/colls/c/docs/i").partition(r#"["p"]"#),
        Call::put("offers/x", "{}"),
    ];
    for write in writes {
        world.refused(read(write), (403, 0), "is read-only").await;
    }
    world.answered(200, Call::get("dbs/d/colls/c/docs/i").partition(r#"["p"]"#)).await;
}

#[tokio::test]
async fn a_date_a_quarter_of_an_hour_off_is_forbidden() {
    let world = World::by_system_clock().await;
    let now = world.env.now();
    let at = |seconds: i64| {
        let millis = now.millis() as i64 + seconds * 1000;
        Call::get("dbs/d").date(&orrery_core::Timestamp::from_millis(millis as u64).to_http())
    };
    world.answered(200, at(-14 * 60)).await;
    world.answered(200, at(14 * 60)).await;
    world.refused(at(-16 * 60), (403, 0), "not valid at the current time").await;
    world.refused(at(16 * 60), (403, 0), "Set the clock").await;
    world.refused(Call::get("dbs/d").date("yesterday"), (403, 0), "not in RFC 1123 form").await;
}

#[tokio::test]
async fn under_a_manual_clock_any_date_will_do() {
    let world = World::new().await;
    world.env.advance(Duration::from_secs(30 * 86_400)).unwrap();
    world.answered(200, Call::get("dbs/d").date("Sun, 15 Nov 2026 01:02:43 GMT")).await;
}
