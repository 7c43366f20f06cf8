//! `orrery notify fake-push` beside a server, and what it received.

use crate::asking::looked;
use crate::server::orrery;
use orrery_testing_client::Connection;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use tempfile::TempDir;

pub struct Fake {
    child: Child,
    scratch: TempDir,
    control: SocketAddr,
}

impl Fake {
    pub fn start() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let ports = scratch.path().join("ports.json");
        let mut command = orrery(scratch.path());
        command.args(["notify", "fake-push", "--fcm-port", "0", "--apns-port", "0", "--control-port", "0"]);
        command.arg("--any-clock").arg("--folder").arg(scratch.path()).arg("--ports-file").arg(&ports);
        command.stdout(Stdio::null()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let ports: Value = looked("the fake answers", || {
            assert!(child.try_wait().unwrap().is_none(), "the fake ended");
            serde_json::from_slice(&std::fs::read(&ports).ok()?).ok()
        });
        let control = SocketAddr::from(([127, 0, 0, 1], ports["control"].as_u64().unwrap() as u16));
        Self { child, scratch, control }
    }

    /// The configuration that leads to it.
    pub fn config(&self) -> PathBuf {
        self.scratch.path().join("providers.json")
    }

    async fn ask(&self, verb: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = format!(
            "{verb} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut connection = Connection::connect(self.control).await.unwrap();
        connection.exchange(request.as_bytes()).await.unwrap().to_owned().json().unwrap_or_default()
    }

    /// The pushes that it took, oldest first.
    pub async fn taken(&self) -> Vec<Value> {
        let received = self.ask("GET", "/control/received", &Value::Null).await;
        let pushes = received["pushes"].as_array().unwrap().iter();
        pushes.filter(|push| push["status"] == 200).cloned().collect()
    }

    pub async fn script(&self, rule: &Value) {
        let answer = self.ask("POST", "/control", rule).await;
        assert!(answer["id"].is_number(), "{answer}");
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn device(id: &str, platform: &str) -> Value {
    json!({ "deviceId": id, "platform": platform, "pushToken": format!("{:0>64}", hex(id)) })
}

/// APNs wants a token in hexadecimal.
fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}
