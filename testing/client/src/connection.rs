//! One keep-alive connection, one request on it at a time.

use crate::reply::{Head, Reply};
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
        let total = head.head_bytes + head.body_bytes;
        if total > REPLY_BYTES_MAX {
            return Err(ClientError::Malformed("it is too long"));
        }
        self.buffer.reserve(total.saturating_sub(self.buffer.len()));
        while self.buffer.len() < total {
            self.read_some().await?;
        }
        if self.buffer.len() > total {
            return Err(ClientError::Malformed("more bytes came than its length says"));
        }
        Ok(Reply::new(head, &self.buffer))
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
                Err(malformed) => return Err(ClientError::Malformed(malformed.0)),
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
    async fn a_reply_cut_short_is_an_error_and_not_a_short_body() {
        let address = answering(&[b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"]).await;
        let mut connection = Connection::connect(address).await.unwrap();
        let error = connection.exchange(b"GET / HTTP/1.1\r\n\r\n").await.unwrap_err();
        assert!(matches!(error, ClientError::Closed), "{error}");
    }
}
