//! What was done to a queue since the process began.

use std::sync::atomic::{AtomicU64, Ordering};

/// Operations that succeeded, and the messages that they were about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub puts: u64,
    pub gets: u64,
    pub peeks: u64,
    pub updates: u64,
    pub deletes: u64,
    pub clears: u64,
    pub messages_got: u64,
    /// Of them, those that somebody had got before: who had them did not delete them in time.
    pub messages_got_again: u64,
    /// Gets that found nothing.
    pub empty_gets: u64,
    /// Operations that were turned away because too many writes waited.
    pub refused: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    puts: AtomicU64,
    gets: AtomicU64,
    peeks: AtomicU64,
    updates: AtomicU64,
    deletes: AtomicU64,
    clears: AtomicU64,
    messages_got: AtomicU64,
    messages_got_again: AtomicU64,
    empty_gets: AtomicU64,
    refused: AtomicU64,
}

impl Counters {
    pub fn put(&self) {
        add(&self.puts, 1);
    }

    /// `again` of the messages had been got before.
    pub fn get(&self, messages: usize, again: usize) {
        add(&self.gets, 1);
        add(&self.messages_got, messages as u64);
        add(&self.messages_got_again, again as u64);
        add(&self.empty_gets, u64::from(messages == 0));
    }

    pub fn peek(&self) {
        add(&self.peeks, 1);
    }

    pub fn update(&self) {
        add(&self.updates, 1);
    }

    pub fn delete(&self) {
        add(&self.deletes, 1);
    }

    pub fn clear(&self) {
        add(&self.clears, 1);
    }

    pub fn refuse(&self) {
        add(&self.refused, 1);
    }

    pub fn counts(&self) -> Counts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            puts: read(&self.puts),
            gets: read(&self.gets),
            peeks: read(&self.peeks),
            updates: read(&self.updates),
            deletes: read(&self.deletes),
            clears: read(&self.clears),
            messages_got: read(&self.messages_got),
            messages_got_again: read(&self.messages_got_again),
            empty_gets: read(&self.empty_gets),
            refused: read(&self.refused),
        }
    }
}

fn add(counter: &AtomicU64, by: u64) {
    if by > 0 {
        counter.fetch_add(by, Ordering::Relaxed);
    }
}
