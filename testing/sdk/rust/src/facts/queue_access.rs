//! Who may use queues: stored policies, shared access signatures, bearer tokens, user delegation.

use super::{Outcome, facts};
use crate::cosmos::{Cosmos, fresh};
use crate::queues::{
    ACCOUNT, Queues, Signature, account_signature, code, create, hence, in_hours, name, peeked, query,
    receive, receive_one, refused, send,
};
use azure_core::base64;
use azure_core::credentials::Secret;
use azure_core::hmac::hmac_sha256;
use azure_core::time::to_rfc3339;
use azure_storage_queue::QueueClient;
use azure_storage_queue::models::{AccessPolicy, KeyInfo, SignedIdentifier, SignedIdentifiers};

/// 64 zero bytes, which is a well-formed key and nobody's.
const WRONG_KEY: &str =
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==";

facts! { Running:
    "queues.access.policies" => policies_are_kept_replaced_and_cleared,
    "queues.access.queue_sas" => a_signature_allows_what_it_names_and_nothing_else,
    "queues.access.sas_policy" => a_signature_of_a_policy_goes_with_the_policy,
    "queues.access.sas_refused" => a_signature_that_is_over_early_or_forged_is_refused,
    "queues.access.account_sas" => a_signature_of_the_account_allows_what_it_names_and_nothing_else,
    "queues.access.bearer" => a_role_allows_what_it_is_for,
    "queues.access.delegation" => a_user_signs_by_a_key_of_the_service,
}

fn mismatch() -> (u16, String) {
    code(403, "AuthorizationPermissionMismatch")
}

fn failed() -> (u16, String) {
    code(403, "AuthenticationFailed")
}

/// The queue as its owner sees it: no signature opens the policies of a queue.
fn owned(
    queues: &Queues,
    queue: &QueueClient,
) -> Result<QueueClient, Box<dyn std::error::Error + Send + Sync>> {
    Ok(queues.service_as("Owner")?.queue_client(&name(queue))?)
}

fn policies(count: usize, permission: &str, hours: i64) -> SignedIdentifiers {
    let policy = |number: usize| SignedIdentifier {
        id: Some(format!("p{number}")),
        access_policy: Some(AccessPolicy {
            start: Some(in_hours(-2)),
            expiry: Some(in_hours(hours)),
            permission: Some(permission.to_owned()),
        }),
    };
    SignedIdentifiers { items: Some((0..count).map(policy).collect()) }
}

async fn policies_are_kept_replaced_and_cleared(cosmos: Cosmos) -> Outcome {
    let queues = Queues::of(&cosmos);
    let queue = owned(&queues, &queues.queue().await?)?;
    queue.set_access_policy(policies(5, "raup", 1).try_into()?, None).await?;
    let found = queue.get_access_policy(None).await?.into_model()?.items.unwrap_or_default();
    assert_eq!(found.len(), 5);
    let policy = found[0].access_policy.clone().ok_or("no policy")?;
    assert_eq!((found[0].id.as_deref(), policy.permission.as_deref()), (Some("p0"), Some("raup")));
    assert!(policy.start.is_some() && policy.expiry > policy.start);
    let six = queue.set_access_policy(policies(6, "r", 1).try_into()?, None).await;
    assert_eq!(refused(six), code(400, "InvalidXmlDocument"));
    queue.set_access_policy(SignedIdentifiers { items: None }.try_into()?, None).await?;
    assert!(queue.get_access_policy(None).await?.into_model()?.items.is_none());
    Ok(())
}

async fn a_signature_allows_what_it_names_and_nothing_else(cosmos: Cosmos) -> Outcome {
    let queues = Queues::of(&cosmos);
    let queue = queues.queue().await?;
    let expiry = hence(1);
    let with = |permissions| {
        queues.shared(&queue, &Signature { permissions, expiry: &expiry, ..Default::default() })
    };
    let (adder, reader, processor, updater) = (with("a")?, with("r")?, with("p")?, with("u")?);
    send(&adder, "moon", None).await?;
    assert_eq!(refused(peeked(&adder).await), mismatch());
    assert_eq!(peeked(&reader).await?, ["moon"]);
    assert_eq!(refused(send(&reader, "x", None).await), mismatch());
    assert_eq!(refused(receive(&reader, 1, 30).await), mismatch());
    let (id, receipt, _) = receive_one(&processor, 30).await?;
    assert_eq!(refused(processor.update_message(&id, &receipt, 0, None).await), mismatch());
    updater.update_message(&id, &receipt, 0, None).await?;
    let (id, receipt, _) = receive_one(&processor, 30).await?;
    assert_eq!(refused(reader.delete_message(&id, &receipt, None).await), mismatch());
    processor.delete_message(&id, &receipt, None).await?;
    Ok(())
}

async fn a_signature_of_a_policy_goes_with_the_policy(cosmos: Cosmos) -> Outcome {
    let queues = Queues::of(&cosmos);
    let queue = queues.filled(&["moon"]).await?;
    let owned = owned(&queues, &queue)?;
    owned.set_access_policy(policies(1, "r", 1).try_into()?, None).await?;
    let mine = queues.shared(&queue, &Signature { policy: "p0", ..Default::default() })?;
    assert_eq!(peeked(&mine).await?, ["moon"]);
    assert_eq!(refused(send(&mine, "x", None).await), mismatch());
    owned.set_access_policy(policies(1, "r", -1).try_into()?, None).await?;
    assert_eq!(refused(peeked(&mine).await).0, 403);
    owned.set_access_policy(SignedIdentifiers { items: None }.try_into()?, None).await?;
    assert_eq!(refused(peeked(&mine).await).0, 403);
    Ok(())
}

async fn a_signature_that_is_over_early_or_forged_is_refused(cosmos: Cosmos) -> Outcome {
    let queues = Queues::of(&cosmos);
    let queue = queues.filled(&["moon"]).await?;
    let (before, soon, later) = (hence(-1), hence(1), hence(2));
    let reading = Signature { permissions: "r", expiry: &soon, ..Default::default() };
    let over = Signature { permissions: "r", expiry: &before, ..Default::default() };
    assert_eq!(refused(peeked(&queues.shared(&queue, &over)?).await), failed());
    let early = Signature { permissions: "r", start: &soon, expiry: &later, ..Default::default() };
    assert_eq!(refused(peeked(&queues.shared(&queue, &early)?).await), failed());
    assert_eq!(refused(peeked(&queues.signed(&queue, &reading, WRONG_KEY)?).await), failed());
    let secure = queues.shared(&queue, &Signature { protocol: "https", ..reading })?;
    if cosmos.is_secure() {
        assert_eq!(peeked(&secure).await?, ["moon"]);
    } else {
        assert_eq!(refused(peeked(&secure).await), code(403, "AuthorizationProtocolMismatch"));
    }
    Ok(())
}

async fn a_signature_of_the_account_allows_what_it_names_and_nothing_else(cosmos: Cosmos) -> Outcome {
    let queues = Queues::of(&cosmos);
    let queue = queues.filled(&["moon"]).await?;
    let with =
        |permissions, levels| queues.with_query(&name(&queue), &account_signature(permissions, levels)?);
    let reader = with("r", "sco")?;
    assert_eq!(peeked(&reader).await?, ["moon"]);
    assert_eq!(refused(send(&reader, "x", None).await), mismatch());
    let services = with("r", "s")?;
    assert_eq!(refused(peeked(&services).await), code(403, "AuthorizationResourceTypeMismatch"));
    Ok(())
}

async fn a_role_allows_what_it_is_for(cosmos: Cosmos) -> Outcome {
    let queues = Queues::of(&cosmos);
    let queue = queues.filled(&["moon"]).await?;
    let reader = queues.service_as("Storage Queue Data Reader")?.queue_client(&name(&queue))?;
    assert_eq!(peeked(&reader).await?, ["moon"]);
    assert_eq!(refused(send(&reader, "x", None).await), mismatch());
    let sender = queues.service_as("Storage Queue Data Message Sender")?.queue_client(&name(&queue))?;
    send(&sender, "sun", None).await?;
    assert_eq!(refused(peeked(&sender).await), mismatch());
    let processor = queues.service_as("Storage Queue Data Message Processor")?.queue_client(&name(&queue))?;
    let (id, receipt, _) = receive_one(&processor, 30).await?;
    processor.delete_message(&id, &receipt, None).await?;
    let contributor = queues.service_as("Storage Queue Data Contributor")?.queue_client(&fresh("queue"))?;
    create(&contributor, &[]).await?;
    contributor.delete(None).await?;
    Ok(())
}

async fn a_user_signs_by_a_key_of_the_service(cosmos: Cosmos) -> Outcome {
    let queues = Queues::of(&cosmos);
    let queue = queues.filled(&["moon"]).await?;
    let asked = KeyInfo { start: Some(in_hours(-1)), expiry: Some(in_hours(1)), delegated_user_tid: None };
    let service = queues.service_as("Storage Queue Data Contributor")?;
    let key = service.get_user_delegation_key(asked.try_into()?, None).await?.into_model()?;
    let (oid, tid) = (key.signed_oid.ok_or("no object id")?, key.signed_tid.ok_or("no tenant")?);
    let (from, to) = (key.signed_start.ok_or("no start")?, key.signed_expiry.ok_or("no expiry")?);
    let (from, to, expiry) = (to_rfc3339(&from), to_rfc3339(&to), hence(1));
    let version = key.signed_version.ok_or("no version")?;
    let resource = format!("/queue/{ACCOUNT}/{}", name(&queue));
    let text =
        ["r", "", &expiry, &resource, &oid, &tid, &from, &to, "q", &version, "", "", "", "", "2026-02-06"]
            .join("\n");
    let sig = hmac_sha256(&text, &Secret::new(base64::encode(key.value.ok_or("no key")?)))?;
    let parameters = [
        ("sp", "r"),
        ("se", expiry.as_str()),
        ("skoid", &oid),
        ("sktid", &tid),
        ("skt", &from),
        ("ske", &to),
        ("sks", "q"),
        ("skv", &version),
        ("sv", "2026-02-06"),
        ("sig", &sig),
    ];
    let mine = queues.with_query(&name(&queue), &query(parameters))?;
    assert_eq!(peeked(&mine).await?, ["moon"]);
    assert_eq!(refused(send(&mine, "x", None).await), mismatch());
    Ok(())
}
