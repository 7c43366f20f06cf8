//! Bearer tokens: what the data roles of tables open, and where.

use crate::call::Call;
use crate::world::World;
use orrery_api_common::bearer::{Bearers, DevelopmentKey, Grant, Issuer, Mint};
use std::sync::Arc;
use std::time::Duration;

const AUDIENCE: &str = "https://storage.azure.com";
const AT: &str = "/runs(PartitionKey='p',RowKey='r')";
const MISMATCH: &str = "AuthorizationPermissionMismatch";

struct Realm {
    world: World,
    key: DevelopmentKey,
}

impl Realm {
    async fn new() -> Self {
        let key = DevelopmentKey::read(&DevelopmentKey::make().unwrap()).unwrap();
        let bearers = Bearers::new(vec![Issuer::development(&key)], vec![AUDIENCE.to_owned()]);
        let world = World::with(|options| options.bearers = Some(Arc::new(bearers))).await;
        let world = world.with_tables().await;
        world.insert("p", "r", "").await;
        Self { world, key }
    }

    fn with(&self, role: &str, scope: &str) -> String {
        let grants = vec![Grant { role: role.to_owned(), scope: scope.to_owned() }];
        let lifetime = Duration::from_secs(3600);
        let mint = Mint { principal: "dev".into(), audience: AUDIENCE.into(), grants, lifetime };
        format!("Bearer {}", self.key.mint(&mint, self.world.env.now()).unwrap())
    }
}

fn batch(table: &str) -> Call {
    let part = format!("POST /{table} HTTP/1.1\n\n{{\"PartitionKey\":\"p\",\"RowKey\":\"batched\"}}\n");
    let part = format!("--c\nContent-Type: application/http\n\n{part}--c--\n");
    let body = format!("--b\nContent-Type: multipart/mixed; boundary=c\n\n{part}--b--\n");
    Call::post("/$batch", body).header("Content-Type", "multipart/mixed; boundary=b")
}

#[tokio::test]
async fn a_reader_reads_and_a_contributor_writes() {
    let realm = Realm::new().await;
    let (reader, contributor) =
        (realm.with("Storage Table Data Reader", "/"), realm.with("Storage Table Data Contributor", "/"));
    for call in [Call::get("/Tables"), Call::get("/runs"), Call::get(AT)] {
        realm.world.answered(200, call.authorization(&reader)).await;
    }
    let writes =
        [Call::put(AT, "{}"), Call::delete(AT).any(), Call::post("/Tables", r#"{"TableName":"made"}"#)];
    for call in writes {
        realm.world.refused(call.clone().authorization(&reader), 403, MISMATCH, "").await;
        let reply = realm.world.call(&call.authorization(&contributor)).await;
        assert!(matches!(reply.status, 201 | 204), "{}", reply.status);
    }
    realm.world.batch_refused(batch("runs").authorization(&reader), 403, MISMATCH, "0:").await;
    realm.world.answered(202, batch("runs").authorization(&contributor)).await;
    realm.world.answered(200, Call::get("/runs(PartitionKey='p',RowKey='batched')")).await;
}

#[tokio::test]
async fn a_role_over_one_table_opens_that_table_and_batches_on_it() {
    let realm = Realm::new().await;
    let role = realm.with("Storage Table Data Contributor", "/devstoreaccount1/runs");
    realm.world.answered(200, Call::get("/runs").authorization(&role)).await;
    realm.world.refused(Call::get("/Other").authorization(&role), 403, MISMATCH, "").await;
    realm.world.refused(Call::get("/Tables").authorization(&role), 403, MISMATCH, "").await;
    realm.world.answered(202, batch("runs").authorization(&role)).await;
    realm.world.answered(200, Call::get("/runs(PartitionKey='p',RowKey='batched')")).await;
    realm.world.refused(batch("Other").authorization(&role), 403, MISMATCH, "").await;
}
