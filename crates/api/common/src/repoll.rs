//! Repolls a task at once if it was woken while it ran.
//!
//! The HTTP library wakes its own task with each body that it hands to a service. A task that wakes itself goes to the
//! end of the runtime's queue, and a second thread is woken to help with it: two thread switches per request, most of
//! which are done by then.

use std::future::{Future, poll_fn};
use std::mem;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// A future that is polled once more if it was woken during its poll. Further wake-ups go to the runtime, so that
/// other tasks get their turn.
pub(crate) async fn repoll_on_wake<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let wakeup = Arc::new(Wakeup::default());
    let waker = Waker::from(wakeup.clone());
    poll_fn(move |outer| {
        for _ in 0..2 {
            wakeup.clear();
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Poll::Ready(output);
            }
            if wakeup.is_left_to(outer.waker()) {
                return Poll::Pending;
            }
        }
        outer.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

/// Wakes a waiting task, or marks a task that is being polled as woken.
#[derive(Default)]
struct Wakeup(Mutex<State>);

#[derive(Default)]
enum State {
    #[default]
    Polled,
    Woken,
    Waiting(Waker),
}

impl Wakeup {
    fn clear(&self) {
        *self.state() = State::Polled;
    }

    /// Whether nothing woke the task while it was polled; then the next wake-up goes to the runtime.
    fn is_left_to(&self, outer: &Waker) -> bool {
        let mut state = self.state();
        let is_quiet = !matches!(*state, State::Woken);
        if is_quiet {
            *state = State::Waiting(outer.clone());
        }
        is_quiet
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Wakeup {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let before = mem::replace(&mut *self.state(), State::Woken);
        if let State::Waiting(outer) = before {
            outer.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    /// Polls until it is ready or nothing wakes it; returns the number of outer polls.
    fn run(future: impl Future<Output = ()>) -> (Poll<()>, usize) {
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(wakes.clone());
        let mut future = pin!(repoll_on_wake(future));
        for polled in 1.. {
            let before = wakes.0.load(Relaxed);
            let poll = future.as_mut().poll(&mut Context::from_waker(&waker));
            if poll.is_ready() || wakes.0.load(Relaxed) == before {
                return (poll, polled);
            }
        }
        unreachable!("it is polled until it ends")
    }

    /// Wakes itself a number of times, then is ready.
    fn wakes_itself(times: usize) -> impl Future<Output = ()> {
        let mut left = times;
        poll_fn(move |context| {
            if left == 0 {
                return Poll::Ready(());
            }
            left -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        })
    }

    #[test]
    fn a_task_that_woke_itself_is_repolled_a_limited_number_of_times() {
        assert_eq!(run(wakes_itself(0)), (Poll::Ready(()), 1));
        assert_eq!(run(wakes_itself(1)), (Poll::Ready(()), 1));
        assert_eq!(run(wakes_itself(2)), (Poll::Ready(()), 2));
        assert_eq!(run(wakes_itself(7)), (Poll::Ready(()), 4));
    }

    #[test]
    fn a_waiting_task_is_not_repolled() {
        assert_eq!(run(std::future::pending()), (Poll::Pending, 1));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_wake_up_by_another_reaches_the_runtime() {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
        let reading = tokio::spawn(repoll_on_wake(async move {
            let mut sum = 0;
            while let Some(number) = receiver.recv().await {
                sum += number;
            }
            sum
        }));
        for number in 0..10_000u64 {
            sender.send(number).await.expect("it is read");
        }
        drop(sender);
        assert_eq!(reading.await.expect("it ends"), 49_995_000);
    }
}
