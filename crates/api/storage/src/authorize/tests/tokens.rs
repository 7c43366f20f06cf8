//! Bearer tokens, and the roles of whom they name.

use super::*;
use crate::testing::NOW;
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
    let (_, key) = issued.fixture.storage.delegation_key(ACCOUNT, &fields);
    let draft = with_token(Service::Queue, "/q", &fields.delegation_queue_token(ACCOUNT, "q", &key));
    let need = need(Service::Queue, "q", &["r"]);
    assert_eq!(code(ask(&issued.fixture, &draft, &need)), "NoAuthenticationInformation");
    for (user, expected) in [("somebody", ""), ("another", "AuthenticationFailed")] {
        let token = issued.token(user, "https://storage.azure.com", &[]);
        let draft = draft.clone().with("authorization", &format!("Bearer {token}"));
        assert_eq!(code(ask(&issued.fixture, &draft, &need)), expected);
    }
}
