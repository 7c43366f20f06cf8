//! Who is let in with a key, and who is not.

use crate::call::{Call, KEY, sign};
use crate::world::World;

#[tokio::test]
async fn both_schemes_open_everything_however_a_path_is_escaped() {
    let world = World::new().await;
    world.answered(200, Call::get("/runs()?$filter=PartitionKey%20eq%20'a'")).await;
    world.answered(200, Call::get("/runs()?$filter=PartitionKey%20eq%20'a'").lite()).await;
    world.answered(200, Call::get("/runs?comp=acl").lite()).await;
    world.insert("o'clock", "é %", "").await;
    for target in [
        "/runs(PartitionKey='o%27%27clock',RowKey='%C3%A9%20%25')",
        "/runs(PartitionKey='o''clock',RowKey='%c3%a9%20%25')",
    ] {
        world.answered(200, Call::get(target)).await;
        world.answered(200, Call::get(target).lite()).await;
    }
}

#[tokio::test]
async fn a_signature_that_is_not_the_accounts_is_refused() {
    let world = World::new().await;
    let forged = Call::get("/runs").signed_with("Zm9yZ2Vk");
    world.refused(forged, 403, "AuthenticationFailed", "Server failed to authenticate the request.").await;
    let elsewhere = format!("SharedKeyLite devstoreaccount1:{}", sign(KEY, "another text"));
    world.refused(Call::get("/runs").authorization(&elsewhere), 403, "AuthenticationFailed", "").await;
    // Before 2019-12-12 nobody was told that there is something.
    world.refused(Call::get("/runs").unsigned(), 404, "ResourceNotFound", "").await;
    let nobody = world.call(&Call::get("/runs").unsigned().version("2019-12-12")).await;
    assert_eq!((nobody.status, nobody.header("x-ms-error-code")), (401, Some("NoAuthenticationInformation")));
    assert!(nobody.header("www-authenticate").unwrap().contains("authorization_uri"));
    world.refused(Call::get("/runs").account("nobody"), 404, "ResourceNotFound", "").await;
}
