//! The one thread that writes: groups from the queue, one engine write and one sync each.

use crate::queue::{Queue, Waiting};
use crate::store::CommitError;
use crate::stripe::Stripes;
use crate::trouble::Trouble;
use crate::watchdog::Watchdog;
use orrery_core::Lsn;
use orrery_kv::{Db, Outcome};
use std::sync::Arc;
use tokio::sync::oneshot;

pub(crate) struct Committer {
    pub db: Arc<Db>,
    pub queue: Arc<Queue>,
    pub stripes: Arc<Stripes>,
    pub watchdog: Arc<Watchdog>,
    pub trouble: Arc<Trouble>,
}

impl Committer {
    /// Runs until the queue is closed and empty.
    pub fn run(self) {
        while let Some(group) = self.queue.take_group() {
            self.watchdog.busy();
            self.commit(group);
            self.watchdog.idle();
        }
    }

    fn commit(&self, group: Vec<Waiting>) {
        let (mut batches, mut askers) = (Vec::with_capacity(group.len()), Vec::with_capacity(group.len()));
        for Waiting { work, answer } in group {
            askers.push((work.as_ref().map(|work| (work.stripe, work.batch.lsn())), answer));
            batches.extend(work.map(|work| work.batch));
        }
        let committed = self.db.commit(batches);
        self.trouble.note(committed.as_ref().err());
        let all_well = matches!(&committed, Ok(outcomes) if outcomes.iter().all(|outcome| *outcome == Outcome::Committed));
        let aborted = if all_well { Vec::new() } else { self.queue.abort_all() };
        self.answer(askers, committed, all_well);
        for waiting in aborted {
            tell(waiting.answer, Err(CommitError::Aborted));
        }
    }

    /// Somebody without work waited for what came before; if any of that failed, it must ask again.
    fn answer(&self, askers: Vec<Asker>, committed: Result<Vec<Outcome>, orrery_kv::Error>, all_well: bool) {
        let durable = self.db.durable_lsn();
        let mut stripes = Vec::with_capacity(askers.len());
        let mut outcomes = committed.as_ref().ok().into_iter().flatten();
        for (work, answer) in askers {
            let Some((stripe, lsn)) = work else {
                tell(answer, if all_well { Ok(durable) } else { Err(CommitError::Aborted) });
                continue;
            };
            stripes.push(stripe);
            tell(
                answer,
                match (&committed, outcomes.next()) {
                    (Err(error), _) => Err(CommitError::Engine(error.clone())),
                    (Ok(_), Some(Outcome::Committed)) => Ok(lsn),
                    (Ok(_), Some(Outcome::Refused)) => Err(CommitError::Refused),
                    (Ok(_), Some(Outcome::Aborted) | None) => Err(CommitError::Aborted),
                },
            );
        }
        for stripe in stripes {
            self.stripes.tidy(stripe, durable);
        }
    }
}

type Answer = oneshot::Sender<Result<Lsn, CommitError>>;
type Asker = (Option<(usize, Lsn)>, Answer);

/// The asker may be gone; its write stands all the same.
fn tell(answer: Answer, result: Result<Lsn, CommitError>) {
    let _ = answer.send(result);
}
