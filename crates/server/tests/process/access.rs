//! Keys replaced while the server runs, roles kept by it, tokens minted beside it, issuers asked by it.

use crate::server::{Server, orrery};
use orrery_api_common::bearer::DevelopmentKey;
use orrery_core::Env;
use orrery_testing_client::{Connection, EMULATOR_KEY, Method, OwnedReply, Request};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// What a verb prints; it must succeed.
fn run(server: &Server, arguments: &[&str]) -> String {
    run_with(server, EMULATOR_KEY, arguments)
}

fn run_with(server: &Server, key: &str, arguments: &[&str]) -> String {
    let (code, out, errors) = try_run(server, key, arguments);
    assert_eq!(code, Some(0), "{arguments:?}: {errors}");
    out
}

fn try_run(server: &Server, key: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let here = tempfile::tempdir().unwrap();
    let mut command = orrery(here.path());
    command.arg(arguments[0]);
    command.args(["--url", &format!("http://{}", server.cosmos), "--key", key]);
    let output = command.args(&arguments[1..]).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn mint(data: &Path, arguments: &[&str]) -> String {
    let here = tempfile::tempdir().unwrap();
    let output = orrery(here.path()).arg("token").arg("--data").arg(data).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn keys(data: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(data.join("keys.json")).unwrap()).unwrap()
}

async fn opens(server: &Server, key: &str) -> bool {
    match server.call(key, &Request::new(Method::Get, "")).await.status {
        200 => true,
        401 => false,
        other => panic!("{other}"),
    }
}

/// A GET with a bearer token.
async fn bearing(server: &Server, path: &str, token: &str) -> OwnedReply {
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: type=aad&ver=1.0&sig={token}\r\n\r\n"
    );
    let mut connection = Connection::connect(server.cosmos).await.unwrap();
    connection.exchange(request.as_bytes()).await.unwrap().to_owned()
}

#[tokio::test]
async fn a_key_is_replaced_without_a_stop_and_stays_so_after_one() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let mut server = Server::start(&data, &[]);
    for (kind, member) in [
        ("primary", "primary"),
        ("secondary", "secondary"),
        ("primary-readonly", "primary_readonly"),
        ("secondary-readonly", "secondary_readonly"),
    ] {
        let before = keys(&data);
        let old = before[member].as_str().unwrap().to_owned();
        assert!(opens(&server, &old).await, "{kind}");
        let signer = before[if kind == "primary" { "secondary" } else { "primary" }].as_str().unwrap();
        let printed = run_with(&server, signer, &["keys", "regenerate", kind]);
        let new = keys(&data)[member].as_str().unwrap().to_owned();
        assert!(printed.starts_with(kind) && printed.contains(&new), "{printed}");
        assert_eq!((opens(&server, &old).await, opens(&server, &new).await), (false, true), "{kind}");
        for other in ["primary", "secondary", "primary_readonly", "secondary_readonly"] {
            let same = keys(&data)[other] == before[other];
            assert_eq!(same, other != member, "{kind} leaves {other}");
            assert!(opens(&server, keys(&data)[other].as_str().unwrap()).await);
        }
        assert!(opens(&server, EMULATOR_KEY).await);
        let errors = server.errors();
        assert!(!errors.contains(&new) && !errors.contains(&old), "no key is logged: {errors}");
        assert_eq!(data.join("keys.json").metadata().unwrap().permissions().mode() & 0o777, 0o600);
        server.stop();
        server = Server::start(&data, &[]);
        assert_eq!(
            (opens(&server, &old).await, opens(&server, &new).await),
            (false, true),
            "{kind}, restarted"
        );
    }
    let listed = run_with(&server, keys(&data)["primary"].as_str().unwrap(), &["keys", "ls"]);
    for member in ["primary", "secondary", "primary_readonly", "secondary_readonly"] {
        assert!(listed.contains(keys(&data)[member].as_str().unwrap()), "{member}");
    }
    assert!(!listed.contains(keys(&data)["token_secret"].as_str().unwrap()));
}

#[tokio::test]
async fn keys_and_roles_are_for_whoever_has_a_read_write_key() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let server = Server::start(&data, &[]);
    let before = keys(&data);
    let reader = before["primary_readonly"].as_str().unwrap();
    for key in [reader, "bm90IGEga2V5"] {
        for verb in [
            &["keys", "ls"][..],
            &["keys", "regenerate", "primary"],
            &["role", "ls"],
            &["role", "remove", "x"],
        ] {
            let (code, out, errors) = try_run(&server, key, verb);
            assert_eq!((code, out.as_str()), (Some(2), ""), "{verb:?}: {errors}");
            assert!(errors.contains("read-only") || errors.contains("401"), "{errors}");
        }
    }
    for (verb, path) in [("GET", "/v1/keys"), ("POST", "/v1/keys/primary/regenerate"), ("GET", "/v1/roles")] {
        let (status, body) = server.ask(verb, path, "").await;
        assert_eq!(status, 401, "{body}");
    }
    // Everybody knows the published key; it opens data and roles, and not the account's own keys.
    for verb in [&["keys", "ls"][..], &["keys", "regenerate", "primary"]] {
        let (code, out, errors) = try_run(&server, EMULATOR_KEY, verb);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{verb:?}: {errors}");
        assert!(errors.contains("keys.json"), "{errors}");
    }
    run(&server, &["role", "ls"]);
    assert_eq!(keys(&data), before);
    let (code, _, errors) = try_run(&server, EMULATOR_KEY, &["keys", "regenerate", "tertiary"]);
    assert_eq!(code, Some(2), "{errors}");
}

#[tokio::test]
async fn roles_are_kept_and_decide_what_a_token_opens() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let mut server = Server::start(&data, &[]);
    for name in ["d", "e"] {
        assert_eq!(server.client().create_database(name).await.unwrap().status, 201);
    }
    let reader = mint(&data, &["--role", "reader", "--scope", "/dbs/d"]);
    assert_eq!(bearing(&server, "/dbs/d", &reader).await.status, 200);
    assert_eq!(bearing(&server, "/dbs/e", &reader).await.status, 403);
    let plain = mint(&data, &["--principal", "me"]);
    let refused = bearing(&server, "/dbs/d", &plain).await;
    assert_eq!((refused.status, refused.header("x-ms-substatus")), (403, Some("5301")));
    let metadata = "Microsoft.DocumentDB/databaseAccounts/readMetadata";
    run(&server, &["role", "define", "Looker", "--id", "look", "--action", metadata]);
    run(
        &server,
        &["role", "assign", "--principal", "me", "--role", "Looker", "--scope", "/dbs/e", "--id", "mine"],
    );
    for restarted in [false, true] {
        if restarted {
            server.stop();
            server = Server::start(&data, &[]);
        }
        assert_eq!(bearing(&server, "/dbs/e", &plain).await.status, 200);
        assert_eq!(bearing(&server, "/dbs/d", &plain).await.status, 403);
        assert_eq!(bearing(&server, "/", &plain).await.status, 200);
        assert_eq!(bearing(&server, "/dbs/d", &reader).await.status, 200, "the key pair is kept");
        let listed = run(&server, &["role", "ls"]);
        assert!(listed.contains("role look  Looker (CustomRole)"), "{listed}");
        assert!(listed.contains("assignment mine  me is look on /dbs/e"), "{listed}");
        assert!(listed.contains("Cosmos DB Built-in Data Reader (BuiltInRole)"), "{listed}");
    }
    for (verb, fragment) in [
        (&["role", "remove", "look"][..], "is assigned"),
        (&["role", "remove", "00000000-0000-0000-0000-000000000001"], "is built in"),
        (&["role", "remove", "nobody"], "there is no role"),
        (&["role", "define", "Bad", "--action", "Microsoft.DocumentDB/items/reed"], "names no data action"),
        (&["role", "assign", "--principal", "me", "--role", "none"], "there is no role 'none'"),
        (&["role", "assign", "--principal", "me", "--role", "reader", "--scope", "dbs/d"], "is not like"),
    ] {
        let (code, _, errors) = try_run(&server, EMULATOR_KEY, verb);
        assert!(code == Some(2) && errors.contains(fragment), "{verb:?}: {errors}");
    }
    run(&server, &["role", "remove", "mine"]);
    run(&server, &["role", "remove", "look"]);
    assert_eq!(bearing(&server, "/dbs/e", &plain).await.status, 403);
    assert_eq!(data.join("development-key.json").metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

/// An issuer on this machine: its document, and its keys as they are just now.
async fn issuer(
    keys: std::sync::Arc<std::sync::Mutex<Value>>,
) -> (String, std::sync::Arc<std::sync::atomic::AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let name = format!("http://{}", listener.local_addr().unwrap());
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let (about, counted) = (name.clone(), asked.clone());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = vec![0; 4096];
            let length = stream.read(&mut head).await.unwrap_or(0);
            let head = String::from_utf8_lossy(&head[..length]).into_owned();
            let body = if head.starts_with("GET /.well-known/openid-configuration ") {
                json!({"issuer": about, "jwks_uri": format!("{about}/keys")}).to_string()
            } else {
                counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                keys.lock().unwrap().to_string()
            };
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (name, asked)
}

#[tokio::test]
async fn an_issuer_is_asked_for_its_keys_when_one_is_unknown_and_not_at_every_whim() {
    let here = tempfile::tempdir().unwrap();
    let key = || DevelopmentKey::read(&DevelopmentKey::make().unwrap()).unwrap();
    let (ours, stranger) = (key(), key());
    let (name, asked) = issuer(std::sync::Arc::new(std::sync::Mutex::new(ours.to_jwks()))).await;
    let server =
        Server::start(&here.path().join("data"), &["--issuer", &name, "--audience", "https://shop.example"]);
    run(&server, &["role", "assign", "--principal", "worker", "--role", "reader"]);
    let now = Env::system().unwrap().now().seconds();
    let token = |key: &DevelopmentKey, audience: &str| {
        let claims = json!({"iss": name, "aud": audience, "oid": "worker", "exp": now + 600});
        key.sign(&json!({"alg": "ES256", "kid": key.kid()}), &claims).unwrap()
    };
    let status = async |token: &str| {
        let reply = bearing(&server, "/dbs", token).await;
        (reply.status, reply.header("x-ms-substatus").map(str::to_owned))
    };
    assert_eq!(status(&token(&ours, "https://cosmos.azure.com/")).await, (200, None));
    assert_eq!(status(&token(&ours, "https://shop.example")).await, (200, None));
    assert_eq!(status(&token(&ours, "https://other.example")).await, (401, Some("5008".to_owned())));
    for _ in 0..5 {
        assert_eq!(
            status(&token(&stranger, "https://cosmos.azure.com")).await,
            (401, Some("5004".to_owned()))
        );
    }
    let asked = asked.load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!(asked, 1, "it was asked when the first token came, and not again within half a minute");
}

#[tokio::test]
async fn an_issuers_keys_may_come_from_a_file() {
    let here = tempfile::tempdir().unwrap();
    let key = DevelopmentKey::read(&DevelopmentKey::make().unwrap()).unwrap();
    let file = here.path().join("jwks.json");
    std::fs::write(&file, key.to_jwks().to_string()).unwrap();
    let issuer = "https://login.example/tenant/v2.0";
    let flags = ["--issuer", issuer, "--jwks", file.to_str().unwrap()];
    let server = Server::start(&here.path().join("data"), &flags);
    run(&server, &["role", "assign", "--principal", "worker", "--role", "contributor"]);
    let now = Env::system().unwrap().now().seconds();
    let claims =
        json!({"iss": issuer, "aud": ["https://cosmos.azure.com"], "oid": "worker", "exp": now + 600});
    let token = key.sign(&json!({"alg": "ES256", "kid": key.kid()}), &claims).unwrap();
    assert_eq!(bearing(&server, "/dbs", &token).await.status, 200);
    assert_eq!(bearing(&server, "/offers", &token).await.header("x-ms-substatus"), Some("5300"));
    assert!(!server.errors().contains(&token), "no token is logged");
}

#[tokio::test]
async fn bound_to_the_world_a_server_does_not_believe_its_own_development_tokens() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let scratch = tempfile::tempdir().unwrap();
    let mut command = orrery(scratch.path());
    command.args(["serve", "--host", "0.0.0.0", "--free-ports", "--data"]).arg(&data);
    let server = Server::run(command, scratch);
    let token = mint(&data, &["--role", "contributor"]);
    let refused = bearing(&server, "/dbs", &token).await;
    assert_eq!((refused.status, refused.header("x-ms-substatus")), (401, Some("5002")));
}

#[test]
fn what_makes_no_sense_is_one_sentence() {
    let here = tempfile::tempdir().unwrap();
    for (arguments, fragment) in [
        (&["token", "--data", "nowhere"][..], "is not an orrery data folder"),
        (&["token", "--scope", "dbs/x"], "is not like"),
        (&["token", "--seconds", "0"], "--seconds must be"),
        (&["serve", "--jwks", "x.json"], "say which with --issuer"),
        (&["serve", "--data", "data", "--issuer", "http://login.example"], "not an https address"),
        (&["serve", "--data", "data", "--issuer", "https://a", "--jwks", "none.json"], "cannot be read"),
    ] {
        let output = orrery(here.path()).args(arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(fragment) && errors.lines().count() == 1, "{arguments:?}: {errors}");
    }
}
