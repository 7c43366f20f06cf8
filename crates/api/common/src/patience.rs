//! Timeouts of a connection: how long each phase may take.
//!
//! ```text
//!   Opening ──first request──▶ Busy ◀──request── Head     a head has begun to arrive
//!      15 s                     │  ▲              15 s
//!                        answer ▼  └──request──┐   ▲
//!                              Idle ───────────┴───┘      nothing asked; clients keep these for minutes
//! ```
//!
//! The HTTP library's own timeout starts when the previous response is done, so it would cut an idle
//! connection as early as a stalled head, and it allocates a timer per request. Here bytes and requests are
//! observed as they pass ([`Metered`], [`Activity`]), and the one timer of a connection is moved only when it
//! is too late for the current phase; it sometimes fires early, checks, and is set again.
//!
//! While a request is in flight nothing expires: its body has a deadline of its own. An HTTP/2 connection has
//! no heads to wait for once its preface is there; it is kept alive, or ended, by pings.

use crate::connection_table::ConnectionCounts;
use std::future::{Future, poll_fn};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// The first bytes of an HTTP/2 connection. If they arrive in pieces, the first request reveals the version.
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The state of one connection, derived from its bytes and requests. The fields are independent, hence
/// `Relaxed`.
#[derive(Debug)]
pub(crate) struct Activity {
    opened: Instant,
    /// The start of the current phase, in milliseconds after the connection opened.
    since_ms: AtomicU64,
    /// Whether a request had a credential, and the counter of such connections.
    confirmed: AtomicBool,
    counts: ConnectionCounts,
    requests: AtomicUsize,
    in_flight: AtomicUsize,
    /// Bytes arrived that belong to no complete head yet.
    unclaimed: AtomicBool,
    /// Bytes passed since the last check.
    moved: AtomicBool,
    http2: AtomicBool,
}

impl Activity {
    pub(crate) fn new(counts: ConnectionCounts) -> Self {
        Self {
            opened: Instant::now(),
            since_ms: AtomicU64::default(),
            confirmed: AtomicBool::default(),
            counts,
            requests: AtomicUsize::default(),
            in_flight: AtomicUsize::default(),
            unclaimed: AtomicBool::default(),
            moved: AtomicBool::default(),
            http2: AtomicBool::default(),
        }
    }

    pub(crate) fn confirm(&self) {
        // Usually it is already set, and a load keeps the cache line shared.
        if !self.confirmed.load(Relaxed) && !self.confirmed.swap(true, Relaxed) {
            self.counts.confirm();
        }
    }

    pub(crate) fn is_confirmed(&self) -> bool {
        self.confirmed.load(Relaxed)
    }

    /// The duration of the current phase.
    pub(crate) fn waited(&self, now: Instant) -> Duration {
        let since = Duration::from_millis(self.since_ms.load(Relaxed));
        now.saturating_duration_since(self.opened).saturating_sub(since)
    }

    /// Whether there were requests and none is in flight: the client loses nothing by reconnecting.
    pub(crate) fn is_between_requests(&self) -> bool {
        self.phase() == Phase::Idle
    }

    /// A request's head is complete. It is in flight until the guard is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> InFlight {
        self.requests.fetch_add(1, Relaxed);
        self.in_flight.fetch_add(1, Relaxed);
        self.unclaimed.store(false, Relaxed);
        InFlight(self.clone())
    }

    fn saw(&self, bytes: &[u8]) {
        self.moved.store(true, Relaxed);
        if self.in_flight.load(Relaxed) > 0 {
            return;
        }
        let was_unclaimed = self.unclaimed.swap(true, Relaxed);
        if !was_unclaimed && self.requests.load(Relaxed) == 0 && bytes.starts_with(HTTP2_PREFACE) {
            self.http2.store(true, Relaxed);
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        let http2 = self.http2.load(Relaxed);
        if self.in_flight.load(Relaxed) > 0 {
            Phase::Busy
        } else if self.requests.load(Relaxed) == 0 && !http2 {
            Phase::Opening
        } else if self.unclaimed.load(Relaxed) && !http2 {
            Phase::Head
        } else {
            Phase::Idle
        }
    }
}

pub(crate) struct InFlight(Arc<Activity>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Relaxed);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Opening,
    Idle,
    Head,
    Busy,
    Closing { time_max: Duration },
}

/// Why a connection timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expired {
    /// It was idle for long; it can be closed gracefully.
    Idle,
    /// Something due did not arrive; the connection is cut.
    Late,
}

/// The one timer of a connection.
pub(crate) struct Patience {
    activity: Arc<Activity>,
    head_time_max: Duration,
    idle_time_max: Duration,
    phase: Phase,
    since: Instant,
    requests_seen: usize,
    alarm: Pin<Box<Sleep>>,
}

impl Patience {
    pub(crate) fn new(
        activity: Arc<Activity>,
        opened: Instant,
        head_time_max: Duration,
        idle_time_max: Duration,
    ) -> Self {
        Self {
            activity,
            head_time_max,
            idle_time_max,
            phase: Phase::Opening,
            since: opened,
            requests_seen: 0,
            alarm: Box::pin(sleep_until(opened + head_time_max)),
        }
    }

    /// Limits the time until the end of the connection to this.
    pub(crate) fn close_within(&mut self, time_max: Duration) {
        self.phase = Phase::Closing { time_max };
        self.since = Instant::now();
    }

    pub(crate) fn is_closing(&self) -> bool {
        matches!(self.phase, Phase::Closing { .. })
    }

    /// Returns when the connection times out. Must be polled after the connection itself, each time, because
    /// the timeout depends on what that did.
    pub(crate) async fn expired(&mut self) -> Expired {
        poll_fn(|context| self.poll_expired(context)).await
    }

    fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<Expired> {
        self.observe();
        let Some(time_max) = self.time_max() else { return Poll::Pending };
        let deadline = self.since + time_max;
        if self.alarm.deadline() > deadline {
            self.alarm.as_mut().reset(deadline);
        }
        loop {
            ready!(self.alarm.as_mut().poll(context));
            if Instant::now() >= deadline {
                return Poll::Ready(self.verdict());
            }
            self.alarm.as_mut().reset(deadline);
        }
    }

    /// Restarts the timeout if the phase or the request changed. More bytes of the same head do not, so a
    /// client that trickles them is cut like one that sends none.
    fn observe(&mut self) {
        if self.is_closing() {
            return;
        }
        let phase = self.activity.phase();
        let requests = self.activity.requests.load(Relaxed);
        let moved = self.activity.moved.swap(false, Relaxed);
        // The timeout of the first head starts with the connection, before there is anything to observe.
        let is_new = phase != self.phase || requests != self.requests_seen || (moved && phase == Phase::Idle);
        if is_new {
            self.since = Instant::now();
            let since_ms = self.since.saturating_duration_since(self.activity.opened).as_millis();
            self.activity.since_ms.store(since_ms as u64, Relaxed);
        }
        self.phase = phase;
        self.requests_seen = requests;
    }

    fn time_max(&self) -> Option<Duration> {
        match self.phase {
            Phase::Opening | Phase::Head => Some(self.head_time_max),
            Phase::Idle => Some(self.idle_time_max),
            Phase::Busy => None,
            Phase::Closing { time_max } => Some(time_max),
        }
    }

    fn verdict(&self) -> Expired {
        match self.phase {
            Phase::Idle => Expired::Idle,
            Phase::Opening | Phase::Head | Phase::Busy | Phase::Closing { .. } => Expired::Late,
        }
    }
}

/// A stream that reports its traffic to an [`Activity`].
pub(crate) struct Metered<T> {
    io: T,
    activity: Arc<Activity>,
}

impl<T> Metered<T> {
    pub(crate) fn new(io: T, activity: Arc<Activity>) -> Self {
        Self { io, activity }
    }

    fn wrote(&self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if matches!(result, Poll::Ready(Ok(1..))) {
            self.activity.moved.store(true, Relaxed);
        }
        result
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Metered<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(context, buffer))?;
        let new = &buffer.filled()[before..];
        if !new.is_empty() {
            self.activity.saw(new);
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Metered<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.io).poll_write(context, bytes);
        self.wrote(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.io).poll_write_vectored(context, slices);
        self.wrote(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, timeout};

    const HEAD: Duration = Duration::from_secs(15);
    const IDLE: Duration = Duration::from_secs(600);

    fn patience() -> (Arc<Activity>, Patience) {
        let activity = Arc::new(Activity::new(ConnectionCounts::default()));
        (activity.clone(), Patience::new(activity, Instant::now(), HEAD, IDLE))
    }

    /// The remaining time until the timeout.
    async fn wait(patience: &mut Patience) -> (Expired, Duration) {
        let start = Instant::now();
        let expired = patience.expired().await;
        (expired, start.elapsed())
    }

    async fn still_waits(patience: &mut Patience) -> bool {
        timeout(Duration::from_millis(1), patience.expired()).await.is_err()
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_head_is_due_from_the_start() {
        let (activity, mut patience) = patience();
        advance(HEAD / 3).await;
        activity.saw(b"GET ");
        assert_eq!(wait(&mut patience).await, (Expired::Late, HEAD - HEAD / 3));
    }

    #[tokio::test(start_paused = true)]
    async fn a_later_head_is_due_from_its_first_byte_and_more_bytes_win_no_time() {
        let (activity, mut patience) = patience();
        drop(activity.begin());
        assert!(still_waits(&mut patience).await);
        advance(HEAD * 4).await;
        activity.saw(b"G");
        assert!(still_waits(&mut patience).await);
        advance(HEAD - Duration::from_secs(1)).await;
        activity.saw(b"E");
        let (expired, after) = wait(&mut patience).await;
        assert_eq!(expired, Expired::Late);
        assert!(after <= Duration::from_secs(1), "{after:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_has_minutes_and_bytes_on_their_way_out_count() {
        let (activity, mut patience) = patience();
        drop(activity.begin());
        assert!(still_waits(&mut patience).await);
        advance(IDLE / 2).await;
        activity.moved.store(true, Relaxed);
        assert_eq!(wait(&mut patience).await, (Expired::Idle, IDLE));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_in_flight_is_never_late() {
        let (activity, mut patience) = patience();
        let request = activity.begin();
        activity.saw(b"a body");
        let endless = timeout(IDLE * 10, patience.expired()).await;
        assert!(endless.is_err());
        drop(request);
        assert_eq!(wait(&mut patience).await, (Expired::Idle, IDLE));
    }

    #[tokio::test(start_paused = true)]
    async fn an_http2_preface_is_an_opening_and_its_frames_are_no_heads() {
        let (activity, mut patience) = patience();
        activity.saw(HTTP2_PREFACE);
        assert!(still_waits(&mut patience).await);
        activity.saw(b"a frame");
        assert_eq!(wait(&mut patience).await, (Expired::Idle, IDLE));
    }

    #[tokio::test(start_paused = true)]
    async fn closing_has_its_own_limit_in_every_phase() {
        let (activity, mut patience) = patience();
        let _request = activity.begin();
        patience.close_within(Duration::from_secs(3));
        activity.saw(b"more");
        assert_eq!(wait(&mut patience).await, (Expired::Late, Duration::from_secs(3)));
    }
}
