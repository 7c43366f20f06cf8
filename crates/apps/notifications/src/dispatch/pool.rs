//! Many users at once, one worker for each: scans for due events while workers are free, so no event waits for another user's.

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

/// What is being worked on, and what waits for a worker.
#[derive(Default)]
struct Pool {
    working: JoinSet<Round>,
    /// Whose events a task works on. However it ends, its user is free then.
    users: HashMap<Id, String>,
    waiting: VecDeque<UserGroup>,
    /// Users with events that can be neither worked on nor given up: until then they are left alone.
    resting: HashMap<String, Instant>,
    /// Whether the scan left somebody's events out.
    has_left_out: bool,
}

impl Pool {
    /// Users whose events a scan leaves out.
    fn busy(&mut self, now: Instant) -> Vec<String> {
        self.resting.retain(|_, until| *until > now);
        let waiting = self.waiting.iter().map(|group| &group.user);
        self.users.values().chain(waiting).chain(self.resting.keys()).cloned().collect()
    }

    /// A scan begins that leaves out these users.
    fn leave_out(&mut self, busy: &[String]) {
        self.has_left_out = !busy.is_empty();
    }

    /// Adds the groups of a page, except users whose work began after the scan did. Returns how many it added.
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

    /// Whether workers will soon be free: a page takes about as long to read as they need for what waits.
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
    /// One whole scan, and the work on all that it finds.
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

    /// Until `stop`: scans when woken, at every tick, and as soon as workers are free while there was more to do. Waits until
    /// the containers exist. Finishes the work that it began.
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
        let mut schedule = ScanSchedule::default();
        // One at a time, beside the work: nobody works on a user that the scan does not leave out until it is over.
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
                // One scan answers many wake-ups at once.
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

const BETWEEN_SCANS: Duration = Duration::from_millis(5);

/// When to scan for due events.
struct ScanSchedule {
    /// Whether there may be events that the last scan does not reach.
    is_wanted: bool,
    /// The rest of the last scan.
    rest: Option<DueScan>,
    /// Not before then.
    next_at: Instant,
    /// Scans in a row that the store did not answer.
    troubles: u32,
    /// Whether it was put off since the last one: many workers who meet the same trouble are one.
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

    /// The rest of the last scan, if there is one: then a wake-up is for the scan after it.
    fn begun(&mut self) -> Option<DueScan> {
        self.next_at = Instant::now() + BETWEEN_SCANS;
        self.is_wanted &= self.rest.is_some();
        self.rest.take()
    }

    /// Where there was something, there may be more.
    fn found(&mut self, pool: &mut Pool, found: Result<DuePage, StoreError>) {
        match found {
            Ok(page) => {
                let has_found = !page.groups.is_empty();
                let added = pool.add(page.groups, page.is_cut, Instant::now());
                self.is_wanted |= has_found;
                // If all of them are worked on already, they may have many more events: a new scan leaves them out.
                self.rest = page.rest.filter(|_| added > 0 || !has_found);
                self.troubles = 0;
            }
            Err(error) => {
                tracing::warn!(%error, "the store could not be asked for events that are due");
                self.troubled();
            }
        }
    }

    /// Backs off: the next scan comes later, twice as late each time up to a few seconds. Nothing is lost but time.
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

    /// Its user is left alone for a moment, as the same event would be the first again, and then worked on as before.
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

    /// Work that arrives during a scan may not be in what it finds.
    #[test]
    fn a_wake_during_a_scan_is_not_forgotten() {
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

    /// Page by page to its end, and a wake on the way is for the scan after it.
    #[test]
    fn a_scan_goes_on_where_it_stopped_and_the_next_one_begins_anew() {
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

    /// A user of an earlier page may be worked on still; what else there is of hers is for the next scan.
    #[test]
    fn who_is_worked_on_since_a_scan_began_is_left_to_the_next() {
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
    fn trouble_puts_off_the_next_scan_and_nothing_else() {
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
