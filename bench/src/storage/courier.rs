//! Someone with one connection to one queue, who puts, gets and deletes; and the load that such make.

use crate::drive::Worker;
use crate::sample::Sample;
use std::future::Future;
use std::time::{Duration, Instant};

/// For how long a get hides a message.
pub const HIDDEN_SECONDS: u64 = 60;

pub trait Courier: Send + 'static {
    /// What a message that was got is deleted by.
    type Held: Send;

    fn put(&mut self) -> impl Future<Output = Result<(), String>> + Send;

    /// The first message that is visible, hidden for a minute; its text is there.
    fn get(&mut self) -> impl Future<Output = Result<Option<Self::Held>, String>> + Send;

    fn delete(&mut self, held: Self::Held) -> impl Future<Output = Result<(), String>> + Send;
}

pub struct Putting<C>(pub C);

impl<C: Courier> Worker for Putting<C> {
    async fn once(&mut self) -> Result<(), String> {
        self.0.put().await
    }
}

pub struct Emptying<C>(pub C);

impl<C: Courier> Worker for Emptying<C> {
    async fn once(&mut self) -> Result<(), String> {
        let held = self.0.get().await?.ok_or("the queue ran dry")?;
        self.0.delete(held).await
    }
}

/// Gets for a while, and only these count. Between two, what was got is deleted, and another message put in its place.
pub async fn gets(courier: &mut impl Courier, span: Duration) -> Sample {
    let (mut sample, began) = (Sample::default(), Instant::now());
    while began.elapsed() < span {
        if let Err(error) = get_and_replace(courier, &mut sample).await {
            sample.fail(error);
            break;
        }
    }
    sample
}

async fn get_and_replace(courier: &mut impl Courier, sample: &mut Sample) -> Result<(), String> {
    let sent = Instant::now();
    let held = courier.get().await?.ok_or("the queue ran dry")?;
    let took = sent.elapsed();
    sample.note(took.as_micros().min(u128::from(u32::MAX)) as u32);
    sample.elapsed += took;
    courier.delete(held).await?;
    courier.put().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::{drive, runtime};

    struct Three(u32);

    impl Courier for Three {
        type Held = ();

        async fn put(&mut self) -> Result<(), String> {
            self.0 += 1;
            Ok(())
        }

        async fn get(&mut self) -> Result<Option<()>, String> {
            tokio::task::yield_now().await;
            Ok((self.0 > 0).then_some(()))
        }

        async fn delete(&mut self, (): ()) -> Result<(), String> {
            self.0 -= 1;
            Ok(())
        }
    }

    #[test]
    fn a_queue_that_runs_dry_is_no_measurement() {
        let sample = runtime().unwrap().block_on(drive(vec![Emptying(Three(3))], Duration::from_secs(5)));
        assert_eq!((sample.done, sample.errors), (3, 1));
        assert_eq!(sample.first_error.as_deref(), Some("the queue ran dry"));
    }

    #[test]
    fn gets_leave_as_many_messages_as_they_found() {
        let mut three = Three(3);
        let sample = runtime().unwrap().block_on(gets(&mut three, Duration::from_millis(5)));
        assert_eq!((three.0, sample.errors, sample.micros.len() as u64), (3, 0, sample.done));
        assert!(sample.done > 3 && sample.elapsed < Duration::from_millis(50));
    }
}
