//! What the service counts of what clients did: once each, under the right name (S1-68 to S1-74, S3-48 to S3-50).

use crate::call::Call;
use crate::world::{CONTAINER, ITEMS, World};
use orrery_document_store::monitor::{Class, Counted, Kind, Subject, Totals};
use orrery_testing_client::OwnedReply;

fn charge(reply: &OwnedReply) -> u64 {
    let text = reply.header("x-ms-request-charge").unwrap();
    (text.parse::<f64>().unwrap() * 100.0).round() as u64
}

/// What was counted for the only container, of one kind.
fn of(counted: &Counted, kind: Kind) -> Totals {
    let is_container = |subject: &Subject| matches!(subject, Subject::Container(_));
    let meters = counted.meters.iter().find(|(subject, _)| is_container(subject));
    let kinds = meters.map(|(_, totals)| totals.kinds.clone()).unwrap_or_default();
    kinds.into_iter().find(|(it, _)| *it == kind).map(|(_, totals)| totals).unwrap_or_default()
}

#[tokio::test]
async fn every_answer_is_counted_once_with_the_charge_that_the_client_was_told() {
    let world = World::new().await;
    let mut written = 0;
    for id in ["a", "b", "c"] {
        written += charge(&world.item(id).await);
    }
    let read = |id: &str| Call::get(&format!("{ITEMS}/{id}")).partition(r#"["p"]"#);
    let mut spent = 0;
    for id in ["a", "b", "none"] {
        spent += charge(&world.call(&read(id)).await);
    }
    let counted = world.cosmos.store().monitor().counted();
    let (creates, reads) = (of(&counted, Kind::Create), of(&counted, Kind::Read));
    assert_eq!((creates.requests(), creates.hundredths), (3, written));
    assert_eq!((reads.requests(), reads.hundredths, reads.latency.count()), (3, spent, 3));
    let partition = &counted.partitions[0];
    assert_eq!((partition.key.as_str(), partition.requests), (r#"["p"]"#, 6));
    assert_eq!(partition.hundredths, written + spent);
}

#[tokio::test]
async fn requests_are_counted_for_what_they_are_about() {
    let world = World::new().await;
    world.answered(200, Call::get(CONTAINER)).await;
    world.answered(200, Call::get(&format!("{CONTAINER}/pkranges"))).await;
    world.answered(200, Call::get("dbs")).await;
    world.refused(Call::get("dbs/d/colls/nothing/docs/x").partition("[1]"), (404, 1003), "nothing").await;
    world.call(&Call::get(&format!("{ITEMS}/x")).partition("[1]").unsigned()).await;
    world.call(&Call::get("nothing")).await;
    let counted = world.cosmos.store().monitor().counted();
    assert_eq!(of(&counted, Kind::Metadata).requests(), 2, "the container and its ranges");
    let account = &counted.meters.iter().find(|(subject, _)| *subject == Subject::Account).unwrap().1;
    let count =
        |kind: Kind| account.kinds.iter().find(|(it, _)| *it == kind).map_or(0, |(_, it)| it.requests());
    assert_eq!(count(Kind::Metadata), 3, "a database and a container were made, databases listed");
    assert_eq!((count(Kind::Read), count(Kind::Refused)), (1, 2), "no container was found for them");
    assert!(counted.partitions.is_empty(), "{:?}", counted.partitions);
}

#[tokio::test]
async fn reads_with_session_tokens_and_premature_ones_are_counted() {
    let world = World::new().await;
    world.item("a").await;
    let read = |token: &str| {
        Call::get(&format!("{ITEMS}/a")).partition(r#"["p"]"#).header("x-ms-session-token", token)
    };
    world.answered(200, read("0:-1#1")).await;
    world.call(&read("0:-1#999999")).await;
    let counted = world.cosmos.store().monitor().counted();
    assert_eq!((counted.session_reads, counted.session_misses), (2, 1));
}

#[tokio::test]
async fn a_query_of_several_pages_is_one_query_by_how_far_it_reaches() {
    let world = World::new().await;
    for id in ["a", "b", "c"] {
        world.item(id).await;
    }
    let ask = |token: Option<&str>| {
        let call = Call::post(ITEMS, r#"{"query":"SELECT * FROM c"}"#).query();
        let call = call.header("content-type", "application/query+json").header("x-ms-max-item-count", "1");
        let call = call.header("x-ms-documentdb-query-enablecrosspartition", "true");
        match token {
            None => call,
            Some(token) => call.header("x-ms-continuation", token),
        }
    };
    let first = world.answered(200, ask(None)).await;
    world.answered(200, ask(first.header("x-ms-continuation"))).await;
    let counted = world.cosmos.store().monitor().counted();
    let (_, totals) = counted.meters.iter().find(|(it, _)| matches!(it, Subject::Container(_))).unwrap();
    assert_eq!((totals.queries, totals.class(Class::Query).requests()), ([0, 0, 1], 2));
}
