//! Stand-ins that are running, and real providers that push to them.

#![allow(dead_code, reason = "every test file uses its own part of this")]

use orrery_api_common::Stop;
use orrery_api_push::{Answer, Match, Options, Ports, Rule, StandIns, State, Written};
use orrery_core::{Env, Timestamp};
use orrery_notifications::push::{Message, Outcome, Providers};
use orrery_notifications::records::{Category, Device, Platform};
use serde_json::Value;
use std::time::Duration;
use tempfile::TempDir;

pub struct World {
    pub env: Env,
    pub state: State,
    pub ports: Ports,
    pub files: Vec<Written>,
    pub providers: Providers,
    stop: Stop,
    _folder: TempDir,
}

impl World {
    /// Providers and stand-ins with one clock.
    pub fn start() -> Self {
        Self::start_with(|_, text| text)
    }

    /// `change` has the last word about each file.
    pub fn start_with(change: impl Fn(&str, String) -> String) -> Self {
        let env = Env::seeded(Timestamp::from_seconds(1_800_000_000), 7);
        let folder = tempfile::tempdir().expect("a folder");
        let stand_ins = StandIns::bind(Options {
            fcm_port: 0,
            apns_port: 0,
            control_port: 0,
            certificate_folder: folder.path().to_owned(),
            apns_key: None,
            clock: Some(env.clone()),
        })
        .expect("free ports");
        let (state, ports) = (stand_ins.state(), stand_ins.ports());
        let mut files = stand_ins.files();
        for file in &mut files {
            file.text = change(file.name, std::mem::take(&mut file.text));
        }
        let stop = Stop::new();
        tokio::spawn(stand_ins.run(stop.clone()));
        let providers = providers(&files, &env).expect("credentials");
        Self { env, state, ports, files, providers, stop, _folder: folder }
    }

    pub async fn push(&self, platform: Platform, id: &str) -> Outcome {
        self.providers.push(&device(platform, id), &message()).await
    }

    pub fn advance(&self, seconds: u64) {
        self.env.advance(Duration::from_secs(seconds)).expect("a manual clock");
    }

    /// The next push to a device, or all of a platform, is answered so.
    pub fn script(&self, r#match: Match, status: u16, reason: &str, retry_after: Option<u64>) {
        self.script_times(r#match, status, reason, retry_after, Some(1));
    }

    pub fn script_times(
        &self,
        r#match: Match,
        status: u16,
        reason: &str,
        retry_after: Option<u64>,
        times: Option<u64>,
    ) {
        let answer = Answer { status, reason: Some(reason.to_owned()), retry_after };
        self.state.add(Rule { r#match, answer, times }).expect("room");
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// As `orrery serve --push-config` reads them.
pub fn providers(files: &[Written], env: &Env) -> Result<Providers, String> {
    let read = |name: &str| {
        let file =
            files.iter().find(|file| file.name == name).ok_or_else(|| format!("there is no file {name}"))?;
        Ok(file.text.clone().into_bytes())
    };
    Providers::parse(&read("providers.json")?, &read, env.clone())
}

/// A file of JSON with one change.
pub fn edited(text: &str, edit: impl Fn(&mut Value)) -> String {
    let mut value: Value = serde_json::from_str(text).expect("JSON");
    edit(&mut value);
    value.to_string()
}

pub fn to(token: &str) -> Match {
    Match { token: Some(token.to_owned()), platform: None }
}

pub fn all(platform: orrery_api_push::Platform) -> Match {
    Match { token: None, platform: Some(platform) }
}

pub fn device(platform: Platform, id: &str) -> Device {
    Device {
        id: id.to_owned(),
        user_id: "user-1".to_owned(),
        device_id: id.to_owned(),
        push_token: id.to_owned(),
        platform,
        label: "A phone".to_owned(),
        created_at: "2026-11-15T10:00:00.000Z".to_owned(),
        last_seen_at: "2026-11-15T10:00:00.000Z".to_owned(),
        revoked_at: None,
        revoke_reason: None,
    }
}

pub fn message() -> Message {
    Message {
        collapse_id: "notification-1".to_owned(),
        notification_id: "notification-1".to_owned(),
        event_type: "POST_LIKE".to_owned(),
        category: Category::Social,
        title: "Noor liked your post".to_owned(),
        body: "Morning on the pier".to_owned(),
        deeplink: "asora://post/post-42".to_owned(),
    }
}
