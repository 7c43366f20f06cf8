//! One who asks questions while the writers run. What was there all the while, and matched, must be in the answer.

use crate::ask::{Told, ask};
use crate::history::{Asked, Record, Sighting};
use crate::question::{Answer, Question, Wants, questions};
use crate::writer::{HOT, Shared};
use orrery_core::{Env, Timestamp};
use orrery_testing_client::Client;
use std::net::SocketAddr;
use std::time::Duration;

/// Between two questions, so that the writers have the server for themselves most of the time.
const PAUSE: Duration = Duration::from_millis(10);

/// Asks until the server stops answering; gives back what it was told.
pub(crate) async fn run(address: SocketAddr, shared: Shared, seed: u64) -> Record {
    let random = Env::seeded(Timestamp::default(), seed);
    let mut client = Client::new(address, shared.env.clone());
    let mut record = Record::default();
    loop {
        // Nobody can say how many there were at one moment of the load, so counts are left out.
        let mut asked = questions(random.random_u64(), HOT);
        asked.retain(|question| question.wants != Wants::Count);
        for question in asked {
            tokio::time::sleep(PAUSE).await;
            if step(&mut client, &shared, question, &mut record).await.is_none() {
                return record;
            }
        }
    }
}

async fn step(client: &mut Client, shared: &Shared, question: Question, record: &mut Record) -> Option<()> {
    let began = shared.tick();
    let told = ask(client, &shared.path, &question).await.ok()?;
    let ended = shared.tick();
    let (rows, pages) = match told {
        Told::Rows(rows, pages) => (rows, pages),
        Told::Refused(503 | 408, _) => return None,
        Told::Refused(429, _) => return Some(()),
        Told::Refused(status, said) => {
            record.trouble.push(format!("{} got {status}: {said}", question.text()));
            return Some(());
        }
    };
    match question.read(&rows) {
        Ok(Answer::Rows(rows)) => {
            let seen = rows.iter().map(|(key, seq)| Sighting { key: key.clone(), seq: *seq, began, ended });
            record.sightings.extend(seen);
            record.asked.push(Asked { question, rows, pages, began, ended });
        }
        Ok(Answer::Count(_)) => {}
        Err(wrong) => record.trouble.push(format!("{}: {wrong}", question.text())),
    }
    Some(())
}
