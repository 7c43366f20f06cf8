//! What of a request is signed with an account's key: `SharedKey` and `SharedKeyLite` (wire guide §2).
//!
//! ```text
//!                 blobs and queues                                        tables
//! SharedKey       verb, eleven headers, x-ms- headers, resource with all  verb, MD5, type, date, resource
//!                 parameters
//! SharedKeyLite   verb, MD5, type, date, x-ms- headers, resource          date, resource
//! ```
//!
//! Clients differ in details that no text settles, so there are several readings of one request; the first is what the
//! documents say, and what our own client signs. A signature over any of them is as good: each covers the same parts.

use super::Service;
use super::collation;
use super::query::{Plus, Query};
use crate::Key;
use std::fmt::Write as _;

/// A request as both ends see it.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    pub service: Service,
    /// In upper case.
    pub verb: &'a str,
    /// The account that signs.
    pub account: &'a str,
    /// As it travels: percent-encoded, with the first slash, and with the account if it is path style.
    pub path: &'a str,
    pub query: &'a Query,
    /// All headers, with names in lower case.
    pub headers: &'a [(&'a str, &'a str)],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Full,
    Lite,
}

impl Form {
    /// The first word of the header `Authorization`.
    pub fn scheme(self) -> &'static str {
        match self {
            Self::Full => "SharedKey",
            Self::Lite => "SharedKeyLite",
        }
    }
}

/// Up to this version an empty body is signed by its length, `0`.
const ZERO_LENGTH_VERSION_MAX: &str = "2014-02-14";
const DATE: &str = "x-ms-date";

/// What the documents say is signed.
pub fn string_to_sign(message: &Message<'_>, form: Form) -> String {
    write(message, form, &Reading::default())
}

/// Everything that clients sign of such a request, without repetitions; what the documents say is the first, and mostly
/// the only one that is needed, so the others are made when they are asked for.
pub fn strings_to_sign<'a>(message: &'a Message<'a>, form: Form) -> impl Iterator<Item = String> + 'a {
    let mut given = Vec::new();
    (0..1_u8 << Reading::WAYS).filter_map(move |number| {
        let text = write(message, form, &Reading::of(number));
        let is_new = !given.contains(&text);
        is_new.then(|| {
            given.push(text.clone());
            text
        })
    })
}

/// The value of the header `Authorization`.
pub fn authorization(message: &Message<'_>, form: Form, key: &Key) -> String {
    format!("{} {}:{}", form.scheme(), message.account, key.sign(&string_to_sign(message, form)))
}

/// The ways in which clients depart from the documents.
#[derive(Default)]
struct Reading {
    /// Content-Language before Content-Encoding.
    swaps_language: bool,
    /// Headers in the order of a collation, and not of bytes.
    collates: bool,
    /// `Date` beside `x-ms-date`, where the documents leave it empty.
    keeps_date: bool,
    /// `+` in the query is a space.
    plus_is_space: bool,
}

impl Reading {
    const WAYS: u32 = 4;

    fn of(number: u8) -> Self {
        let bit = |at: u8| number >> at & 1 == 1;
        Self { swaps_language: bit(0), collates: bit(1), keeps_date: bit(2), plus_is_space: bit(3) }
    }
}

fn write(message: &Message<'_>, form: Form, reading: &Reading) -> String {
    match (message.service, form) {
        (Service::Blob | Service::Queue, Form::Full) => full(message, reading),
        (Service::Blob | Service::Queue, Form::Lite) => lite(message, reading),
        (Service::Table, Form::Full) => {
            let (md5, kind) = (message.header("content-md5"), message.header("content-type"));
            [message.verb, md5, kind, message.table_date(), &message.short_resource()].join("\n")
        }
        (Service::Table, Form::Lite) => format!("{}\n{}", message.table_date(), message.short_resource()),
    }
}

fn full(message: &Message<'_>, reading: &Reading) -> String {
    let header = |name| message.header(name);
    let (encoding, language) = (header("content-encoding"), header("content-language"));
    let (second, third) = if reading.swaps_language { (language, encoding) } else { (encoding, language) };
    let lines = [
        message.verb,
        second,
        third,
        message.length(),
        header("content-md5"),
        header("content-type"),
        message.date(reading),
        header("if-modified-since"),
        header("if-match"),
        header("if-none-match"),
        header("if-unmodified-since"),
        header("range"),
    ];
    format!("{}\n{}{}", lines.join("\n"), message.canonical_headers(reading), message.resource(reading))
}

fn lite(message: &Message<'_>, reading: &Reading) -> String {
    let header = |name| message.header(name);
    let lines = [message.verb, header("content-md5"), header("content-type"), message.date(reading)];
    format!("{}\n{}{}", lines.join("\n"), message.canonical_headers(reading), message.short_resource())
}

impl<'a> Message<'a> {
    /// Empty if there is none.
    fn header(&self, name: &str) -> &'a str {
        self.find(name).unwrap_or_default()
    }

    fn find(&self, name: &str) -> Option<&'a str> {
        self.headers.iter().find(|(found, _)| *found == name).map(|(_, value)| value.trim())
    }

    fn length(&self) -> &'a str {
        let is_old = self.find("x-ms-version").is_some_and(|version| version <= ZERO_LENGTH_VERSION_MAX);
        match self.header("content-length") {
            "0" if !is_old => "",
            length => length,
        }
    }

    fn date(&self, reading: &Reading) -> &'a str {
        if self.find(DATE).is_some() && !reading.keeps_date { "" } else { self.header("date") }
    }

    fn table_date(&self) -> &'a str {
        self.find(DATE).unwrap_or_else(|| self.header("date"))
    }

    /// Every header that begins with `x-ms-`, known to us or not; of several with one name a list.
    fn canonical_headers(&self, reading: &Reading) -> String {
        let mut found: Vec<(&str, String)> = Vec::new();
        for (name, value) in self.headers.iter().filter(|(name, _)| name.starts_with("x-ms-")) {
            match found.iter_mut().find(|(known, _)| known == name) {
                Some((_, values)) => {
                    values.push(',');
                    values.push_str(value.trim());
                }
                None => found.push((name, value.trim().to_owned())),
            }
        }
        match reading.collates {
            true => found.sort_by(|one, other| collation::compare(one.0, other.0)),
            false => found.sort_by_key(|(name, _)| *name),
        }
        found.iter().fold(String::new(), |mut text, (name, value)| {
            let _ = writeln!(text, "{name}:{value}");
            text
        })
    }

    /// The path and all parameters, by their names in lower case; of several with one name a sorted list.
    fn resource(&self, reading: &Reading) -> String {
        let plus = if reading.plus_is_space { Plus::Space } else { Plus::Plus };
        let mut parameters: Vec<(String, Vec<String>)> = Vec::new();
        for (name, value) in self.query.pairs(plus) {
            let name = name.to_lowercase();
            match parameters.iter_mut().find(|(known, _)| *known == name) {
                Some((_, values)) => values.push(value.into_owned()),
                None => parameters.push((name, vec![value.into_owned()])),
            }
        }
        parameters.sort();
        let mut text = self.path();
        for (name, mut values) in parameters {
            values.sort();
            let _ = write!(text, "\n{name}:{}", values.join(","));
        }
        text
    }

    /// The path, and `comp` alone of all parameters.
    fn short_resource(&self) -> String {
        let comp = self.query.literal("comp").map(|comp| format!("?comp={comp}"));
        self.path() + &comp.unwrap_or_default()
    }

    fn path(&self) -> String {
        format!("/{}{}", self.account, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<'a>(
        service: Service,
        verb: &'a str,
        query: &'a Query,
        headers: &'a [(&'a str, &'a str)],
    ) -> Message<'a> {
        Message { service, verb, account: "acct", path: "/acct/q%27s/x", query, headers }
    }

    const HEADERS: &[(&str, &str)] = &[
        ("content-length", "0"),
        ("content-encoding", "gzip"),
        ("content-language", "de"),
        ("x-ms-version", "2026-10-06"),
        ("x-ms-meta-ab", "1"),
        ("x-ms-meta-a-b", " 2 "),
        ("x-ms-date", "D1"),
        ("date", "D2"),
        ("if-match", "*"),
        ("range", "bytes=0-1"),
    ];

    #[test]
    fn blobs_and_queues_sign_twelve_lines_headers_and_parameters() {
        let query = Query::parse("Comp=list&prefix=&b=2&B=1%2C&x=a+b").expect("text");
        let message = message(Service::Queue, "PUT", &query, HEADERS);
        assert_eq!(
            string_to_sign(&message, Form::Full),
            "PUT\ngzip\nde\n\n\n\n\n\n*\n\n\nbytes=0-1\n\
             x-ms-date:D1\nx-ms-meta-a-b:2\nx-ms-meta-ab:1\nx-ms-version:2026-10-06\n\
             /acct/acct/q%27s/x\nb:1,,2\ncomp:list\nprefix:\nx:a+b"
        );
        assert_eq!(
            string_to_sign(&message, Form::Lite),
            "PUT\n\n\n\nx-ms-date:D1\nx-ms-meta-a-b:2\nx-ms-meta-ab:1\nx-ms-version:2026-10-06\n\
             /acct/acct/q%27s/x?comp=list"
        );
        assert_eq!(strings_to_sign(&message, Form::Full).count(), 16);
    }

    #[test]
    fn tables_sign_the_date_and_the_resource() {
        let query = Query::parse("comp=acl&timeout=30").expect("text");
        let message = message(Service::Table, "GET", &query, HEADERS);
        assert_eq!(string_to_sign(&message, Form::Full), "GET\n\n\nD1\n/acct/acct/q%27s/x?comp=acl");
        assert_eq!(string_to_sign(&message, Form::Lite), "D1\n/acct/acct/q%27s/x?comp=acl");
        assert_eq!(strings_to_sign(&message, Form::Full).count(), 1);
    }

    #[test]
    fn an_empty_body_has_a_length_in_old_versions_only() {
        let length = |version: &str, length: &str| {
            let query = Query::default();
            let headers = [("content-length", length), ("x-ms-version", version)];
            string_to_sign(&message(Service::Blob, "PUT", &query, &headers), Form::Full)
        };
        assert!(length("2014-02-14", "0").starts_with("PUT\n\n\n0\n"));
        assert!(length("2015-02-21", "0").starts_with("PUT\n\n\n\n"));
        assert!(length("2015-02-21", "7").starts_with("PUT\n\n\n7\n"));
    }

    #[test]
    fn readings_differ_only_where_clients_do() {
        let readings = |query: &str, headers: &[(&str, &str)]| {
            let query = Query::parse(query).expect("text");
            strings_to_sign(&message(Service::Blob, "GET", &query, headers), Form::Full).count()
        };
        assert_eq!(readings("", &[("x-ms-date", "D"), ("x-ms-version", "v")]), 1);
        assert_eq!(readings("", &[("content-language", "de")]), 2);
        assert_eq!(readings("", &[("x-ms-meta-ab", "1"), ("x-ms-meta-a-b", "1")]), 2);
        assert_eq!(readings("", &[("x-ms-date", "D"), ("date", "D")]), 2);
        assert_eq!(readings("prefix=a+b", &[]), 2);
    }
}
