//! Random sequences of operations against the plainest queue there is: a list that is looked through.

use crate::world::{World, count, message, seconds, text};
use orrery_core::Timestamp;
use orrery_queue_store::{Error, MessageId, PopReceipt, Update};
use proptest::prelude::*;
use std::time::Duration;

#[derive(Clone, Debug)]
enum Step {
    Put { hidden: i64, lives: i64 },
    Get { wanted: i64, hidden: i64 },
    Peek { wanted: i64 },
    Update { receipt: usize, hidden: i64, with_text: bool },
    Delete { receipt: usize },
    Clear,
    Advance { millis: u64 },
    Background,
}

#[derive(Clone, Debug)]
struct Listed {
    id: MessageId,
    text: String,
    visible_at: Timestamp,
    expires: Option<Timestamp>,
    dequeue_count: u32,
    receipt: PopReceipt,
}

/// In the order of insertion.
#[derive(Default)]
struct Model {
    messages: Vec<Listed>,
    /// Every receipt that was ever given.
    receipts: Vec<(MessageId, PopReceipt)>,
    texts: usize,
}

fn step() -> impl Strategy<Value = Step> {
    let lives = prop_oneof![3 => Just(-1i64), 2 => 6..20i64];
    prop_oneof![
        6 => (0..5i64, lives).prop_map(|(hidden, lives)| Step::Put { hidden, lives }),
        5 => (1..5i64, 1..6i64).prop_map(|(wanted, hidden)| Step::Get { wanted, hidden }),
        2 => (1..5i64).prop_map(|wanted| Step::Peek { wanted }),
        3 => (0..200usize, 0..5i64, any::<bool>())
            .prop_map(|(receipt, hidden, with_text)| Step::Update { receipt, hidden, with_text }),
        4 => (0..200usize).prop_map(|receipt| Step::Delete { receipt }),
        1 => Just(Step::Clear),
        5 => (0..3000u64).prop_map(|millis| Step::Advance { millis }),
        1 => Just(Step::Background),
    ]
}

impl Model {
    fn expire(&mut self, now: Timestamp) {
        self.messages.retain(|message| message.expires.is_none_or(|at| at > now));
    }

    /// The places of the first visible messages.
    fn visible(&self, now: Timestamp, wanted: i64) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.messages.len()).collect();
        places.retain(|at| self.messages[*at].visible_at <= now);
        places.sort_by_key(|at| (self.messages[*at].visible_at, *at));
        places.truncate(wanted as usize);
        places
    }

    /// What the store must say of a receipt; the place of its message if it is good.
    fn held(&self, id: MessageId, receipt: PopReceipt) -> Result<usize, &'static str> {
        match self.messages.iter().position(|message| message.id == id) {
            None => Err("not found"),
            Some(at) if self.messages[at].receipt != receipt => Err("mismatch"),
            Some(at) => Ok(at),
        }
    }

    fn receipt(&self, number: usize) -> Option<(MessageId, PopReceipt)> {
        // Mostly among the newest.
        let newest = self.receipts.len().checked_sub(1 + number % 8.max(number / 20));
        newest.or_else(|| self.receipts.len().checked_sub(1)).map(|at| self.receipts[at])
    }

    fn new_text(&mut self) -> String {
        self.texts += 1;
        format!(" {}\n", self.texts)
    }

    fn take(&mut self, world: &World, step: &Step) {
        let now = world.store.env().now();
        self.expire(now);
        match *step {
            Step::Put { hidden, lives } => self.put(world, hidden, lives),
            Step::Get { wanted, hidden } => self.get(world, wanted, hidden, now),
            Step::Peek { wanted } => {
                let shown = world.run(world.store.peek(&world.queue, count(wanted))).unwrap();
                let shown: Vec<_> =
                    shown.iter().map(|m| (m.id, m.text.as_str().to_owned(), m.dequeue_count)).collect();
                let expected = self.visible(now, wanted).into_iter().map(|at| &self.messages[at]);
                let expected: Vec<_> = expected.map(|m| (m.id, m.text.clone(), m.dequeue_count)).collect();
                assert_eq!(shown, expected);
            }
            Step::Update { receipt, hidden, with_text } => {
                self.update(world, receipt, hidden, with_text, now);
            }
            Step::Delete { receipt } => {
                let Some((id, receipt)) = self.receipt(receipt) else { return };
                let deleted = said(world.run(world.store.delete(&world.queue, id, receipt)));
                assert_eq!(deleted, self.held(id, receipt).map(drop));
                self.messages.retain(|message| message.receipt != receipt);
            }
            Step::Clear => {
                world.run(world.store.clear(&world.queue)).unwrap();
                self.messages.clear();
            }
            Step::Advance { millis } => {
                world.store.env().advance(Duration::from_millis(millis));
            }
            Step::Background => drop(world.round().unwrap()),
        }
        assert!(world.count() >= self.messages.len() as u64, "expired messages may be counted");
    }

    fn put(&mut self, world: &World, hidden: i64, lives: i64) {
        let text = self.new_text();
        let put = world.run(world.store.put(&world.queue, message(&text, hidden, lives))).unwrap();
        self.receipts.push((put.id, put.receipt));
        self.messages.push(Listed {
            id: put.id,
            text,
            visible_at: put.next_visible,
            expires: put.expires,
            dequeue_count: 0,
            receipt: put.receipt,
        });
    }

    fn get(&mut self, world: &World, wanted: i64, hidden: i64, now: Timestamp) {
        let got = world.get(wanted, hidden);
        let places = self.visible(now, wanted);
        assert_eq!(got.len(), places.len());
        for (got, at) in got.iter().zip(places) {
            let listed = &mut self.messages[at];
            listed.dequeue_count += 1;
            assert_eq!((got.message.id, got.message.text.as_str()), (listed.id, listed.text.as_str()));
            assert_eq!(got.message.dequeue_count, listed.dequeue_count);
            assert_eq!(got.message.expires, listed.expires);
            (listed.visible_at, listed.receipt) = (got.next_visible, got.receipt);
            self.receipts.push((listed.id, listed.receipt));
        }
    }

    fn update(&mut self, world: &World, receipt: usize, hidden: i64, with_text: bool, now: Timestamp) {
        let Some((id, receipt)) = self.receipt(receipt) else { return };
        let new_text = with_text.then(|| self.new_text());
        let change = Update { id, receipt, visibility: seconds(hidden), text: new_text.as_deref().map(text) };
        let updated = world.run(world.store.update(&world.queue, change));
        let is_too_long = |listed: &Listed| listed.expires.is_some_and(|at| at < seconds(hidden).ends(now));
        match self.held(id, receipt) {
            Err(why) => assert_eq!(said(updated).err(), Some(why)),
            Ok(at) if is_too_long(&self.messages[at]) => {
                assert!(matches!(updated, Err(Error::VisibilityAfterExpiry { .. })));
            }
            Ok(at) => {
                let (updated, listed) = (updated.unwrap(), &mut self.messages[at]);
                (listed.visible_at, listed.receipt) = (updated.next_visible, updated.receipt);
                listed.text = new_text.unwrap_or_else(|| listed.text.clone());
                self.receipts.push((id, updated.receipt));
            }
        }
    }
}

fn said<T>(answer: Result<T, Error>) -> Result<T, &'static str> {
    answer.map_err(|error| match error {
        Error::MessageNotFound => "not found",
        Error::PopReceiptMismatch => "mismatch",
        other => panic!("{other}"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_queue_does_as_the_plainest_one(steps in proptest::collection::vec(step(), 1..70)) {
        let (world, mut model) = (World::new(), Model::default());
        steps.iter().for_each(|step| model.take(&world, step));
        world.advance(3600);
        world.settle();
        model.expire(world.store.env().now());
        prop_assert_eq!(world.count(), model.messages.len() as u64, "after the hour, the count is exact");
        world.store.close();
    }
}
