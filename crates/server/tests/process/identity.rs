//! Keys and certificate: made at first start, kept, and shown once.

use crate::server::{Server, orrery};
use orrery_testing_client::{EMULATOR_KEY, Method, Request};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// A server that other machines could reach.
fn exposed(data: &Path) -> Server {
    let scratch = tempfile::tempdir().unwrap();
    let mut command = orrery(scratch.path());
    command.args(["serve", "--host", "0.0.0.0", "--free-ports", "--data"]).arg(data);
    Server::run(command, scratch)
}

fn keys(data: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(data.join("keys.json")).unwrap()).unwrap()
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn bound_to_the_world_a_server_has_keys_of_its_own_and_tells_them_once() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let account = Request::new(Method::Get, "");
    let mut server = exposed(&data);
    let keys = keys(&data);
    let own = keys["primary"].as_str().unwrap();
    assert!(server.printed().contains(&format!("AccountKey={own};")), "{}", server.printed());
    for restarted in [false, true] {
        if restarted {
            server.stop();
            server = exposed(&data);
            assert!(!server.printed().contains("AccountKey="), "{}", server.printed());
            assert!(server.printed().contains("keys.json"), "{}", server.printed());
        }
        for name in ["primary", "secondary", "primary_readonly", "secondary_readonly"] {
            assert_eq!(server.call(keys[name].as_str().unwrap(), &account).await.status, 200, "{name}");
        }
        assert_eq!(server.call(EMULATOR_KEY, &account).await.status, 401);
        assert!(!server.printed().contains(EMULATOR_KEY));
        for name in ["secondary", "primary_readonly", "secondary_readonly", "token_secret"] {
            assert!(!server.printed().contains(keys[name].as_str().unwrap()), "{name} is printed");
        }
    }
    assert_eq!(keys, self::keys(&data), "a restart keeps them");
    assert!(!server.errors().contains(own), "no key is logged");
}

#[tokio::test]
async fn on_loopback_the_published_key_works_and_the_folders_own_too() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let server = Server::start(&data, &[]);
    let account = Request::new(Method::Get, "");
    assert!(server.printed().contains(EMULATOR_KEY));
    assert_eq!(server.call(EMULATOR_KEY, &account).await.status, 200);
    assert_eq!(server.call(keys(&data)["primary"].as_str().unwrap(), &account).await.status, 200);
    assert_eq!(server.call(keys(&data)["primary_readonly"].as_str().unwrap(), &account).await.status, 200);
    assert_eq!(server.call("bm90IGEga2V5", &account).await.status, 401);
}

#[test]
fn what_is_secret_is_readable_by_its_owner_only() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    Server::start(&data, &[]).stop();
    for name in ["keys.json", "key.pem"] {
        assert_eq!(mode(&data.join(name)), 0o600, "{name}");
    }
    let other = here.path().join("other");
    Server::start(&other, &[]).stop();
    assert_ne!(keys(&data), keys(&other));
}

/// The answer to `GET /healthz`-like bytes over TLS, from a client that trusts only this folder's certificate.
async fn over_tls(server: &Server, data: &Path) -> String {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(data.join("cert.pem")).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(server.cosmos).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn the_certificate_survives_a_restart() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let files = || ["cert.pem", "key.pem"].map(|name| std::fs::read(data.join(name)).unwrap());
    let server = Server::start(&data, &[]);
    assert!(over_tls(&server, &data).await.starts_with("HTTP/1.1 401 "));
    let before = files();
    server.stop();
    let server = Server::start(&data, &[]);
    assert_eq!(files(), before);
    assert!(over_tls(&server, &data).await.starts_with("HTTP/1.1 401 "));
}
