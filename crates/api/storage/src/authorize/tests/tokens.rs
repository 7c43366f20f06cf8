//! Bearer tokens, and the roles of whom they name.

use super::*;
use crate::testing::NOW;
use crate::xml;
use orrery_api_common::bearer::{self, Bearers, DevelopmentKey, Issuer, Mint};
use std::sync::Arc;

struct Issued {
    fixture: Fixture,
    key: DevelopmentKey,
}

fn issued(assigned: Vec<(&'static str, &'static str)>) -> Issued {
    let key = DevelopmentKey::read(&DevelopmentKey::make().expect("a key")).expect("a key");
    let bearers = Arc::new(Bearers::new(vec![Issuer::development(&key)], vec![bearer::COSMOS.to_owned()]));
    let fixture = fixture_with(|options| {
        options.bearers = Some(bearers);
        options.assigned = Some(Arc::new(move |id: &str| {
            let own = assigned.iter().filter(|(principal, _)| *principal == id);
            own.map(|(_, role)| bearer::Grant { role: (*role).to_owned(), scope: "/".to_owned() }).collect()
        }));
    });
    Issued { fixture, key }
}

impl Issued {
    fn token(&self, principal: &str, audience: &str, grants: &[(&str, &str)]) -> String {
        let grants =
            grants.iter().map(|(role, scope)| bearer::Grant { role: (*role).into(), scope: (*scope).into() });
        let mint = Mint {
            principal: principal.to_owned(),
            audience: audience.to_owned(),
            grants: grants.collect(),
            lifetime: Duration::from_secs(600),
        };
        self.key.mint(&mint, NOW).expect("a token")
    }

    fn ask(&self, token: &str, need: &Need<'_>) -> Result<Grant, StorageError> {
        let draft =
            Draft::new(Service::Queue, "GET", "/q", "").with("authorization", &format!("Bearer {token}"));
        ask(&self.fixture, &draft, need)
    }
}

#[test]
fn a_token_for_storage_opens_what_its_roles_allow() {
    let issued = issued(vec![("assigned", "Storage Queue Data Reader")]);
    let read = need(Service::Queue, "q", &[]);
    let put = Need { action: Action::AddData, is_write: true, ..read.clone() };
    let get = Need { action: Action::ProcessMessages, is_write: true, ..read.clone() };
    let judged = |grants: &[(&str, &str)], need: &Need<'_>| {
        code(issued.ask(&issued.token("somebody", "https://storage.azure.com/", grants), need))
    };
    let denied = "AuthorizationPermissionMismatch";
    assert_eq!(judged(&[], &read), denied);
    assert_eq!(judged(&[("Storage Queue Data Reader", "/")], &read), "");
    assert_eq!(judged(&[("Storage Queue Data Reader", "/")], &put), denied);
    assert_eq!(judged(&[("Storage Table Data Contributor", "/")], &read), denied);
    assert_eq!(judged(&[("Storage Queue Data Message Sender", "/")], &put), "");
    assert_eq!(judged(&[("Storage Queue Data Message Sender", "/")], &get), denied);
    assert_eq!(judged(&[("Storage Queue Data Message Processor", "/")], &get), "");
    assert_eq!(judged(&[("contributor", "/devstoreaccount1")], &get), "");
    assert_eq!(judged(&[("contributor", "/devstoreaccount1/q")], &get), "");
    assert_eq!(judged(&[("contributor", "/devstoreaccount1/p")], &get), denied);
    assert_eq!(judged(&[("contributor", "/other")], &get), denied);
    let assigned = issued.token("assigned", "https://devstoreaccount1.queue.core.windows.net", &[]);
    assert_eq!((code(issued.ask(&assigned, &read)), code(issued.ask(&assigned, &put))), ("", denied));
}

#[test]
fn a_token_for_another_service_or_of_nobody_we_know_is_not_taken() {
    let issued = issued(Vec::new());
    let need = need(Service::Queue, "q", &[]);
    for token in
        [issued.token("somebody", bearer::COSMOS, &[("owner", "/")]), "a.b.c".to_owned(), String::new()]
    {
        let error = issued.ask(&token, &need).expect_err("not for us");
        assert_eq!((error.status.as_u16(), error.code), (401, "InvalidAuthenticationInfo"));
        assert!(error.challenge.is_some());
    }
    let without = fixture();
    let draft = Draft::new(Service::Queue, "GET", "/q", "").with("authorization", "Bearer a.b.c");
    assert_eq!(code(ask(&without, &draft, &need)), "InvalidAuthenticationInfo");
}

#[test]
fn a_signature_for_one_user_wants_that_users_token() {
    let issued = issued(Vec::new());
    let fields = Fields { sduoid: field("somebody"), ..delegated("r") };
    let (_, key) = user_delegation_key::derive(&issued.fixture.storage, ACCOUNT, Role::Reader, &fields);
    let draft = with_token(Service::Queue, "/q", &fields.delegation_queue_token(ACCOUNT, "q", &key));
    let need = need(Service::Queue, "q", &["r"]);
    assert_eq!(code(ask(&issued.fixture, &draft, &need)), "NoAuthenticationInformation");
    for (user, expected) in [("somebody", ""), ("another", "AuthenticationFailed")] {
        let token = issued.token(user, "https://storage.azure.com", &[]);
        let draft = draft.clone().with("authorization", &format!("Bearer {token}"));
        assert_eq!(code(ask(&issued.fixture, &draft, &need)), expected);
    }
}

fn issue(issued: &Issued, role: &str, info: &str) -> Result<xml::Element, &'static str> {
    let token = issued.token("somebody", "https://storage.azure.com", &[(role, "/")]);
    let draft = Draft::new(Service::Queue, "POST", "", "restype=service&comp=userdelegationkey")
        .with("authorization", &format!("Bearer {token}"));
    let storage = &issued.fixture.storage;
    let need = Need {
        level: Level::Service,
        resource: Resource::Account,
        account: &[],
        service: &[],
        action: Action::DelegationKey,
        is_write: false,
    };
    let grant = ask(&issued.fixture, &draft, &need).map_err(|error| error.code)?;
    let request = draft.read(storage).1.expect("a request");
    let body = format!("<KeyInfo>{info}</KeyInfo>");
    let answer = user_delegation_key::issue(storage, &request, &grant, body.as_bytes());
    answer.map(|answer| xml::read(&answer).expect("XML")).map_err(|error| error.code)
}

const KEY_INFO: &str = "<Start>2026-11-15T01:00:00Z</Start><Expiry>2026-11-16T01:00:00Z</Expiry>";

#[test]
fn a_user_signs_with_an_issued_key_for_what_their_role_allows() {
    let issued = issued(Vec::new());
    let judged = |role: &str, permission: &str, need: Need<'_>| {
        let given = issue(&issued, role, KEY_INFO).expect("a key");
        let said = |name: &str| given.text_of(name).map(str::to_owned);
        let fields = Fields {
            skoid: said("SignedOid"),
            sktid: said("SignedTid"),
            skt: said("SignedStart"),
            ske: said("SignedExpiry"),
            sks: said("SignedService"),
            skv: said("SignedVersion"),
            ..delegated(permission)
        };
        let key = Key::parse(given.required("Value").expect("a value")).expect("a key");
        let draft = with_token(Service::Queue, "/q", &fields.delegation_queue_token(ACCOUNT, "q", &key));
        code(ask(&issued.fixture, &draft, &need))
    };
    let read = || need(Service::Queue, "q", &["r"]);
    let put = || Need { action: Action::AddData, ..need(Service::Queue, "q", &["a"]) };
    assert_eq!(judged("Storage Queue Data Reader", "r", read()), "");
    assert_eq!(judged("Storage Queue Data Reader", "a", put()), "AuthorizationPermissionMismatch");
    assert_eq!(judged("Storage Queue Data Contributor", "a", put()), "");
    assert_eq!(judged("Storage Queue Data Contributor", "r", put()), "AuthorizationPermissionMismatch");
}

#[test]
fn a_key_for_delegation_is_valid_for_a_week_at_most_and_given_to_data_roles_only() {
    let issued = issued(Vec::new());
    let refused = |role: &str, info: &str| issue(&issued, role, info).map(drop);
    let reader = "Storage Queue Data Reader";
    assert_eq!(refused(reader, KEY_INFO), Ok(()));
    assert_eq!(refused(reader, "<Expiry>2026-11-22T01:02:43Z</Expiry>"), Ok(()));
    assert_eq!(refused(reader, "<Expiry>2026-11-22T01:02:44Z</Expiry>"), Err("InvalidXmlNodeValue"));
    assert_eq!(refused(reader, "<Expiry>2026-11-14T01:00:00Z</Expiry>"), Err("InvalidXmlNodeValue"));
    assert_eq!(refused(reader, "<Expiry>tomorrow</Expiry>"), Err("InvalidXmlNodeValue"));
    assert!(refused(reader, "").is_err());
    let sender = "Storage Queue Data Message Sender";
    assert_eq!(refused(sender, KEY_INFO), Err("AuthorizationPermissionMismatch"));
}
