//! One keep-alive connection, one request on it at a time.

use crate::chunk::Chunk;
use crate::reply::{BodyLength, Head, Malformed, Reply};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Room made before each read, so a small reply arrives in one.
const READ_BYTES_MIN: usize = 8 * 1024;
/// The largest reply taken: a page of a feed and its envelope, with room to spare.
const REPLY_BYTES_MAX: usize = 64 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The connection broke; whether the request had its effect is unknown.
    #[error("the connection broke: {0}")]
    Io(#[from] std::io::Error),
    /// The server closed the connection before the reply was all there.
    #[error("the connection ended before the reply did")]
    Closed,
    #[error("the reply is malformed: {0}")]
    Malformed(&'static str),
    #[error("no reply within {0} s")]
    Late(u64),
}

impl From<Malformed> for ClientError {
    fn from(Malformed(why): Malformed) -> Self {
        Self::Malformed(why)
    }
}

#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub async fn connect(address: SocketAddr) -> Result<Self, ClientError> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(READ_BYTES_MIN) })
    }

    /// Sends the bytes and reads the reply. After an error the connection is of no further use.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<Reply<'_>, ClientError> {
        self.buffer.clear();
        self.stream.write_all(request).await?;
        let head = self.read_head().await?;
        match head.body {
            BodyLength::Known(bytes) => self.read_body(head.head_bytes + bytes).await?,
            BodyLength::Chunked => self.read_chunks(head.head_bytes).await?,
        }
        Ok(Reply::new(head, &self.buffer))
    }

    async fn read_body(&mut self, total: usize) -> Result<(), ClientError> {
        if total > REPLY_BYTES_MAX {
            return Err(ClientError::Malformed("it is too long"));
        }
        self.buffer.reserve(total.saturating_sub(self.buffer.len()));
        while self.buffer.len() < total {
            self.read_some().await?;
        }
        match self.buffer.len() > total {
            true => Err(ClientError::Malformed("more bytes came than its length says")),
            false => Ok(()),
        }
    }

    /// Reads the chunks and moves each to the end of the last, where its frame was.
    async fn read_chunks(&mut self, body_at: usize) -> Result<(), ClientError> {
        let (mut at, mut end) = (body_at, body_at);
        loop {
            let Some(chunk) = Chunk::parse(&self.buffer[at..])? else {
                if self.buffer.len() > REPLY_BYTES_MAX {
                    return Err(ClientError::Malformed("it is too long"));
                }
                self.buffer.reserve(READ_BYTES_MIN);
                self.read_some().await?;
                continue;
            };
            self.buffer.copy_within(at + chunk.data.start..at + chunk.data.end, end);
            end += chunk.data.len();
            at += chunk.frame_bytes;
            if chunk.data.is_empty() {
                break;
            }
        }
        if self.buffer.len() > at {
            return Err(ClientError::Malformed("more came than its last chunk"));
        }
        self.buffer.truncate(end);
        Ok(())
    }

    async fn read_head(&mut self) -> Result<Head, ClientError> {
        let mut searched = 0;
        loop {
            self.buffer.reserve(READ_BYTES_MIN);
            self.read_some().await?;
            match Head::parse(&self.buffer, searched) {
                Ok(Some(head)) => return Ok(head),
                Ok(None) if self.buffer.len() > REPLY_BYTES_MAX => {
                    return Err(ClientError::Malformed("its head does not end"));
                }
                Ok(None) => searched = self.buffer.len(),
                Err(malformed) => return Err(malformed.into()),
            }
        }
    }

    async fn read_some(&mut self) -> Result<(), ClientError> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(ClientError::Closed),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// A server that answers one request with these bytes, one write each, and closes.
    async fn answering(pieces: &'static [&'static [u8]]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            assert_ne!(stream.read(&mut request).await.unwrap(), 0);
            for piece in pieces {
                stream.write_all(piece).await.unwrap();
                stream.flush().await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        address
    }

    #[tokio::test]
    async fn a_reply_in_pieces_is_put_together() {
        let address =
            answering(&[b"HTTP/1.1 201 Cre", b"ated\r\ncontent-length: 4\r\n\r", b"\nab", b"cd"]).await;
        let mut connection = Connection::connect(address).await.unwrap();
        let reply = connection.exchange(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        assert_eq!((reply.status, reply.body), (201, &b"abcd"[..]));
    }

    #[tokio::test]
    async fn chunks_are_put_together_without_their_frames() {
        let address = answering(&[
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc",
            b"\r\n0",
            b"2\r\nde\r",
            b"\n0\r\n\r\n",
        ])
        .await;
        let mut connection = Connection::connect(address).await.unwrap();
        let reply = connection.exchange(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        assert_eq!((reply.status, reply.body), (200, &b"abcde"[..]));
    }

    #[tokio::test]
    async fn a_reply_cut_short_is_an_error_and_not_a_short_body() {
        let address = answering(&[b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"]).await;
        let mut connection = Connection::connect(address).await.unwrap();
        let error = connection.exchange(b"GET / HTTP/1.1\r\n\r\n").await.unwrap_err();
        assert!(matches!(error, ClientError::Closed), "{error}");
    }
}
