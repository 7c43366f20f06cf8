//! Valid tokens, and every kind of invalid one.

use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::json;
use std::time::Duration;

const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);
const AUDIENCE: &str = "https://cosmos.azure.com";

fn key() -> DevelopmentKey {
    DevelopmentKey::read(&DevelopmentKey::make().unwrap()).unwrap()
}

fn mint() -> Mint {
    let grants = vec![Grant { role: "reader".into(), scope: "/".into() }];
    Mint { principal: "me".into(), audience: AUDIENCE.into(), grants, lifetime: Duration::from_secs(600) }
}

fn bearers(issuer: Issuer) -> Bearers {
    Bearers::new(vec![issuer], vec![format!("{AUDIENCE}/"), "https://localhost:8081".into()])
}

fn verify(bearers: &Bearers, token: &str, now: Timestamp) -> Result<Principal, BearerError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(bearers.verify(token, now))
}

fn payload() -> Value {
    json!({"iss": DEVELOPMENT_ISSUER, "aud": AUDIENCE, "oid": "me", "exp": NOW.seconds() + 600})
}

/// The result for a correctly signed token with this header and payload.
fn said(key: &DevelopmentKey, header: &Value, payload: &Value) -> Result<String, BearerError> {
    let token = key.sign(header, payload).unwrap();
    verify(&bearers(Issuer::development(key)), &token, NOW).map(|principal| principal.id)
}

#[test]
fn a_minted_token_says_who_and_what() {
    let key = key();
    let token = key.mint(&mint(), NOW).unwrap();
    let principal = verify(&bearers(Issuer::development(&key)), &token, NOW).unwrap();
    let roles = vec!["reader".to_owned()];
    assert_eq!(principal, Principal { id: "me".into(), grants: mint().grants, roles });
    let plain =
        Issuer::fixed(DEVELOPMENT_ISSUER, KeySet::parse(key.to_jwks().to_string().as_bytes()).unwrap());
    let principal = verify(&bearers(plain), &token, NOW).unwrap();
    assert_eq!(principal.grants, [], "no other issuer gives roles");
}

#[test]
fn a_token_works_from_its_beginning_to_its_end_and_five_minutes_about() {
    let (key, skew) = (key(), orrery_protocol::limits::BEARER_SKEW_SECONDS_MAX);
    let token = key.mint(&mint(), NOW).unwrap();
    let at = |seconds: u64| {
        verify(&bearers(Issuer::development(&key)), &token, Timestamp::from_seconds(seconds)).map(drop)
    };
    let (from, to) = (NOW.seconds(), NOW.seconds() + 600);
    assert_eq!(at(from - skew), Ok(()));
    assert_eq!(at(from - skew - 1), Err(BearerError::NotYet));
    assert_eq!(at(to + skew - 1), Ok(()));
    assert_eq!(at(to + skew), Err(BearerError::Expired));
}

#[test]
fn the_algorithm_is_one_of_three_and_the_keys_own() {
    let key = key();
    let header = |alg: &str| json!({"alg": alg, "kid": key.kid()});
    assert_eq!(said(&key, &header("ES256"), &payload()), Ok("me".into()));
    for other in ["none", "None", "NONE", "", "HS256", "ES384", "PS256", "es256"] {
        assert_eq!(said(&key, &header(other), &payload()), Err(BearerError::Algorithm), "{other}");
    }
    for wrong in ["RS256", "EdDSA"] {
        assert_eq!(said(&key, &header(wrong), &payload()), Err(BearerError::Signature), "{wrong}");
    }
    let unsigned = key.sign(&header("none"), &payload()).unwrap();
    let unsigned = &unsigned[..=unsigned.rfind('.').unwrap()];
    let refused = verify(&bearers(Issuer::development(&key)), unsigned, NOW);
    assert_eq!(refused, Err(BearerError::Algorithm));
    let critical = json!({"alg": "ES256", "kid": key.kid(), "crit": ["b64"], "b64": false});
    assert_eq!(said(&key, &critical, &payload()), Err(BearerError::Malformed));
}

#[test]
fn the_issuer_the_key_and_the_audience_must_be_known() {
    let key = key();
    let header = json!({"alg": "ES256", "kid": key.kid()});
    let with = |member: &str, value: Value| {
        let mut payload = payload();
        payload[member] = value;
        said(&key, &header, &payload)
    };
    assert_eq!(with("iss", json!("https://evil")), Err(BearerError::Issuer("https://evil".into())));
    assert_eq!(with("iss", json!(7)), Err(BearerError::Issuer(String::new())));
    assert_eq!(with("aud", json!("https://graph")), Err(BearerError::Audience("https://graph".into())));
    assert_eq!(with("aud", json!([])), Err(BearerError::Audience(String::new())));
    assert_eq!(with("aud", json!(["x", "https://localhost:8081/"])), Ok("me".into()));
    assert_eq!(with("aud", json!({"a": AUDIENCE})), Err(BearerError::Malformed));
    assert_eq!(with("roles", json!(["notifications.send"])), Ok("me".into()));
    assert_eq!(with("roles", json!([7])), Ok("me".into()));
    for wrong in [json!("9999999999"), json!(null), json!(-1), json!([1]), json!(1e300)] {
        assert_eq!(with("exp", wrong.clone()), Err(BearerError::Malformed), "exp {wrong}");
        assert_eq!(with("nbf", wrong.clone()), Err(BearerError::Malformed), "nbf {wrong}");
    }
    assert_eq!(with("oid", json!("")), Err(BearerError::Nobody));
    for kid in [json!({"alg": "ES256", "kid": "other"}), json!({"alg": "ES256"})] {
        assert_eq!(said(&key, &kid, &payload()), Err(BearerError::UnknownKey));
    }
    let mut timeless = payload();
    timeless.as_object_mut().unwrap().remove("exp");
    assert_eq!(said(&key, &header, &timeless), Err(BearerError::Expired));
}

#[test]
fn another_key_of_the_same_name_signs_nothing() {
    let (ours, theirs) = (key(), key());
    let header = json!({"alg": "ES256", "kid": ours.kid()});
    let token = theirs.sign(&header, &payload()).unwrap();
    assert_eq!(verify(&bearers(Issuer::development(&ours)), &token, NOW), Err(BearerError::Signature));
}

#[test]
fn edwards_keys_verify_too() {
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let jwks = json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "e", "x": encode(pair.public_key().as_ref())}]});
    let keys = KeySet::parse(jwks.to_string().as_bytes()).unwrap();
    let header = json!({"alg": "EdDSA", "kid": "e"});
    let signed =
        format!("{}.{}", encode(header.to_string().as_bytes()), encode(payload().to_string().as_bytes()));
    let token = format!("{signed}.{}", encode(pair.sign(signed.as_bytes()).as_ref()));
    let bearers = bearers(Issuer::fixed(DEVELOPMENT_ISSUER, keys));
    assert_eq!(verify(&bearers, &token, NOW).unwrap().id, "me");
}

/// The example of RFC 7515, appendix A.2: a key, a text and a signature from elsewhere.
#[test]
fn the_rsa_example_of_the_standard_verifies() {
    let n = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";
    let token = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
    let jwks = json!({"keys": [{"kty": "RSA", "kid": "r", "n": n, "e": "AQAB"}]});
    let keys = KeySet::parse(jwks.to_string().as_bytes()).unwrap();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let verifies = |signed: &str, signature: &[u8]| {
        keys.find("r").unwrap().verifies(Algorithm::Rs256, signed.as_bytes(), signature)
    };
    let mut signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
    assert!(verifies(signed, &signature));
    assert!(!verifies(&signed.replace("eyJ", "eyK"), &signature));
    signature[7] ^= 1;
    assert!(!verifies(signed, &signature));
}

#[test]
fn key_sets_pass_over_what_is_not_for_us_and_refuse_what_is_nothing() {
    let ours = key().to_jwks()["keys"][0].clone();
    let with = |member: &str, value: Value| {
        let mut key = ours.clone();
        key[member] = value;
        KeySet::parse(json!({ "keys": [key] }).to_string().as_bytes()).is_ok()
    };
    assert!(with("alg", json!("ES256")));
    for (member, value) in [
        ("use", "enc"),
        ("alg", "ES384"),
        ("crv", "P-384"),
        ("kty", "oct"),
        ("x", "AA"),
        ("y", "#"),
        ("kid", ""),
    ] {
        assert!(!with(member, json!(value)), "{member} {value}");
    }
    for nothing in ["", "{}", r#"{"keys":7}"#, r#"{"keys":[]}"#, r#"{"keys":[7]}"#] {
        assert!(KeySet::parse(nothing.as_bytes()).is_err(), "{nothing}");
    }
    let many = vec![ours; limits::ISSUER_KEYS_MAX + 1];
    assert!(KeySet::parse(json!({ "keys": many }).to_string().as_bytes()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_token_changed_in_any_one_byte_is_refused(at: prop::sample::Index, to in 0x20u8..0x7f) {
        let key = key();
        let token = key.mint(&mint(), NOW).unwrap();
        let mut changed = token.clone().into_bytes();
        let at = at.index(changed.len());
        prop_assume!(changed[at] != to);
        changed[at] = to;
        let changed = String::from_utf8(changed).unwrap();
        prop_assert!(verify(&bearers(Issuer::development(&key)), &changed, NOW).is_err(), "{}", changed);
    }

    #[test]
    fn a_token_cut_anywhere_is_refused(at: prop::sample::Index) {
        let key = key();
        let token = key.mint(&mint(), NOW).unwrap();
        let cut = &token[..at.index(token.len())];
        prop_assert!(verify(&bearers(Issuer::development(&key)), cut, NOW).is_err());
    }

    #[test]
    fn no_text_is_a_token(text in ".{0,200}") {
        prop_assert!(verify(&bearers(Issuer::development(&key())), &text, NOW).is_err());
    }
}

/// As made by SDK tests for emulators.
fn emulator_token(header: &Value, payload: &Value, key: &str) -> String {
    [header.to_string(), payload.to_string(), key.to_owned()]
        .map(|part| URL_SAFE_NO_PAD.encode(part))
        .join(".")
}

#[test]
fn an_emulators_token_shows_the_key_and_is_a_contributors() {
    let key = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";
    let bearers = bearers(Issuer::emulator(key));
    let header = || json!({"typ": "JWT", "alg": "RS256", "kid": "CosmosEmulatorPrimaryMaster"});
    let payload = || {
        json!({"aud": "https://localhost.localhost", "iss": "https://sts.fake-issuer.net/7b1999a1", "oid": "me",
            "nbf": NOW.seconds(), "exp": NOW.seconds() + 600, "roles": ["orrery.admin"]})
    };
    let principal = verify(&bearers, &emulator_token(&header(), &payload(), key), NOW).unwrap();
    let grants = vec![Grant { role: "contributor".into(), scope: "/".into() }];
    assert_eq!(principal, Principal { id: "me".into(), grants, roles: Vec::new() });

    let refused = |header: Value, payload: Value, key: &str| {
        verify(&bearers, &emulator_token(&header, &payload, key), NOW).unwrap_err()
    };
    let with = |mut base: Value, name: &str, value: Value| {
        base[name] = value;
        base
    };
    assert_eq!(refused(header(), payload(), "b3RoZXI="), BearerError::Signature);
    assert_eq!(refused(header(), payload(), ""), BearerError::Signature);
    assert_eq!(refused(with(header(), "kid", json!("other")), payload(), key), BearerError::UnknownKey);
    assert_eq!(refused(with(header(), "alg", json!("none")), payload(), key), BearerError::Algorithm);
    let past = json!(NOW.seconds() - 600);
    assert_eq!(refused(header(), with(payload(), "exp", past), key), BearerError::Expired);
    let audience = with(payload(), "aud", json!(AUDIENCE));
    assert!(matches!(refused(header(), audience, key), BearerError::Audience(_)));
    for name in ["https://sts.fake-issuer.network/x", "https://login.example", "sts.fake-issuer.net"] {
        let issuer = with(payload(), "iss", json!(name));
        assert!(matches!(refused(header(), issuer, key), BearerError::Issuer(_)), "{name}");
    }
}

#[test]
fn an_emulators_token_is_nothing_to_a_server_without_that_issuer() {
    let payload = json!({"aud": AUDIENCE, "iss": "https://sts.fake-issuer.net/x", "oid": "me", "exp": NOW.seconds() + 600});
    let header = json!({"alg": "RS256", "kid": "CosmosEmulatorPrimaryMaster"});
    let token = emulator_token(&header, &payload, "key");
    let refused = verify(&bearers(Issuer::development(&key())), &token, NOW);
    assert!(matches!(refused, Err(BearerError::Issuer(_))), "{refused:?}");
}
