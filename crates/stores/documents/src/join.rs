//! Awaits several futures concurrently on the calling task.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

pub type Running<'f, T> = Pin<Box<dyn Future<Output = T> + Send + 'f>>;

enum Slot<'f, T> {
    Running(Running<'f, T>),
    Done(T),
}

/// Their outputs, in order. All are started before the first is awaited.
pub async fn join_all<T>(running: Vec<Running<'_, T>>) -> Vec<T> {
    let mut slots: Vec<Slot<'_, T>> = running.into_iter().map(Slot::Running).collect();
    poll_fn(|context| {
        let mut is_waiting = false;
        for slot in &mut slots {
            if let Slot::Running(future) = slot {
                match future.as_mut().poll(context) {
                    Poll::Ready(value) => *slot = Slot::Done(value),
                    Poll::Pending => is_waiting = true,
                }
            }
        }
        if is_waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    let done = slots.into_iter().filter_map(|slot| match slot {
        Slot::Done(value) => Some(value),
        Slot::Running(_) => None,
    });
    done.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tokio::sync::Barrier;

    #[tokio::test]
    async fn all_are_begun_before_any_is_waited_for() {
        let barrier = Arc::new(Barrier::new(8));
        let each = (0..8).map(|number| -> Running<'_, usize> {
            let barrier = barrier.clone();
            Box::pin(async move {
                barrier.wait().await;
                number
            })
        });
        assert_eq!(join_all(each.collect()).await, (0..8).collect::<Vec<_>>());
        assert_eq!(join_all::<usize>(Vec::new()).await, [0usize; 0]);
    }
}
