//! The change feed: its headers in every combination, its shapes, its ends, and what is refused.

use crate::call::Call;
use crate::world::{ITEMS, World};
use orrery_testing_client::OwnedReply;
use serde_json::{Value, json};
use std::time::Duration;

const LATEST: &str = "Incremental Feed";
const ALL_VERSIONS: &str = "Full-Fidelity Feed";
const FORMAT: &str = "x-ms-cosmos-changefeed-wire-format-version";
const MAX_ITEMS: &str = "x-ms-max-item-count";
const RANGE: &str = "x-ms-documentdb-partitionkeyrangeid";

fn latest() -> Call {
    Call::get(ITEMS).header("a-im", LATEST)
}

fn all_versions() -> Call {
    Call::get(ITEMS).header("a-im", ALL_VERSIONS).header(FORMAT, "2021-09-15")
}

fn after(call: Call, etag: &str) -> Call {
    call.header("if-none-match", etag)
}

fn documents(reply: &OwnedReply) -> Vec<Value> {
    let body = reply.json().unwrap();
    let documents = body["Documents"].as_array().unwrap().clone();
    assert_eq!(body["_count"], documents.len());
    assert_eq!(reply.header("x-ms-item-count"), Some(documents.len().to_string().as_str()));
    documents
}

fn ids(reply: &OwnedReply) -> Vec<String> {
    documents(reply).iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

fn etag(reply: &OwnedReply) -> String {
    let etag = reply.header("etag").unwrap();
    let digits = etag.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap();
    assert!(
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()),
        "one SDK wants digits: {etag}"
    );
    assert_eq!(reply.header("x-ms-continuation"), None);
    etag.to_owned()
}

/// Pages until nothing is new: the documents, and the last etag.
async fn drain(world: &World, page: impl Fn() -> Call, begin: Option<&str>) -> (Vec<Value>, String) {
    let (mut found, mut tag) = (Vec::new(), begin.map(str::to_owned));
    loop {
        let call = match &tag {
            None => page(),
            Some(tag) => after(page(), tag),
        };
        let reply = world.call(&call).await;
        let next = etag(&reply);
        if reply.status == 304 {
            return (found, next);
        }
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        assert_ne!(tag.as_deref(), Some(next.as_str()), "a page goes on");
        found.extend(documents(&reply));
        tag = Some(next);
    }
}

async fn put(world: &World, id: &str, pk: &str, n: u64) {
    let body = json!({"id": id, "pk": pk, "email": format!("{id}-{pk}"), "n": n}).to_string();
    let reply = world.call(&Call::post(ITEMS, body).upsert()).await;
    assert!(reply.status < 300, "{}", reply.status);
}

async fn delete(world: &World, id: &str, pk: &str) {
    world.answered(204, Call::delete(&format!("{ITEMS}/{id}")).partition(&json!([pk]).to_string())).await;
}

#[tokio::test]
async fn each_item_is_there_once_where_it_was_last_written() {
    let world = World::new().await;
    for (id, n) in [("a", 1), ("b", 2), ("c", 3), ("a", 4)] {
        put(&world, id, "p", n).await;
    }
    delete(&world, "b", "p").await;
    let page = world.answered(200, latest()).await;
    assert_eq!(ids(&page), ["c", "a"]);
    let (c, a) = (&documents(&page)[0], &documents(&page)[1]);
    assert_eq!(a["n"], 4);
    assert!(a["_lsn"].as_u64().unwrap() > c["_lsn"].as_u64().unwrap());
    assert!(a["_etag"].is_string() && a["_ts"].is_u64() && a["_rid"].is_string());
    assert!(page.header("x-ms-session-token").is_some() && page.header(RANGE) == Some("0"));
    let end = world.answered(304, after(latest(), &etag(&page))).await;
    assert_eq!(etag(&end), etag(&page), "nothing was written");
    put(&world, "d", "q", 5).await;
    let news = world.answered(200, after(latest(), &etag(&end))).await;
    assert_eq!(ids(&news), ["d"]);
}

#[tokio::test]
async fn the_starts_are_the_beginning_now_and_a_time() {
    let world = World::new().await;
    put(&world, "early", "p", 1).await;
    let now = world.answered(304, after(latest(), "*")).await;
    world.env.advance(Duration::from_secs(100)).unwrap();
    let moment = world.env.now().to_http();
    put(&world, "late", "p", 2).await;
    let since = || latest().header("if-modified-since", moment.as_str());
    assert_eq!(ids(&world.answered(200, latest()).await), ["early", "late"]);
    assert_eq!(ids(&world.answered(200, after(latest(), &etag(&now))).await), ["late"]);
    assert_eq!(ids(&world.answered(200, since()).await), ["late"]);
    // Later pages bring both; the time stays a filter.
    let (found, end) = drain(&world, || since().header(MAX_ITEMS, "1"), None).await;
    assert_eq!(found.len(), 1);
    put(&world, "later", "p", 3).await;
    assert_eq!(ids(&world.answered(200, after(since(), &end)).await), ["later"]);
    assert_eq!(ids(&world.answered(200, after(since(), "\"0\"")).await), ["late", "later"]);
    // `*` is now, whatever time is said.
    world.answered(304, after(since(), "*")).await;
    let future = latest().header("if-modified-since", "Fri, 01 Jan 2100 00:00:00 GMT");
    assert!(!etag(&world.answered(304, future).await).is_empty());
}

#[tokio::test]
async fn pages_of_any_size_have_every_change_once() {
    let world = World::new().await;
    for n in 0..10 {
        put(&world, &n.to_string(), &(n % 3).to_string(), n).await;
    }
    let whole = ids(&world.answered(200, latest()).await);
    assert_eq!(whole, (0..10).map(|n| n.to_string()).collect::<Vec<_>>());
    for size in ["1", "3", "10", "1000", "-1", "0", ""] {
        let (found, _) = drain(&world, || latest().header(MAX_ITEMS, size), None).await;
        let found: Vec<&str> = found.iter().map(|item| item["id"].as_str().unwrap()).collect();
        assert_eq!(found, whole, "{size}");
    }
    world.refused(latest().header(MAX_ITEMS, "x"), (400, 0), MAX_ITEMS).await;
}

#[tokio::test]
async fn a_partition_is_meant_by_its_key_or_by_bounds_and_a_part_of_the_range_by_bounds() {
    let world = World::new().await;
    for n in 0..12 {
        put(&world, &n.to_string(), ["p", "q", "r"][n as usize % 3], n).await;
    }
    let of = |reply: OwnedReply| ids(&reply);
    let by_key = of(world.answered(200, latest().partition(r#"["q"]"#)).await);
    assert_eq!(by_key, ["1", "4", "7", "10"]);
    // The points that one SDK sends: hash of the key, and the next hash.
    let ranges = ["p", "q", "r"].map(|key| {
        let epk = orrery_keys::epk(orrery_keys::Hashing::HashV2, &[orrery_value::Value::String(key.into())]);
        let mut next = epk.as_bytes().to_vec();
        *next.last_mut().unwrap() += 1;
        (epk.to_string(), orrery_keys::Epk::from_bytes(&next).unwrap().to_string())
    });
    let bounds = |call: Call, (start, end): (&str, &str)| {
        let call = call.header("x-ms-start-epk", start).header("x-ms-end-epk", end);
        call.header("x-ms-read-key-type", "EffectivePartitionKeyRange").header(RANGE, "0")
    };
    let (start, end) = &ranges[1];
    assert_eq!(of(world.answered(200, bounds(latest(), (start, end))).await), by_key);
    let mut cuts = vec![String::new(), "FF".to_owned()];
    cuts.extend(ranges.iter().map(|(start, _)| start.clone()));
    cuts.sort();
    let mut all = Vec::new();
    for cut in cuts.windows(2) {
        let (found, _) = drain(&world, || bounds(latest(), (&cut[0], &cut[1])), None).await;
        all.extend(found.into_iter().map(|item| item["id"].as_str().unwrap().to_owned()));
    }
    all.sort_by_key(|id| id.parse::<u64>().unwrap());
    assert_eq!(all, (0..12).map(|n| n.to_string()).collect::<Vec<_>>(), "bounds tile the feed");
    world.answered(304, latest().partition(r#"["nobody"]"#)).await;
    world.refused(bounds(latest(), ("xx", "FF")), (400, 0), "effective partition key").await;
    world.refused(latest().partition("nonsense"), (400, 0), "partition key header").await;
}

#[tokio::test]
async fn a_latest_version_in_an_envelope_has_its_place_and_no_operation() {
    let world = World::new().await;
    put(&world, "a", "p", 1).await;
    let page = world.answered(200, latest().header(FORMAT, "2021-09-15")).await;
    let change = &documents(&page)[0];
    assert_eq!(change["current"]["id"], "a");
    assert_eq!(change["current"]["_lsn"], Value::Null);
    let expected = json!({"lsn": change["metadata"]["lsn"], "crts": 1_800_000_000});
    assert_eq!(change["metadata"], expected);
    assert_eq!(etag(&page), format!("\"{}\"", change["metadata"]["lsn"]));
    assert_eq!(change.as_object().unwrap().len(), 2);
}

#[tokio::test]
async fn all_versions_tell_of_creates_replaces_and_deletes_with_images() {
    let world = World::new().await;
    put(&world, "old", "p", 0).await;
    let begin = etag(&world.answered(304, after(all_versions(), "*")).await);
    put(&world, "a", "p", 1).await;
    put(&world, "a", "p", 2).await;
    world.env.advance(Duration::from_secs(5)).unwrap();
    delete(&world, "a", "p").await;
    let (changes, end) = drain(&world, || all_versions().header(MAX_ITEMS, "1"), Some(&begin)).await;
    let operations: Vec<&Value> = changes.iter().map(|change| &change["metadata"]["operationType"]).collect();
    assert_eq!(operations, ["create", "replace", "delete"]);
    let [create, replace, delete] = &changes[..] else { panic!("three changes") };
    let lsn = |change: &Value| change["metadata"]["lsn"].as_u64().unwrap();
    assert_eq!((&create["current"]["n"], create.get("previous")), (&json!(1), None));
    assert_eq!(
        create["metadata"],
        json!({"operationType": "create", "lsn": lsn(create), "crts": 1_800_000_000})
    );
    assert_eq!((&replace["current"]["n"], replace.get("previous")), (&json!(2), None));
    assert_eq!(replace["metadata"]["previousImageLSN"], lsn(create));
    assert_eq!((&delete["current"], &delete["previous"]["n"]), (&json!({}), &json!(2)));
    let expected = json!({
        "operationType": "delete", "lsn": lsn(delete), "crts": 1_800_000_005, "previousImageLSN": lsn(replace),
        "timeToLiveExpired": false, "id": "a", "partitionKey": ["p"],
    });
    assert_eq!(delete["metadata"], expected);
    world.answered(304, after(all_versions(), &end)).await;
    // The same positions serve both modes.
    assert_eq!(ids(&world.answered(200, latest()).await), ["old"]);
}

#[tokio::test]
async fn a_container_that_asks_for_pre_images_shows_what_was_replaced() {
    let world = World::new().await;
    let policy = json!({"changeFeedPolicy": {"retentionDuration": 10, "preImages": true}});
    let made = world.container("images", &policy).await.json().unwrap();
    assert_eq!(made["changeFeedPolicy"], policy["changeFeedPolicy"]);
    let items = "dbs/d/colls/images/docs";
    let feed = || Call::get(items).header("a-im", ALL_VERSIONS).header(FORMAT, "2021-09-15");
    let begin = etag(&world.answered(304, after(feed(), "*")).await);
    for n in [1, 2] {
        let call = Call::post(items, json!({"id": "a", "pk": "p", "n": n}).to_string()).upsert();
        assert!(world.call(&call.partition(r#"["p"]"#)).await.status < 300);
    }
    let (changes, _) = drain(&world, feed, Some(&begin)).await;
    let replace = &changes[1];
    assert_eq!((&replace["current"]["n"], &replace["previous"]["n"]), (&json!(2), &json!(1)));
    assert_ne!(replace["current"]["_etag"], replace["previous"]["_etag"]);
}

#[tokio::test]
async fn our_own_tools_see_what_was_replaced_whatever_the_policy_is() {
    let world = World::new().await;
    world.container("kept", &json!({"changeFeedPolicy": {"retentionDuration": 10}})).await;
    let items = "dbs/d/colls/kept/docs";
    let feed = || Call::get(items).header("a-im", ALL_VERSIONS).header(FORMAT, "2021-09-15");
    let begin = etag(&world.answered(304, after(feed(), "*")).await);
    for n in [1, 2] {
        let call = Call::post(items, json!({"id": "a", "pk": "p", "n": n}).to_string()).upsert();
        assert!(world.call(&call.partition(r#"["p"]"#)).await.status < 300);
    }
    let (plain, _) = drain(&world, feed, Some(&begin)).await;
    assert_eq!(plain[1].get("previous"), None);
    let (whole, _) = drain(&world, || feed().header("x-orrery-pre-images", "true"), Some(&begin)).await;
    assert_eq!((&whole[1]["current"]["n"], &whole[1]["previous"]["n"]), (&json!(2), &json!(1)));
}

#[tokio::test]
async fn an_item_that_expired_is_a_delete_that_says_so() {
    let world = World::new().await;
    let begin = etag(&world.answered(304, after(all_versions(), "*")).await);
    let body = json!({"id": "short", "email": "s", "ttl": 5}).to_string();
    world.made(Call::post(ITEMS, body)).await;
    world.env.advance(Duration::from_secs(5)).unwrap();
    world.answered(304, after(latest(), &begin)).await;
    world.background().await;
    let (changes, _) = drain(&world, all_versions, Some(&begin)).await;
    let metadata = &changes[1]["metadata"];
    assert_eq!(
        (&metadata["operationType"], &metadata["timeToLiveExpired"]),
        (&json!("delete"), &json!(true))
    );
    assert_eq!((&metadata["id"], &metadata["partitionKey"]), (&json!("short"), &json!([{}])));
    assert_eq!(changes[1]["previous"]["id"], "short");
}

#[tokio::test]
async fn a_position_outlives_a_split_and_a_range_that_is_gone_is_410() {
    let world = World::new().await;
    let items = "dbs/d/colls/s/docs";
    let definition = json!({"id": "s", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}});
    let create = Call::post("dbs/d/colls", definition.to_string()).header("x-ms-offer-throughput", "400");
    world.made(create).await;
    let put = async |n: u64| {
        world.made(Call::post(items, json!({"id": n.to_string(), "pk": n}).to_string())).await;
    };
    for n in 0..10 {
        put(n).await;
    }
    let of = |mode: &str, range: &str| Call::get(items).header("a-im", mode).header(RANGE, range);
    let page = world.answered(200, of(LATEST, "0").header(MAX_ITEMS, "4")).await;
    assert_eq!(ids(&page), ["0", "1", "2", "3"]);
    let mut offer = world.offer("dbs/d/colls/s").await;
    offer["content"]["offerThroughput"] = json!(18_000);
    let path = format!("offers/{}", offer["id"].as_str().unwrap());
    world.answered(200, Call::put(&path, offer.to_string())).await;
    for n in 10..20 {
        put(n).await;
    }
    for mode in [LATEST, ALL_VERSIONS] {
        let gone = after(of(mode, "0"), &etag(&page));
        world.refused(gone, (410, 1002), "is gone; read the ranges again").await;
    }
    let ranges = world.answered(200, Call::get("dbs/d/colls/s/pkranges")).await.json().unwrap();
    let (mut found, mut versions) = (Vec::new(), Vec::new());
    for range in ranges["PartitionKeyRanges"].as_array().unwrap() {
        let range = range["id"].as_str().unwrap();
        let (changes, _) = drain(&world, || of(LATEST, range), Some(&etag(&page))).await;
        let of_range: Vec<u64> =
            changes.iter().map(|item| item["id"].as_str().unwrap().parse().unwrap()).collect();
        assert!(of_range.is_sorted(), "in order inside a range");
        found.extend(of_range);
        let (changes, _) = drain(&world, || of(ALL_VERSIONS, range), Some(&etag(&page))).await;
        versions.extend(changes.iter().map(|change| change["metadata"]["lsn"].as_u64().unwrap()));
    }
    found.sort_unstable();
    assert_eq!(found, (4..20).collect::<Vec<_>>(), "each change is in one child");
    assert_eq!(versions.len(), 16);
}

#[tokio::test]
async fn modes_are_known_in_any_case_and_others_are_refused() {
    let world = World::new().await;
    for mode in [LATEST, "Incremental feed", "INCREMENTAL FEED", "incremental feed"] {
        world.answered(304, Call::get(ITEMS).header("a-im", mode)).await;
    }
    for mode in ["full-fidelity feed", "FULL-FIDELITY FEED"] {
        world.answered(304, after(Call::get(ITEMS).header("a-im", mode), "*")).await;
    }
    for mode in ["", "x", "Incremental", "Full Fidelity Feed", "Incremental Feed, Full-Fidelity Feed"] {
        world.refused(Call::get(ITEMS).header("a-im", mode), (400, 0), "a-im").await;
    }
    world.refused(Call::get(ITEMS).header("a-im", vec![0xe9]), (400, 0), "not ASCII").await;
    for version in ["2021-09-16", "1", "x"] {
        world.refused(latest().header(FORMAT, version), (400, 0), FORMAT).await;
    }
}

#[tokio::test]
async fn a_position_that_is_none_is_refused() {
    let world = World::new().await;
    put(&world, "a", "p", 1).await;
    for tag in ["x", "\"x\"", "-1", "1.5", "\"1\",\"2\"", "W/\"1\"", "99999999999999999999999"] {
        world.refused(after(latest(), tag), (400, 0), "If-None-Match").await;
        world.refused(after(all_versions(), tag), (400, 0), "If-None-Match").await;
    }
    world.refused(after(latest(), &"9".repeat(20_000)), (400, 0), "If-None-Match").await;
    for tag in ["\"1000000\"", "18446744073709551615"] {
        world.refused(after(latest(), tag), (400, 0), "lies after the newest change").await;
        world.refused(after(all_versions(), tag), (400, 0), "lies after the newest change").await;
    }
    for date in ["x", "0", "2026-11-15T00:00:00Z", "Sun, 99 Nov 2026 01:02:43 GMT"] {
        world.refused(latest().header("if-modified-since", date), (400, 0), "If-Modified-Since").await;
    }
    // Quotes may have been lost on the way; nothing at all is the beginning.
    for tag in ["0", "'0'", "\"0\"", ""] {
        assert_eq!(ids(&world.answered(200, after(latest(), tag)).await), ["a"], "{tag}");
    }
}

/// Positions are of one order over all containers, so one of another container is a place in this one too.
#[tokio::test]
async fn the_position_of_another_container_is_the_same_moment_here() {
    let world = World::new().await;
    world.container("other", &json!({})).await;
    put(&world, "before", "p", 1).await;
    world.made(Call::post("dbs/d/colls/other/docs", r#"{"id":"x","pk":1}"#)).await;
    put(&world, "after", "p", 2).await;
    let of_other = world.answered(200, Call::get("dbs/d/colls/other/docs").header("a-im", LATEST)).await;
    let item = &documents(&of_other)[0];
    let moment = format!("\"{}\"", item["_lsn"]);
    assert_eq!(ids(&world.answered(200, after(latest(), &moment)).await), ["after"]);
}

#[tokio::test]
async fn all_versions_begin_now_or_where_they_left_and_not_before_their_retention() {
    let world = World::new().await;
    put(&world, "a", "p", 1).await;
    let refused = "cannot begin at the beginning or at a time";
    world.refused(all_versions(), (400, 0), refused).await;
    let date = world.env.now().to_http();
    world.refused(all_versions().header("if-modified-since", date.as_str()), (400, 0), refused).await;
    world
        .refused(after(all_versions().header("if-modified-since", date.as_str()), "\"1\""), (400, 0), refused)
        .await;
    let off = json!({"changeFeedPolicy": {"retentionDuration": 0}});
    world.container("off", &off).await;
    let call = after(Call::get("dbs/d/colls/off/docs").header("a-im", ALL_VERSIONS), "*");
    world.refused(call, (400, 0), "is off").await;
    world.container("short", &json!({"changeFeedPolicy": {"retentionDuration": 10}})).await;
    let short = "dbs/d/colls/short/docs";
    let call = || Call::get(short).header("a-im", ALL_VERSIONS);
    let begin = etag(&world.answered(304, after(call(), "*")).await);
    world.made(Call::post(short, r#"{"id":"x","pk":1}"#)).await;
    world.env.advance(Duration::from_secs(600)).unwrap();
    world.answered(200, after(call(), &begin)).await;
    world.env.advance(Duration::from_secs(1)).unwrap();
    world
        .refused(
            after(call(), &begin),
            (400, 0),
            "You must read the change feed from within the retention period.",
        )
        .await;
    // Latest versions know no retention, and who comes back in time goes on.
    let older = after(Call::get(short).header("a-im", LATEST), &begin);
    assert_eq!(ids(&world.answered(200, older).await), ["x"]);
    world.answered(304, after(call(), "*")).await;
    // The default is seven days.
    let begin = etag(&world.answered(304, after(all_versions(), "*")).await);
    put(&world, "b", "p", 1).await;
    world.env.advance(Duration::from_secs(7 * 86_400)).unwrap();
    world.answered(200, after(all_versions(), &begin)).await;
    world.env.advance(Duration::from_secs(1)).unwrap();
    world.refused(after(all_versions(), &begin), (400, 0), "10080 minutes").await;
}

#[tokio::test]
async fn a_session_of_the_future_and_another_life_of_the_container_are_refused() {
    let world = World::new().await;
    world.refused(latest().header("x-ms-session-token", "0:-1#999"), (404, 1002), "session").await;
    world
        .refused(
            latest().header("x-ms-cosmos-intended-collection-rid", "AAAAAYAAAAk="),
            (400, 1024),
            "created again",
        )
        .await;
    world.refused(Call::get("dbs/d/colls/no/docs").header("a-im", LATEST), (404, 1003), "no container").await;
}

#[tokio::test]
async fn a_page_is_charged_for_what_it_looked_at_and_showed() {
    let world = World::new().await;
    let charge = |reply: &OwnedReply| reply.header("x-ms-request-charge").unwrap().parse::<f64>().unwrap();
    let nothing = world.answered(304, latest()).await;
    assert_eq!(charge(&nothing), 1.0);
    for n in 0..20 {
        put(&world, &n.to_string(), "p", n).await;
    }
    let one = world.answered(200, latest().header(MAX_ITEMS, "1")).await;
    let all = world.answered(200, latest()).await;
    assert!(1.0 < charge(&one) && charge(&one) < charge(&all), "{} {}", charge(&one), charge(&all));
    assert_eq!(charge(&all), charge(&world.answered(200, latest()).await), "the same work costs the same");
}
