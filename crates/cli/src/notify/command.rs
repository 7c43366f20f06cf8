//! The verbs of `orrery notify` that ask a server.

use super::ask::{Ask, AskFlags, ask, path, with_query};
use super::print;
use crate::client::block_on;
use crate::terminal;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Subcommand)]
pub enum NotifyVerb {
    /// Send an event to one user or several
    Send(Box<SendFlags>),
    /// Show an event, with its log of attempts
    Event(EventFlags),
    /// List events, such as those that were given up
    Events {
        /// Only events in this state
        #[arg(long, value_parser = PossibleValuesParser::new(STATUSES), ignore_case = true)]
        status: Option<String>,
        /// Only events of this user
        #[arg(long)]
        user: Option<String>,
        /// Events of a page [default: 20]
        #[arg(long)]
        limit: Option<u32>,
        /// Where an earlier page ended
        #[arg(long)]
        continuation: Option<String>,
    },
    /// Cancel an event that is still pending
    Cancel(EventFlags),
    /// Queue an event again that was given up
    Requeue(EventFlags),
    /// List what a user was notified of, newest first
    Ls(ListFlags),
    /// Mark notifications of a user as read
    Read {
        /// The user's id
        #[arg(long)]
        user: String,
        /// Which [default: all]
        ids: Vec<String>,
        /// Of all, those before this time
        #[arg(long, conflicts_with = "ids")]
        before: Option<String>,
    },
    /// Dismiss notifications of a user
    Dismiss {
        /// The user's id
        #[arg(long)]
        user: String,
        /// Which notifications
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Show or change a user's time zone, quiet hours and categories
    Prefs(PrefsFlags),
    /// Look after a user's devices
    Devices {
        #[command(subcommand)]
        verb: DeviceVerb,
    },
    /// Delete devices that were revoked long ago
    Purge(PurgeFlags),
    /// Erase all that is kept of a user
    Erase {
        /// The user's id
        #[arg(long)]
        user: String,
        /// It cannot be undone
        #[arg(long, required = true)]
        yes: bool,
    },
    /// Show what the service counted, and what runs by the calendar
    Stats,
}

const STATUSES: [&str; 6] = ["PENDING", "PROCESSING", "COMPLETED", "FAILED", "RATE_LIMITED", "DEDUPLICATED"];
const CATEGORIES: [&str; 5] = ["SOCIAL", "SAFETY", "SECURITY", "NEWS", "MARKETING"];

#[derive(Args)]
pub struct SendFlags {
    /// For whom; may be repeated
    #[arg(long = "user", value_name = "USER")]
    users: Vec<String>,
    /// The type of event, such as POST_LIKE
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// What it is about
    #[arg(long)]
    target: Option<String>,
    /// What the target is [default: post]
    #[arg(long, value_parser = PossibleValuesParser::new(["post", "comment", "user"]))]
    target_type: Option<String>,
    /// The id of whoever did it
    #[arg(long)]
    actor_id: Option<String>,
    /// The name of whoever did it, for the title
    #[arg(long)]
    actor_name: Option<String>,
    /// A few words of what it is about, for the text
    #[arg(long)]
    snippet: Option<String>,
    /// Members of the payload beside these, as a JSON object
    #[arg(long, value_name = "JSON")]
    payload: Option<String>,
    /// Events of one key become one notification
    #[arg(long)]
    dedupe_key: Option<String>,
    /// Not before this time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// The whole request as JSON, instead of all of the above
    #[arg(long, value_name = "FILE", conflicts_with_all = ["users", "kind"])]
    file: Option<PathBuf>,
    /// Sent again, the same request does nothing more
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
}

#[derive(Args)]
pub struct EventFlags {
    /// The event's id
    id: String,
    /// Whose event it is; without it, it is looked for over all users
    #[arg(long)]
    user: Option<String>,
}

#[derive(Args)]
pub struct ListFlags {
    /// The user's id
    #[arg(long)]
    user: String,
    /// Only notifications of this category
    #[arg(long, value_parser = PossibleValuesParser::new(CATEGORIES), ignore_case = true)]
    category: Option<String>,
    /// Only those that were not read
    #[arg(long)]
    unread: bool,
    /// Items of a page [default: 20]
    #[arg(long)]
    limit: Option<u32>,
    /// Where an earlier page ended
    #[arg(long)]
    continuation: Option<String>,
}

#[derive(Args)]
pub struct PrefsFlags {
    /// The user's id
    #[arg(long)]
    user: String,
    /// A name such as Asia/Kolkata
    #[arg(long)]
    timezone: Option<String>,
    /// Quiet from one hour to another, such as 22-7; none for never
    #[arg(long, value_name = "FROM-TO")]
    quiet: Option<String>,
    /// Push what others do with the user's posts
    #[arg(long, value_name = "true|false")]
    social: Option<bool>,
    /// Push news
    #[arg(long, value_name = "true|false")]
    news: Option<bool>,
    /// Push marketing
    #[arg(long, value_name = "true|false")]
    marketing: Option<bool>,
}

#[derive(Subcommand)]
pub enum DeviceVerb {
    /// List them, revoked ones too
    Ls {
        /// The user's id
        #[arg(long)]
        user: String,
    },
    /// Register one, or again
    Add {
        /// The user's id
        #[arg(long)]
        user: String,
        /// An id of your choice for the device
        #[arg(long)]
        device: String,
        /// Who pushes to it
        #[arg(long, value_parser = PossibleValuesParser::new(["fcm", "apns"]))]
        platform: String,
        /// The token that the platform gave to the application
        #[arg(long)]
        push_token: String,
        /// A name that the user knows it by
        #[arg(long)]
        label: Option<String>,
    },
    /// Say that one was seen
    Seen {
        /// The user's id
        #[arg(long)]
        user: String,
        /// The device's id
        device: String,
    },
    /// Push to one no more
    Revoke {
        /// The user's id
        #[arg(long)]
        user: String,
        /// The device's id
        device: String,
    },
    /// Delete devices of all users that were revoked long ago
    Purge(PurgeFlags),
}

#[derive(Args)]
pub struct PurgeFlags {
    /// Revoked longer ago than this, in days
    #[arg(long, value_name = "DAYS", default_value = "90d")]
    older_than: String,
}

/// Runs the verb; the error is a sentence for a person.
pub fn notify(flags: &AskFlags, verb: &NotifyVerb) -> Result<ExitCode, String> {
    let (answer, draw) = block_on(run(flags, verb))??;
    match flags.json {
        true => terminal::print_json(&answer)?,
        false => terminal::print(&draw(&answer))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// How a person likes to see an answer.
type Draw = fn(&Value) -> String;
/// What was answered, with that.
type Drawn = (Value, Draw);

async fn run(flags: &AskFlags, verb: &NotifyVerb) -> Result<Drawn, String> {
    let one = async |wish: Ask, draw: Draw| Ok((ask(flags, wish).await?, draw));
    match verb {
        NotifyVerb::Send(send) => {
            let wish = Ask::post(path(&["notifications", "events"]), Some(sent(send)?));
            one(wish.header("idempotency-key", send.idempotency_key.as_ref()), print::accepted).await
        }
        NotifyVerb::Event(event) => one(Ask::get(event_path(event, None)), print::event).await,
        NotifyVerb::Events { status, user, limit, continuation } => {
            let pairs = [
                ("status", status.clone()),
                ("userId", user.clone()),
                ("limit", limit.map(|limit| limit.to_string())),
                ("continuation", continuation.clone()),
            ];
            one(Ask::get(with_query(path(&["notifications", "events"]), &pairs)), print::events).await
        }
        NotifyVerb::Cancel(event) => {
            one(Ask::post(event_path(event, Some("cancel")), None), print::event).await
        }
        NotifyVerb::Requeue(event) => {
            one(Ask::post(event_path(event, Some("requeue")), None), print::event).await
        }
        NotifyVerb::Ls(list) => one(Ask::get(list_path(list)), print::notifications).await,
        NotifyVerb::Read { user, ids, before } if ids.is_empty() => {
            let body = before.as_ref().map(|before| json!({ "before": before }));
            one(Ask::post(path(&["users", user, "notifications", "read-all"]), body), print::read_all).await
        }
        NotifyVerb::Read { user, ids, .. } => marked(flags, user, ids, "read").await,
        NotifyVerb::Dismiss { user, ids } => marked(flags, user, ids, "dismiss").await,
        NotifyVerb::Prefs(prefs) => {
            let path = path(&["users", &prefs.user, "preferences"]);
            let wish = match changed(prefs)? {
                Some(patch) => Ask::with(Method::PATCH, path, Some(patch)),
                None => Ask::get(path),
            };
            one(wish, print::preferences).await
        }
        NotifyVerb::Devices { verb } => {
            let (wish, draw) = device(verb)?;
            one(wish, draw).await
        }
        NotifyVerb::Purge(purge) => one(purged(purge)?, print::members).await,
        NotifyVerb::Erase { user, .. } => {
            one(Ask::with(Method::DELETE, path(&["users", user]), None), print::members).await
        }
        NotifyVerb::Stats => {
            let stats = ask(flags, Ask::get(path(&["notifications", "stats"]))).await?;
            let jobs = ask(flags, Ask::get(path(&["notifications", "jobs"]))).await?;
            Ok((json!({ "stats": stats, "jobs": jobs }), print::stats))
        }
    }
}

fn sent(send: &SendFlags) -> Result<Value, String> {
    if let Some(file) = &send.file {
        let text =
            std::fs::read(file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
        return serde_json::from_slice(&text)
            .map_err(|error| format!("{} is not JSON: {error}", file.display()));
    }
    let mut payload: Map<String, Value> = match &send.payload {
        Some(text) => {
            serde_json::from_str(text).map_err(|error| format!("--payload is no JSON object: {error}"))?
        }
        None => Map::new(),
    };
    let target_type =
        send.target.as_ref().map(|_| send.target_type.clone().unwrap_or_else(|| "post".to_owned()));
    let given = [
        ("targetId", &send.target),
        ("targetType", &target_type),
        ("actorId", &send.actor_id),
        ("actorName", &send.actor_name),
        ("snippet", &send.snippet),
    ];
    payload
        .extend(given.into_iter().filter_map(|(name, text)| Some((name.to_owned(), json!(text.as_ref()?)))));
    let mut body = Map::new();
    match send.users.as_slice() {
        [] => return Err("say for whom: --user".to_owned()),
        [user] => body.insert("userId".to_owned(), json!(user)),
        users => body.insert("userIds".to_owned(), json!(users)),
    };
    body.insert("payload".to_owned(), Value::Object(payload));
    let given = [("eventType", &send.kind), ("dedupeKey", &send.dedupe_key), ("scheduledAt", &send.at)];
    body.extend(given.into_iter().filter_map(|(name, text)| Some((name.to_owned(), json!(text.as_ref()?)))));
    Ok(Value::Object(body))
}

fn event_path(event: &EventFlags, verb: Option<&str>) -> String {
    let mut pieces = vec!["notifications", "events", &event.id];
    pieces.extend(verb);
    with_query(path(&pieces), &[("userId", event.user.clone())])
}

fn list_path(list: &ListFlags) -> String {
    let pairs = [
        ("category", list.category.clone()),
        ("unread", list.unread.then(|| "true".to_owned())),
        ("limit", list.limit.map(|limit| limit.to_string())),
        ("continuation", list.continuation.clone()),
    ];
    with_query(path(&["users", &list.user, "notifications"]), &pairs)
}

/// One answer for one notification, a list for several.
async fn marked(flags: &AskFlags, user: &str, ids: &[String], verb: &str) -> Result<Drawn, String> {
    let mut answers = Vec::new();
    for id in ids {
        let wish = Ask::post(path(&["users", user, "notifications", id, verb]), None);
        answers.push(ask(flags, wish).await?);
    }
    let answer = if answers.len() == 1 { answers.remove(0) } else { Value::Array(answers) };
    Ok((answer, print::marked))
}

/// A merge patch of what was said, if anything was.
fn changed(prefs: &PrefsFlags) -> Result<Option<Value>, String> {
    let mut patch = Map::new();
    if let Some(zone) = &prefs.timezone {
        patch.insert("timezone".to_owned(), json!(zone));
    }
    if let Some(text) = &prefs.quiet {
        patch.insert("quietHours".to_owned(), json!(quiet_hours(text)?));
    }
    let toggles = [("social", prefs.social), ("news", prefs.news), ("marketing", prefs.marketing)];
    let toggles: Map<String, Value> =
        toggles.into_iter().filter_map(|(name, is_on)| Some((name.to_owned(), json!(is_on?)))).collect();
    if !toggles.is_empty() {
        patch.insert("categories".to_owned(), Value::Object(toggles));
    }
    Ok((!patch.is_empty()).then_some(Value::Object(patch)))
}

/// By hour; `22-7` goes over midnight.
fn quiet_hours(text: &str) -> Result<Vec<bool>, String> {
    if text == "none" {
        return Ok(vec![false; 24]);
    }
    let hour = |text: &str| text.parse::<usize>().ok().filter(|hour| *hour <= 24).map(|hour| hour % 24);
    let hours = text.split_once('-').and_then(|(from, to)| Some((hour(from)?, hour(to)?)));
    let (from, to) = hours.ok_or_else(|| format!("--quiet '{text}' is not like 22-7, or none"))?;
    let is_quiet =
        |hour: usize| if from < to { (from..to).contains(&hour) } else { hour >= from || hour < to };
    Ok((0..24).map(is_quiet).collect())
}

fn device(verb: &DeviceVerb) -> Result<(Ask, Draw), String> {
    Ok(match verb {
        DeviceVerb::Ls { user } => (Ask::get(path(&["users", user, "devices"])), print::devices),
        DeviceVerb::Add { user, device, platform, push_token, label } => {
            let mut body = json!({ "deviceId": device, "platform": platform, "pushToken": push_token });
            if let Some(label) = label {
                body["label"] = json!(label);
            }
            (Ask::post(path(&["users", user, "devices"]), Some(body)), print::device)
        }
        DeviceVerb::Seen { user, device } => {
            (Ask::with(Method::PATCH, path(&["users", user, "devices", device]), None), print::device)
        }
        DeviceVerb::Revoke { user, device } => {
            (Ask::post(path(&["users", user, "devices", device, "revoke"]), None), print::device)
        }
        DeviceVerb::Purge(purge) => (purged(purge)?, print::members),
    })
}

fn purged(purge: &PurgeFlags) -> Result<Ask, String> {
    let text = purge.older_than.trim_end_matches('d');
    let days: u64 =
        text.parse().map_err(|_| format!("--older-than '{}' is not like 90d", purge.older_than))?;
    let body = json!({ "olderThanDays": days });
    Ok(Ask::post(path(&["notifications", "devices", "purge"]), Some(body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_hours_go_over_midnight() {
        let quiet = |text: &str| -> Vec<usize> {
            let hours = quiet_hours(text).unwrap();
            (0..24).filter(|hour| hours[*hour]).collect()
        };
        assert_eq!(quiet("22-7"), [0, 1, 2, 3, 4, 5, 6, 22, 23]);
        assert_eq!(quiet("9-12"), [9, 10, 11]);
        assert_eq!(quiet("none"), [0; 0]);
        assert_eq!(quiet("0-24").len(), 24);
        assert!(quiet_hours("25-3").is_err() && quiet_hours("noon").is_err());
    }
}
