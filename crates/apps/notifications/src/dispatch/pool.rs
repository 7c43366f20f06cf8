//! Many users at once, each by one worker: a look for work when hands are free, and no event waits for another user's.

use super::claim::{Claimed, Group};
use super::{Dispatcher, Round};
use crate::service::ServiceError;
use orrery_core::{Timestamp, limits};
use orrery_kit::port::StoreError;
use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::time::Duration;
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};

/// What is being worked on, and what waits for a hand.
#[derive(Default)]
struct Pool {
    working: JoinSet<Round>,
    /// Whose events a task works on. However it ends, its user is free then.
    users: HashMap<Id, String>,
    waiting: VecDeque<Group>,
    /// Users with events that can be neither worked on nor given up: until then they are left alone.
    resting: HashMap<String, Instant>,
    /// Whether somebody's events were left where they are.
    has_left_out: bool,
}

impl Pool {
    /// Users whose events are not to be looked for.
    fn busy(&mut self, now: Instant) -> Vec<String> {
        self.resting.retain(|_, until| *until > now);
        let waiting = self.waiting.iter().map(|group| &group.user);
        self.users.values().chain(waiting).chain(self.resting.keys()).cloned().collect()
    }

    /// What a look found that left out so many users. How many came.
    fn add(&mut self, claimed: Claimed, left_out: usize) -> usize {
        let added = claimed.groups.len();
        self.has_left_out = left_out > 0 || claimed.is_cut;
        self.waiting.extend(claimed.groups);
        added
    }

    /// Whether the hands will soon be free: a look takes as long as they need for what waits.
    fn is_low(&self, hands: usize) -> bool {
        self.waiting.len() < hands
    }

    fn start<W>(&mut self, hands: usize, work: impl Fn(Group) -> W)
    where
        W: Future<Output = Round> + Send + 'static,
    {
        while self.working.len() < hands {
            let Some(group) = self.waiting.pop_front() else { return };
            let user = group.user.clone();
            let task = self.working.spawn(work(group));
            self.users.insert(task.id(), user);
        }
    }

    /// One that is done; none if nothing is worked on.
    async fn done(&mut self) -> Option<Round> {
        let (task, round) = match self.working.join_next_with_id().await? {
            Ok(done) => done,
            Err(error) => {
                tracing::error!(%error, "a worker of notifications ended; what it had comes back when its lease is over");
                (error.id(), Round { stuck: 1, ..Round::default() })
            }
        };
        if let Some(user) = self.users.remove(&task)
            && round.stuck > 0
            && self.resting.len() < RESTING_MAX
        {
            self.resting.insert(user, Instant::now() + REST);
        }
        Some(round)
    }

    /// So many that something else is the matter.
    fn is_troubled(&self) -> bool {
        self.resting.len() >= RESTING_MAX
    }
}

const REST: Duration = Duration::from_secs(1);
const RESTING_MAX: usize = 64;

impl Round {
    fn add(&mut self, other: Self) {
        self.claimed += other.claimed;
        self.processed += other.processed;
        self.lost += other.lost;
        self.troubled += other.troubled;
        self.stuck += other.stuck;
    }
}

impl Dispatcher {
    /// One look for work, and all that it finds.
    pub async fn round(&self) -> Result<Round, ServiceError> {
        self.service.ensure().await?;
        let mut pool = Pool::default();
        pool.add(self.claimable(Vec::new()).await?, 0);
        let mut all = Round::default();
        self.start(&mut pool);
        while let Some(round) = pool.done().await {
            all.add(round);
            self.start(&mut pool);
        }
        Ok(all)
    }

    fn start(&self, pool: &mut Pool) {
        pool.start(self.options.users_at_once, |group| {
            let dispatcher = self.clone();
            async move { dispatcher.work(group).await }
        });
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
        // One at a time, beside the work: whoever is not left out by it is worked on by nobody until it is over.
        let mut looking = JoinSet::new();
        loop {
            self.start(&mut pool);
            let may_look = looks.is_wanted
                && looking.is_empty()
                && pool.is_low(self.options.users_at_once)
                && self.service.is_ensured();
            tokio::select! {
                () = &mut stop => break,
                Some(round) = pool.done(), if !pool.working.is_empty() => {
                    looks.is_wanted |= pool.has_left_out;
                    if round.troubled > 0 || pool.is_troubled() {
                        looks.troubled();
                    }
                }
                () = self.service.woken() => looks.is_wanted = true,
                () = sleep(self.service.policy().tick()) => looks.is_wanted = true,
                Some(found) = looking.join_next(), if !looking.is_empty() => match found {
                    Ok((left_out, found)) => looks.found(&mut pool, left_out, found),
                    Err(error) => {
                        tracing::error!(%error, "a look for events that are due ended; the next one comes later");
                        looks.troubled();
                    }
                },
                // Many are woken for at once and found by one look.
                () = sleep_until(looks.next_at), if may_look => {
                    looks.begun();
                    looking.spawn(self.look(pool.busy(Instant::now())));
                }
            }
        }
        while pool.done().await.is_some() {}
    }

    /// What is due of others than these users, and how many these are.
    fn look(
        &self,
        busy: Vec<String>,
    ) -> impl Future<Output = (usize, Result<Claimed, StoreError>)> + Send + 'static {
        let dispatcher = self.clone();
        async move { (busy.len(), dispatcher.claimable(busy).await) }
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
    /// Not before then.
    next_at: Instant,
    /// Looks in a row that the store did not answer.
    troubles: u32,
    /// Whether it was put off since the last one: many workers who meet the same trouble are one.
    is_put_off: bool,
}

impl Default for Looks {
    fn default() -> Self {
        Self { is_wanted: true, next_at: Instant::now(), troubles: 0, is_put_off: false }
    }
}

impl Looks {
    fn begun(&mut self) {
        self.is_wanted = false;
        self.next_at = Instant::now() + BETWEEN_LOOKS;
    }

    /// Where there was something, there may be more.
    fn found(&mut self, pool: &mut Pool, left_out: usize, found: Result<Claimed, StoreError>) {
        match found {
            Ok(claimed) => {
                self.is_wanted |= pool.add(claimed, left_out) > 0;
                self.troubles = 0;
            }
            Err(error) => {
                tracing::warn!(%error, "the store could not be asked for events that are due");
                self.troubled();
            }
        }
    }

    /// The next one comes later, twice as long each time up to a few seconds; nothing is lost meanwhile but time.
    fn troubled(&mut self) {
        if std::mem::replace(&mut self.is_put_off, true) {
            return;
        }
        self.troubles = self.troubles.saturating_add(1);
        self.is_wanted = true;
        let millis = 50u64.saturating_mul(1 << self.troubles.min(10));
        let wait = Duration::from_millis(millis.min(limits::NOTIFICATION_STORE_WAIT_MILLIS_MAX));
        self.next_at = self.next_at.max(Instant::now() + wait);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(user: &str) -> Claimed {
        Claimed { groups: vec![Group { user: user.to_owned(), events: Vec::new() }], is_cut: false }
    }

    /// Its user is left alone for a moment, as the same event would be the first again, and then worked on as before.
    #[tokio::test]
    async fn a_worker_that_panics_frees_its_user() {
        let mut pool = Pool::default();
        pool.add(of("ann"), 0);
        pool.start(1, |_| async { panic!("a bug") });
        let now = Instant::now();
        assert_eq!(pool.busy(now), ["ann"]);
        assert_eq!(pool.done().await.map(|round| round.stuck), Some(1));
        assert_eq!(pool.busy(now), ["ann"], "it rests");
        assert_eq!(pool.busy(Instant::now() + REST), [""; 0]);
        pool.add(of("ann"), 0);
        pool.start(1, |_| async { Round { processed: 1, ..Round::default() } });
        assert_eq!(pool.done().await.map(|round| round.processed), Some(1));
        assert_eq!(pool.busy(Instant::now()), [""; 0]);
        assert_eq!(pool.done().await, None);
    }

    /// Work that comes while a look is under way may not be in what it finds.
    #[test]
    fn a_wake_during_a_look_is_not_forgotten() {
        let (mut pool, mut looks) = (Pool::default(), Looks::default());
        let mut look = |is_woken: bool, claimed: Claimed| {
            looks.begun();
            looks.is_wanted |= is_woken;
            looks.found(&mut pool, 0, Ok(claimed));
            looks.is_wanted
        };
        assert!(look(true, Claimed::default()));
        assert!(!look(false, Claimed::default()), "there was nothing");
        assert!(look(false, of("ann")), "where there was something there may be more");
    }

    #[test]
    fn trouble_puts_off_the_next_look_and_nothing_else() {
        let mut looks = Looks::default();
        let waits: Vec<u128> = (0..8)
            .map(|_| {
                (looks.next_at, looks.is_put_off) = (Instant::now(), false);
                looks.troubled();
                looks.troubled();
                looks.next_at.duration_since(Instant::now()).as_millis().div_ceil(50) * 50
            })
            .collect();
        assert_eq!(waits, [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
        assert!(looks.is_wanted);
    }
}
