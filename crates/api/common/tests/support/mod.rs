//! A listener with an echo behind it, and clients that speak to it each in their own way.

#![allow(dead_code, reason = "every test file uses its own part of this")]

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use orrery_api_common::{Body, Listener, Options, Peer, Stop, body as reply, load_or_make, read_body};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub const GET: &[u8] = b"GET /hello HTTP/1.1\r\nhost: localhost\r\n\r\n";

pub struct Server {
    pub addr: SocketAddr,
    pub stop: Stop,
    pub serving: JoinHandle<()>,
    folder: TempDir,
}

impl Server {
    pub fn start(options: Options) -> Self {
        Self::start_with(options, echo)
    }

    pub fn start_with<S, F>(options: Options, service: S) -> Self
    where
        S: Fn(Request<Incoming>, Peer) -> F + Send + Sync + 'static,
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let folder = tempfile::tempdir().expect("a folder");
        let tls = load_or_make(folder.path()).expect("a certificate");
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = Listener::bind_with(any_port, Some(tls), options).expect("a free port");
        let addr = listener.local_addr().expect("bound");
        let stop = Stop::new();
        let serving = tokio::spawn(listener.serve(service, stop.clone()));
        Self { addr, stop, serving, folder }
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.addr).await.expect("the port accepts")
    }

    /// A client that trusts the server's own certificate and nothing else.
    pub async fn connect_tls(&self, alpn: &[&str]) -> TlsStream<TcpStream> {
        let name = ServerName::try_from("localhost").expect("a name");
        let connector = TlsConnector::from(Arc::new(self.client_config(alpn)));
        connector.connect(name, self.connect().await).await.expect("the certificate is accepted")
    }

    fn client_config(&self, alpn: &[&str]) -> ClientConfig {
        let certificate = CertificateDer::from_pem_file(self.folder.path().join("cert.pem")).expect("a file");
        let mut roots = RootCertStore::empty();
        roots.add(certificate).expect("usable as a root");
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        config
    }

    /// That the server is well: a new connection gets its answer.
    pub async fn assert_well(&self) {
        let mut stream = self.connect().await;
        stream.write_all(GET).await.expect("sent");
        assert!(read_answer(&mut stream).await.starts_with("HTTP/1.1 200 OK\r\n"));
    }
}

/// Says how the request came in.
pub async fn echo(request: Request<Incoming>, peer: Peer) -> Response<Body> {
    let (head, body) = request.into_parts();
    let body = read_body(body, 1024).await.expect("a small body");
    let text = format!(
        "{} {:?} {} {} {}",
        peer.scheme,
        head.version,
        head.method,
        head.uri.path(),
        String::from_utf8_lossy(&body)
    );
    Response::new(reply(text))
}

pub async fn http1<I>(io: I) -> http1::SendRequest<Full<Bytes>>
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http1::handshake(TokioIo::new(io)).await.expect("a handshake");
    tokio::spawn(connection);
    sender
}

pub async fn http2<I>(io: I) -> http2::SendRequest<Full<Bytes>>
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(io)).await.expect("a handshake");
    tokio::spawn(connection);
    sender
}

pub fn post(body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::post("http://localhost/items").body(Full::new(body.into())).expect("a request")
}

pub async fn text(response: Response<Incoming>) -> String {
    let bytes = response.into_body().collect().await.expect("a body").to_bytes();
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// One answer by hand: the head, and as much of a body as `content-length` says.
pub async fn read_answer(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && body.len() >= content_length(head)
        {
            return text;
        }
        match stream.read_u8().await {
            Ok(byte) => bytes.push(byte),
            Err(_) => return text,
        }
    }
}

fn content_length(head: &str) -> usize {
    let value = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    value.map_or(0, |value| value.parse().expect("a number"))
}

/// Everything until the server closes; a reset counts as a close.
pub async fn read_to_close(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}
