//! `orrery notify sim`: replays a day against a policy, in memory and by a clock that it moves, and says what would have
//! been pushed, deferred, limited and deduplicated. Nothing is sent and no server is needed.
//!
//! Its input is JSON lines, one per occurrence, in any order:
//!
//! ```text
//! {"at": "2026-11-15T09:00:00Z", "preferences": {"userId": "ann", "timezone": "Asia/Kolkata"}}
//! {"at": "2026-11-15T17:40:00Z", "event": {"userId": "ann", "eventType": "POST_LIKE", "payload": {…}}}
//! {"at": "2026-11-15T17:41:00Z", "device": {"userId": "ann", "deviceId": "d", "platform": "fcm"}}
//! ```
//!
//! A user without a device gets one at the start, so that pushes appear. After the last line the clock runs for another
//! day, for deferred notifications.

use clap::Args;
use orrery_cli::client::block_on;
use orrery_cli::terminal::{self, Screen, Table};
use orrery_core::{Env, Timestamp};
use orrery_document_store::Store;
use orrery_documents::spaces::SPACES;
use orrery_kit::ports::documents::{Documents, Embedded};
use orrery_kit::time;
use orrery_kv::{MemoryEngine, Sync};
use orrery_notifications::dispatch;
use orrery_notifications::policy::Policy;
use orrery_notifications::push::{Outcome, Providers};
use orrery_notifications::records::{Event, Status};
use orrery_notifications::service::{self, Notifications, ServiceError, containers};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

#[derive(Args)]
pub struct SimFlags {
    /// What happens, a line of JSON each: {"at": TIME, "event" | "preferences" | "device": {…}}
    file: PathBuf,
    /// The policy [default: the built-in one]
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    at: String,
    event: Option<Value>,
    preferences: Option<Value>,
    device: Option<Value>,
}

struct Happening {
    at: Timestamp,
    what: What,
    number: usize,
}

enum What {
    Event(Value),
    Preferences(Value),
    Device(Value),
}

/// The clock's step between two dispatches.
const STEP: Duration = Duration::from_secs(60);
const AFTERWARDS: Duration = Duration::from_secs(24 * 60 * 60);
/// An input is a day of a few thousand users, not an archive.
const LINES_MAX: usize = 200_000;
const INPUT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Pushes by notification: when, and to which device.
type Pushes = Arc<Mutex<BTreeMap<String, Vec<(String, String)>>>>;

/// Runs the verb; the error is a sentence for a person.
pub fn sim(flags: &SimFlags, as_json: bool) -> Result<ExitCode, String> {
    let happenings = read(&flags.file)?;
    let policy = flags.policy.as_deref().map_or_else(|| Ok(Policy::default()), policy)?;
    let Some(first) = happenings.first() else { return Err("nothing happens in the file".to_owned()) };
    let env = Env::seeded(first.at, 1);
    let pushes = Pushes::default();
    let noted = (pushes.clone(), env.clone());
    let providers = Providers::scripted(Arc::new(move |device, message| {
        let mut pushes = noted.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of = pushes.entry(message.notification_id.clone()).or_default();
        of.push((time::format(noted.1.now()), device.device_id.clone()));
        Outcome::Delivered
    }));
    let options = service::Options { policy, providers, worker: "sim".to_owned(), jobs: Vec::new() };
    let documents = memory(&env)?;
    let told = block_on(async {
        let notifications = Notifications::new(documents, env.clone(), options)?;
        replay(&notifications, &env, happenings).await
    })??;
    let pushes = pushes.lock().unwrap_or_else(PoisonError::into_inner);
    if as_json {
        terminal::print_json(&to_json(&told, &pushes))?;
    } else {
        terminal::print(&drawn(&told, &pushes))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn policy(path: &Path) -> Result<Policy, String> {
    let wrong = |why: &dyn std::fmt::Display| format!("--policy {}: {why}", path.display());
    Policy::parse(&std::fs::read(path).map_err(|error| wrong(&error))?).map_err(|error| wrong(&error))
}

fn read(path: &Path) -> Result<Vec<Happening>, String> {
    let name = path.display();
    let unread = |error: std::io::Error| format!("{name} cannot be read: {error}");
    let length = std::fs::metadata(path).map_err(unread)?.len();
    if length > INPUT_BYTES_MAX {
        return Err(format!("{name} has more than {INPUT_BYTES_MAX} bytes"));
    }
    let text = std::fs::read_to_string(path).map_err(unread)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = lines
        .map(|(at, line)| happening(at + 1, line).map_err(|error| format!("{name}:{}: {error}", at + 1)));
    let mut happenings = read.collect::<Result<Vec<_>, _>>()?;
    if happenings.len() > LINES_MAX {
        return Err(format!("{name} has more than {LINES_MAX} lines"));
    }
    happenings.sort_by_key(|happening| happening.at);
    Ok(happenings)
}

fn happening(number: usize, line: &str) -> Result<Happening, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let at =
        time::parse(&line.at).ok_or_else(|| format!("at '{}' is not like 2026-11-15T10:00:00Z", line.at))?;
    let what = match (line.event, line.preferences, line.device) {
        (Some(event), None, None) => What::Event(event),
        (None, Some(preferences), None) => What::Preferences(preferences),
        (None, None, Some(device)) => What::Device(device),
        _ => return Err("say one of event, preferences and device".to_owned()),
    };
    Ok(Happening { at, what, number })
}

fn memory(env: &Env) -> Result<Documents, String> {
    let store = Store::standalone(MemoryEngine::new(&SPACES), env.clone(), Sync::None);
    let store = store.map_err(|error| error.to_string())?;
    let embedded = Embedded::new(store, containers::DATABASE);
    Ok(Documents::Embedded(embedded))
}

async fn replay(
    service: &Notifications,
    env: &Env,
    happenings: Vec<Happening>,
) -> Result<Vec<Event>, String> {
    let wrong = |error: ServiceError| error.to_string();
    service.ensure().await.map_err(wrong)?;
    for user in without_device(&happenings) {
        let device = json!({ "deviceId": "a-device", "platform": "fcm", "pushToken": "none" });
        service.register(&user, &device).await.map_err(wrong)?;
    }
    let mut ids = Vec::new();
    for happening in happenings {
        pass(service, env, happening.at).await?;
        let number = happening.number;
        ids.extend(happen(service, happening.what).await.map_err(|error| format!("line {number}: {error}"))?);
        settle(service).await?;
    }
    pass(service, env, env.now().plus(AFTERWARDS)).await?;
    let mut events = Vec::new();
    for (user, id) in ids {
        events.push(service.event(&user, &id).await.map_err(wrong)?.value);
    }
    Ok(events)
}

fn without_device(happenings: &[Happening]) -> BTreeSet<String> {
    let (mut users, mut with) = (BTreeSet::new(), BTreeSet::new());
    for happening in happenings {
        match &happening.what {
            What::Event(event) => users.extend(named(event)),
            What::Device(device) => with.extend(named(device)),
            What::Preferences(_) => {}
        }
    }
    users.difference(&with).cloned().collect()
}

fn named(value: &Value) -> Vec<String> {
    let several = value["userIds"].as_array().into_iter().flatten();
    several.chain([&value["userId"]]).filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The ids of its events, with their users.
async fn happen(service: &Notifications, what: What) -> Result<Vec<(String, String)>, ServiceError> {
    let missing = || ServiceError::Invalid { member: "userId".to_owned(), reason: "whose is it?".to_owned() };
    let of = |value: &Value| value["userId"].as_str().map(str::to_owned).ok_or_else(missing);
    let without_user = |mut value: Value| {
        value.as_object_mut().map(|members| members.remove("userId"));
        value
    };
    match what {
        What::Event(event) => {
            let accepted = service.enqueue(&event, None).await?;
            Ok(accepted.into_iter().filter_map(|one| Some((one.user_id, one.id?))).collect())
        }
        What::Preferences(preferences) => {
            let user = of(&preferences)?;
            service.patch_preferences(&user, &without_user(preferences), None).await?;
            Ok(Vec::new())
        }
        What::Device(device) => {
            let user = of(&device)?;
            let mut device = without_user(device);
            if device.get("pushToken").is_none() {
                device["pushToken"] = json!("none");
            }
            service.register(&user, &device).await?;
            Ok(Vec::new())
        }
    }
}

/// Advances the clock to a time, minute by minute, and dispatches what becomes due.
async fn pass(service: &Notifications, env: &Env, until: Timestamp) -> Result<(), String> {
    while env.now() < until {
        let left = Duration::from_millis(until.millis() - env.now().millis());
        env.advance(left.min(STEP));
        settle(service).await?;
    }
    Ok(())
}

async fn settle(service: &Notifications) -> Result<(), String> {
    while dispatch::round(service).await.map_err(|error| error.to_string())? > 0 {}
    Ok(())
}

fn to_json(events: &[Event], pushes: &BTreeMap<String, Vec<(String, String)>>) -> Value {
    let told = events.iter().map(|event| {
        let pushed: Vec<Value> =
            pushed(event, pushes).iter().map(|(at, to)| json!({ "at": at, "device": to })).collect();
        json!({
            "at": event.created_at, "userId": event.user_id, "eventType": event.event_type,
            "status": event.status, "outcome": event.outcome, "deferReason": event.defer_reason,
            "notificationId": event.notification_id, "nextRetryAt": event.next_retry_at, "pushes": pushed,
        })
    });
    json!({ "summary": summary(events, pushes), "events": told.collect::<Vec<_>>() })
}

/// The pushes of the notification that this event created; events that joined it pushed nothing.
fn pushed<'a>(event: &Event, pushes: &'a BTreeMap<String, Vec<(String, String)>>) -> &'a [(String, String)] {
    let has_own = event.status != Status::Deduplicated;
    let of = event.notification_id.as_ref().filter(|_| has_own).and_then(|id| pushes.get(id));
    of.map(Vec::as_slice).unwrap_or_default()
}

fn summary(events: &[Event], pushes: &BTreeMap<String, Vec<(String, String)>>) -> Value {
    let count = |is: &dyn Fn(&Event) -> bool| events.iter().filter(|event| is(event)).count();
    let late = |event: &Event| {
        let first = pushed(event, pushes).first();
        first.is_some_and(|(at, _)| moments_apart(&event.created_at, at) > STEP)
    };
    json!({
        "events": events.len(),
        "pushed": count(&|event| !pushed(event, pushes).is_empty()),
        "deferred": count(&|event| late(event) || (event.defer_reason.is_some() && event.status == Status::Pending)),
        "rateLimited": count(&|event| event.status == Status::RateLimited),
        "deduplicated": count(&|event| event.status == Status::Deduplicated),
        "suppressed": count(&|event| event.outcome.as_deref() == Some("suppressed_category")),
        "waiting": count(&|event| matches!(event.status, Status::Pending | Status::Processing | Status::Failed)),
    })
}

fn moments_apart(from: &str, to: &str) -> Duration {
    match (time::parse(from), time::parse(to)) {
        (Some(from), Some(to)) => Duration::from_millis(to.millis().saturating_sub(from.millis())),
        _ => Duration::ZERO,
    }
}

fn drawn(events: &[Event], pushes: &BTreeMap<String, Vec<(String, String)>>) -> String {
    let row = |event: &Event| {
        let status = serde_json::to_value(event.status).unwrap_or_default();
        let first = pushed(event, pushes).first().map(|(at, _)| at.clone());
        vec![
            event.created_at.clone(),
            event.user_id.clone(),
            event.event_type.clone(),
            status.as_str().unwrap_or_default().to_owned(),
            event.outcome.clone().or(event.defer_reason.clone()).unwrap_or_default(),
            first.unwrap_or_else(|| "-".to_owned()),
        ]
    };
    let table = Table::new(&["AT", "USER", "TYPE", "STATUS", "OUTCOME", "PUSHED AT"]);
    let mut text = table.rows(events.iter().map(row)).draw(&Screen::of_stdout());
    let summary = summary(events, pushes);
    let counts: Vec<String> =
        summary.as_object().into_iter().flatten().map(|(name, count)| format!("{name} {count}")).collect();
    text.push_str(&format!("{}\n", counts.join(", ")));
    text
}
