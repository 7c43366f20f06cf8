//! Many users at once, each by one worker: a look for work when hands are free, and no event waits for another user's.

use super::claim::Group;
use super::{Dispatcher, Round};
use crate::service::ServiceError;
use orrery_core::{Timestamp, limits};
use std::collections::{HashSet, VecDeque};
use std::future::Future;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// What is being worked on, and what waits for a hand.
#[derive(Default)]
struct Pool {
    working: JoinSet<(String, Round)>,
    users: HashSet<String>,
    waiting: VecDeque<Group>,
    /// Whether somebody's events were left where they are, as the user was worked on.
    has_left_out: bool,
}

impl Pool {
    /// How many came. Users that are worked on already are left out: a later look finds what they have then.
    fn add(&mut self, groups: Vec<Group>) -> usize {
        let all = groups.len();
        let fresh: Vec<Group> =
            groups.into_iter().filter(|group| self.users.insert(group.user.clone())).collect();
        let added = fresh.len();
        self.has_left_out = added < all;
        self.waiting.extend(fresh);
        added
    }

    fn has_free_hands(&self, dispatcher: &Dispatcher) -> bool {
        self.waiting.is_empty() && self.working.len() < dispatcher.options.users_at_once
    }

    fn start(&mut self, dispatcher: &Dispatcher) {
        while self.working.len() < dispatcher.options.users_at_once {
            let Some(group) = self.waiting.pop_front() else { return };
            let dispatcher = dispatcher.clone();
            self.working.spawn(async move {
                let user = group.user.clone();
                (user, dispatcher.work(group).await)
            });
        }
    }

    /// One that is done; none if nothing is worked on.
    async fn done(&mut self) -> Option<Round> {
        let (user, round) = match self.working.join_next().await? {
            Ok(done) => done,
            Err(error) => {
                // Its users stay marked until the next look from an empty pool; its leases run out.
                tracing::error!(%error, "a worker of notifications ended");
                return Some(Round { troubled: 1, ..Round::default() });
            }
        };
        self.users.remove(&user);
        Some(round)
    }

    fn is_idle(&self) -> bool {
        self.working.is_empty() && self.waiting.is_empty()
    }
}

impl Round {
    fn add(&mut self, other: Self) {
        self.claimed += other.claimed;
        self.processed += other.processed;
        self.lost += other.lost;
        self.troubled += other.troubled;
    }
}

impl Dispatcher {
    /// One look for work, and all that it finds.
    pub async fn round(&self) -> Result<Round, ServiceError> {
        self.service.ensure().await?;
        let mut pool = Pool::default();
        pool.add(self.claimable().await?);
        let mut all = Round::default();
        pool.start(self);
        while let Some(round) = pool.done().await {
            all.add(round);
            pool.start(self);
        }
        Ok(all)
    }

    /// Until `stop`: looks when woken, at every tick, and as soon as there are free hands while there was more to do.
    /// Before the containers are there it waits. What was begun is ended.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        tokio::select! {
            () = self.dispatch(stop) => {}
            // A job that is broken off is done again by whoever takes its lease next.
            () = self.keep_jobs() => {}
        }
    }

    async fn dispatch(&self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let mut pool = Pool::default();
        let mut looks = Looks::default();
        loop {
            if looks.is_wanted && pool.has_free_hands(self) && self.service.is_ensured() {
                self.look(&mut pool, &mut looks).await;
            }
            pool.start(self);
            tokio::select! {
                () = &mut stop => break,
                Some(round) = pool.done(), if !pool.working.is_empty() => {
                    looks.is_wanted |= pool.has_left_out;
                    if round.troubled > 0 {
                        looks.troubled(true);
                    }
                }
                () = self.service.woken() => looks.is_wanted = true,
                () = tokio::time::sleep(self.service.policy().tick()) => looks.is_wanted = true,
            }
            if looks.is_troubled {
                tokio::time::sleep(looks.back_off()).await;
            }
        }
        while pool.done().await.is_some() {}
    }

    async fn look(&self, pool: &mut Pool, looks: &mut Looks) {
        // Many are woken for at once and found by one look.
        tokio::time::sleep_until(looks.next_at).await;
        looks.next_at = Instant::now() + BETWEEN_LOOKS;
        if pool.is_idle() {
            pool.users.clear();
        }
        match self.claimable().await {
            Ok(groups) => {
                looks.is_wanted = pool.add(groups) > 0;
                looks.troubled(false);
            }
            Err(error) => {
                tracing::warn!(%error, "the store could not be asked for events that are due");
                looks.is_wanted = true;
                looks.troubled(true);
            }
        }
    }

    /// Beside the events, so that neither waits for the other. Never ends.
    async fn keep_jobs(&self) {
        let every = Duration::from_secs(limits::NOTIFICATION_JOBS_EVERY_SECONDS);
        let mut last: Option<Timestamp> = None;
        loop {
            let now = self.service.now();
            if self.service.is_ensured() && last.is_none_or(|last| now >= last.plus(every)) {
                last = Some(now);
                if let Err(error) = self.service.end_erasures().await {
                    tracing::warn!(%error, "erasures that were begun could not be looked for");
                }
                if let Err(error) = self.service.run_jobs().await {
                    tracing::warn!(%error, "the jobs of notifications could not be run");
                }
            }
            tokio::time::sleep(self.service.policy().tick()).await;
        }
    }
}

const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// When to look for work.
struct Looks {
    is_wanted: bool,
    next_at: Instant,
    is_troubled: bool,
    /// Looks in a row that the store did not answer.
    troubles: u32,
}

impl Default for Looks {
    fn default() -> Self {
        Self { is_wanted: true, next_at: Instant::now(), is_troubled: false, troubles: 0 }
    }
}

impl Looks {
    fn troubled(&mut self, is_troubled: bool) {
        self.is_troubled = is_troubled;
        self.troubles = if is_troubled { self.troubles.saturating_add(1) } else { 0 };
    }

    /// Twice as long each time, up to a few seconds; nothing is lost meanwhile but time.
    fn back_off(&mut self) -> Duration {
        self.is_troubled = false;
        let millis = 50u64.saturating_mul(1 << self.troubles.min(10));
        Duration::from_millis(millis.min(limits::NOTIFICATION_STORE_WAIT_MILLIS_MAX))
    }
}
