//! One consumer of the queue: gets messages, does its work on each, deletes it; and writes down each step before the next, so
//! that whoever kills it knows what it had done.

use super::deliveries::Line;
use crate::queues::message;
use orrery_core::{Env, Timestamp};
use orrery_testing_client::{
    Client, ClientError, Method, OwnedReply, QueueMessage, StorageRequest, read_messages,
};
use std::fs::File;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

pub(super) const QUEUE: &str = "jobs";
/// A message whose consumer is killed is given to another one after this time.
const HIDDEN_SECONDS: u64 = 1;
const MESSAGES_PER_GET_MAX: u64 = 4;
/// Long enough that some are killed between the work and the delete.
const WORK_MICROS_MAX: u64 = 3_000;
const PAUSE: Duration = Duration::from_millis(10);

#[derive(Debug, thiserror::Error)]
pub enum ConsumerError {
    #[error("the log cannot be written: {0}")]
    Log(#[from] io::Error),
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("{0}")]
    Wrong(String),
}

/// Consumes until the server is gone, or until it is killed.
pub async fn consume(address: SocketAddr, log: &Path, env: Env, seed: u64) -> Result<(), ConsumerError> {
    let log = File::options().create(true).append(true).open(log)?;
    let random = Env::seeded(Timestamp::default(), seed);
    let mut consumer = Consumer { client: Client::new(address, env.clone()), env, random, log };
    loop {
        match consumer.step().await {
            Ok(0) => tokio::time::sleep(PAUSE).await,
            Ok(_) => {}
            Err(error) => {
                // No log may have such a line, so whoever reads it hears of it.
                if let ConsumerError::Wrong(what) = &error {
                    consumer.log.write_all(format!("wrong: {}\n", what.replace('\n', " ")).as_bytes())?;
                }
                return Err(error);
            }
        }
    }
}

struct Consumer {
    client: Client,
    env: Env,
    random: Env,
    log: File,
}

impl Consumer {
    /// Gets some messages and works on them; says how many there were.
    async fn step(&mut self) -> Result<usize, ConsumerError> {
        let wanted = 1 + self.random.random_u64() % MESSAGES_PER_GET_MAX;
        let request = StorageRequest::queue(Method::Get, format!("{QUEUE}/messages"))
            .parameter("numofmessages", wanted)
            .parameter("visibilitytimeout", HIDDEN_SECONDS);
        let began_ms = self.env.now().millis();
        let reply = self.client.call_storage(&request).await?;
        if reply.status == 503 {
            return Ok(0);
        }
        let got = read_messages(&reply.body).filter(|_| reply.status == 200);
        let got = got.ok_or_else(|| wrong("a get", &reply))?;
        for message in &got {
            let (name, _) = message::read(&message.text).map_err(ConsumerError::Wrong)?;
            self.write(Line::Got { name, count: message.dequeue_count, began_ms })?;
        }
        for message in &got {
            self.work_on(message).await?;
        }
        Ok(got.len())
    }

    async fn work_on(&mut self, message: &QueueMessage) -> Result<(), ConsumerError> {
        let (name, _) = message::read(&message.text).map_err(ConsumerError::Wrong)?;
        tokio::time::sleep(Duration::from_micros(self.random.random_u64() % WORK_MICROS_MAX)).await;
        self.write(Line::Done { name })?;
        let path = format!("{QUEUE}/messages/{}", message.id);
        let request = StorageRequest::queue(Method::Delete, path).parameter("popreceipt", &message.receipt);
        let reply = self.client.call_storage(&request).await?;
        match (reply.status, reply.header("x-ms-error-code")) {
            (204, _) => self.write(Line::Gone { name, ended_ms: self.env.now().millis() }),
            // It took too long, and somebody else was given the message.
            (400, Some("PopReceiptMismatch")) | (404, Some("MessageNotFound")) | (503, _) => Ok(()),
            _ => Err(wrong("a delete", &reply)),
        }
    }

    /// In one write: a line is there or it is not.
    fn write(&mut self, line: Line) -> Result<(), ConsumerError> {
        Ok(self.log.write_all(format!("{line}\n").as_bytes())?)
    }
}

fn wrong(what: &str, reply: &OwnedReply) -> ConsumerError {
    let body = String::from_utf8_lossy(&reply.body);
    ConsumerError::Wrong(format!("{what} got {}: {body}", reply.status))
}
