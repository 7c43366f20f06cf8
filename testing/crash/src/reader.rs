//! One reader: point reads of the contested items while the writers run. What it was shown must survive.

use crate::content;
use crate::history::{Record, Sighting};
use crate::writer::{Shared, contested_key};
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
    let reply = client.call(&shared.path.read(&key.partition, &key.id)).await.ok()?;
    let ended = shared.tick();
    for (range, lsn) in reply.session_lsns() {
        record.lsns.raise(range, lsn);
    }
    match reply.status {
        200 => match content::read_reply(&reply) {
            Ok((there, found)) if there == key => {
                record.sightings.push(Sighting { key, seq: found.seq, began, ended });
            }
            Ok((there, _)) => record.trouble.push(format!("{key}: a read gave {there}")),
            Err(wrong) => record.trouble.push(format!("{key}: a read gave {wrong}")),
        },
        404 | 429 => {}
        503 => return None,
        status => record.trouble.push(format!("{key}: a read got {status}")),
    }
    Some(())
}
