//! Several writes to one partition in one request: nested multipart bodies, and the parsing of the response.
//!
//! ```text
//! --batch_G                                   --batchresponse_G
//! Content-Type: multipart/mixed; boundary=changeset_G
//!
//! --changeset_G                               --changesetresponse_H
//! Content-Type: application/http              Content-Type: application/http
//!
//! PUT http://…/t(…) HTTP/1.1                  HTTP/1.1 204 No Content
//! headers, and JSON                           headers, and JSON if it is a refusal
//! ```
//!
//! The response to a refused batch has one part, the refusal.

use super::entity::EntityWrite;
use super::{JSON, MINIMAL, json, path_of, verb};
use crate::storage::error::StorageError;
use http::Method;

/// The response to one write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub status: u16,
    pub etag: Option<String>,
    pub body: Vec<u8>,
}

/// The content type of a batch, and its body. `id` must not occur in any text sent; `url` is the account's.
pub fn write(id: &str, url: &str, table: &str, writes: &[EntityWrite]) -> (String, Vec<u8>) {
    let mut out = Vec::new();
    push(
        &mut out,
        &["--batch_", id, "\r\nContent-Type: multipart/mixed; boundary=changeset_", id, "\r\n\r\n"],
    );
    for (index, write) in writes.iter().enumerate() {
        push(&mut out, &["--changeset_", id, "\r\nContent-Type: application/http\r\n"]);
        let number = index.to_string();
        push(&mut out, &["Content-Transfer-Encoding: binary\r\nContent-ID: ", &number, "\r\n\r\n"]);
        push_request(&mut out, url, table, write);
        push(&mut out, &["\r\n"]);
    }
    push(&mut out, &["--changeset_", id, "--\r\n\r\n--batch_", id, "--\r\n"]);
    (format!("multipart/mixed; boundary=batch_{id}"), out)
}

fn push_request(out: &mut Vec<u8>, url: &str, table: &str, write: &EntityWrite) {
    let (verb, path): (Method, String) = (verb(write), path_of(table, write));
    push(out, &[verb.as_str(), " ", url, &path, " HTTP/1.1\r\n"]);
    push(out, &["Accept: ", MINIMAL, "\r\nDataServiceVersion: 3.0;\r\n"]);
    if let Some(if_match) = write.if_match() {
        push(out, &["If-Match: ", if_match, "\r\n"]);
    }
    match write.entity() {
        None => push(out, &["\r\n"]),
        Some(entity) => {
            let body = json::write_entity(entity);
            let length = body.len().to_string();
            push(
                out,
                &["Prefer: return-no-content\r\nContent-Type: ", JSON, "\r\nContent-Length: ", &length],
            );
            push(out, &["\r\n\r\n"]);
            out.extend_from_slice(&body);
        }
    }
}

fn push(out: &mut Vec<u8>, texts: &[&str]) {
    texts.iter().for_each(|text| out.extend_from_slice(text.as_bytes()));
}

/// The responses, in the order of the writes.
pub fn read(content_type: &str, body: &[u8]) -> Result<Vec<Part>, StorageError> {
    let text = std::str::from_utf8(body).map_err(StorageError::not_understood)?;
    let boundary = boundary_of(content_type).ok_or_else(|| not_a_batch("it has no boundary"))?;
    let mut parts = Vec::new();
    for outer in split(text, boundary) {
        let (head, rest) = head_and_body(outer);
        let kind = header(head, "content-type").unwrap_or_default();
        match boundary_of(kind) {
            Some(inner) => {
                for part in split(rest, inner) {
                    parts.push(read_part(head_and_body(part).1)?);
                }
            }
            None => parts.push(read_part(rest)?),
        }
    }
    Ok(parts)
}

fn not_a_batch(why: &str) -> StorageError {
    StorageError::not_understood(format!("it is no answer to a batch: {why}"))
}

fn boundary_of(content_type: &str) -> Option<&str> {
    let is_multipart = content_type.trim_start().to_ascii_lowercase().starts_with("multipart/");
    let mut parameters = content_type.split(';').skip(1).map(str::trim);
    let boundary = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then(|| value.trim().trim_matches('"'))
    });
    boundary.filter(|boundary| is_multipart && !boundary.is_empty())
}

/// The parts between the boundary lines, up to the closing one.
fn split<'a>(text: &'a str, boundary: &str) -> Vec<&'a str> {
    let (mut parts, mut begun, mut at) = (Vec::new(), None, 0);
    for line in text.split_inclusive('\n') {
        let after = line.trim_end().strip_prefix("--").and_then(|line| line.strip_prefix(boundary));
        if let Some(after @ ("" | "--")) = after {
            parts.extend(begun.map(|begun: usize| &text[begun..at]));
            begun = after.is_empty().then_some(at + line.len());
        }
        at += line.len();
    }
    parts
}

/// The headers, and the body after the blank line.
fn head_and_body(part: &str) -> (&str, &str) {
    let mut at = 0;
    for line in part.split_inclusive('\n') {
        if line.trim_end().is_empty() {
            return (&part[..at], &part[at + line.len()..]);
        }
        at += line.len();
    }
    (part, "")
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.trim().eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// `HTTP/1.1 204 No Content`, headers, a body.
fn read_part(text: &str) -> Result<Part, StorageError> {
    let (head, body) = head_and_body(text.trim_start());
    let status = head.lines().next().and_then(|line| line.strip_prefix("HTTP/1.1 "));
    let status = status.and_then(|line| line.get(..3)).and_then(|status| status.parse().ok());
    Ok(Part {
        status: status.ok_or_else(|| not_a_batch("a part has no status"))?,
        etag: header(head, "etag").map(str::to_owned),
        body: body.trim_end().as_bytes().to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::entity::Entity;
    use super::*;

    #[test]
    fn a_batch_is_written_as_services_read_it() {
        let writes = [
            EntityWrite::Insert(Entity::new("p", "1")),
            EntityWrite::Delete { partition_key: "p".into(), row_key: "2".into(), if_match: "*".into() },
        ];
        let (content_type, body) = write("G", "http://h:1/acct", "t", &writes);
        assert_eq!(content_type, "multipart/mixed; boundary=batch_G");
        let expected = "--batch_G\r\nContent-Type: multipart/mixed; boundary=changeset_G\r\n\r\n\
            --changeset_G\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: 0\r\n\r\n\
            POST http://h:1/acct/t HTTP/1.1\r\nAccept: application/json;odata=minimalmetadata\r\nDataServiceVersion: 3.0;\r\n\
            Prefer: return-no-content\r\nContent-Type: application/json\r\nContent-Length: 33\r\n\r\n\
            {\"PartitionKey\":\"p\",\"RowKey\":\"1\"}\r\n\
            --changeset_G\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: 1\r\n\r\n\
            DELETE http://h:1/acct/t(PartitionKey='p',RowKey='2') HTTP/1.1\r\n\
            Accept: application/json;odata=minimalmetadata\r\nDataServiceVersion: 3.0;\r\nIf-Match: *\r\n\r\n\r\n\
            --changeset_G--\r\n\r\n--batch_G--\r\n";
        assert_eq!(String::from_utf8(body).expect("text"), expected);
    }

    const DONE: &str = "--batchresponse_G\r\nContent-Type: multipart/mixed; boundary=changesetresponse_H\r\n\r\n\
        --changesetresponse_H\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n\
        HTTP/1.1 204 No Content\r\nContent-ID: 0\r\nETag: W/\"datetime'1'\"\r\n\r\n\r\n\
        --changesetresponse_H\r\nContent-Type: application/http\r\n\r\n\
        HTTP/1.1 204 No Content\r\nContent-ID: 1\r\n\r\n\r\n\
        --changesetresponse_H--\r\n--batchresponse_G--\r\n";

    fn parts(text: &str) -> Vec<(u16, Option<String>, String)> {
        let parts = read("multipart/mixed; boundary=batchresponse_G", text.as_bytes()).expect("parts");
        let body = |body| String::from_utf8(body).expect("text");
        parts.into_iter().map(|part| (part.status, part.etag, body(part.body))).collect()
    }

    #[test]
    fn each_part_has_a_status_and_a_version() {
        let expected =
            [(204, Some("W/\"datetime'1'\"".to_owned()), String::new()), (204, None, String::new())];
        assert_eq!(parts(DONE), expected);
        assert_eq!(parts(&DONE.replace("\r\n", "\n")), expected);
    }

    #[test]
    fn a_refused_batch_has_one_part() {
        let refused = "--batchresponse_G\r\nContent-Type: multipart/mixed; boundary=\"c\"\r\n\r\n--c\r\n\
            Content-Type: application/http\r\n\r\nHTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\n\r\n\
            {\"odata.error\":{}}\r\n--c--\r\n--batchresponse_G--\r\n";
        assert_eq!(parts(refused), [(409, None, "{\"odata.error\":{}}".to_owned())]);
    }

    #[test]
    fn an_answer_without_a_changeset_is_read_too() {
        let single = "--batchresponse_G\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 400 Bad Request\r\n\r\nwhy\r\n\
            --batchresponse_G--\r\n";
        assert_eq!(parts(single), [(400, None, "why".to_owned())]);
        assert!(read("application/json", b"{}").is_err());
        assert!(read("multipart/mixed; boundary=b", b"--b\r\n\r\nnothing\r\n--b--").is_err());
    }
}
