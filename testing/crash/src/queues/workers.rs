//! Those who put messages and those who get them, until the server goes. Some let go of what they hold, some try receipts that
//! were replaced, and all of it is recorded.

use super::hands::{Gone, Hands, Held};
use super::history::MessageRecord;
use crate::writer::Shared;
use std::net::SocketAddr;
use std::time::Duration;

/// For how long gets hide messages, and those that keep a message for longer.
const GET_SECONDS: u64 = 1;
const HOLD_SECONDS: u64 = 3;
const MESSAGES_PER_GET_MAX: u64 = 6;
const PAUSE: Duration = Duration::from_millis(5);

pub(super) async fn run_putter(address: SocketAddr, shared: Shared, seed: u64) -> MessageRecord {
    let mut hands = Hands::new(address, shared, seed);
    while put(&mut hands).await.is_ok() {}
    hands.record
}

async fn put(hands: &mut Hands) -> Result<(), Gone> {
    let hidden_seconds = hands.below(8) / 7;
    let held = hands.put(hidden_seconds).await?;
    // A put gives a receipt as well.
    match hands.below(16) {
        0 => drop(hands.delete(&held).await?),
        1 => drop(hands.update(&held, 0, true).await?),
        _ => {}
    }
    Ok(())
}

pub(super) async fn run_consumer(address: SocketAddr, shared: Shared, seed: u64) -> MessageRecord {
    let mut hands = Hands::new(address, shared, seed);
    while consume(&mut hands).await.is_ok() {}
    hands.record
}

async fn consume(hands: &mut Hands) -> Result<(), Gone> {
    let wanted = 1 + hands.below(MESSAGES_PER_GET_MAX);
    let got = hands.get(wanted, GET_SECONDS).await?;
    if got.is_empty() {
        tokio::time::sleep(PAUSE).await;
    }
    for held in &got {
        work(hands, held).await?;
    }
    Ok(())
}

async fn work(hands: &mut Hands, held: &Held) -> Result<(), Gone> {
    match hands.below(16) {
        // It is let go of, and visible again after a while.
        0 | 1 => {}
        2 => drop(hands.update(held, 0, false).await?),
        3 => drop(hands.update(held, HOLD_SECONDS, false).await?),
        4 => drop(hands.update(held, HOLD_SECONDS, true).await?),
        5 | 6 => {
            let renewed = hands.update(held, GET_SECONDS, true).await?;
            // The receipt from before the update opens nothing any more.
            hands.delete(held).await?;
            if let Some(renewed) = renewed {
                hands.delete(&renewed).await?;
            }
        }
        _ => drop(hands.delete(held).await?),
    }
    Ok(())
}
