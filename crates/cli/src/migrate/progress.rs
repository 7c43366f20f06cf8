//! The progress of a migration, on one line of a terminal.

use super::world::World;
use crate::terminal::{ProgressLine, bar};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

const EVERY: Duration = Duration::from_millis(250);

/// The line, drawn until it is ended.
pub struct Progress {
    world: Arc<World>,
    total: u64,
    begun: Instant,
    drawing: Option<JoinHandle<()>>,
}

impl Progress {
    pub fn begin(world: Arc<World>, total: u64) -> Self {
        let (mut line, begun) = (ProgressLine::of_stderr(), Instant::now());
        let drawn = world.clone();
        let drawing = line.is_shown().then(|| {
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(EVERY).await;
                    line.draw(|| text(&drawn, total, begun.elapsed()));
                }
            })
        });
        Self { world, total, begun, drawing }
    }

    /// How long it took.
    pub fn end(self) -> Duration {
        let elapsed = self.begun.elapsed();
        if let Some(drawing) = self.drawing {
            drawing.abort();
            ProgressLine::of_stderr().end(&text(&self.world, self.total, elapsed));
        }
        elapsed
    }
}

fn text(world: &World, total: u64, elapsed: Duration) -> String {
    let copied = world.counts.copied.load(Ordering::Relaxed);
    let followed = world.counts.followed.load(Ordering::Relaxed);
    format!("{}, {followed} changes followed", bar(copied, total, elapsed))
}
