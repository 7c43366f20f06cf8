//! An issuer behind TLS is asked for its keys, if it is who it says.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

use orrery_api_common::bearer::{BearerError, Bearers, DevelopmentKey, Discovery, Issuer, Trust};
use orrery_api_common::{Listener, Stop, body, load_or_make};
use orrery_core::Timestamp;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::json;
use std::net::SocketAddr;

const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

/// An issuer over https that calls itself `called`, or by its address.
async fn issuer(key: &DevelopmentKey, called: Option<&str>) -> (String, Trust) {
    let folder = tempfile::tempdir().unwrap();
    let tls = load_or_make(folder.path()).unwrap();
    let certificate = CertificateDer::from_pem_file(folder.path().join("cert.pem")).unwrap();
    let trust = Trust::These(vec![certificate]);
    let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0)), Some(tls)).unwrap();
    let name = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let about = json!({"issuer": called.unwrap_or(&name), "jwks_uri": format!("{name}/keys")}).to_string();
    let keys = key.to_jwks().to_string();
    let serve = move |request: http::Request<hyper::body::Incoming>, _| {
        let text = if request.uri().path() == "/keys" { keys.clone() } else { about.clone() };
        async move { http::Response::new(body(text)) }
    };
    tokio::spawn(listener.serve(serve, Stop::new()));
    (name, trust)
}

fn token(key: &DevelopmentKey, issuer: &str) -> String {
    let claims = json!({"iss": issuer, "aud": "us", "sub": "me", "exp": NOW.seconds() + 60});
    key.sign(&json!({"alg": "ES256", "kid": key.kid()}), &claims).unwrap()
}

fn key() -> DevelopmentKey {
    DevelopmentKey::read(&DevelopmentKey::make().unwrap()).unwrap()
}

fn believing(name: &str, trust: Trust) -> Bearers {
    let discovery = Discovery::new(name, trust).unwrap();
    Bearers::new(vec![Issuer::discovered(discovery)], vec!["us".to_owned()])
}

#[tokio::test]
async fn keys_come_over_https() {
    let key = key();
    let (name, trust) = issuer(&key, None).await;
    let bearers = believing(&name, trust);
    assert_eq!(bearers.verify(&token(&key, &name), NOW).await.unwrap().id, "me");
}

#[tokio::test]
async fn an_issuer_that_nobody_vouches_for_is_not_asked_further() {
    let key = key();
    let (name, _) = issuer(&key, None).await;
    let (_, others) = issuer(&key, None).await;
    let refused = believing(&name, others).verify(&token(&key, &name), NOW).await;
    assert!(matches!(refused, Err(BearerError::KeysMissing(_))), "{refused:?}");
}

#[tokio::test]
async fn an_issuer_that_calls_itself_something_else_is_not_believed() {
    let key = key();
    let (name, trust) = issuer(&key, Some("https://elsewhere")).await;
    let refused = believing(&name, trust).verify(&token(&key, &name), NOW).await;
    let Err(BearerError::KeysMissing(why)) = refused else { panic!("{refused:?}") };
    assert!(why.contains("elsewhere"), "{why}");
}

#[tokio::test]
async fn an_issuer_that_is_away_is_asked_once_and_then_left_alone_for_a_while() {
    let key = key();
    let bearers = believing("http://127.0.0.1:9", Trust::These(Vec::new()));
    let first = bearers.verify(&token(&key, "http://127.0.0.1:9"), NOW).await;
    assert!(matches!(first, Err(BearerError::KeysMissing(_))), "{first:?}");
    let second = bearers.verify(&token(&key, "http://127.0.0.1:9"), NOW).await;
    assert_eq!(second, Err(BearerError::KeysMissing("it did not answer a moment ago".into())));
}
