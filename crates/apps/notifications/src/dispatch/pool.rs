//! Processes many users concurrently, one worker each: scans for due events while workers are free, so no
//! event waits for another user's.

use super::due::{DuePage, DueScan, UserGroup};
use super::{Dispatcher, Round};
use crate::limits;
use crate::service::ServiceError;
use orrery_core::Timestamp;
use orrery_kit::ports::documents::StoreError;
use std::collections::{HashMap, HashSet, VecDeque};
use std::future::Future;
use std::time::Duration;
use tokio::task::{Id, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};

/// The work in progress, and the work that waits for a worker.
#[derive(Default)]
struct Pool {
    working: JoinSet<Round>,
    /// The users of running tasks. However a task ends, its user becomes free.
    users: HashMap<Id, String>,
    waiting: VecDeque<UserGroup>,
    /// Users with events that can be neither processed nor dead-lettered, and until when they are
    /// skipped.
    resting: HashMap<String, Instant>,
    /// Whether the scan skipped any user's events.
    has_left_out: bool,
}

impl Pool {
    /// The users that a scan excludes.
    fn busy(&mut self, now: Instant) -> Vec<String> {
        self.resting.retain(|_, until| *until > now);
        let waiting = self.waiting.iter().map(|group| &group.user);
        self.users.values().chain(waiting).chain(self.resting.keys()).cloned().collect()
    }

    /// Records that a scan began which excludes these users.
    fn leave_out(&mut self, busy: &[String]) {
        self.has_left_out = !busy.is_empty();
    }

    /// Adds the groups of a page, except users whose work began after the scan did. Returns the number
    /// added.
    fn add(&mut self, groups: Vec<UserGroup>, is_cut: bool, now: Instant) -> usize {
        let busy: HashSet<String> = self.busy(now).into_iter().collect();
        let found = groups.len();
        let free = groups.into_iter().filter(|group| !busy.contains(&group.user));
        let waiting = self.waiting.len();
        self.waiting.extend(free);
        let added = self.waiting.len() - waiting;
        self.has_left_out |= is_cut || added < found;
        added
    }

    /// Whether workers will soon be free: reading a page takes about as long as finishing the waiting
    /// work.
    fn is_low(&self, workers: usize) -> bool {
        self.waiting.len() < workers
    }

    fn start<W>(&mut self, workers: usize, work: impl Fn(UserGroup) -> W)
    where
        W: Future<Output = Round> + Send + 'static,
    {
        while self.working.len() < workers {
            let Some(group) = self.waiting.pop_front() else { return };
            orrery_core::tour_step!();
            let user = group.user.clone();
            let task = self.working.spawn(work(group));
            self.users.insert(task.id(), user);
        }
    }

    /// The next finished task; none if nothing is in progress.
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

    /// So many users that the cause must lie elsewhere.
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
    /// One complete scan, and the processing of everything it finds.
    pub async fn round(&self) -> Result<Round, ServiceError> {
        self.service.ensure().await?;
        let (mut pool, mut all) = (Pool::default(), Round::default());
        let mut scan = Some(self.scan(&[]));
        while let Some(begun) = scan.take() {
            let page = self.due_page(begun).await?;
            pool.add(page.groups, page.is_cut, Instant::now());
            scan = page.rest;
            self.start(&mut pool);
            while let Some(round) = pool.done().await {
                all.add(round);
                self.start(&mut pool);
            }
        }
        Ok(all)
    }

    fn scan(&self, busy: &[String]) -> DueScan {
        DueScan::new(self.service.now(), busy, self.options.claim_max)
    }

    fn start(&self, pool: &mut Pool) {
        pool.start(self.options.users_at_once, |group| {
            let dispatcher = self.clone();
            async move { dispatcher.work(group).await }
        });
    }

    /// Runs until `stop`: scans when woken, at every tick, and as soon as workers are free while more
    /// work is known. Waits until the containers exist. Finishes the work it has begun.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        tokio::select! {
            () = self.dispatch(stop) => {}
            // The next holder of the lease repeats an interrupted job.
            () = self.keep_jobs() => {}
        }
    }

    async fn dispatch(&self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let mut pool = Pool::default();
        let mut schedule = ScanSchedule::default();
        // One scan at a time, beside the work: until it is over, no work starts on a user that it does
        // not exclude.
        let mut scanning = JoinSet::new();
        loop {
            self.start(&mut pool);
            let may_scan = schedule.is_due()
                && scanning.is_empty()
                && pool.is_low(self.options.users_at_once)
                && self.service.is_ensured();
            tokio::select! {
                () = &mut stop => break,
                Some(round) = pool.done(), if !pool.working.is_empty() => {
                    schedule.is_wanted |= pool.has_left_out;
                    if round.troubled > 0 || pool.is_troubled() {
                        schedule.troubled();
                    }
                }
                () = self.service.woken() => schedule.is_wanted = true,
                () = sleep(self.service.policy().tick()) => schedule.is_wanted = true,
                Some(found) = scanning.join_next(), if !scanning.is_empty() => match found {
                    Ok(found) => schedule.found(&mut pool, found),
                    Err(error) => {
                        tracing::error!(%error, "a scan for due events ended early; the next one comes later");
                        schedule.troubled();
                    }
                },
                // One scan serves all wake-ups so far.
                () = sleep_until(schedule.next_at), if may_scan => {
                    let scan = schedule.begun().unwrap_or_else(|| {
                        let busy = pool.busy(Instant::now());
                        pool.leave_out(&busy);
                        self.scan(&busy)
                    });
                    let dispatcher = self.clone();
                    scanning.spawn(async move { dispatcher.due_page(scan).await });
                }
            }
        }
        while pool.done().await.is_some() {}
    }

    /// Runs beside the events, so that neither waits for the other. Never ends.
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

const BETWEEN_SCANS: Duration = Duration::from_millis(5);

/// Decides when to scan for due events.
struct ScanSchedule {
    /// Whether there may be events that the last scan missed.
    is_wanted: bool,
    /// The unfinished part of the last scan.
    rest: Option<DueScan>,
    /// The earliest time of the next scan.
    next_at: Instant,
    /// Consecutive scans that failed.
    troubles: u32,
    /// Whether it has backed off since the last scan: many workers that meet the same error count once.
    is_put_off: bool,
}

impl Default for ScanSchedule {
    fn default() -> Self {
        Self { is_wanted: true, rest: None, next_at: Instant::now(), troubles: 0, is_put_off: false }
    }
}

impl ScanSchedule {
    fn is_due(&self) -> bool {
        self.is_wanted || self.rest.is_some()
    }

    /// While a scan is unfinished, a wake-up is for the scan after it.
    fn begun(&mut self) -> Option<DueScan> {
        self.next_at = Instant::now() + BETWEEN_SCANS;
        self.is_wanted &= self.rest.is_some();
        self.rest.take()
    }

    /// A scan that found something may have left more.
    fn found(&mut self, pool: &mut Pool, found: Result<DuePage, StoreError>) {
        match found {
            Ok(page) => {
                let has_found = !page.groups.is_empty();
                let added = pool.add(page.groups, page.is_cut, Instant::now());
                self.is_wanted |= has_found;
                // Users with work in progress may have many more events: a new scan excludes them.
                self.rest = page.rest.filter(|_| added > 0 || !has_found);
                self.troubles = 0;
            }
            Err(error) => {
                tracing::warn!(%error, "the store could not be asked for events that are due");
                self.troubled();
            }
        }
    }

    /// Backs off: the delay of the next scan doubles each time up to a few seconds. Nothing but time is
    /// lost.
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

    fn group(user: &str) -> Vec<UserGroup> {
        vec![UserGroup { user: user.to_owned(), events: Vec::new() }]
    }

    fn of(user: &str, rest: Option<DueScan>) -> DuePage {
        DuePage { groups: group(user), is_cut: false, rest }
    }

    /// Its user is skipped for a moment, since the same event would be the first again, and then
    /// processed as before.
    #[tokio::test]
    async fn a_worker_that_panics_frees_its_user() {
        let (mut pool, now) = (Pool::default(), Instant::now());
        pool.add(group("ann"), false, now);
        pool.start(1, |_| async { panic!("a bug") });
        assert_eq!(pool.busy(now), ["ann"]);
        assert_eq!(pool.done().await.map(|round| round.stuck), Some(1));
        assert_eq!(pool.busy(now), ["ann"], "it rests");
        assert_eq!(pool.busy(Instant::now() + REST), [""; 0]);
        pool.add(group("ann"), false, Instant::now() + REST);
        pool.start(1, |_| async { Round { processed: 1, ..Round::default() } });
        assert_eq!(pool.done().await.map(|round| round.processed), Some(1));
        assert_eq!(pool.busy(Instant::now()), [""; 0]);
        assert_eq!(pool.done().await, None);
    }

    /// Work that arrives during a scan may be missing from its result.
    #[test]
    fn a_wake_up_during_a_scan_causes_another() {
        let (mut pool, mut schedule) = (Pool::default(), ScanSchedule::default());
        let mut scan = |is_woken: bool, page: DuePage| {
            schedule.begun();
            schedule.is_wanted |= is_woken;
            schedule.found(&mut pool, Ok(page));
            schedule.is_due()
        };
        assert!(scan(true, DuePage::default()));
        assert!(!scan(false, DuePage::default()), "there was nothing");
        assert!(scan(false, of("ann", None)), "where there was something there may be more");
    }

    /// Page by page to its end; a wake-up meanwhile is for the scan after it.
    #[test]
    fn a_scan_resumes_by_page_and_the_next_one_restarts() {
        let (mut pool, mut schedule) = (Pool::default(), ScanSchedule::default());
        let rest = || Some(DueScan::new(Timestamp::default(), &[], 1));
        assert!(schedule.begun().is_none(), "the first begins at the start");
        schedule.found(&mut pool, Ok(DuePage { rest: rest(), ..DuePage::default() }));
        assert!(schedule.is_due(), "it has not come to its end");
        schedule.is_wanted = true;
        assert!(schedule.begun().is_some());
        schedule.found(&mut pool, Ok(DuePage::default()));
        assert!(schedule.is_due(), "woken meanwhile");
        assert!(schedule.begun().is_none());
        schedule.found(&mut pool, Ok(DuePage::default()));
        assert!(!schedule.is_due());
        schedule.found(&mut pool, Ok(of("ann", rest())));
        assert!(schedule.begun().is_some());
        schedule.found(&mut pool, Ok(of("ann", rest())));
        assert!(schedule.begun().is_none(), "all that came is of somebody who is worked on: it begins anew");
        schedule.rest = rest();
        schedule.begun();
        schedule.found(&mut pool, Err(StoreError::Missing));
        assert!(schedule.is_due() && schedule.begun().is_none(), "after trouble it begins anew");
    }

    /// A user of an earlier page may still be in progress; the user's other events are left to the next
    /// scan.
    #[test]
    fn users_in_progress_are_left_to_the_next_scan() {
        let (mut pool, now) = (Pool::default(), Instant::now());
        pool.leave_out(&[]);
        pool.add(group("ann"), false, now);
        assert!(!pool.has_left_out);
        pool.add(group("ann"), false, now);
        assert_eq!((pool.waiting.len(), pool.has_left_out), (1, true));
        pool.leave_out(&[]);
        pool.add(group("ben"), true, now);
        assert_eq!((pool.waiting.len(), pool.has_left_out), (2, true), "there was more of one user");
    }

    #[test]
    fn errors_delay_only_the_next_scan() {
        let mut schedule = ScanSchedule::default();
        let waits: Vec<u128> = (0..8)
            .map(|_| {
                (schedule.next_at, schedule.is_put_off) = (Instant::now(), false);
                schedule.troubled();
                schedule.troubled();
                schedule.next_at.duration_since(Instant::now()).as_millis().div_ceil(50) * 50
            })
            .collect();
        assert_eq!(waits, [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
        assert!(schedule.is_wanted);
    }
}
