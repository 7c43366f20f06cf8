//! The one who changes the container's indexing policy while the writers run, so that kills come in the middle of
//! such changes and of the work that follows them.

use crate::history::{Outcome, PolicyChange, Record};
use crate::policy;
use crate::writer::Shared;
use orrery_core::{Env, Timestamp};
use orrery_testing_client::{Client, OwnedReply};
use std::net::SocketAddr;
use std::time::Duration;

/// How long a policy is left alone, between these: one or two changes in most rounds. Each has every item's entries
/// written anew, which the next start has to read.
const PAUSE_MILLIS_MIN: u64 = 30;
const PAUSE_MILLIS_MAX: u64 = 500;

/// Changes the policy until the server stops answering; gives back what was changed.
pub(crate) async fn run(address: SocketAddr, shared: Shared, seed: u64) -> Record {
    let random = Env::seeded(Timestamp::default(), seed);
    let mut client = Client::new(address, shared.env.clone());
    let mut record = Record::default();
    loop {
        let pause = PAUSE_MILLIS_MIN + random.random_u64() % (PAUSE_MILLIS_MAX - PAUSE_MILLIS_MIN);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        if change(&mut client, &shared, random.random_u64(), &mut record).await == Outcome::Unknown {
            return record;
        }
    }
}

async fn change(client: &mut Client, shared: &Shared, way: u64, record: &mut Record) -> Outcome {
    let seq = shared.next_seq();
    let request = policy::replace(&shared.path, policy::policy(seq, way));
    let outcome = match client.call(&request).await {
        Err(_) => Outcome::Unknown,
        Ok(reply) => judge(&reply, shared, record),
    };
    record.policies.push(PolicyChange { seq, outcome: outcome.clone() });
    outcome
}

fn judge(reply: &OwnedReply, shared: &Shared, record: &mut Record) -> Outcome {
    match reply.status {
        200 => {
            let etag = reply.header("etag").unwrap_or_default().to_owned();
            Outcome::Acknowledged { etag, ended: shared.tick() }
        }
        // 409 while too many policies wait for their items.
        409 | 429 | 449 => Outcome::Refused,
        408 | 503 => Outcome::Unknown,
        status => {
            let body = String::from_utf8_lossy(&reply.body);
            record.trouble.push(format!("a change of the indexing policy got {status}: {body}"));
            Outcome::Refused
        }
    }
}
