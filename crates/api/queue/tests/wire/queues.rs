//! Queues: create, list, metadata, access policies, delete.

use crate::call::Call;
use crate::world::World;

fn names(list: &orrery_api_storage::xml::Element) -> Vec<&str> {
    let queues = &list.child("Queues").unwrap().children;
    queues.iter().map(|queue| queue.text_of("Name").unwrap()).collect()
}

#[tokio::test]
async fn a_queue_is_created_once_and_again_only_with_the_same_metadata() {
    let world = World::new().await;
    let create = || Call::put("/orders").header("x-ms-meta-Owner", "a team");
    world.answered(201, create()).await;
    world.answered(204, create()).await;
    world.answered(204, Call::put("/orders").header("X-MS-META-OWNER", "a team")).await;
    world.refused(Call::put("/orders"), 409, "QueueAlreadyExists").await;
    world.refused(create().header("x-ms-meta-more", "1"), 409, "QueueAlreadyExists").await;
}

#[tokio::test]
async fn metadata_keep_the_case_of_their_names() {
    let world = World::new().await;
    // What a client of Python sends besides.
    let create =
        Call::put("/orders").header("x-ms-meta-Owner", "a team").header("x-ms-meta", "{'Owner': 'a team'}");
    world.answered(201, create).await;
    let raw = world.raw(Call::get("/orders?comp=metadata")).await;
    assert!(raw.contains("x-ms-meta-Owner: a team\r\n"), "{raw}");
    assert!(raw.contains("x-ms-approximate-messages-count: 0\r\n"), "{raw}");
    let raw = world.raw(Call::new("HEAD", "/orders?comp=metadata")).await;
    assert!(raw.starts_with("HTTP/1.1 200") && raw.contains("x-ms-meta-Owner: a team\r\n"), "{raw}");
    let list = world.document(Call::get("?comp=list&prefix=o&include=metadata")).await;
    let metadata = list.child("Queues").unwrap().children[0].child("Metadata").unwrap();
    assert_eq!(metadata.text_of("Owner"), Some("a team"));
    world.answered(204, Call::put("/orders?comp=metadata").header("x-ms-meta-b", "2")).await;
    let reply = world.answered(200, Call::get("/orders?comp=metadata")).await;
    assert_eq!((reply.header("x-ms-meta-b"), reply.header("x-ms-meta-owner")), (Some("2"), None));
}

#[tokio::test]
async fn metadata_that_are_wrong_are_refused() {
    let world = World::new().await;
    let with = |name: &str, value: &str| Call::put("/turns?comp=metadata").header(name, value);
    world.refused(with("x-ms-meta-", "a"), 400, "EmptyMetadataKey").await;
    world.refused(with("x-ms-meta-a-b", "a"), 400, "InvalidMetadata").await;
    world.refused(with("x-ms-meta-a", &"x".repeat(8192)), 400, "MetadataTooLarge").await;
    world.refused(Call::put("/missing?comp=metadata"), 404, "QueueNotFound").await;
}

#[tokio::test]
async fn queues_are_listed_in_pages() {
    let world = World::new().await;
    for name in ["a-1", "a-2", "a-3"] {
        world.answered(201, Call::put(&format!("/{name}"))).await;
    }
    let list = world.document(Call::get("/?comp=list")).await;
    assert_eq!(names(&list), ["a-1", "a-2", "a-3", "turns"]);
    let (mut marker, mut found) = (String::new(), Vec::new());
    for _ in 0..2 {
        let page = format!("?comp=list&prefix=a-&maxresults=2&marker={marker}&timeout=30");
        let page = world.document(Call::get(&page)).await;
        assert_eq!(page.text_of("MaxResults"), Some("2"));
        found.extend(names(&page).iter().map(|name| (*name).to_owned()));
        marker = page.text_of("NextMarker").unwrap().to_owned();
    }
    assert_eq!((found, marker), (vec!["a-1".into(), "a-2".into(), "a-3".into()], String::new()));
    let elsewhere = Call::get("?comp=list").account("other");
    let key = orrery_api_common::Key::parse(crate::world::OTHER_KEY).unwrap();
    assert!(names(&world.document(elsewhere.signed_with(key)).await).is_empty(), "accounts share nothing");
    for wrong in ["0", "5001"] {
        let call = Call::get(&format!("?comp=list&maxresults={wrong}"));
        world.refused(call, 400, "OutOfRangeQueryParameterValue").await;
    }
    world.refused(Call::get("?comp=list&maxresults=two"), 400, "InvalidQueryParameterValue").await;
}

#[tokio::test]
async fn a_deleted_queue_is_gone() {
    let world = World::new().await;
    world.answered(201, Call::send("/turns/messages", "a")).await;
    world.answered(204, Call::delete("/turns")).await;
    world.refused(Call::delete("/turns"), 404, "QueueNotFound").await;
    world.refused(Call::get("/turns/messages"), 404, "QueueNotFound").await;
    world.refused(Call::send("/turns/messages", "a"), 404, "QueueNotFound").await;
    world.answered(201, Call::put("/turns")).await;
    assert!(world.messages(Call::get("/turns/messages")).await.is_empty());
}

#[tokio::test]
async fn access_policies_are_kept() {
    let world = World::new().await;
    let policies = "<SignedIdentifiers><SignedIdentifier><Id>p</Id><AccessPolicy><Expiry>2027-02-01</Expiry>\
                    <Permission>rp</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>";
    world.answered(204, Call::put("/turns?comp=acl").body(policies)).await;
    let reply = world.answered(200, Call::get("/turns?comp=acl")).await;
    assert!(String::from_utf8(reply.body).unwrap().ends_with(policies));
    world.refused(Call::put("/turns?comp=acl").body("<SignedIdentifiers>"), 400, "InvalidXmlDocument").await;
    world.answered(204, Call::put("/turns?comp=acl")).await;
    let list = world.document(Call::get("/turns?comp=acl")).await;
    assert!(list.children.is_empty());
}

#[tokio::test]
async fn names_that_no_queue_can_have_are_refused() {
    let world = World::new().await;
    world.refused(Call::put("/ab"), 400, "OutOfRangeInput").await;
    world.refused(Call::put(&format!("/{}", "a".repeat(64))), 400, "OutOfRangeInput").await;
    for wrong in ["/Turns", "/a--b", "/-ab", "/a_b", "/a%20b"] {
        world.refused(Call::put(wrong), 400, "InvalidResourceName").await;
    }
}

#[tokio::test]
async fn what_is_no_operation_is_refused() {
    let world = World::new().await;
    world.refused(Call::get("/turns"), 400, "MissingRequiredQueryParameter").await;
    world.refused(Call::get("/turns?comp=other"), 400, "InvalidQueryParameterValue").await;
    world.refused(Call::new("POST", "/turns"), 405, "UnsupportedHttpVerb").await;
    world.refused(Call::get("/turns/other"), 400, "InvalidUri").await;
}
