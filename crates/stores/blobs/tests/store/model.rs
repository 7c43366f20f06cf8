//! Random operations, against a model that is a list of states per name and nothing else.

use crate::world::{World, blob, content, metadata};
use orrery_blob_store::Error;
use orrery_blob_store::model::blob::BlobState;
use orrery_blob_store::model::lease::{LeaseAction, LeaseDuration, LeaseId};
use orrery_blob_store::model::operations::{
    DeleteBlob, DeleteSnapshots, ListBlobs, ListEntry, ListInclude, PutOptions,
};
use orrery_blob_store::model::{Conditions, Selector};
use orrery_core::{Env, Ticks};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Operation {
    Put {
        name: u8,
        length: usize,
        lease: Option<u8>,
    },
    SetMetadata {
        name: u8,
        value: u8,
    },
    Snapshot {
        name: u8,
    },
    Delete {
        name: u8,
        snapshots: u8,
    },
    /// The state at this place among all of its name.
    DeleteState {
        name: u8,
        at: usize,
    },
    Undelete {
        name: u8,
    },
    Copy {
        from: u8,
        to: u8,
    },
    Stage {
        name: u8,
        id: u8,
        length: usize,
    },
    Commit {
        name: u8,
        ids: Vec<u8>,
    },
    Acquire {
        name: u8,
        lease: u8,
    },
    Release {
        name: u8,
        lease: u8,
    },
    Advance {
        hours: u64,
    },
    Background,
}

fn operation() -> impl Strategy<Value = Operation> {
    let name = || 0..3u8;
    let length = || prop_oneof![Just(0usize), 1..100usize, 33_000..120_000usize];
    prop_oneof![
        4 => (name(), length(), proptest::option::weighted(0.2, 0..2u8))
            .prop_map(|(name, length, lease)| Operation::Put { name, length, lease }),
        1 => (name(), 0..4u8).prop_map(|(name, value)| Operation::SetMetadata { name, value }),
        2 => name().prop_map(|name| Operation::Snapshot { name }),
        2 => (name(), 0..3u8).prop_map(|(name, snapshots)| Operation::Delete { name, snapshots }),
        1 => (name(), 0..4usize).prop_map(|(name, at)| Operation::DeleteState { name, at }),
        1 => name().prop_map(|name| Operation::Undelete { name }),
        1 => (name(), name()).prop_map(|(from, to)| Operation::Copy { from, to }),
        2 => (name(), 0..3u8, length()).prop_map(|(name, id, length)| Operation::Stage { name, id, length }),
        1 => (name(), proptest::collection::vec(0..3u8, 0..4))
            .prop_map(|(name, ids)| Operation::Commit { name, ids }),
        1 => (name(), 0..2u8).prop_map(|(name, lease)| Operation::Acquire { name, lease }),
        1 => (name(), 0..2u8).prop_map(|(name, lease)| Operation::Release { name, lease }),
        1 => (0..40u64).prop_map(|hours| Operation::Advance { hours }),
        1 => Just(Operation::Background),
    ]
}

/// A state as the model has it.
#[derive(Clone, Debug, PartialEq)]
struct State {
    kind: Kind,
    bytes: Vec<u8>,
    metadata: Option<u8>,
    /// Until when, in hours.
    deleted: Option<u64>,
    /// Ascends with the moments that snapshots and versions are named by.
    order: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Snapshot,
    Version,
    DeletedBlob,
    Current,
}

#[derive(Default)]
struct Name {
    /// The oldest first; a current or deleted blob is the last.
    states: Vec<State>,
    staged: BTreeMap<u8, Vec<u8>>,
    committed: Vec<(u8, Vec<u8>)>,
    lease: Option<u8>,
    /// When the first block was staged, in hours.
    staged_at: u64,
}

struct Naive {
    names: [Name; 3],
    versioning: bool,
    retention_hours: Option<u64>,
    hours: u64,
    orders: u64,
}

impl Name {
    fn sort(&mut self) {
        let is_last = |state: &State| matches!(state.kind, Kind::Current | Kind::DeletedBlob);
        self.states.sort_by_key(|state| (is_last(state), state.order));
    }

    fn current(&self) -> Option<&State> {
        self.states.last().filter(|state| state.kind == Kind::Current)
    }

    fn check_lease(&self, named: Option<u8>) -> Result<(), ()> {
        match (self.current(), self.lease, named) {
            (Some(_), None, None) | (None, _, None) => Ok(()),
            (Some(_), Some(held), Some(named)) if held == named => Ok(()),
            _ => Err(()),
        }
    }
}

impl Naive {
    fn next_order(&mut self) -> u64 {
        self.orders += 1;
        self.orders
    }

    fn until(&self) -> Option<u64> {
        Some(self.hours + self.retention_hours?)
    }

    /// What happens to the blob of a name when another takes its place.
    fn retire(&mut self, name: usize) {
        let (versioning, until, order) = (self.versioning, self.until(), self.next_order());
        let states = &mut self.names[name].states;
        let Some(last) = states.last_mut() else { return };
        if matches!(last.kind, Kind::DeletedBlob) || last.kind == Kind::Current && !versioning {
            last.order = order;
        }
        match last.kind {
            Kind::Current if versioning => last.kind = Kind::Version,
            Kind::Current if until.is_some() => {
                last.kind = Kind::Snapshot;
                last.deleted = until;
            }
            Kind::Current => drop(states.pop()),
            Kind::DeletedBlob => last.kind = Kind::Snapshot,
            _ => {}
        }
    }

    fn put(&mut self, name: usize, bytes: Vec<u8>, metadata: Option<u8>, committed: Vec<(u8, Vec<u8>)>) {
        self.retire(name);
        let order = self.next_order();
        let of_name = &mut self.names[name];
        of_name.states.push(State { kind: Kind::Current, bytes, metadata, deleted: None, order });
        of_name.staged.clear();
        of_name.committed = committed;
    }

    fn apply(&mut self, operation: &Operation, random: &dyn Fn(usize) -> Vec<u8>) -> Result<(), ()> {
        match operation {
            Operation::Put { name, length, lease } => {
                let name = usize::from(*name);
                self.names[name].check_lease(*lease)?;
                self.put(name, random(*length), None, Vec::new());
            }
            Operation::SetMetadata { name, value } => {
                let name = usize::from(*name);
                let mut new = self.names[name].current().ok_or(())?.clone();
                self.names[name].check_lease(None)?;
                new.metadata = Some(*value);
                if self.versioning {
                    self.retire(name);
                    new.order = self.next_order();
                    self.names[name].states.push(new);
                } else {
                    *self.names[name].states.last_mut().ok_or(())? = new;
                }
            }
            Operation::Snapshot { name } => {
                let order = self.next_order();
                let name = &mut self.names[usize::from(*name)];
                let snapshot = State { kind: Kind::Snapshot, order, ..name.current().ok_or(())?.clone() };
                name.states.insert(name.states.len() - 1, snapshot);
            }
            Operation::Delete { name, snapshots } => self.delete(usize::from(*name), *snapshots)?,
            Operation::DeleteState { name, at } => {
                let until = self.until();
                let states = &mut self.names[usize::from(*name)].states;
                let state = states.get_mut(*at).ok_or(())?;
                if state.deleted.is_some() || !matches!(state.kind, Kind::Snapshot | Kind::Version) {
                    return Err(());
                }
                state.deleted = until;
                if until.is_none() {
                    states.remove(*at);
                }
            }
            Operation::Undelete { name } => {
                let name = &mut self.names[usize::from(*name)];
                if name.states.is_empty() {
                    return Err(());
                }
                for state in &mut name.states {
                    state.deleted = None;
                    if state.kind == Kind::DeletedBlob {
                        state.kind = Kind::Current;
                    }
                }
            }
            Operation::Copy { from, to } => {
                let (from, to) = (usize::from(*from), usize::from(*to));
                let source = self.names[from].current().ok_or(())?.clone();
                self.names[to].check_lease(None)?;
                let committed = self.names[from].committed.clone();
                self.put(to, source.bytes, source.metadata, committed);
            }
            Operation::Stage { name, id, length } => {
                let hours = self.hours;
                let name = &mut self.names[usize::from(*name)];
                name.check_lease(None)?;
                if name.staged.is_empty() {
                    name.staged_at = hours;
                }
                name.staged.insert(*id, random(*length));
            }
            Operation::Commit { name, ids } => {
                let name = usize::from(*name);
                let of_name = &self.names[name];
                of_name.check_lease(None)?;
                let known = |id: &u8| of_name.committed.iter().rev().find(|(known, _)| known == id);
                let find = |id: &u8| {
                    let bytes = of_name
                        .staged
                        .get(id)
                        .or(known(id).filter(|_| of_name.current().is_some()).map(|(_, bytes)| bytes));
                    bytes.map(|bytes| (*id, bytes.clone())).ok_or(())
                };
                let blocks = ids.iter().map(find).collect::<Result<Vec<_>, _>>()?;
                let bytes = blocks.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
                self.put(name, bytes, None, blocks);
            }
            Operation::Acquire { name, lease } => {
                let name = &mut self.names[usize::from(*name)];
                name.current().ok_or(())?;
                if name.lease.is_some_and(|held| held != *lease) {
                    return Err(());
                }
                name.lease = Some(*lease);
            }
            Operation::Release { name, lease } => {
                let name = &mut self.names[usize::from(*name)];
                name.current().ok_or(())?;
                if name.lease != Some(*lease) {
                    return Err(());
                }
                name.lease = None;
            }
            Operation::Advance { hours } => self.hours += hours,
            Operation::Background => {
                let now = self.hours;
                for name in &mut self.names {
                    name.states.retain(|state| state.deleted.is_none_or(|until| until > now));
                    if name.staged_at + 7 * 24 <= now {
                        name.staged.clear();
                    }
                }
            }
        }
        Ok(())
    }

    fn delete(&mut self, name: usize, snapshots: u8) -> Result<(), ()> {
        let (versioning, until) = (self.versioning, self.until());
        let of_name = &mut self.names[name];
        of_name.current().ok_or(())?;
        of_name.check_lease(None)?;
        let is_live = |state: &State| state.kind == Kind::Snapshot && state.deleted.is_none();
        if snapshots == 0 && of_name.states.iter().any(is_live) {
            return Err(());
        }
        if snapshots > 0 {
            match until {
                None => of_name.states.retain(|state| !is_live(state)),
                Some(_) => of_name
                    .states
                    .iter_mut()
                    .filter(|state| is_live(state))
                    .for_each(|state| state.deleted = until),
            }
        }
        if snapshots == 2 {
            return Ok(());
        }
        of_name.staged.clear();
        of_name.lease = None;
        let current = of_name.states.last_mut().ok_or(())?;
        match until {
            _ if versioning => current.kind = Kind::Version,
            Some(_) => {
                current.kind = Kind::DeletedBlob;
                current.deleted = until;
            }
            None => drop(of_name.states.pop()),
        }
        Ok(())
    }

    /// The states of all names, as the store would list them.
    fn shown(&self) -> Vec<(usize, State)> {
        let of = |(name, states): (usize, &Name)| {
            states.states.iter().map(move |state| (name, state.clone())).collect::<Vec<_>>()
        };
        self.names.iter().enumerate().flat_map(of).collect()
    }
}

const NAMES: [&str; 3] = ["a", "a/b", "b"];

fn lease_id(lease: u8) -> LeaseId {
    LeaseId::new(u128::from(lease) + 1)
}

struct Run {
    world: World,
    naive: Naive,
    random: Env,
}

impl Run {
    fn all(&self) -> Vec<(usize, Selector, State)> {
        let include =
            ListInclude { snapshots: true, versions: true, deleted: true, ..ListInclude::default() };
        let page = self.world.list(&ListBlobs { include, ..ListBlobs::default() });
        let hours = |at: orrery_core::Timestamp| (at.seconds() - crate::world::START.seconds()) / 3600;
        page.entries
            .iter()
            .map(|entry| {
                let ListEntry::Blob(found) = entry else { panic!("{entry:?}") };
                let (kind, selector) = match found.state {
                    BlobState::Current => (Kind::Current, Selector::Current),
                    BlobState::Snapshot(at) => (Kind::Snapshot, Selector::Snapshot(at)),
                    BlobState::Version(at) => (Kind::Version, Selector::Version(at)),
                    BlobState::DeletedBlob => (Kind::DeletedBlob, Selector::Version(Ticks::from_count(0))),
                };
                let name = NAMES.iter().position(|name| *name == found.name.as_str()).unwrap();
                let bytes = match found.deleted {
                    None => self.world.try_read(NAMES[name], selector, None).unwrap(),
                    Some(_) => Vec::new(),
                };
                let metadata = found.metadata.iter().next().map(|(_, value)| value.parse().unwrap());
                let deleted = found.deleted.map(|deletion| hours(deletion.until));
                (name, selector, State { kind, bytes, metadata, deleted, order: 0 })
            })
            .collect()
    }

    fn apply(&self, operation: &Operation, bytes: &[u8]) -> Result<(), Error> {
        let (world, store) = (&self.world, &self.world.store);
        let of = |name: u8| NAMES[usize::from(name)];
        match operation {
            Operation::Put { name, lease, .. } => {
                let conditions = Conditions { lease: lease.map(lease_id), ..Conditions::default() };
                world.try_put(of(*name), bytes, PutOptions { conditions, ..PutOptions::default() }).map(drop)
            }
            Operation::SetMetadata { name, value } => {
                let metadata = metadata(&[("v", &value.to_string())]);
                world.run(store.set_metadata(&blob(of(*name)), metadata, Conditions::default())).map(drop)
            }
            Operation::Snapshot { name } => {
                world.run(store.snapshot_blob(&blob(of(*name)), None, Conditions::default())).map(drop)
            }
            Operation::Delete { name, snapshots } => {
                let snapshots = [DeleteSnapshots::Refuse, DeleteSnapshots::Include, DeleteSnapshots::Only]
                    [usize::from(*snapshots)];
                world
                    .run(
                        store
                            .delete_blob(&blob(of(*name)), DeleteBlob { snapshots, ..DeleteBlob::default() }),
                    )
                    .map(drop)
            }
            Operation::DeleteState { name, at } => {
                let states = self.all();
                let state = states.iter().filter(|(of, ..)| *of == usize::from(*name)).nth(*at);
                let selector =
                    state.map(|(_, selector, _)| *selector).filter(|selector| *selector != Selector::Current);
                let selector = selector.unwrap_or(Selector::Snapshot(Ticks::from_count(1)));
                world
                    .run(
                        store.delete_blob(&blob(of(*name)), DeleteBlob { selector, ..DeleteBlob::default() }),
                    )
                    .map(drop)
            }
            Operation::Undelete { name } => world.run(store.undelete_blob(&blob(of(*name)))),
            Operation::Copy { from, to } => world
                .run(store.copy_blob(&blob(of(*from)), Selector::Current, &blob(of(*to)), Default::default()))
                .map(drop),
            Operation::Stage { name, id, .. } => world.stage(of(*name), ID[usize::from(*id)], bytes),
            Operation::Commit { name, ids } => {
                let ids: Vec<&str> = ids.iter().map(|id| ID[usize::from(*id)]).collect();
                world.commit(of(*name), &ids).map(drop)
            }
            Operation::Acquire { name, lease } => {
                let action = LeaseAction::Acquire {
                    duration: LeaseDuration::Infinite,
                    proposed: Some(lease_id(*lease)),
                };
                world.run(store.lease_blob(&blob(of(*name)), action, Conditions::default())).map(drop)
            }
            Operation::Release { name, lease } => {
                let action = LeaseAction::Release { id: lease_id(*lease) };
                world.run(store.lease_blob(&blob(of(*name)), action, Conditions::default())).map(drop)
            }
            Operation::Advance { hours } => {
                world.advance(hours * 3600);
                Ok(())
            }
            Operation::Background => {
                world.settle();
                Ok(())
            }
        }
    }

    fn step(&mut self, operation: &Operation) {
        let seed = self.random.random_u64();
        let random = |length: usize| content(length, seed);
        let length = match operation {
            Operation::Put { length, .. } | Operation::Stage { length, .. } => *length,
            _ => 0,
        };
        let expected = self.naive.apply(operation, &random);
        self.naive.names.iter_mut().for_each(Name::sort);
        let got = self.apply(operation, &random(length));
        assert!(!matches!(got, Err(ref error) if !matches!(error, Error::Refused(_))), "{got:?}");
        assert_eq!(got.is_ok(), expected.is_ok(), "{operation:?}: {got:?}");
        let shown = |state: State| State {
            order: 0,
            bytes: if state.deleted.is_some() { Vec::new() } else { state.bytes },
            ..state
        };
        let expected: Vec<_> =
            self.naive.shown().into_iter().map(|(name, state)| (name, shown(state))).collect();
        let got: Vec<_> = self.all().into_iter().map(|(name, _, state)| (name, state)).collect();
        let brief = |states: &[(usize, State)]| -> Vec<String> {
            states
                .iter()
                .map(|(name, state)| {
                    format!(
                        "{} {:?} {} bytes {:?} {:?}",
                        NAMES[*name],
                        state.kind,
                        state.bytes.len(),
                        state.metadata,
                        state.deleted
                    )
                })
                .collect()
        };
        assert_eq!(brief(&got), brief(&expected), "{operation:?}");
        assert!(got == expected, "contents differ after {operation:?}");
    }
}

const ID: [&str; 3] = ["QQ==", "Qg==", "Qw=="];

proptest! {
    #[test]
    fn it_does_as_the_model_does(
        operations in proptest::collection::vec(operation(), 1..40),
        versioning: bool,
        retains: bool,
    ) {
        let world = World::new();
        world.settings(|settings| settings.versioning = versioning);
        if retains {
            world.retain_deleted(1);
        }
        let naive = Naive {
            names: Default::default(),
            versioning,
            retention_hours: retains.then_some(24),
            hours: 0,
            orders: 0,
        };
        let mut run = Run { world, naive, random: Env::seeded(crate::world::START, 5) };
        operations.iter().for_each(|operation| run.step(operation));
    }
}
