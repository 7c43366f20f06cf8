//! Keys and shared access signatures: what each opens, and nothing else.

use crate::call::{Call, key};
use crate::world::World;
use orrery_api_common::Key;
use orrery_protocol::storage::DEVELOPMENT_ACCOUNT;
use orrery_protocol::storage::sas::Fields;

const MESSAGES: &str = "/turns/messages";

fn fields(permissions: &str) -> Fields {
    let some = |text: &str| Some(text.to_owned());
    Fields {
        sv: some("2026-10-06"),
        sp: some(permissions),
        se: some("2027-01-15T09:00:00Z"),
        ..Fields::default()
    }
}

fn queue_token(permissions: &str) -> String {
    fields(permissions).queue_token(DEVELOPMENT_ACCOUNT, "turns", &key())
}

fn account_token(permissions: &str, levels: &str) -> String {
    let some = |text: &str| Some(text.to_owned());
    Fields { ss: some("q"), srt: some(levels), ..fields(permissions) }
        .account_token(DEVELOPMENT_ACCOUNT, &key())
}

/// One request of each kind, and the permission of a service signature that opens it.
fn calls() -> Vec<(&'static str, Call)> {
    let one =
        "/turns/messages/00000000-0000-8000-8000-000000000000?popreceipt=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    vec![
        ("r", Call::get("/turns?comp=metadata")),
        ("r", Call::get("/turns/messages?peekonly=true")),
        ("a", Call::send(MESSAGES, "a")),
        ("p", Call::get(MESSAGES)),
        ("p", Call::delete(one)),
        ("u", Call::put(&format!("{one}&visibilitytimeout=0"))),
        ("", Call::put("/turns")),
        ("", Call::delete(MESSAGES)),
        ("", Call::put("/turns?comp=metadata")),
        ("", Call::get("/turns?comp=acl")),
        ("", Call::put("/turns?comp=acl")),
        ("", Call::get("?comp=list")),
        ("", Call::get("?restype=service&comp=properties")),
    ]
}

#[tokio::test]
async fn a_signature_of_a_queue_opens_what_its_permissions_say() {
    let world = World::new().await;
    for (needed, call) in calls() {
        for permissions in ["r", "a", "u", "p", "raup"] {
            let is_open = !needed.is_empty() && permissions.contains(needed);
            let reply = world.call(&call.clone().token(&queue_token(permissions))).await;
            // The message of the calls is not there; whoever may not touch it is not told.
            assert_eq!(
                reply.status != 403,
                is_open,
                "{permissions}: {}",
                String::from_utf8_lossy(&reply.body)
            );
        }
    }
}

#[tokio::test]
async fn a_signature_of_an_account_is_for_levels_and_permissions() {
    let world = World::new().await;
    let open = async |call: Call, permissions: &str, levels: &str| {
        world.call(&call.token(&account_token(permissions, levels))).await.status < 400
    };
    assert!(open(Call::get("?comp=list"), "l", "s").await);
    assert!(
        !open(Call::get("?comp=list"), "l", "co").await && !open(Call::get("?comp=list"), "r", "s").await
    );
    assert!(open(Call::put("/orders"), "c", "c").await && open(Call::put("/orders-2"), "w", "c").await);
    assert!(!open(Call::put("/orders-3"), "rdaup", "sco").await);
    assert!(open(Call::send(MESSAGES, "a"), "a", "o").await && open(Call::get(MESSAGES), "p", "o").await);
    assert!(
        !open(Call::delete(MESSAGES), "rwacup", "o").await && open(Call::delete(MESSAGES), "d", "o").await
    );
    assert!(!open(Call::get("/turns?comp=acl"), "rwdlacup", "sco").await, "policies are for keys and roles");
    assert!(open(Call::delete("/orders"), "d", "c").await);
}

#[tokio::test]
async fn a_forged_or_expired_signature_opens_nothing() {
    let world = World::new().await;
    let refused = async |token: &str| {
        world.refused(Call::get(MESSAGES).token(token), 403, "AuthenticationFailed").await;
    };
    let other = Key::parse("b3RoZXI=").unwrap();
    refused(&fields("raup").queue_token(DEVELOPMENT_ACCOUNT, "turns", &other)).await;
    refused(&fields("raup").queue_token(DEVELOPMENT_ACCOUNT, "other", &key())).await;
    refused(&queue_token("r").replace("sp=r", "sp=raup")).await;
    let good = queue_token("p");
    world.answered(200, Call::get(MESSAGES).token(&good)).await;
    world.advance(3601);
    refused(&good).await;
}

#[tokio::test]
async fn a_stored_policy_says_what_the_signature_leaves_open_until_it_is_changed() {
    let world = World::new().await;
    let policies = |permission: &str| {
        let policy = format!("<Expiry>2027-01-16</Expiry><Permission>{permission}</Permission>");
        let policy = format!("<Id>p</Id><AccessPolicy>{policy}</AccessPolicy>");
        let body =
            format!("<SignedIdentifiers><SignedIdentifier>{policy}</SignedIdentifier></SignedIdentifiers>");
        Call::put("/turns?comp=acl").body(body)
    };
    let some = |text: &str| Some(text.to_owned());
    let token = Fields { sv: some("2026-10-06"), si: some("p"), ..Fields::default() };
    let token = token.queue_token(DEVELOPMENT_ACCOUNT, "turns", &key());
    world.refused(Call::get(MESSAGES).token(&token), 403, "AuthenticationFailed").await;
    world.answered(204, policies("rp")).await;
    world.answered(200, Call::get(MESSAGES).token(&token)).await;
    world.answered(204, policies("r")).await;
    world.refused(Call::get(MESSAGES).token(&token), 403, "AuthorizationPermissionMismatch").await;
}

#[tokio::test]
async fn a_request_without_a_good_signature_is_refused() {
    let world = World::new().await;
    let call = || Call::get(MESSAGES);
    world.refused(call().signed_with(Key::parse("b3RoZXI=").unwrap()), 403, "AuthenticationFailed").await;
    world.refused(call().date("Fri, 15 Jan 2027 07:44:59 GMT"), 403, "AuthenticationFailed").await;
    let nobody = world.answered(401, call().unsigned()).await;
    assert_eq!(nobody.header("x-ms-error-code"), Some("NoAuthenticationInformation"));
    assert!(nobody.header("www-authenticate").unwrap().starts_with("Bearer authorization_uri="));
    // With the key of one account, nothing of another.
    let elsewhere = call().account("other").signed_with(key());
    world.refused(elsewhere, 403, "AuthenticationFailed").await;
}
