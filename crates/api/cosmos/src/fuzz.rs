//! The fuzz targets, one per decoder of bytes that clients send; the ordinary tests run them too. Each takes any
//! bytes and panics only if an invariant of this crate is broken.

use crate::failure::Failure;
use crate::{route, session};
use orrery_document_store::{QuerySpec, Tokens, partition_key};
use orrery_value::Value;

/// A parsed route has a type and a link to sign, and is the same with a trailing slash.
pub fn route(data: &[u8]) {
    let Ok(uri) = http::Uri::try_from(data) else { return };
    let Ok(located) = route::locate(&uri) else { return };
    assert_eq!(located.resource_type.is_empty(), located.route == route::Route::Account);
    if uri.query().is_none() && !uri.path().ends_with('/') {
        let again = format!("{}/", uri.path()).parse().expect("a path with a slash at its end is a path");
        assert_eq!(route::locate(&again), Ok(located));
    }
}

/// Partition keys contain only scalars, a forged token is never accepted, and refusals are bad requests.
pub fn headers(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match partition_key::parse(text) {
        Ok(parts) => assert!(!parts.iter().any(|part| matches!(part, Value::Array(_) | Value::Object(_)))),
        Err(error) => assert_eq!(Failure::from(error).status, 400),
    }
    if let Err(failure) = session::Token::parse(text) {
        assert_eq!(failure.status, 400);
    }
    let tokens = Tokens::new(&[1; 32]);
    assert!(tokens.read(1, text).is_err(), "{text:?} has our signature");
    assert_eq!(tokens.read(1, &tokens.write(1, data)), Ok(data.to_vec()));
    let _ = orrery_api_common::parse_authorization(text);
}

/// A query's body is parsed or refused as a bad request; a parsed query has a fingerprint.
pub fn query(data: &[u8]) {
    match QuerySpec::parse(data) {
        Ok(body) => assert_eq!(body.fingerprint_of(""), body.clone().fingerprint_of("")),
        Err(error) => assert_eq!(Failure::from(error).status, 400),
    }
}
