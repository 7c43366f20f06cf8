//! Commits groups from the queue: one engine write and one sync each, one after another.

use crate::error::CommitError;
use crate::health::CommitHealth;
use crate::queue::{Group, Queue, Waiting, Work};
use crate::recent_commits::RecentCommits;
use crate::stripe::Stripes;
use crate::watchdog::Watchdog;
use orrery_core::Lsn;
use orrery_kv::{Db, Error, Outcome, SpaceSet};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Notify, oneshot};

#[derive(Clone)]
pub(crate) struct Committer {
    db: Arc<Db>,
    pub queue: Arc<Queue>,
    pub stripes: Arc<Stripes>,
    pub watchdog: Arc<Watchdog>,
    pub health: Arc<CommitHealth>,
    pub recent: Arc<RecentCommits>,
    /// Notified of every durable group.
    pub committed: Arc<Notify>,
}

impl Committer {
    pub fn new(db: Arc<Db>, newest: Lsn) -> Self {
        Self {
            db,
            queue: Arc::new(Queue::new(newest)),
            stripes: Arc::new(Stripes::new()),
            watchdog: Arc::default(),
            health: Arc::default(),
            recent: Arc::default(),
            committed: Arc::default(),
        }
    }

    /// Runs until the queue is closed and empty. Two threads run this and take turns: while one answers the writers
    /// whose group is durable, the other is already writing the next.
    pub fn run(self) {
        while let Some(group) = self.queue.take_group() {
            let done = self.commit(group);
            self.queue.end_turn();
            self.answer(done);
        }
    }

    /// Commits the batch of a lone writer on its own thread, which saves waking two others.
    pub fn commit_lone(&self, group: Group) {
        let done = self.commit(group);
        self.queue.give_turn_back();
        self.answer(done);
    }

    fn commit(&self, group: Group) -> Done {
        orrery_core::tour_step!();
        self.watchdog.busy();
        let (mut batches, mut writers) = (Vec::with_capacity(group.len()), Vec::with_capacity(group.len()));
        for Waiting { work, answer } in group {
            writers.push((work.as_ref().map(|work| Queued::of(work, self.db.spaces())), answer));
            batches.extend(work.map(|work| work.batch));
        }
        let stores = writers.iter().flat_map(|(work, _)| work).any(|work| !work.makes_room);
        // Declared after the writers, so that it is dropped before them: a commit that broke off answers nobody.
        let _stop_on_panic = StopOnPanic;
        let begun = Instant::now();
        let committed = self.db.commit(batches);
        self.recent.record(begun.elapsed(), writers.len());
        self.committed.notify_waiters();
        let is_committed = |outcome: &Outcome| *outcome == Outcome::Committed;
        match &committed {
            Err(error) => self.health.record(Some(error)),
            // Deletes are accepted when there is no room for anything else.
            Ok(outcomes) if stores && outcomes.iter().any(is_committed) => self.health.record(None),
            Ok(_) => {}
        }
        let all_well = committed.as_ref().is_ok_and(|outcomes| outcomes.iter().all(is_committed));
        let aborted = if all_well { Vec::new() } else { self.queue.abort_all() };
        self.watchdog.idle();
        Done { writers, committed, stores, all_well, aborted }
    }

    /// An entry without work waited for everything before it; if any of that failed, its transaction must run again.
    fn answer(&self, Done { writers, committed, stores, all_well, aborted }: Done) {
        orrery_core::tour_step!();
        let durable = self.db.durable_lsn();
        let mut stripes = Vec::with_capacity(writers.len());
        let mut outcomes = committed.as_ref().ok().into_iter().flatten();
        for (work, answer) in writers {
            let Some(Queued { stripe, lsn, makes_room }) = work else {
                tell(answer, if all_well { Ok(durable) } else { Err(CommitError::Aborted) });
                continue;
            };
            stripes.push(stripe);
            tell(
                answer,
                match (&committed, outcomes.next()) {
                    // Not for its own sake: it runs again, and the others are refused before they are queued.
                    (Err(Error::Full(_)), _) if makes_room && stores => Err(CommitError::Aborted),
                    (Err(error), _) => Err(CommitError::Engine(error.clone())),
                    (Ok(_), Some(Outcome::Committed)) => Ok(lsn),
                    (Ok(_), Some(Outcome::Refused)) => Err(CommitError::Refused),
                    (Ok(_), Some(Outcome::Aborted) | None) => Err(CommitError::Aborted),
                },
            );
        }
        for waiting in aborted {
            tell(waiting.answer, Err(CommitError::Aborted));
        }
        for stripe in stripes {
            self.stripes.tidy(stripe, durable);
        }
    }
}

/// A commit that panics broke an invariant, and others may already have built on what it did not write. Stopped is
/// better than wrong: nothing acknowledged is lost, and a restart goes on from the disk.
struct StopOnPanic;

impl Drop for StopOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "orrery: a commit broke off in the middle; stopping. Everything acknowledged is on the disk. Start again."
            );
            std::process::abort();
        }
    }
}

/// A group whose commit is over, and what waited behind it if it failed.
struct Done {
    writers: Vec<Writer>,
    committed: Result<Vec<Outcome>, Error>,
    /// Whether the group had more than what makes room.
    stores: bool,
    all_well: bool,
    aborted: Vec<Waiting>,
}

type Answer = oneshot::Sender<Result<Lsn, CommitError>>;
type Writer = (Option<Queued>, Answer);

/// What the answer to a transaction depends on.
struct Queued {
    stripe: usize,
    lsn: Lsn,
    makes_room: bool,
}

impl Queued {
    fn of(Work { stripe, batch }: &Work, spaces: &SpaceSet) -> Self {
        Self { stripe: *stripe, lsn: batch.lsn(), makes_room: batch.makes_room(spaces) }
    }
}

/// The writer may have stopped waiting; its write stands all the same.
fn tell(answer: Answer, result: Result<Lsn, CommitError>) {
    let _ = answer.send(result);
}
