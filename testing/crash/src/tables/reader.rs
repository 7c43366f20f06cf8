//! One reader of contested entities while the writers run. What it was shown must survive.

use super::request::{self, text};
use super::{ENTITIES, contested_key, entity};
use crate::history::{Record, Sighting};
use crate::writer::Shared;
use orrery_core::{Env, Timestamp};
use orrery_testing_client::Client;
use std::net::SocketAddr;

/// Reads until the server stops answering; gives back what it saw.
pub(crate) async fn run(address: SocketAddr, shared: Shared, seed: u64) -> Record {
    let random = Env::seeded(Timestamp::default(), seed);
    let mut client = Client::new(address, shared.env.clone());
    let mut record = Record::default();
    while step(&mut client, &shared, random.random_u64(), &mut record).await.is_some() {}
    record
}

async fn step(client: &mut Client, shared: &Shared, random: u64, record: &mut Record) -> Option<()> {
    let key = contested_key(random);
    let began = shared.tick();
    let reply = client.call_storage(&request::read(ENTITIES, &key)).await.ok()?;
    let ended = shared.tick();
    match reply.status {
        200 => match entity::read_reply(&reply) {
            Ok((there, found)) if there == key => {
                record.sightings.push(Sighting { key, seq: found.seq, began, ended });
            }
            Ok((there, _)) => record.trouble.push(format!("entity {key}: a read gave {there}")),
            Err(wrong) => record.trouble.push(format!("entity {key}: a read gave {wrong}")),
        },
        404 => {}
        503 => return None,
        status => record.trouble.push(format!("entity {key}: a read got {status}: {}", text(&reply))),
    }
    Some(())
}
