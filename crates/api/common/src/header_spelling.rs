//! The original case of header names, over HTTP/1.
//!
//! Header names are case-insensitive, and the header map keeps them in lower case. Storage puts users' names into
//! header names (`x-ms-meta-Foo`) and returns them as written. The HTTP library keeps the spelling in a private type,
//! which only its own parser and writer use. So this module runs those, in memory:
//!
//! ```text
//! read    the head's extensions ─▶ a request of the library's client ─▶ its bytes ─▶ names
//! write   names ─▶ the bytes of a request ─▶ the library's server ─▶ extensions, for the response
//! ```
//!
//! Only the library's own parser locates names, so no body and no value can be taken for one. Over HTTP/2 all names are
//! in lower case. Reading needs a listener with [`Options::keeps_spelling`](crate::Options).

use bytes::Bytes;
use http::request::Parts;
use http::{Extensions, HeaderName, HeaderValue, Request, Response};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::service::service_fn;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// The headers whose names start with `prefix` (in lower case), with the names as the client wrote them.
pub fn spelled_headers(head: &Parts, prefix: &str) -> Vec<(String, HeaderValue)> {
    let wanted = || head.headers.iter().filter(|(name, _)| name.as_str().starts_with(prefix));
    let names: Vec<&HeaderName> = wanted().map(|(name, _)| name).collect();
    if names.is_empty() {
        return Vec::new();
    }
    let mut spelled = read(&names, &head.extensions).unwrap_or_default();
    wanted()
        .map(|(name, value)| {
            let found = spelled.iter().position(|spelled| spelled.eq_ignore_ascii_case(name.as_str()));
            // Each of several headers with one name has its own spelling.
            let name = found.map_or_else(|| name.to_string(), |at| spelled.remove(at));
            (name, value.clone())
        })
        .collect()
}

/// Makes a response write its header names in this spelling, over HTTP/1.
pub fn spell_headers<B>(response: &mut Response<B>, names: &[&str]) {
    let has_capital = |name: &&str| name.bytes().any(|byte| byte.is_ascii_uppercase());
    if names.iter().any(has_capital)
        && let Some(spelling) = write(names)
    {
        response.extensions_mut().extend(spelling);
    }
}

/// The names in the library's own record, which is one of the extensions.
fn read(names: &[&HeaderName], extensions: &Extensions) -> Option<Vec<String>> {
    let mut request = Request::new(Empty::<Bytes>::new());
    for name in names {
        request.headers_mut().append(*name, HeaderValue::from_static(""));
    }
    *request.extensions_mut() = extensions.clone();
    let memory = Memory::default();
    let (mut sender, connection) = now(hyper::client::conn::http1::handshake(memory.clone()))?.ok()?;
    let mut sending = pin!(sender.send_request(request));
    let mut connection = pin!(connection);
    let mut context = Context::from_waker(Waker::noop());
    // The connection writes the request's head and then waits for a response.
    let _ = sending.as_mut().poll(&mut context);
    let _ = connection.as_mut().poll(&mut context);
    let head = memory.take_written();
    let lines = std::str::from_utf8(&head).ok()?.lines().skip(1);
    Some(lines.filter_map(|line| line.split_once(':')).map(|(name, _)| name.to_owned()).collect())
}

/// Extensions with the library's record of these names.
fn write(names: &[&str]) -> Option<Extensions> {
    let mut head = String::from("GET / HTTP/1.1\r\n");
    for name in names {
        // A name contains nothing that could end the line or the head.
        name.parse::<HeaderName>().ok()?;
        head.push_str(name);
        head.push_str(": \r\n");
    }
    head.push_str("\r\n");
    let found = Arc::new(Mutex::new(None));
    let service = service_fn(|mut request: Request<Incoming>| {
        let extensions = std::mem::take(request.extensions_mut());
        found.lock().unwrap_or_else(PoisonError::into_inner).replace(extensions);
        async { Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new())) }
    });
    let mut server = hyper::server::conn::http1::Builder::new();
    server.preserve_header_case(true).header_read_timeout(None).max_headers(names.len() + 1);
    now(server.serve_connection(Memory::holding(head), service));
    found.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The output of a future that is ready at once.
fn now<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// A connection in memory: reads what it holds and keeps what is written.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Pieces>>);

#[derive(Default)]
struct Pieces {
    held: Vec<u8>,
    written: Vec<u8>,
}

impl Memory {
    fn holding(text: String) -> Self {
        Self(Arc::new(Mutex::new(Pieces { held: text.into_bytes(), written: Vec::new() })))
    }

    fn take_written(&self) -> Vec<u8> {
        std::mem::take(&mut self.pieces().written)
    }

    fn pieces(&self) -> std::sync::MutexGuard<'_, Pieces> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Read for Memory {
    /// After the last byte it is pending, not at its end.
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut room: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let mut pieces = self.pieces();
        if pieces.held.is_empty() {
            return Poll::Pending;
        }
        let length = pieces.held.len().min(room.remaining());
        room.put_slice(&pieces.held[..length]);
        pieces.held.drain(..length);
        Poll::Ready(Ok(()))
    }
}

impl Write for Memory {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.pieces().written.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(names: &[&str], extensions: Extensions) -> Parts {
        let mut request = Request::new(());
        for (at, name) in names.iter().enumerate() {
            let name: HeaderName = name.parse().expect("a name");
            request.headers_mut().append(name, HeaderValue::from(at));
        }
        *request.extensions_mut() = extensions;
        request.into_parts().0
    }

    #[test]
    fn names_that_were_written_are_read_back() {
        let names = [
            "x-ms-meta-Foo",
            "X-Ms-Meta-fOO",
            "x-other-Name",
            "x-ms-meta-é".trim_end_matches('é'),
            "X-MS-META-b_C",
        ];
        let spelling = write(&names).expect("a spelling");
        let found = spelled_headers(&head(&names, spelling), "x-ms-meta-");
        let mut found: Vec<_> =
            found.iter().map(|(name, value)| (name.as_str(), value.to_str().expect("a number"))).collect();
        found.sort_by_key(|(_, value)| *value);
        assert_eq!(
            found,
            [("x-ms-meta-Foo", "0"), ("X-Ms-Meta-fOO", "1"), ("x-ms-meta-", "3"), ("X-MS-META-b_C", "4")]
        );
    }

    #[test]
    fn without_a_record_names_are_in_lower_case() {
        let found = spelled_headers(&head(&["x-ms-meta-Foo", "accept"], Extensions::new()), "x-ms-meta-");
        assert_eq!(found, [("x-ms-meta-foo".to_owned(), HeaderValue::from(0))]);
    }

    #[test]
    fn an_invalid_header_name_is_not_written() {
        assert!(write(&["x-ms-meta-A: b\r\nhost"]).is_none() && write(&["a b"]).is_none());
        let many: Vec<String> = (0..500).map(|at| format!("x-ms-meta-N{at}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let found = spelled_headers(&head(&many, write(&many).expect("a spelling")), "x-ms-meta-");
        assert!(found.len() == 500 && found.iter().all(|(name, _)| name.contains('N')));
    }
}
