//! `orrery queue`: queues and their messages.
//!
//! ```text
//! messages   put, get, peek, and remove one
//! print      messages for people and for programs
//! ```

mod messages;
mod print;

use super::flags::{StorageFlags, ask};
use super::refused::{About, refused};
use crate::data::is_confirmed;
use crate::terminal::{self, Screen, Table};
use clap::{Args, Subcommand};
use messages::{GetFlags, PeekFlags, PutFlags};
use orrery_client::storage::queues::{ListQueues, Queues};
use orrery_protocol::storage::Service;
use serde_json::json;

#[derive(Args)]
pub struct QueueFlags {
    #[command(flatten)]
    storage: StorageFlags,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// List the queues, and how many messages each has, visible or not
    Ls {
        /// Those alone whose names begin with this
        #[arg(long)]
        prefix: Option<String>,
    },
    /// Make a queue
    Create {
        /// The queue: 3 to 63 lower-case letters, digits and single hyphens
        queue: String,
    },
    /// Put a message
    Put(PutFlags),
    /// Receive messages: they are hidden from others for a while, and to be removed until then
    Get(GetFlags),
    /// Look at the messages that a get would receive, and leave them there
    Peek(PeekFlags),
    /// Remove a message that was received, or a whole queue with --yes
    Rm {
        /// The queue
        queue: String,
        /// The message's id; the whole queue is removed if it is left out
        #[arg(requires = "receipt")]
        id: Option<String>,
        /// The pop receipt that came with it
        receipt: Option<String>,
        /// Remove a whole queue without asking
        #[arg(long)]
        yes: bool,
    },
    /// Remove all messages of a queue
    Clear {
        /// The queue
        queue: String,
        /// Remove them without asking
        #[arg(long)]
        yes: bool,
    },
}

pub fn queue(flags: &QueueFlags) -> Result<(), String> {
    match &flags.verb {
        Verb::Ls { prefix } => flags.list(prefix.clone()),
        Verb::Create { queue } => flags.create(queue),
        Verb::Put(put) => put.run(flags),
        Verb::Get(get) => get.run(flags),
        Verb::Peek(peek) => peek.run(flags),
        Verb::Rm { queue, id: Some(id), receipt: Some(receipt), .. } => {
            messages::remove(flags, queue, id, receipt)
        }
        Verb::Rm { queue, yes, .. } => flags.remove(queue, *yes),
        Verb::Clear { queue, yes } => flags.clear(queue, *yes),
    }
}

impl QueueFlags {
    async fn queues(&self) -> Result<Queues, String> {
        self.storage.endpoint(Service::Queue).await.map(Queues::new)
    }

    fn list(&self, prefix: Option<String>) -> Result<(), String> {
        let found = ask(async {
            let queues = self.queues().await?;
            let mut found = Vec::new();
            for name in names(&queues, prefix).await? {
                let count = queues.count(&name).await.map_err(refused(About::Queue(&name)))?;
                found.push((name, count));
            }
            Ok(found)
        })?;
        if self.json {
            let rows = found.iter().map(|(name, count)| json!({ "queue": name, "messages": count }));
            return terminal::print_json(&rows.collect::<Vec<_>>());
        }
        let rows = found.into_iter().map(|(name, count)| vec![name, count.to_string()]);
        let table = Table::new(&["queue", "messages"]).ruled().whole(0).numbers(1..2).rows(rows);
        terminal::print(&table.draw(&Screen::of_stdout()))
    }

    fn create(&self, queue: &str) -> Result<(), String> {
        ask(async { create(&self.queues().await?, queue).await })?;
        if self.json {
            return terminal::print_json(&json!({ "created": queue }));
        }
        eprintln!("the queue {queue} is there");
        Ok(())
    }

    fn remove(&self, queue: &str, yes: bool) -> Result<(), String> {
        if !yes && !is_confirmed(&format!("the queue {queue}"))? {
            return Err("nothing was removed".to_owned());
        }
        ask(async { self.queues().await?.delete(queue).await.map_err(refused(About::Queue(queue))) })?;
        if self.json {
            return terminal::print_json(&json!({ "removed": queue }));
        }
        eprintln!("the queue {queue} is removed");
        Ok(())
    }

    fn clear(&self, queue: &str, yes: bool) -> Result<(), String> {
        if !yes && !is_confirmed(&format!("the messages of {queue}"))? {
            return Err("nothing was removed".to_owned());
        }
        ask(async { self.queues().await?.clear(queue).await.map_err(refused(About::Queue(queue))) })?;
        if self.json {
            return terminal::print_json(&json!({ "cleared": queue }));
        }
        eprintln!("the queue {queue} has no messages any more");
        Ok(())
    }
}

async fn names(queues: &Queues, prefix: Option<String>) -> Result<Vec<String>, String> {
    let mut list = ListQueues { prefix, ..ListQueues::default() };
    let mut names = Vec::new();
    loop {
        let page = queues.list(&list).await.map_err(refused(About::Account))?;
        names.extend(page.queues.into_iter().map(|queue| queue.name));
        match page.next {
            Some(next) => list.marker = Some(next),
            None => return Ok(names),
        }
    }
}

/// One that is there already is fine.
async fn create(queues: &Queues, queue: &str) -> Result<(), String> {
    queues.create(queue, &[]).await.map(drop).map_err(refused(About::Queue(queue)))
}
