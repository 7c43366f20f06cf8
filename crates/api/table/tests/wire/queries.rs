//! Queries: filters, pages, and what they leave out.

use crate::call::Call;
use crate::world::{World, row_keys};
use serde_json::json;

async fn filled() -> World {
    let world = World::new().await;
    for (partition, row, n) in [("a", "1", 1), ("a", "2", 2), ("b", "1", 3), ("b", "2", 4), ("c", "é/x", 5)]
    {
        let row = row.replace('/', "-");
        world.insert(partition, &row, &format!(r#","n":{n}"#)).await;
    }
    world
}

#[tokio::test]
async fn a_query_is_answered_with_and_without_parentheses_in_the_order_of_keys() {
    let world = filled().await;
    for target in ["/runs", "/runs()", "/RUNS()?$filter="] {
        assert_eq!(world.rows(target).await, ["1", "2", "1", "2", "é-x"], "{target}");
    }
    let page = world.json(Call::get("/runs()?$filter=n%20eq%203&$select=n")).await;
    assert_eq!(page["odata.metadata"], "http://127.0.0.1/devstoreaccount1/$metadata#runs");
    let only = page["value"][0].as_object().unwrap();
    assert_eq!(only.keys().collect::<Vec<_>>(), ["odata.etag", "n"]);
}

#[tokio::test]
async fn a_filter_decides() {
    let world = filled().await;
    let check = async |filter: &str, expected: &[&str]| {
        let filter = filter.replace(' ', "%20");
        assert_eq!(world.rows(&format!("/runs?$filter={filter}")).await, expected, "{filter}");
    };
    check("PartitionKey eq 'a'", &["1", "2"]).await;
    check("PartitionKey eq 'b' and RowKey gt '1'", &["2"]).await;
    check("n gt 2 and not (n eq 4)", &["1", "é-x"]).await;
    check("n lt 2L or n ge 4.5", &["1", "é-x"]).await;
    check("missing ne 5", &[]).await;
    // A plus is a space in a query.
    assert_eq!(world.rows("/runs?$filter=n+eq+5").await, ["é-x"]);
}

#[tokio::test]
async fn pages_go_on_where_they_ended_although_entities_come_and_go() {
    let world = filled().await;
    let (mut target, mut found, mut pages) = ("/runs()?$top=2".to_owned(), Vec::new(), 0);
    loop {
        let reply = world.answered(200, Call::get(&target)).await;
        found.extend(row_keys(&reply.json().unwrap()));
        pages += 1;
        let Some(partition) = reply.header("x-ms-continuation-nextpartitionkey") else { break };
        let row = reply.header("x-ms-continuation-nextrowkey").unwrap();
        assert!(!partition.is_empty() && partition.is_ascii() && row.is_ascii());
        target = format!("/runs()?$top=2&NextPartitionKey={partition}&NextRowKey={row}");
        if pages == 1 {
            world.answered(204, Call::delete("/runs(PartitionKey='b',RowKey='1')").any()).await;
            world.insert("a", "0", "").await;
        }
    }
    assert_eq!((found, pages), (["1", "2", "2", "é-x"].map(str::to_owned).to_vec(), 2));
}

#[tokio::test]
async fn a_position_without_a_row_is_the_beginning_of_its_partition() {
    let world = filled().await;
    let next = "1!2!Yg";
    assert_eq!(world.rows(&format!("/runs?NextPartitionKey={next}")).await, ["1", "2", "é-x"]);
    assert_eq!(world.rows(&format!("/runs?NextPartitionKey={next}&NextRowKey=")).await, ["1", "2", "é-x"]);
}

#[tokio::test]
async fn a_page_has_a_thousand_entities() {
    let world = World::new().await;
    for from in (0..1001).step_by(100) {
        let rows = (from..1001.min(from + 100)).map(|row| {
            format!("--c\nContent-Type: application/http\n\nPOST /runs HTTP/1.1\n\n{{\"PartitionKey\":\"p\",\"RowKey\":\"{row:04}\"}}\n")
        });
        let rows: String = rows.collect();
        let body = format!("--b\nContent-Type: multipart/mixed; boundary=c\n\n{rows}--c--\n--b--\n");
        let call = Call::post("/$batch", body).header("Content-Type", "multipart/mixed; boundary=b");
        world.answered(202, call).await;
    }
    let reply = world.answered(200, Call::get("/runs")).await;
    assert_eq!(row_keys(&reply.json().unwrap()).len(), 1000);
    assert!(reply.header("x-ms-continuation-nextpartitionkey").is_some());
}

#[tokio::test]
async fn what_a_query_cannot_be_is_refused() {
    let world = World::new().await;
    let refused = async |query: &str, status: u16, code: &str| {
        world.refused(Call::get(&format!("/runs?{query}")), status, code, "").await;
    };
    for filter in
        ["n%20eq", "eq%205", "n%20eq%20'x", "n%20=%205", "(n%20eq%205", "n%20eq%205)", "n%20eq%20guid'5'"]
    {
        refused(&format!("$filter={filter}"), 400, "InvalidInput").await;
    }
    refused("$filter=startswith(n,'a')", 501, "NotImplemented").await;
    refused("$orderby=n", 501, "NotImplemented").await;
    refused("$skip=1", 501, "NotImplemented").await;
    for top in ["0", "-1", "1001", "x"] {
        refused(&format!("$top={top}"), 400, "InvalidInput").await;
    }
    refused("NextPartitionKey=p&NextRowKey=r", 400, "InvalidInput").await;
    refused("$format=atom", 415, "AtomFormatNotSupported").await;
    let atom = Call::get("/runs").header("Accept", "application/atom+xml,application/xml");
    world.refused(atom, 415, "AtomFormatNotSupported", "Atom format is not supported.").await;
    assert_eq!(world.json(Call::get("/runs")).await["value"], json!([]));
}
