//! Signatures that other programs made over requests and shared access signatures: `cases/storage_shared_key`,
//! `cases/storage_sas`.
//!
//! ```text
//! service, verb, path, query, header*   a request        authorization   what its client sent
//! kind, account, key, path, moment      what a token is for              token   the token, with its signature
//! header*, parameter*                   of the request that a token is for, where it covers them
//! ```

use orrery_protocol::storage::sas::{Fields, SignedRequest, layout};
use orrery_protocol::storage::shared_key::{Form, Message, strings_to_sign};
use orrery_protocol::storage::{DEVELOPMENT_KEY, Query, Service};
use orrery_protocol::{Key, Signature};
use orrery_testing_golden::{Line, case_files, lines};
use std::fs;
use std::path::Path;

struct Case(Vec<Line>);

impl Case {
    fn all(folder: &str) -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(folder);
        let mut found: Vec<Self> = Vec::new();
        for file in case_files(&folder, "case") {
            for line in lines(&fs::read_to_string(file).expect("a file of cases")) {
                match found.last_mut() {
                    Some(last) if line.keyword != "case" => last.0.push(line),
                    _ => found.push(Self(vec![line])),
                }
            }
        }
        assert!(!found.is_empty());
        found
    }

    fn name(&self) -> &str {
        &self.0[0].text
    }

    fn each<'a>(&'a self, keyword: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |line| line.keyword == keyword).map(|line| line.text.as_str())
    }

    fn text<'a>(&'a self, keyword: &'a str) -> &'a str {
        self.each(keyword).next().unwrap_or_default()
    }

    fn pairs<'a>(&'a self, keyword: &'a str) -> Vec<(&'a str, &'a str)> {
        self.each(keyword).map(|text| text.split_once(' ').unwrap_or((text, ""))).collect()
    }

    fn key(&self) -> Key {
        Key::parse(self.each("key").next().unwrap_or(DEVELOPMENT_KEY)).expect("a key")
    }
}

#[test]
fn requests_of_other_clients_are_signed_as_we_read_them() {
    for case in Case::all("storage_shared_key") {
        let headers = case.pairs("header");
        let query = Query::parse(case.text("query")).expect("text");
        let (form, rest) = case.text("authorization").split_once(' ').expect("a scheme");
        let form = [Form::Full, Form::Lite].into_iter().find(|known| known.scheme() == form).expect("a form");
        let (account, signature) = rest.split_once(':').expect("an account");
        let service = Service::ALL.into_iter().find(|known| known.word() == case.text("service"));
        let message = Message {
            service: service.expect("a service"),
            verb: case.text("verb"),
            account,
            path: case.text("path"),
            query: &query,
            headers: &headers,
        };
        let signature = Signature::parse(signature).expect("a signature");
        let is_signed = strings_to_sign(&message, form).any(|text| case.key().verify(&text, &signature));
        assert!(is_signed, "{}", case.name());
    }
}

fn layout_of(case: &Case, fields: &Fields) -> String {
    let (account, path, moment) = (case.text("account"), case.text("path"), case.text("moment"));
    let value = |pairs: Vec<(&str, &str)>, name: &str| {
        let found = pairs.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| (*value).to_owned().into())
    };
    match case.text("kind") {
        "account" => layout::account(account, fields),
        "queue" => layout::queue(account, path, fields),
        "table" => layout::table(account, fields),
        "blob" => layout::blob(account, path, moment, fields),
        "delegation-queue" => layout::delegation_queue(account, path, fields),
        "delegation-blob" => {
            let header = |name: &str| value(case.pairs("header"), name);
            let request =
                SignedRequest::of(fields, header, |name: &str| value(case.pairs("parameter"), name));
            layout::delegation_blob(account, path, moment, &request, fields)
        }
        other => panic!("{}: the kind '{other}' is not known", case.name()),
    }
}

#[test]
fn tokens_of_other_programs_are_signed_as_we_lay_them_out() {
    for case in Case::all("storage_sas") {
        let fields = Fields::read(&Query::parse(case.text("token")).expect("text"));
        let text = layout_of(&case, &fields);
        let signature = fields.sig.as_deref().and_then(Signature::parse).expect("a signature");
        assert!(case.key().verify(&text, &signature), "{}: {text:?}", case.name());
    }
}

#[test]
fn every_field_of_a_token_is_signed() {
    for case in Case::all("storage_sas") {
        let fields = Fields::read(&Query::parse(case.text("token")).expect("text"));
        let text = layout_of(&case, &fields);
        for name in Fields::NAMES.iter().filter(|name| !["sig", "sr", "tn", "srh", "srq"].contains(name)) {
            let token = case.text("token");
            let Some((_, value)) =
                token.split('&').filter_map(|part| part.split_once('=')).find(|(known, _)| known == name)
            else {
                continue;
            };
            let changed = token.replacen(&format!("{name}={value}"), &format!("{name}={value}1"), 1);
            let changed = Fields::read(&Query::parse(&changed).expect("text"));
            assert_ne!(layout_of(&case, &changed), text, "{}: {name}", case.name());
        }
    }
}
