//! One connection to a server, kept for all requests: HTTP/1.1 in the clear, one request at a time.

use super::address::Address;
use super::answer::Answer;
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use orrery_core::limits;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A page ends at 4 MiB, but its first row is there at any size that a query can build.
const ANSWER_BYTES_MAX: usize = limits::PAGE_BYTES_MAX + 4 * limits::VALUE_BYTES_MAX;
const CONNECT_TIME_MAX: Duration = Duration::from_secs(limits::HEAD_SECONDS_MAX);
const ANSWER_TIME_MAX: Duration = Duration::from_secs(limits::REQUEST_SECONDS_MAX);

pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
}

impl Connection {
    /// The hint ends the sentence that says that nobody answers.
    pub async fn open(address: &Address, hint: &str) -> Result<Self, String> {
        let nobody = |why: String| format!("no server at http://{} ({why}){hint}", address.authority());
        let stream = timeout(CONNECT_TIME_MAX, TcpStream::connect((&*address.host, address.port))).await;
        let stream = stream.map_err(|_| nobody("it does not answer".to_owned()))?;
        let stream = stream.map_err(|error| nobody(error.to_string()))?;
        let opened = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = opened.map_err(|error| nobody(error.to_string()))?;
        // It ends with the sender; whatever breaks it reaches the request that waits for it.
        tokio::spawn(connection);
        Ok(Self { sender })
    }

    pub async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, String> {
        let late = |_| format!("the server gave no answer within {} seconds", ANSWER_TIME_MAX.as_secs());
        timeout(ANSWER_TIME_MAX, self.answer(request)).await.map_err(late)?
    }

    async fn answer(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, String> {
        let broken = |error: hyper::Error| format!("the connection broke: {error}");
        self.sender.ready().await.map_err(broken)?;
        let (head, body) = self.sender.send_request(request).await.map_err(broken)?.into_parts();
        let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
        let body = body.map_err(|error| format!("the answer broke off: {error}"))?.to_bytes();
        Ok(Answer { status: head.status, headers: head.headers, body })
    }
}
