//! `orrery queue put`, `get`, `peek`, and `rm` of one message.

use super::{QueueFlags, create, print};
use crate::storage::flags::ask;
use crate::storage::refused::{About, refused};
use crate::terminal::{self, Screen};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use orrery_client::storage::queues::{MessageLife, NewMessage};
use serde_json::json;
use std::io::Read as _;

#[derive(Args)]
pub struct PutFlags {
    /// The queue
    queue: String,
    /// The message's text; standard input if it is left out
    text: Option<String>,
    /// Keep it invisible for so long, in seconds
    #[arg(long, value_name = "SECONDS")]
    visibility: Option<u64>,
    /// How long it lives, in seconds; -1 is for ever [default: 7 days]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = clap::value_parser!(i64).range(-1..))]
    ttl: Option<i64>,
    /// Send the text in Base64, as Azure Functions and older SDKs expect it
    #[arg(long)]
    base64: bool,
    /// Make the queue if it is not there
    #[arg(long)]
    create: bool,
}

#[derive(Args)]
pub struct GetFlags {
    /// The queue
    queue: String,
    /// How many, at most
    #[arg(long, value_name = "MESSAGES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=32))]
    count: u32,
    /// Hide them from others for so long, in seconds [default: 30]
    #[arg(long, value_name = "SECONDS")]
    visibility: Option<u64>,
    /// The texts are in Base64: show what they stand for
    #[arg(long)]
    base64: bool,
}

#[derive(Args)]
pub struct PeekFlags {
    /// The queue
    queue: String,
    /// How many, at most
    #[arg(long, value_name = "MESSAGES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=32))]
    count: u32,
    /// The texts are in Base64: show what they stand for
    #[arg(long)]
    base64: bool,
}

impl PutFlags {
    pub fn run(&self, flags: &QueueFlags) -> Result<(), String> {
        let text = self.text()?;
        let new = NewMessage {
            text: if self.base64 { STANDARD.encode(&text) } else { text },
            visibility_seconds: self.visibility,
            time_to_live: self.ttl.map(|seconds| match u64::try_from(seconds) {
                Ok(seconds) => MessageLife::Seconds(seconds),
                Err(_) => MessageLife::Forever,
            }),
        };
        let accepted = ask(async {
            let queues = flags.queues().await?;
            if self.create {
                create(&queues, &self.queue).await?;
            }
            queues.put(&self.queue, &new).await.map_err(refused(About::Queue(&self.queue)))
        })?;
        if flags.json {
            return terminal::print_json(&print::accepted(&accepted));
        }
        eprintln!("message {} is in {}", accepted.id, self.queue);
        Ok(())
    }

    fn text(&self) -> Result<String, String> {
        if let Some(text) = self.text.as_deref().filter(|text| *text != "-") {
            return Ok(text.to_owned());
        }
        let mut text = String::new();
        let read = std::io::stdin().lock().read_to_string(&mut text);
        read.map_err(|error| format!("standard input cannot be read as text: {error}"))?;
        Ok(text)
    }
}

impl GetFlags {
    pub fn run(&self, flags: &QueueFlags) -> Result<(), String> {
        let mut received = ask(async {
            let got = flags.queues().await?.get(&self.queue, self.count, self.visibility).await;
            got.map_err(refused(About::Queue(&self.queue)))
        })?;
        if self.base64 {
            received.iter_mut().for_each(|one| decode(&mut one.message.text));
        }
        match flags.json {
            true => terminal::print_json(&received.iter().map(print::received).collect::<Vec<_>>()),
            false => terminal::print(&print::received_table(&received, &Screen::of_stdout())),
        }
    }
}

impl PeekFlags {
    pub fn run(&self, flags: &QueueFlags) -> Result<(), String> {
        let mut peeked = ask(async {
            let peeked = flags.queues().await?.peek(&self.queue, self.count).await;
            peeked.map_err(refused(About::Queue(&self.queue)))
        })?;
        if self.base64 {
            peeked.iter_mut().for_each(|one| decode(&mut one.text));
        }
        match flags.json {
            true => terminal::print_json(&peeked.iter().map(print::peeked).collect::<Vec<_>>()),
            false => terminal::print(&print::peeked_table(&peeked, &Screen::of_stdout())),
        }
    }
}

/// A text that is none in Base64 stays as it is: a receipt that was given must not be lost for it.
fn decode(text: &mut String) {
    if let Some(decoded) = STANDARD.decode(text.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok()) {
        *text = decoded;
    }
}

pub fn remove(flags: &QueueFlags, queue: &str, id: &str, receipt: &str) -> Result<(), String> {
    let about = About::Message { queue, id };
    ask(async { flags.queues().await?.delete_message(queue, id, receipt).await.map_err(refused(about)) })?;
    if flags.json {
        return terminal::print_json(&json!({ "removed": id }));
    }
    eprintln!("message {id} of {queue} is removed");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_base64_is_shown_as_it_is() {
        let check = |text: &str, expected: &str| {
            let mut text = text.to_owned();
            decode(&mut text);
            assert_eq!(text, expected);
        };
        check("aGVsbG8=", "hello");
        check("hello!", "hello!");
        check("/w==", "/w==");
    }
}
