//! Who gets in and who does not, in the order of the checks and with the service's codes.

mod properties;
mod tokens;

use super::*;
use crate::testing::{DATE, Draft, Fixture, NOW, fixture, fixture_with, key};
use crate::user_delegation_key;
use orrery_api_common::Key;
use orrery_catalog::storage::{AccessPolicy, PolicyTime};
use orrery_protocol::storage::sas::{Fields, SignedRequest};
use orrery_protocol::storage::shared_key::{Message, authorization};
use orrery_protocol::storage::{DEVELOPMENT_ACCOUNT, Query, Service, format_time_seconds};
use std::time::Duration;

const ACCOUNT: &str = DEVELOPMENT_ACCOUNT;
const END: &str = "2026-11-16T00:00:00Z";
const SV: &str = "2026-10-06";

fn need<'a>(service: Service, name: &'a str, letters: Letters) -> Need<'a> {
    let resource = match service {
        Service::Queue => Resource::Queue(name),
        Service::Table => Resource::Table(name),
        Service::Blob => match name.split_once('/') {
            Some((container, name)) => Resource::Blob { container, name, moment: None },
            None => Resource::Container(name),
        },
    };
    let (action, level) = (Action::ReadData, Level::Object);
    Need { level, resource, account: letters, service: letters, action, is_write: false }
}

fn no_policies(_: &str, _: &str) -> Result<Option<AccessPolicy>, StorageError> {
    Ok(None)
}

fn ask_with(
    fixture: &Fixture,
    draft: &Draft,
    need: &Need<'_>,
    rules: &dyn Rules,
) -> Result<Grant, StorageError> {
    let request = draft.read(&fixture.storage).1?;
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(fixture.storage.authorize(&request, need, rules))
}

fn ask(fixture: &Fixture, draft: &Draft, need: &Need<'_>) -> Result<Grant, StorageError> {
    ask_with(fixture, draft, need, &no_policies)
}

fn code<T>(result: Result<T, StorageError>) -> &'static str {
    result.err().map_or("", |error| error.code)
}

fn field(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn fields(letters: &str) -> Fields {
    Fields { sv: field(SV), sp: field(letters), se: field(END), ..Fields::default() }
}

fn account_fields(letters: &str) -> Fields {
    Fields { ss: field("bqt"), srt: field("sco"), ..fields(letters) }
}

fn with_token(service: Service, path: &str, token: &str) -> Draft {
    Draft::new(service, "GET", path, token)
}

#[test]
fn either_key_of_the_account_opens_everything_in_both_forms() {
    let fixture = fixture();
    let own = fixture.storage.accounts().find(ACCOUNT).expect("an account");
    let keys = [key(), Key::parse(&own.key2).expect("a key")];
    for (service, form) in
        Service::ALL.into_iter().flat_map(|service| [(service, Form::Full), (service, Form::Lite)])
    {
        for key in &keys {
            let draft = Draft::new(service, "PUT", "/a%20b", "comp=acl&x=%27")
                .with("x-ms-meta-A", "1")
                .signed(form, key);
            let grant = ask(&fixture, &draft, &need(service, "a b", &[])).expect("granted");
            assert!(matches!(grant.caller, Caller::Key) && grant.table_range().is_none());
        }
        let other = Key::parse("YW5vdGhlciBrZXk=").expect("a key");
        let draft = Draft::new(service, "PUT", "/a", "").signed(form, &other);
        let error = ask(&fixture, &draft, &need(service, "a", &[])).expect_err("another's key");
        let detail = &error.details[0];
        assert_eq!(
            (error.code, error.status.as_u16(), detail.0),
            ("AuthenticationFailed", 403, "AuthenticationErrorDetail")
        );
        assert!(
            detail.1.contains("/devstoreaccount1/devstoreaccount1/a"),
            "it quotes what is signed: {}",
            detail.1
        );
    }
}

#[test]
fn a_refusal_has_no_key_and_no_signature_in_it() {
    let fixture = fixture();
    let secrets = ["c2VjcmV0", "https://h/c/b?sig=abc"];
    let draft = Draft::new(Service::Blob, "PUT", "/c/b", "")
        .with("x-ms-encryption-key", secrets[0])
        .with("x-ms-copy-source", secrets[1])
        .signed(Form::Full, &key());
    let changed = Draft { path: format!("/{ACCOUNT}/c/d"), ..draft };
    let error = ask(&fixture, &changed, &need(Service::Blob, "c/d", &[])).expect_err("changed");
    let text = format!("{error:?}");
    let sent = &changed.headers.iter().find(|(name, _)| name == "authorization").expect("signed").1;
    let signature = sent.split_once(':').expect("a signature").1;
    assert!(!text.contains(signature) && secrets.iter().all(|secret| !text.contains(secret)), "{text}");
    let token = account_fields("r").account_token(ACCOUNT, &Key::parse("b3RoZXI=").expect("a key"));
    let error = ask(&fixture, &with_token(Service::Blob, "/c", &token), &need(Service::Blob, "c", &["r"]));
    let text = format!("{:?}", error.expect_err("another's key"));
    let sig = token.rsplit_once("sig=").expect("signed").1;
    assert!(!text.contains(sig) && text.contains(SV), "{text}");
}

#[test]
fn a_request_is_dated_within_the_skew_of_our_clock() {
    let check = |skew_max: u64, date: &str, expected: &str| {
        let fixture = fixture_with(|options| options.skew_max = Duration::from_secs(skew_max));
        let query = Query::default();
        let headers = [("date", date)];
        let message = Message {
            service: Service::Queue,
            verb: "GET",
            account: ACCOUNT,
            path: "/devstoreaccount1/q",
            query: &query,
            headers: if date.is_empty() { &[] } else { &headers },
        };
        let value = authorization(&message, Form::Full, &key());
        let mut draft = Draft::new(Service::Queue, "GET", "/q", "").with("authorization", &value);
        if !date.is_empty() {
            draft = draft.with("date", date);
        }
        assert_eq!(code(ask(&fixture, &draft, &need(Service::Queue, "q", &[]))), expected, "{date}");
    };
    check(900, DATE, "");
    check(900, "Sun, 15 Nov 2026 01:17:43 GMT", "");
    check(900, "Sun, 15 Nov 2026 01:17:44 GMT", "AuthenticationFailed");
    check(900, "Sun, 15 Nov 2026 00:47:42 GMT", "AuthenticationFailed");
    check(1, "Sun, 15 Nov 2026 01:02:45 GMT", "AuthenticationFailed");
    check(900, "soon", "AuthenticationFailed");
    check(900, "", "AuthenticationFailed");
}

#[test]
fn the_account_of_the_url_has_to_be_the_one_that_signs() {
    let fixture = fixture();
    let draft = Draft::new(Service::Queue, "GET", "/q", "").signed(Form::Full, &key());
    let elsewhere = Draft { path: "/other/q".to_owned(), ..draft };
    assert_eq!(code(ask(&fixture, &elsewhere, &need(Service::Queue, "q", &[]))), "AuthenticationFailed");
}

#[test]
fn without_a_credential_clients_are_told_where_tokens_are_unless_the_resource_is_public() {
    struct Public;
    impl Rules for Public {
        fn policy(&self, _: &str, _: &str) -> Result<Option<AccessPolicy>, StorageError> {
            Ok(None)
        }
        fn is_public(&self) -> Result<bool, StorageError> {
            Ok(true)
        }
    }
    let fixture = fixture();
    let draft = Draft::new(Service::Blob, "GET", "/c/b", "");
    let need = need(Service::Blob, "c/b", &["r"]);
    let error = ask(&fixture, &draft, &need).expect_err("private");
    assert_eq!((error.status.as_u16(), error.code), (401, "NoAuthenticationInformation"));
    let challenge = error.challenge.expect("a challenge");
    assert_eq!(
        challenge.to_str().expect("text"),
        "Bearer authorization_uri=https://login.microsoftonline.com/common/oauth2/authorize \
         resource_id=https://storage.azure.com"
    );
    let old = draft.clone().with("x-ms-version", "2019-07-07");
    assert_eq!(code(ask(&fixture, &old, &need)), "ResourceNotFound");
    assert!(matches!(ask_with(&fixture, &draft, &need, &Public).expect("public").caller, Caller::Anonymous));
    let write = Need { is_write: true, ..need };
    assert_eq!(code(ask_with(&fixture, &draft, &write, &Public)), "AuthorizationPermissionMismatch");
}

#[test]
fn a_credential_of_no_known_form_or_two_at_once_are_refused() {
    let fixture = fixture();
    let need = need(Service::Queue, "q", &["r"]);
    for value in ["Basic abc", "SharedKey", "SharedKey abc", "", "type=master&ver=1.0&sig=abc"] {
        let draft = Draft::new(Service::Queue, "GET", "/q", "").with("authorization", value);
        assert_eq!(code(ask(&fixture, &draft, &need)), "InvalidAuthenticationInfo", "{value}");
    }
    let token = account_fields("r").account_token(ACCOUNT, &key());
    let both = with_token(Service::Queue, "/q", &token).signed(Form::Full, &key());
    assert_eq!(code(ask(&fixture, &both, &need)), "InvalidAuthenticationInfo");
    let draft = with_token(Service::Queue, "/q", "sv=2026-10-06&sp=r&sig=abc");
    assert_eq!(code(ask(&fixture, &draft, &need)), "AuthenticationFailed");
}

#[test]
fn an_account_signature_is_judged_in_the_order_of_the_service() {
    let fixture = fixture();
    let judged = |change: fn(&mut Fields), need: &Need<'_>| {
        let mut fields = account_fields("rl");
        change(&mut fields);
        let token = fields.account_token(ACCOUNT, &key());
        code(ask(&fixture, &with_token(Service::Queue, "/q", &token), need))
    };
    let read = need(Service::Queue, "q", &["r"]);
    assert_eq!(judged(|_| (), &read), "");
    assert_eq!(judged(|it| it.spr = field("https"), &read), "AuthorizationProtocolMismatch");
    assert_eq!(judged(|it| it.sip = field("10.0.0.1-10.0.0.9"), &read), "AuthorizationSourceIPMismatch");
    assert_eq!(judged(|it| it.se = field("2026-11-15T01:02:42Z"), &read), "AuthenticationFailed");
    assert_eq!(judged(|it| it.se = field("2026-11-15T01:02:43Z"), &read), "");
    assert_eq!(judged(|it| it.st = field("2026-11-15T01:02:44Z"), &read), "AuthenticationFailed");
    assert_eq!(judged(|it| it.se = None, &read), "AuthenticationFailed");
    assert_eq!(judged(|it| it.sp = None, &read), "AuthenticationFailed");
    assert_eq!(judged(|it| it.ss = field("bt"), &read), "AuthorizationServiceMismatch");
    assert_eq!(judged(|it| it.srt = field("sc"), &read), "AuthorizationResourceTypeMismatch");
    assert_eq!(judged(|_| (), &need(Service::Queue, "q", &["p"])), "AuthorizationPermissionMismatch");
    assert_eq!(judged(|_| (), &need(Service::Queue, "q", &["p", "l"])), "");
    assert_eq!(judged(|_| (), &need(Service::Queue, "q", &["rp"])), "AuthorizationPermissionMismatch");
    assert_eq!(judged(|_| (), &need(Service::Queue, "q", &[])), "AuthorizationFailure");
    // Of several faults the one that is looked for first is told.
    assert_eq!(judged(|it| (it.spr, it.se) = (field("https"), None), &read), "AuthorizationProtocolMismatch");
    assert_eq!(
        judged(|it| (it.ss, it.srt) = (field("b"), field("s")), &read),
        "AuthorizationServiceMismatch"
    );
}

#[test]
fn a_signature_of_one_queue_opens_no_other() {
    let fixture = fixture();
    let token = fields("p").queue_token(ACCOUNT, "q-1", &key());
    let at = |path: &str, name: &str, letters| {
        let draft = with_token(Service::Queue, path, &token);
        code(ask(&fixture, &draft, &need(Service::Queue, name, letters)))
    };
    assert_eq!(at("/q-1", "q-1", &["p"]), "");
    assert_eq!(at("/q-2", "q-2", &["p"]), "AuthenticationFailed");
    assert_eq!(at("/q-1", "q-1", &["a"]), "AuthorizationPermissionMismatch");
    assert_eq!(at("/q-1", "q-1", &[]), "AuthorizationFailure");
    let list = Need { resource: Resource::Account, ..need(Service::Queue, "", &[]) };
    assert_eq!(code(ask(&fixture, &with_token(Service::Queue, "/", &token), &list)), "AuthenticationFailed");
}

fn part_of_runs() -> Fields {
    Fields { tn: field("Runs"), spk: field("b"), srk: field("5"), epk: field("d"), ..fields("r") }
}

#[test]
fn a_signature_of_a_table_opens_its_part_of_it() {
    let fixture = fixture();
    let part = part_of_runs();
    let draft = with_token(Service::Table, "/runs()", &part.table_token(ACCOUNT, &key()));
    let grant = ask(&fixture, &draft, &need(Service::Table, "rUNS", &["r"])).expect("granted");
    let range = grant.table_range().expect("a part");
    for (partition_key, row_key, is_within) in [
        ("b", "5", true),
        ("b", "4", false),
        ("c", "", true),
        ("d", "zz", true),
        ("da", "", false),
        ("a", "9", false),
    ] {
        assert_eq!(range.contains(partition_key, row_key), is_within, "{partition_key} {row_key}");
    }
    let loose = Fields { spk: None, ..part_of_runs() };
    let draft_of_loose = with_token(Service::Table, "/runs()", &loose.table_token(ACCOUNT, &key()));
    let judged = ask(&fixture, &draft_of_loose, &need(Service::Table, "runs", &["r"]));
    assert_eq!(code(judged), "AuthenticationFailed", "a row key without its partition key bounds nothing");
    assert_eq!(code(grant.permit(&need(Service::Table, "Other", &["r"]))), "AuthorizationFailure");
    assert_eq!(code(grant.permit(&need(Service::Table, "Runs", &["au"]))), "AuthorizationPermissionMismatch");
    assert_eq!(code(ask(&fixture, &draft, &need(Service::Table, "Other", &["r"]))), "AuthorizationFailure");
}

#[test]
fn a_stored_policy_says_what_the_signature_leaves_open() {
    let fixture = fixture();
    let judged = |own: fn(&mut Fields), stored: Option<AccessPolicy>| {
        let mut fields = Fields { sv: field(SV), si: field("p"), ..Fields::default() };
        own(&mut fields);
        let draft = with_token(Service::Queue, "/q", &fields.queue_token(ACCOUNT, "q", &key()));
        let rules = |container: &str, id: &str| {
            assert_eq!((container, id), ("q", "p"));
            Ok(stored.clone())
        };
        code(ask_with(&fixture, &draft, &need(Service::Queue, "q", &["r"]), &rules))
    };
    let time = |text: &str| orrery_protocol::storage::parse_time(text).map(|at| PolicyTime::new(text, at));
    let whole = || AccessPolicy { start: None, expiry: time(END), permission: field("r") };
    assert_eq!(judged(|_| (), Some(whole())), "");
    assert_eq!(judged(|_| (), None), "AuthenticationFailed");
    assert_eq!(judged(|it| it.se = field(END), Some(whole())), "AuthenticationFailed");
    assert_eq!(judged(|it| it.sp = field("r"), Some(whole())), "AuthenticationFailed");
    assert_eq!(
        judged(|_| (), Some(AccessPolicy { expiry: time("2026-11-15"), ..whole() })),
        "AuthenticationFailed"
    );
    assert_eq!(
        judged(|_| (), Some(AccessPolicy { permission: field("p"), ..whole() })),
        "AuthorizationPermissionMismatch"
    );
    assert_eq!(judged(|_| (), Some(AccessPolicy { permission: None, ..whole() })), "AuthenticationFailed");
    let own = |it: &mut Fields| (it.se, it.sp) = (field(END), field("r"));
    assert_eq!(judged(own, Some(AccessPolicy::default())), "");
}

#[test]
fn a_signature_of_a_blob_is_for_it_its_container_or_its_directory() {
    let fixture = fixture();
    let judged = |sr: &str, signed: &str, sdd: Option<&str>, path: &str, need: &Need<'_>| {
        let fields = Fields { sr: field(sr), sdd: sdd.map(str::to_owned), ..fields("r") };
        let draft = with_token(Service::Blob, path, &fields.blob_token(ACCOUNT, signed, "", &key()));
        code(ask(&fixture, &draft, need))
    };
    let blob = need(Service::Blob, "c/a/b é", &["r"]);
    let path = "/c/a/b%20%C3%A9";
    assert_eq!(judged("b", "c/a/b é", None, path, &blob), "");
    assert_eq!(judged("b", "c/a/b%20%C3%A9", None, path, &blob), "", "as object_store signs it");
    assert_eq!(judged("c", "c", None, path, &blob), "");
    assert_eq!(judged("d", "c/a", Some("1"), path, &blob), "");
    assert_eq!(judged("d", "c/a", Some("2"), path, &blob), "AuthenticationFailed");
    assert_eq!(judged("b", "c/other", None, path, &blob), "AuthenticationFailed");
    let container = need(Service::Blob, "c", &["r"]);
    assert_eq!(judged("c", "c", None, "/c", &container), "");
    assert_eq!(
        judged("b", "c", None, "/c", &container),
        "AuthorizationFailure",
        "a blob's is not the container's"
    );
    let moment = "2026-11-15T01:02:43.1234567Z";
    let snapshot = Need {
        resource: Resource::Blob { container: "c", name: "b", moment: Some(Moment::Snapshot(moment)) },
        ..container
    };
    let of_snapshot = Fields { sr: field("bs"), ..fields("r") };
    let token = of_snapshot.blob_token(ACCOUNT, "c/b", moment, &key());
    assert_eq!(code(ask(&fixture, &with_token(Service::Blob, "/c/b", &token), &snapshot)), "");
    let other = need(Service::Blob, "c/b", &["r"]);
    assert_eq!(
        code(ask(&fixture, &with_token(Service::Blob, "/c/b", &token), &other)),
        "AuthenticationFailed"
    );
}

#[test]
fn a_signature_says_what_answers_look_like() {
    let fixture = fixture();
    let own = Fields { sr: field("b"), rscc: field("no-cache"), rsct: field("text/plain"), ..fields("r") };
    let draft = with_token(Service::Blob, "/c/b", &own.blob_token(ACCOUNT, "c/b", "", &key()));
    let grant = ask(&fixture, &draft, &need(Service::Blob, "c/b", &["r"])).expect("granted");
    let headers = grant.response_headers();
    let shown: Vec<_> =
        headers.iter().map(|(name, value)| (name.as_str(), value.to_str().expect("text"))).collect();
    assert_eq!(shown, [("cache-control", "no-cache"), ("content-type", "text/plain")]);
}

fn delegated(letters: &str) -> Fields {
    Fields {
        skoid: field("somebody"),
        sktid: field("tenant"),
        skt: field("2026-11-15T00:00:00Z"),
        ske: field(END),
        sks: field("bq"),
        skv: field(SV),
        ..fields(letters)
    }
}

#[test]
fn a_users_key_follows_from_the_secret_and_is_kept_to_what_it_was_made_for() {
    let fixture = fixture();
    let judged = |given: Fields, presented: fn(&mut Fields)| {
        let (_, key) = user_delegation_key::derive(&fixture.storage, ACCOUNT, Role::Contributor, &given);
        let mut fields = given;
        presented(&mut fields);
        let draft = with_token(Service::Queue, "/q", &fields.delegation_queue_token(ACCOUNT, "q", &key));
        code(ask(&fixture, &draft, &need(Service::Queue, "q", &["r"])))
    };
    assert_eq!(judged(delegated("r"), |_| ()), "");
    assert_eq!(
        judged(delegated("r"), |it| it.ske = field("2027-01-01")),
        "AuthenticationFailed",
        "another key"
    );
    assert_eq!(judged(delegated("r"), |it| it.skoid = field("another")), "AuthenticationFailed");
    assert_eq!(judged(Fields { ske: field("2026-11-15"), ..delegated("r") }, |_| ()), "AuthenticationFailed");
    assert_eq!(judged(Fields { sks: field("b"), ..delegated("r") }, |_| ()), "AuthorizationServiceMismatch");
    assert_eq!(judged(delegated("p"), |_| ()), "AuthorizationPermissionMismatch");
}

#[test]
fn what_a_users_signature_names_of_the_request_is_signed_too() {
    let fixture = fixture();
    let fields =
        Fields { sr: field("b"), srh: field("x-ms-blob-type"), srq: field("comp"), ..delegated("w") };
    let (_, key) = user_delegation_key::derive(&fixture.storage, ACCOUNT, Role::Contributor, &fields);
    let signed = SignedRequest::of(&fields, |_| Some("BlockBlob".into()), |_| Some("block".into()));
    let token = fields.delegation_blob_token(ACCOUNT, "c/b", "", &signed, &key);
    let need = need(Service::Blob, "c/b", &["w"]);
    let ask = |query: &str, kind: &str| {
        let draft =
            with_token(Service::Blob, "/c/b", &format!("{token}{query}")).with("x-ms-blob-type", kind);
        code(super::tests::ask(&fixture, &draft, &need))
    };
    assert_eq!(ask("&comp=block", "BlockBlob"), "");
    assert_eq!(ask("&comp=block", "PageBlob"), "AuthenticationFailed");
    assert_eq!(ask("&comp=tier", "BlockBlob"), "AuthenticationFailed");
    assert_eq!(ask("", "BlockBlob"), "AuthenticationFailed");
}

#[test]
fn the_replica_is_read_and_not_written() {
    let fixture = fixture();
    let judged = |is_write| {
        let mut draft = Draft::new(Service::Queue, "GET", "/q", "");
        draft.path = format!("/{ACCOUNT}-secondary/q");
        let need = Need { is_write, ..need(Service::Queue, "q", &[]) };
        code(ask(&fixture, &draft.signed(Form::Full, &key()), &need))
    };
    assert_eq!((judged(false), judged(true)), ("", "InsufficientAccountPermissions"));
}

#[test]
fn a_key_that_was_replaced_opens_nothing_from_then_on() {
    let fixture = fixture();
    let own = fixture.storage.accounts().find(ACCOUNT).expect("an account");
    let old = Key::parse(&own.key2).expect("a key");
    let draft = Draft::new(Service::Queue, "GET", "/q", "").signed(Form::Full, &old);
    let need = need(Service::Queue, "q", &[]);
    assert_eq!(code(ask(&fixture, &draft, &need)), "");
    let which = orrery_api_common::secrets::StorageKeyName::Key2;
    fixture.storage.accounts().rotate(ACCOUNT, which).expect("replaced");
    assert_eq!(code(ask(&fixture, &draft, &need)), "AuthenticationFailed");
}

#[test]
fn times_are_compared_with_a_clock_that_can_be_moved() {
    let fixture = fixture();
    let end = format_time_seconds(NOW.plus(Duration::from_secs(60)));
    let token = Fields { se: Some(end), ..account_fields("r") }.account_token(ACCOUNT, &key());
    let ask = || {
        code(super::tests::ask(
            &fixture,
            &with_token(Service::Queue, "/q", &token),
            &need(Service::Queue, "q", &["r"]),
        ))
    };
    assert_eq!(ask(), "");
    fixture.storage.env().advance(Duration::from_secs(61));
    assert_eq!(ask(), "AuthenticationFailed");
}
