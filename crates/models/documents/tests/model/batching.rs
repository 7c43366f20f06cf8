//! Several operations in one transaction leave what the same operations leave one by one.

use crate::audit::audit;
use crate::patching::{ALWAYS, Still, change};
use crate::world::{Change as Logged, World, prepared, target};
use orrery_catalog::Container;
use orrery_core::ETag;
use orrery_documents::batch::{
    Action, Budget, Deps, OnRefusal, Step, StepError, StepOutcome, atomic, independent,
};
use orrery_documents::item::{Preconditions, TagMatch};
use orrery_documents::row;
use orrery_documents::spaces::DOCUMENTS;
use orrery_kv::{Order, Read, Txn};
use proptest::prelude::*;
use std::cell::Cell;

const MEMBERS: &str = r#""defaultTtl":-1,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]},
    "indexingPolicy":{"compositeIndexes":[[{"path":"/n"},{"path":"/u"}]]}"#;
const IDS: u8 = 4;

/// An operation on one of a few items of the partition 1, of which several have the same unique value.
#[derive(Clone, Debug)]
enum Act {
    Create {
        id: u8,
        unique: u8,
        filler: usize,
    },
    Upsert {
        id: u8,
        unique: u8,
        filler: usize,
    },
    Replace {
        id: u8,
        unique: u8,
        filler: usize,
    },
    Rename {
        id: u8,
        to: u8,
        unique: u8,
    },
    Delete {
        id: u8,
    },
    Patch {
        id: u8,
        unique: u8,
    },
    Read {
        id: u8,
    },
    /// A replace of the version that the last write of this item made, or of none.
    IfMatch {
        id: u8,
        is_right: bool,
    },
}

fn any_act() -> impl Strategy<Value = Act> {
    let (id, unique) = (|| 0..IDS, || 0..6u8);
    // Three of the larger make a large partition.
    let filler = || prop_oneof![4 => 0usize..40, 1 => Just(200_000usize)];
    prop_oneof![
        3 => (id(), unique(), filler()).prop_map(|(id, unique, filler)| Act::Create { id, unique, filler }),
        3 => (id(), unique(), filler()).prop_map(|(id, unique, filler)| Act::Upsert { id, unique, filler }),
        2 => (id(), unique(), filler()).prop_map(|(id, unique, filler)| Act::Replace { id, unique, filler }),
        1 => (id(), id(), unique()).prop_map(|(id, to, unique)| Act::Rename { id, to, unique }),
        2 => id().prop_map(|id| Act::Delete { id }),
        2 => (id(), unique()).prop_map(|(id, unique)| Act::Patch { id, unique }),
        1 => id().prop_map(|id| Act::Read { id }),
        1 => (id(), any::<bool>()).prop_map(|(id, is_right)| Act::IfMatch { id, is_right }),
    ]
}

fn body(id: u8, unique: u8, filler: usize) -> String {
    let (ttl, filler) = (if unique == 5 { r#","ttl":60"# } else { "" }, "x".repeat(filler));
    format!(r#"{{"id":"i{id}","pk":1,"u":{unique},"n":{},"f":["{filler}",{unique}]{ttl}}}"#, filler.len())
}

/// The steps, each with a stamp of its own; of two worlds they are the same.
fn steps(world: &mut World, container: &Container, acts: &[Act]) -> Vec<Step> {
    let mut last = [ETag::from_u128(0); IDS as usize];
    let mut step = |act: &Act| {
        let stamp = world.stamp();
        let item = |id: u8, unique: u8, filler: usize| prepared(container, &body(id, unique, filler));
        let mut conditions = ALWAYS;
        let (id, action) = match *act {
            Act::Create { id, unique, filler } => (id, Action::Create(item(id, unique, filler))),
            Act::Upsert { id, unique, filler } => (id, Action::Upsert(item(id, unique, filler))),
            Act::Replace { id, unique, filler } => (id, Action::Replace(item(id, unique, filler))),
            Act::Rename { id, to, unique } => (id, Action::Replace(item(to, unique, 1))),
            Act::Delete { id } => (id, Action::Delete),
            Act::Read { id } => (id, Action::Read),
            Act::Patch { id, unique } => {
                let patch = format!(
                    r#"{{"operations":[{{"op":"set","path":"/u","value":{unique}}},{{"op":"incr","path":"/n","value":1}}],
                        "condition":"from c where c.n < 100000"}}"#
                );
                (id, Action::Patch(Box::new(change(container, &patch).unwrap())))
            }
            Act::IfMatch { id, is_right } => {
                let tag = if is_right { last[usize::from(id)] } else { ETag::from_u128(u128::MAX) };
                conditions = Preconditions { if_match: Some(TagMatch::Tag(Some(tag))), ..ALWAYS };
                (id, Action::Replace(item(id, id, 2)))
            }
        };
        if !matches!(act, Act::Read { .. } | Act::Delete { .. }) {
            last[usize::from(id)] = stamp.etag;
        }
        let id = if let Act::Rename { id, .. } = act { *id } else { id };
        Step { target: target(container, "1", &format!("i{id}")), action, conditions, stamp }
    };
    acts.iter().map(&mut step).collect()
}

/// What a step came to, without what differs between one transaction and several.
fn shown(outcome: &Result<StepOutcome, StepError>) -> String {
    match outcome {
        Ok(StepOutcome::Written(effect)) => {
            format!("written {} {} {}", effect.is_new, effect.charge, effect.item.etag())
        }
        Ok(StepOutcome::Deleted(effect)) => format!("deleted {} {}", effect.charge, effect.item.etag()),
        Ok(StepOutcome::Read(item)) => format!("read {} {}", item.text().len(), item.etag()),
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("{error:?}"),
    }
}

struct Ran {
    world: World,
    container: Container,
    outcomes: Vec<String>,
}

impl Ran {
    /// The texts and tags of all items, in key order.
    fn items(&self) -> Vec<(String, ETag)> {
        let snapshot = self.world.snapshot();
        let rows = snapshot.range(DOCUMENTS, &row::of_container(self.container.number()), Order::Ascending);
        rows.map(|row| {
            let item = orrery_documents::item::ItemRow::read(&*snapshot, row.unwrap().1).unwrap();
            (item.text().to_owned(), item.etag())
        })
        .collect()
    }

    fn log(&self) -> Vec<(Logged, String)> {
        self.world.log(&self.container)
    }
}

/// The store that the acts are done in, and the first of them done, so many in one transaction.
fn begun(acts: &[Act], first: usize, per_transaction: usize) -> (Ran, Vec<Step>) {
    let mut world = World::new();
    let container = world.container(MEMBERS);
    let mut steps = steps(&mut world, &container, acts);
    let rest = steps.split_off(first);
    let mut outcomes = Vec::new();
    for steps in steps.chunks(per_transaction) {
        let done = with_surroundings(&mut world, &container, |txn, around| {
            independent(txn, steps, OnRefusal::GoOn, around)
        });
        outcomes.extend(done.unwrap().iter().map(shown));
    }
    audit(&*world.snapshot(), world.db.tip().lsn);
    (Ran { world, container, outcomes }, rest)
}

/// Runs the acts, so many in one transaction.
fn run(acts: &[Act], per_transaction: usize) -> Ran {
    begun(acts, acts.len(), per_transaction).0
}

fn with_surroundings<T, E>(
    world: &mut World,
    container: &Container,
    body: impl FnOnce(&mut Txn<'_>, Deps<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let (ordinals, budget) = (Cell::new(1000 * world.ordinal()), Budget::of(usize::MAX));
    let ordinal = || ordinals.replace(ordinals.get() + 1);
    let host = Still(world.now().millis());
    let around = Deps { container, ordinal: &ordinal, host: &host, budget: &budget };
    world.txn(|txn| body(txn, around))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn in_one_transaction_as_one_by_one(acts in prop::collection::vec(any_act(), 1..24)) {
        let (together, apart) = (run(&acts, 100), run(&acts, 1));
        prop_assert_eq!(&together.outcomes, &apart.outcomes);
        prop_assert_eq!(together.items(), apart.items());
        prop_assert_eq!(together.log(), apart.log(), "every change has its entry, in order");
        let mixed = run(&acts, 3);
        prop_assert_eq!(mixed.items(), apart.items());
    }

    #[test]
    fn all_of_a_batch_or_nothing(
        before in prop::collection::vec(any_act(), 0..8),
        acts in prop::collection::vec(any_act(), 1..8),
    ) {
        let all: Vec<Act> = before.iter().chain(&acts).cloned().collect();
        let (Ran { mut world, container, .. }, steps) = begun(&all, before.len(), 1);
        let tip = world.db.tip();
        let done = with_surroundings(&mut world, &container, |txn, around| atomic(txn, &steps, around));
        audit(&*world.snapshot(), world.db.tip().lsn);
        let apart = run(&all, 1);
        let failed = apart.outcomes[before.len()..].iter().position(|said| is_refusal(said));
        match done {
            Ok(done) => prop_assert_eq!((done.len(), failed), (acts.len(), None)),
            Err(culprit) => {
                prop_assert_eq!(Some(culprit.index), failed);
                prop_assert_eq!(world.db.tip(), tip, "nothing was written");
            }
        }
    }
}

fn is_refusal(said: &str) -> bool {
    !["written", "deleted", "read"].iter().any(|word| said.starts_with(word))
}

#[test]
fn later_operations_see_earlier_ones() {
    let acts = [
        Act::Create { id: 0, unique: 0, filler: 1 },
        Act::Replace { id: 0, unique: 1, filler: 2 },
        Act::Create { id: 1, unique: 0, filler: 1 },
        Act::Patch { id: 1, unique: 2 },
        Act::Delete { id: 0 },
        Act::Create { id: 0, unique: 1, filler: 3 },
        Act::Read { id: 0 },
    ];
    let ran = run(&acts, 100);
    assert!(ran.outcomes.iter().all(|said| !is_refusal(said)), "{:?}", ran.outcomes);
    assert_eq!(ran.items().len(), 2);
    let expected = [
        (Logged::Create, "i0"),
        (Logged::Replace, "i0"),
        (Logged::Create, "i1"),
        (Logged::Replace, "i1"),
        (Logged::Delete, "i0"),
        (Logged::Create, "i0"),
    ];
    assert_eq!(ran.log(), expected.map(|(change, id)| (change, id.to_owned())));
}

#[test]
fn a_refused_step_stops_the_rest_if_it_is_to() {
    let mut world = World::new();
    let container = world.container(MEMBERS);
    let create = |id| Act::Create { id, unique: id, filler: 1 };
    let steps = steps(&mut world, &container, &[create(0), create(0), create(1)]);
    let (host, budget) = (Still(0), Budget::default());
    let around = Deps { container: &container, ordinal: &|| 7, host: &host, budget: &budget };
    let done = world.txn(|txn| independent(txn, &steps, OnRefusal::Stop, around)).unwrap();
    assert_eq!(done.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false]);
    assert_eq!(audit(&*world.snapshot(), world.db.tip().lsn).items, 1);
}

#[test]
fn a_batch_touches_so_much_and_no_more() {
    let mut world = World::new();
    let container = world.container(MEMBERS);
    let large = |id| Act::Upsert { id, unique: id, filler: 100_000 };
    let steps = steps(&mut world, &container, &[large(0), large(1), large(2)]);
    let (host, budget) = (Still(0), Budget::of(250_000));
    let around = Deps { container: &container, ordinal: &|| 7, host: &host, budget: &budget };
    let refused = world.txn(|txn| atomic(txn, &steps, around)).unwrap_err();
    assert!(matches!((refused.index, refused.error), (2, StepError::TooMuch)));
    assert_eq!(audit(&*world.snapshot(), world.db.tip().lsn).items, 0);
}

#[test]
fn a_large_transaction_ends_early_and_the_next_goes_on() {
    let mut world = World::new();
    let container = world.container("");
    let bodies = (0..10).map(|n| format!(r#"{{"id":"{n}","pk":1,"f":"{}"}}"#, "x".repeat(1_000_000)));
    let steps: Vec<Step> = bodies
        .map(|body| {
            let item = prepared(&container, &body);
            let target = orrery_documents::item::Target { epk: item.epk.clone(), id: item.id.clone() };
            Step { target, action: Action::Create(item), conditions: ALWAYS, stamp: world.stamp() }
        })
        .collect();
    let (host, budget, ordinals) = (Still(0), Budget::default(), Cell::new(1));
    let ordinal = || ordinals.replace(ordinals.get() + 1);
    let around = Deps { container: &container, ordinal: &ordinal, host: &host, budget: &budget };
    let first = world.txn(|txn| independent(txn, &steps, OnRefusal::GoOn, around)).unwrap();
    assert_eq!(first.len(), 9, "the one that goes beyond the bound is the last");
    let second = world.txn(|txn| independent(txn, &steps[9..], OnRefusal::GoOn, around)).unwrap();
    assert_eq!(second.len(), 1);
    assert_eq!(audit(&*world.snapshot(), world.db.tip().lsn).items, 10);
}
