//! Batches as clients send them and as they are answered, in `cases/multipart`.
//!
//! ```text
//! case what it shows
//! boundary batch_1             of the outer parts; `ends lf` makes the lines end without a carriage return
//! > --batch_1                  the body, line by line
//! request POST http://…        what is read, in order: a request of a changeset, or `single GET …`
//! id 0                         its Content-ID
//! header accept a/b            one of its headers
//! body {"a":1}                 its body, ⏎ for an end of a line
//! error …                      or why nothing is read
//!
//! answer changeset             or `answer single`: what is written; the ids of its boundaries are G and H
//! part 204                     an answer to a request; then `id`, `header` and `body` as above
//! > --batchresponse_G          the bytes of the whole answer
//! ```

use super::*;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use orrery_testing_golden::{Line, case_files, lines};
use std::path::Path;

#[test]
fn every_case_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/multipart");
    let mut checked = 0;
    for file in case_files(&folder, "case") {
        let text = std::fs::read_to_string(&file).expect("a case file is readable");
        let lines = lines(&text);
        let starts = lines.iter().enumerate().filter(|(_, line)| line.keyword == "case").map(|(at, _)| at);
        let starts: Vec<usize> = starts.chain([lines.len()]).collect();
        for pair in starts.windows(2) {
            let case = &lines[pair[0]..pair[1]];
            check(case, &format!("{}:{}", file.display(), case[0].from + 1));
            checked += 1;
        }
    }
    assert!(checked >= 15, "only {checked} cases were found");
}

fn check(case: &[Line], place: &str) {
    if let Some(kind) = text_of(case, "answer") {
        return assert_eq!(shown(&answer(case, kind)), shown(&bytes(case, "\r\n")), "{place}");
    }
    let line_end = if text_of(case, "ends") == Some("lf") { "\n" } else { "\r\n" };
    let body = bytes(case, line_end);
    let boundary = text_of(case, "boundary").expect(place);
    let found = match read(&body, boundary) {
        Ok(Batch::Changeset(requests)) => requests.iter().flat_map(|inner| told("request", inner)).collect(),
        Ok(Batch::Single(request)) => told("single", &request),
        Err(error) => vec![format!("error {error}")],
    };
    let is_expected =
        |line: &&Line| matches!(&*line.keyword, "request" | "single" | "id" | "header" | "body" | "error");
    let expected = case.iter().filter(is_expected).map(|line| format!("{} {}", line.keyword, line.text));
    assert_eq!(found.join("\n"), expected.collect::<Vec<_>>().join("\n"), "{place}");
}

fn told(kind: &str, inner: &Inner<'_>) -> Vec<String> {
    let mut told = vec![format!("{kind} {} {}", inner.method, inner.target)];
    told.extend(inner.content_id.map(|id| format!("id {id}")));
    for name in ["accept", "if-match", "prefer", "x-http-method"] {
        told.extend(inner.header(name).map(|value| format!("header {name} {value}")));
    }
    if !inner.body.is_empty() {
        let body = String::from_utf8_lossy(inner.body);
        told.push(format!("body {}", body.lines().collect::<Vec<_>>().join("⏎")));
    }
    told
}

/// The lines that begin with `>`.
fn bytes(case: &[Line], line_end: &str) -> Vec<u8> {
    let lines = case.iter().filter(|line| line.keyword == ">");
    lines.flat_map(|line| [line.text.as_bytes(), line_end.as_bytes()].concat()).collect()
}

fn text_of<'a>(case: &'a [Line], keyword: &str) -> Option<&'a str> {
    case.iter().find(|line| line.keyword == keyword).map(|line| line.text.as_str())
}

fn answer(case: &[Line], kind: &str) -> Vec<u8> {
    let parts: Vec<usize> =
        case.iter().enumerate().filter(|(_, line)| line.keyword == "part").map(|(at, _)| at).collect();
    let mut changeset = ChangesetWriter::new("G", "H");
    for (nth, at) in parts.iter().enumerate() {
        let lines = &case[*at..parts.get(nth + 1).copied().unwrap_or(case.len())];
        let headers: HeaderMap = lines.iter().filter(|line| line.keyword == "header").map(header).collect();
        let part = Part {
            status: StatusCode::from_bytes(lines[0].text.as_bytes()).expect("a status"),
            content_id: text_of(lines, "id"),
            headers: &headers,
            body: text_of(lines, "body").unwrap_or_default().as_bytes(),
        };
        if kind == "single" {
            return write_single("G", &part).1.into();
        }
        changeset.push(&part);
    }
    changeset.finish().1.into()
}

fn header(line: &Line) -> (HeaderName, HeaderValue) {
    let (name, value) = line.text.split_once(' ').expect("a name and a value");
    (name.parse().expect("a name"), value.parse().expect("a value"))
}

/// With line ends to be seen.
fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\r', "␍")
}

#[test]
fn a_boundary_is_a_parameter_of_multipart_mixed() {
    let check = |content_type: &str, expected: Option<&str>| {
        assert_eq!(boundary(content_type).ok(), expected, "{content_type}");
    };
    check("multipart/mixed; boundary=batch_1", Some("batch_1"));
    check("Multipart/Mixed;charset=utf-8;Boundary=\"batch 1\"", Some("batch 1"));
    check("multipart/mixed; boundary=", None);
    check("multipart/mixed", None);
    check("multipart/form-data; boundary=b", None);
    check("application/json", None);
}

#[test]
fn more_parts_than_are_allowed_are_not_all_read() {
    let part = "--c\r\nContent-Type: application/http\r\n\r\nGET /t HTTP/1.1\r\n\r\n\r\n";
    let changeset = part.repeat(5000);
    let body =
        format!("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{changeset}--c--\r\n--b--\r\n");
    let Ok(Batch::Changeset(requests)) = read(body.as_bytes(), "b") else { panic!("a changeset") };
    assert_eq!(requests.len(), crate::limits::BATCH_PARTS_MAX);
}
