//! The access policies that a table keeps, as XML.

use crate::call::Call;
use crate::world::{World, text};

const ACL: &str = "/runs?comp=acl";
const EMPTY: &str = r#"<?xml version="1.0" encoding="utf-8"?><SignedIdentifiers />"#;

fn policies(ids: &[&str]) -> String {
    let policy = "<AccessPolicy><Start>2026-01-01T00:00:00Z</Start><Expiry>2030-01-01T00:00:00Z</Expiry>\
                  <Permission>raud</Permission></AccessPolicy>";
    let one = |id: &&str| format!("<SignedIdentifier><Id>{id}</Id>{policy}</SignedIdentifier>");
    format!("<SignedIdentifiers>{}</SignedIdentifiers>", ids.iter().map(one).collect::<String>())
}

#[tokio::test]
async fn policies_are_read_as_they_were_set() {
    let world = World::new().await;
    assert_eq!(text(&world.answered(200, Call::get(ACL)).await), EMPTY);
    world.answered(204, Call::put(ACL, policies(&["one", "two"]))).await;
    let read = world.answered(200, Call::get("/RUNS?comp=acl")).await;
    assert!(text(&read).ends_with(&policies(&["one", "two"])), "{}", text(&read));
    assert_eq!(read.header("content-type"), Some("application/xml"));
    world.answered(204, Call::put(ACL, "")).await;
    assert_eq!(text(&world.answered(200, Call::get(ACL)).await), EMPTY);
}

#[tokio::test]
async fn a_table_has_five_policies_at_most() {
    let world = World::new().await;
    world.answered(204, Call::put(ACL, policies(&["a", "b", "c", "d", "e"]))).await;
    world
        .refused(Call::put(ACL, policies(&["a", "b", "c", "d", "e", "f"])), 400, "InvalidXmlDocument", "")
        .await;
    world.refused(Call::put(ACL, "<SignedIdentifiers>"), 400, "InvalidXmlDocument", "").await;
    assert!(text(&world.answered(200, Call::get(ACL)).await).contains("<Id>e</Id>"));
    world.refused(Call::get("/none?comp=acl"), 404, "TableNotFound", "").await;
    world.refused(Call::put("/none?comp=acl", ""), 404, "TableNotFound", "").await;
}
