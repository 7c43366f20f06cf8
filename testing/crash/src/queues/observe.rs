//! What is there of messages after a restart: receipts that must not fit, receipts that must, and then every message there is,
//! taken by gets.

use super::hands::{Gone, Hands, Held};
use super::history::{Act, MessageRecord};
use crate::history::{Seq, Tick};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Messages whose receipts are tried: the newest.
const TRIED_MAX: usize = 150;
/// How long messages may take to become visible that somebody held when the server ended.
const VISIBLE_SECONDS_MAX: u64 = 10;
const POLL: Duration = Duration::from_millis(20);
/// Longer than it takes to let go of all messages again.
const HELD_SECONDS: u64 = 120;
/// One in so many messages stays for the next round.
const KEPT_EVERY: u64 = 4;

/// Does all of it; says when the taking began, and how many messages were left.
pub(super) async fn look(hands: &mut Hands, known: &MessageRecord) -> Result<(Tick, usize), Gone> {
    let mut receipts: BTreeMap<Seq, Vec<Held>> = BTreeMap::new();
    for operation in known.operations.iter().filter(|operation| operation.is_done()) {
        if let (Some(receipt), Some(id)) = (&operation.given, known.ids.get(&operation.message)) {
            let held = Held { message: operation.message, id: id.clone(), receipt: receipt.clone() };
            receipts.entry(operation.message).or_default().push(held);
        }
        if operation.act == Act::Delete {
            receipts.remove(&operation.message);
        }
    }
    for given in receipts.values().rev().take(TRIED_MAX) {
        let Some((newest, older)) = given.split_last() else { continue };
        if let Some(stale) = older.last() {
            hands.delete(stale).await?;
        }
        hands.update(newest, 0, false).await?;
    }
    let looked = hands.shared.tick();
    let taken = take_all(hands).await?;
    let mut kept = 0;
    for held in &taken {
        if held.message.is_multiple_of(KEPT_EVERY) {
            kept += usize::from(hands.update(held, 0, false).await?.is_some());
        } else {
            hands.delete(held).await?;
        }
    }
    let count = hands.count().await?;
    if count != Some(kept) {
        hands.record.trouble.push(format!("the queue says that it has {count:?} messages, and has {kept}"));
    }
    Ok((looked, kept))
}

/// Gets until there are as many as the queue says it has.
async fn take_all(hands: &mut Hands) -> Result<Vec<Held>, Gone> {
    let mut taken: Vec<Held> = Vec::new();
    let until = Instant::now() + Duration::from_secs(VISIBLE_SECONDS_MAX);
    let expected = hands.count().await?.unwrap_or(usize::MAX);
    while taken.len() < expected {
        let got = hands.get(32, HELD_SECONDS).await?;
        if got.is_empty() {
            if Instant::now() > until {
                let found = taken.len();
                let late =
                    format!("of {expected} messages that the queue says it has, {found} become visible");
                hands.record.trouble.push(late);
                break;
            }
            tokio::time::sleep(POLL).await;
        }
        taken.extend(got);
    }
    // Nothing else is there.
    taken.extend(hands.get(32, HELD_SECONDS).await?);
    Ok(taken)
}
