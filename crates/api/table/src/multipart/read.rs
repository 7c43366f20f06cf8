//! Reading the body of `$batch`: a changeset, or a single request.

use crate::limits::{BATCH_HEADERS_MAX, BATCH_PARTS_MAX};

/// What a batch asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Batch<'a> {
    /// Operations that are done all or not at all, in this order.
    Changeset(Vec<Inner<'a>>),
    /// One request that stands in the batch directly.
    Single(Inner<'a>),
}

/// A request inside the batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inner<'a> {
    pub method: &'a str,
    /// As it was written: absolute or only a path, and percent-encoded.
    pub target: &'a str,
    pub content_id: Option<&'a str>,
    headers: Vec<(&'a str, &'a str)>,
    pub body: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MultipartError {
    #[error("the Content-Type of a batch is multipart/mixed with a boundary")]
    NoBoundary,
    #[error("the batch does not end with its boundary")]
    Unclosed,
    #[error("the batch has no part")]
    Empty,
    #[error("the batch holds more than one changeset or request")]
    Several,
    #[error("a part of the batch is neither a changeset nor a request (application/http)")]
    PartType,
    #[error("a part of the batch has a malformed head")]
    Head,
    #[error("a request in the batch has a malformed request line")]
    RequestLine,
}

impl<'a> Inner<'a> {
    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }
}

/// The boundary that a `multipart/mixed` content type names.
pub fn boundary(content_type: &str) -> Result<&str, MultipartError> {
    let mut pieces = content_type.split(';').map(str::trim);
    if !pieces.next().is_some_and(|kind| kind.eq_ignore_ascii_case("multipart/mixed")) {
        return Err(MultipartError::NoBoundary);
    }
    let value = pieces.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then(|| value.trim().trim_matches('"'))
    });
    value.filter(|boundary| !boundary.is_empty()).ok_or(MultipartError::NoBoundary)
}

/// Reads a batch. Of a changeset, one operation more than is allowed is read, so that the caller can refuse it.
pub fn read<'a>(body: &'a [u8], boundary: &str) -> Result<Batch<'a>, MultipartError> {
    let [part] = parts(body, boundary)?[..] else { return Err(MultipartError::Several) };
    let part = Part::read(part)?;
    if part.is_request() {
        return Ok(Batch::Single(part.request()?));
    }
    let content_type = part.header("content-type").ok_or(MultipartError::PartType)?;
    let inner = self::boundary(content_type).map_err(|_| MultipartError::PartType)?;
    let operations = parts(part.content, inner)?.into_iter().map(|part| {
        let part = Part::read(part)?;
        if part.is_request() { part.request() } else { Err(MultipartError::PartType) }
    });
    Ok(Batch::Changeset(operations.collect::<Result<_, _>>()?))
}

/// What stands between the delimiters, at least one.
fn parts<'a>(body: &'a [u8], boundary: &str) -> Result<Vec<&'a [u8]>, MultipartError> {
    let mut found = Vec::new();
    let mut start = None;
    let mut at = 0;
    while at < body.len() && found.len() < BATCH_PARTS_MAX {
        let (line, next) = line_at(body, at);
        if let Some(delimiter) = delimiter(line, boundary) {
            if let Some(start) = start {
                found.push(without_line_end(&body[start..at]));
            }
            if delimiter == Delimiter::Last {
                return if found.is_empty() { Err(MultipartError::Empty) } else { Ok(found) };
            }
            start = Some(next);
        }
        at = next;
    }
    if found.len() == BATCH_PARTS_MAX { Ok(found) } else { Err(MultipartError::Unclosed) }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Delimiter {
    Next,
    Last,
}

fn delimiter(line: &[u8], boundary: &str) -> Option<Delimiter> {
    let rest = line.strip_prefix(b"--")?.strip_prefix(boundary.as_bytes())?;
    match rest.trim_ascii_end() {
        b"" => Some(Delimiter::Next),
        b"--" => Some(Delimiter::Last),
        _ => None,
    }
}

/// The line from `at` without its end, and where the next one begins.
fn line_at(text: &[u8], at: usize) -> (&[u8], usize) {
    let rest = &text[at..];
    match rest.iter().position(|byte| *byte == b'\n') {
        Some(end) => (rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]), at + end + 1),
        None => (rest, text.len()),
    }
}

/// The line end before a delimiter belongs to the delimiter.
fn without_line_end(part: &[u8]) -> &[u8] {
    let part = part.strip_suffix(b"\n").unwrap_or(part);
    part.strip_suffix(b"\r").unwrap_or(part)
}

/// A part: its headers and what follows them.
struct Part<'a> {
    headers: Vec<(&'a str, &'a str)>,
    content: &'a [u8],
}

impl<'a> Part<'a> {
    fn read(part: &'a [u8]) -> Result<Self, MultipartError> {
        let (headers, content) = headers(part)?;
        Ok(Self { headers, content })
    }

    fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }

    fn is_request(&self) -> bool {
        let kind =
            self.header("content-type").map(|value| value.split(';').next().unwrap_or_default().trim());
        kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/http"))
    }

    fn request(self) -> Result<Inner<'a>, MultipartError> {
        let content = without_blank_lines(self.content);
        let (line, after) = line_at(content, 0);
        let (method, target) = request_line(line)?;
        let (headers, body) = headers(&content[after..])?;
        let content_id = self.header("content-id");
        Ok(Inner { method, target, content_id, headers, body: without_blank_lines(body) })
    }
}

/// `METHOD target HTTP/1.1`. Spaces inside the target are taken as they are.
fn request_line(line: &[u8]) -> Result<(&str, &str), MultipartError> {
    let line = std::str::from_utf8(line).map_err(|_| MultipartError::RequestLine)?.trim();
    let (method, rest) = line.split_once(' ').ok_or(MultipartError::RequestLine)?;
    let (target, version) = rest.trim().rsplit_once(' ').ok_or(MultipartError::RequestLine)?;
    let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    let target = target.trim();
    if !is_method || target.is_empty() || !version.starts_with("HTTP/1.") {
        return Err(MultipartError::RequestLine);
    }
    Ok((method, target))
}

/// Header lines up to the first blank line, and what follows it. Without a blank line all are headers.
type Headers<'a> = Vec<(&'a str, &'a str)>;

fn headers(text: &[u8]) -> Result<(Headers<'_>, &[u8]), MultipartError> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (line, next) = line_at(text, at);
        if line.trim_ascii().is_empty() {
            return Ok((found, &text[next..]));
        }
        if found.len() == BATCH_HEADERS_MAX {
            return Err(MultipartError::Head);
        }
        found.push(header(line)?);
        at = next;
    }
    Ok((found, &[]))
}

fn header(line: &[u8]) -> Result<(&str, &str), MultipartError> {
    let line = std::str::from_utf8(line).map_err(|_| MultipartError::Head)?;
    let (name, value) = line.split_once(':').ok_or(MultipartError::Head)?;
    let name = name.trim();
    if name.is_empty() || name.contains(' ') {
        return Err(MultipartError::Head);
    }
    Ok((name, value.trim()))
}

fn without_blank_lines(mut text: &[u8]) -> &[u8] {
    while !text.is_empty() {
        let (line, next) = line_at(text, 0);
        if !line.trim_ascii().is_empty() {
            break;
        }
        text = &text[next..];
    }
    text
}
