//! A reply: status, headers looked up on demand, a body of known length.

use serde_json::Value;

/// A reply that borrows the connection's buffer; it costs no allocation.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'a> {
    pub status: u16,
    head: &'a [u8],
    pub body: &'a [u8],
}

/// A reply on its own.
#[derive(Clone, Debug)]
pub struct OwnedReply {
    pub status: u16,
    head: Vec<u8>,
    pub body: Vec<u8>,
}

/// What the head says about where the reply ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub status: u16,
    pub head_bytes: usize,
    pub body: BodyLength,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyLength {
    Known(usize),
    /// Each piece tells its own.
    Chunked,
}

/// Why a head is not one we understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub &'static str);

impl Head {
    /// `None` while the head is not all there. `searched` bytes are known not to begin its end.
    pub(crate) fn parse(bytes: &[u8], searched: usize) -> Result<Option<Self>, Malformed> {
        let from = searched.saturating_sub(3);
        let Some(at) = bytes[from..].windows(4).position(|four| four == b"\r\n\r\n") else {
            return Ok(None);
        };
        let head_bytes = from + at + 4;
        let head = &bytes[..head_bytes];
        let status = parse_status(head).ok_or(Malformed("it has no status line"))?;
        let is_chunked =
            || find_header(head, "transfer-encoding").is_some_and(|how| how.eq_ignore_ascii_case("chunked"));
        let body = match find_header(head, "content-length") {
            Some(length) => {
                BodyLength::Known(length.parse().map_err(|_| Malformed("its length is no number"))?)
            }
            None if matches!(status, 204 | 304) => BodyLength::Known(0),
            None if is_chunked() => BodyLength::Chunked,
            None => return Err(Malformed("it has no content-length")),
        };
        Ok(Some(Self { status, head_bytes, body }))
    }
}

impl<'a> Reply<'a> {
    pub(crate) fn new(head: Head, bytes: &'a [u8]) -> Self {
        let (head_bytes, body) = bytes.split_at(head.head_bytes);
        Self { status: head.status, head: head_bytes, body }
    }

    pub fn header(&self, name: &str) -> Option<&'a str> {
        find_header(self.head, name)
    }

    pub fn to_owned(self) -> OwnedReply {
        OwnedReply { status: self.status, head: self.head.to_vec(), body: self.body.to_vec() }
    }
}

impl OwnedReply {
    pub fn header(&self, name: &str) -> Option<&str> {
        find_header(&self.head, name)
    }

    /// All headers in order, names as sent.
    pub fn headers(&self) -> Vec<(&str, &str)> {
        lines(&self.head).filter_map(split_header).collect()
    }

    /// The body as JSON; `None` if it is not.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// The LSN of each partition key range that the session token names.
    pub fn session_lsns(&self) -> Vec<(&str, u64)> {
        let token = self.header("x-ms-session-token").unwrap_or_default();
        token.split(',').filter_map(parse_session_part).collect()
    }
}

/// `0:-1#17` is range 0 at 17; regions after a further `#` do not matter here.
fn parse_session_part(part: &str) -> Option<(&str, u64)> {
    let (range, vector) = part.trim().split_once(':')?;
    let lsn = vector.split('#').nth(1)?;
    Some((range, lsn.parse().ok()?))
}

fn parse_status(head: &[u8]) -> Option<u16> {
    let code = head.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    std::str::from_utf8(code).ok()?.parse().ok()
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|byte| *byte == b'\n').skip(1).map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

fn split_header(line: &[u8]) -> Option<(&str, &str)> {
    let (name, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
    Some((name, value.trim()))
}

fn find_header<'a>(head: &'a [u8], name: &str) -> Option<&'a str> {
    let wanted = name.as_bytes();
    let is_wanted = |line: &&[u8]| {
        line.get(wanted.len()) == Some(&b':') && line[..wanted.len()].eq_ignore_ascii_case(wanted)
    };
    lines(head).find(is_wanted).and_then(split_header).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 5\r\n\r\nhello";

    #[test]
    fn a_head_is_found_wherever_the_bytes_were_cut() {
        let whole = Head { status: 200, head_bytes: HELLO.len() - 5, body: BodyLength::Known(5) };
        for cut in 0..HELLO.len() - 5 {
            assert_eq!(Head::parse(&HELLO[..cut], 0), Ok(None), "{cut}");
            assert_eq!(Head::parse(HELLO, cut), Ok(Some(whole)), "{cut}");
        }
    }

    #[test]
    fn headers_are_found_in_any_case() {
        let head = Head::parse(HELLO, 0).unwrap().unwrap();
        let reply = Reply::new(head, HELLO);
        assert_eq!(reply.header("etag"), Some("\"a\""));
        assert_eq!(reply.header("eta"), None);
        assert_eq!(reply.body, b"hello");
        assert_eq!(reply.to_owned().headers(), [("ETag", "\"a\""), ("Content-Length", "5")]);
    }

    #[test]
    fn a_reply_without_a_length_is_refused_unless_it_has_no_body() {
        assert!(Head::parse(b"HTTP/1.1 200 OK\r\n\r\n", 0).is_err());
        assert!(Head::parse(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", 0).is_err());
        assert!(Head::parse(b"SSH-2.0\r\n\r\n", 0).is_err());
        let none = Head::parse(b"HTTP/1.1 204 No Content\r\n\r\n", 0).unwrap().unwrap();
        assert_eq!(none.body, BodyLength::Known(0));
        let chunked =
            Head::parse(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 0).unwrap().unwrap();
        assert_eq!(chunked.body, BodyLength::Chunked);
    }

    #[test]
    fn a_session_token_names_the_lsn_of_each_range() {
        assert_eq!(parse_session_part("0:-1#17"), Some(("0", 17)));
        assert_eq!(parse_session_part("3:1#9#4=8"), Some(("3", 9)));
        assert_eq!(parse_session_part("17"), None);
        assert_eq!(parse_session_part("0:-1#x"), None);
    }
}
