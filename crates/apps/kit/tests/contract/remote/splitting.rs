//! Containers of several ranges, and ranges that split under a reader.

use crate::fixture::{Connection, ITEMS, OWN, item, query, remote};
use crate::server::Server;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hmac::{Hmac, Mac as _};
use orrery_core::Env;
use orrery_kit::http::Tls;
use orrery_kit::ports::documents::{Credential, Cursor, Documents, Query, Write};
use orrery_kit::service_container;
use orrery_testing_client::{Client, EMULATOR_KEY, Method, Request};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use sha2::Sha256;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::Duration;

const ITEMS_COUNT: usize = 120;

struct Fixture {
    documents: Documents,
    client: Client,
    server: Server,
}

impl Fixture {
    /// A container of three ranges, with items in forty partitions.
    async fn open() -> Self {
        let server = Server::start(&[]);
        let key = Credential::Key(EMULATOR_KEY.to_owned());
        let documents = Documents::Remote(remote(&server, Connection::HttpKey, "d", key));
        documents.ensure(&[service_container(OWN)]).await.unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], server.port));
        let mut client = Client::new(address, Env::system().unwrap());
        let body = json!({"id": ITEMS, "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}});
        let create = Request::new(Method::Post, "dbs/d/colls").body(body.to_string());
        let made = client.call(&create.header("x-ms-offer-throughput", "18000")).await.unwrap();
        assert_eq!(made.status, 201, "{:?}", made.json());
        for n in 0..ITEMS_COUNT {
            let (partition, id) = (format!("p{}", n % 40), format!("i{n}"));
            let write = Write::Create(item(&partition, &id, n as i64));
            documents.write(ITEMS, &partition, write).await.unwrap();
        }
        Self { documents, client, server }
    }

    async fn ranges(&mut self) -> usize {
        let reply =
            self.client.call(&Request::new(Method::Get, format!("dbs/d/colls/{ITEMS}/pkranges"))).await;
        reply.unwrap().json().unwrap()["PartitionKeyRanges"].as_array().unwrap().len()
    }

    /// Raises the throughput, which splits ranges.
    async fn split(&mut self) {
        let before = self.ranges().await;
        let found = self.client.call(&Request::new(Method::Get, "offers")).await.unwrap().json().unwrap();
        let is_of_items = |offer: &&Value| offer["content"]["offerThroughput"] == 18000;
        let mut offer = found["Offers"].as_array().unwrap().iter().find(is_of_items).unwrap().clone();
        offer["content"]["offerThroughput"] = 60000.into();
        put_offer(self.server.port, &offer).await;
        assert!(self.ranges().await > before);
    }
}

/// An offer's signature covers only its lower-case rid, unlike all other resources.
async fn put_offer(port: u16, offer: &Value) {
    let (rid, date) = (offer["_rid"].as_str().unwrap(), Env::system().unwrap().now().to_http());
    let lines = format!("put\noffers\n{}\n{}\n\n", rid.to_lowercase(), date.to_lowercase());
    let key = STANDARD.decode(EMULATOR_KEY).unwrap();
    let mac = Hmac::<Sha256>::new_from_slice(&key).unwrap().chain_update(lines).finalize();
    let token = format!("type=master&ver=1.0&sig={}", STANDARD.encode(mac.into_bytes()));
    let request = http::Request::put(format!("http://127.0.0.1:{port}/offers/{rid}"))
        .header("authorization", utf8_percent_encode(&token, NON_ALPHANUMERIC).to_string())
        .header("x-ms-date", date)
        .header("x-ms-version", "2020-07-15")
        .body(Bytes::from(offer.to_string()))
        .unwrap();
    let client = orrery_kit::http::Client::new(Tls::default()).unwrap();
    let answer = client.send(request, Duration::from_secs(30), 1 << 20).await.unwrap();
    assert_eq!(answer.status(), 200, "{:?}", answer.body());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_goes_through_every_range_and_through_a_split() {
    let mut fixture = Fixture::open().await;
    assert_eq!(fixture.ranges().await, 3);
    for splits in [false, true] {
        let (mut asked, mut ids, mut pages) = (query("SELECT VALUE c.id FROM c", 7), Vec::new(), 0);
        loop {
            let page = fixture.documents.query(ITEMS, None, &asked).await.unwrap();
            ids.extend(page.rows.iter().map(|id| id.as_str().unwrap().to_owned()));
            pages += 1;
            if splits && pages == 2 {
                fixture.split().await;
            }
            let Some(continuation) = page.continuation else { break };
            asked = Query { continuation: Some(continuation), ..asked };
        }
        assert_eq!(ids.len(), ITEMS_COUNT, "splits: {splits}");
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ITEMS_COUNT);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn merged_rows_cover_every_range_before_and_after_a_split() {
    let mut fixture = Fixture::open().await;
    let key = Credential::Key(EMULATOR_KEY.to_owned());
    let documents = Documents::Remote(remote(&fixture.server, Connection::HttpMerging, "d", key));
    let rows = async |text: &str| documents.query(ITEMS, None, &query(text, 0)).await.unwrap().rows;
    let first: Vec<usize> = (0..ITEMS_COUNT).rev().take(5).collect();
    for splits in [false, true] {
        if splits {
            fixture.split().await;
            // The adapter still caches the old ranges: the store reports that they are gone, and it
            // reads them again.
            let outcome = documents.query(ITEMS, None, &query("SELECT VALUE COUNT(1) FROM c", 0)).await;
            assert!(outcome.is_ok_and(|page| page.rows == [ITEMS_COUNT]));
        }
        assert_eq!(rows("SELECT VALUE SUM(c.n) FROM c").await, [ITEMS_COUNT * (ITEMS_COUNT - 1) / 2]);
        assert_eq!(rows("SELECT TOP 5 VALUE c.n FROM c ORDER BY c.n DESC").await, first);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_feed_goes_through_every_range_and_through_a_split() {
    let mut fixture = Fixture::open().await;
    let (mut since, mut seen): (Option<Cursor>, Vec<String>) = (None, Vec::new());
    let mut pages = 0;
    loop {
        let page = fixture.documents.changes(ITEMS, None, since.as_ref(), 7).await.unwrap();
        seen.extend(page.items.iter().map(|item| item["id"].as_str().unwrap().to_owned()));
        pages += 1;
        if pages == 3 {
            fixture.split().await;
        }
        since = Some(page.next);
        if !page.has_more {
            break;
        }
    }
    assert_eq!(seen.len(), ITEMS_COUNT);
    assert_eq!(seen.iter().collect::<HashSet<_>>().len(), ITEMS_COUNT);
    for partition in ["p1", "p2", "p3"] {
        let write = Write::Create(item(partition, "new", 1));
        fixture.documents.write(ITEMS, partition, write).await.unwrap();
    }
    let page = fixture.documents.changes(ITEMS, None, since.as_ref(), 100).await.unwrap();
    assert_eq!(page.items.len(), 3);
}
