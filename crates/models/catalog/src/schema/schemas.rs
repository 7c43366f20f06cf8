//! The catalog's view of a container's schemas, shared by all writers.

use super::definition::{self, Definition, SchemaError, Shape, Validation};
use crate::limits;
use crate::row;
use bytes::Bytes;
use orrery_core::{ItemId, Timestamp};
use orrery_json_schema::{Validator, Violation, Violations, escaped};
use orrery_kv::{Error, META, Order, Read};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use xxhash_rust::xxh3::xxh3_64;

/// The schemas of a container between two changes.
pub struct Schemas {
    definition: Definition,
    mark: u64,
    /// Compiled for the first item, so that a start does not wait for it.
    compiled: OnceLock<Result<Compiled, String>>,
    tally: Tally,
}

/// The verdict of a container's schemas on one item.
#[derive(Debug)]
pub struct Verdict {
    /// Identifies the schemas that gave it.
    mark: u64,
    violations: Violations,
    /// A transaction may run more than once, but its item counts once.
    is_counted: AtomicBool,
}

pub(super) enum Compiled {
    One(Validator),
    ByMember { member: String, of: HashMap<String, Validator> },
}

impl Schemas {
    /// Hash of the stored row.
    pub(super) fn read(row: &[u8]) -> Result<Self, Error> {
        let (definition, mark) = (definition::read(row)?, xxh3_64(row));
        Ok(Self { definition, mark, compiled: OnceLock::new(), tally: Tally::default() })
    }

    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    pub fn report(&self) -> Report {
        self.tally.report()
    }

    /// Differs between schemas.
    pub(crate) fn mark(&self) -> u64 {
        self.mark
    }

    /// The verdict on an item to be written; `None` if items are not checked.
    pub fn verdict(&self, text: &str) -> Option<Verdict> {
        if self.definition.validation == Validation::Off {
            return None;
        }
        let violations = self.check(text);
        Some(Verdict { mark: self.mark, violations, is_counted: AtomicBool::new(false) })
    }

    /// The violations of an item's text, regardless of the mode.
    pub fn check(&self, text: &str) -> Violations {
        let compile = || Compiled::of(&self.definition.shape).map_err(|error| error.to_string());
        let whole = |why: String| Violations::one(Violation::new("", why));
        match (self.compiled.get_or_init(compile), serde_json::from_str(text)) {
            // It compiled when it was set, perhaps by an earlier build.
            (Err(why), _) => {
                whole(format!("the container's schema does not compile any more, set it again: {why}"))
            }
            (_, Err(error)) => whole(format!("it cannot be held against a schema: {error}")),
            (Ok(compiled), Ok(item)) => compiled.violations(&item),
        }
    }

    /// Counts or refuses an item being written. A verdict of other schemas is ignored, and the item is
    /// checked again.
    pub fn settle<'a>(
        &self,
        id: &ItemId,
        verdict: Option<&Verdict>,
        text: impl FnOnce() -> &'a str,
        now: Timestamp,
    ) -> Result<(), Violations> {
        let ours = verdict.filter(|verdict| verdict.mark == self.mark);
        let again = if ours.is_none() { self.verdict(text()) } else { None };
        let Some(verdict) = ours.or(again.as_ref()) else { return Ok(()) };
        let is_refused = self.definition.validation == Validation::Enforce && !verdict.violations.is_empty();
        if !verdict.is_counted.swap(true, Ordering::Relaxed) {
            self.tally.count(id, &verdict.violations, is_refused, now);
        }
        if is_refused { Err(verdict.violations.clone()) } else { Ok(()) }
    }
}

impl Verdict {
    pub fn violations(&self) -> &Violations {
        &self.violations
    }
}

impl fmt::Debug for Schemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schemas").field("definition", &self.definition).finish_non_exhaustive()
    }
}

impl Compiled {
    pub fn of(shape: &Shape) -> Result<Self, SchemaError> {
        match shape {
            Shape::One(schema) => Ok(Self::One(Validator::compile(schema, "/schema")?)),
            Shape::ByMember { member, of } => {
                let compile = |(value, schema): (&String, &Value)| {
                    let at = format!("/schemas/of/{}", escaped(value));
                    Ok((value.clone(), Validator::compile(schema, &at)?))
                };
                let of = of.iter().map(compile).collect::<Result<_, SchemaError>>()?;
                Ok(Self::ByMember { member: member.clone(), of })
            }
        }
    }

    fn violations(&self, item: &Value) -> Violations {
        let (member, of) = match self {
            Self::One(validator) => return validator.violations(item),
            Self::ByMember { member, of } => (member, of),
        };
        let wrong = |pointer: String, why: String| Violations::one(Violation::new(pointer, why));
        let pointer = || format!("/{}", escaped(member));
        match item.get(member) {
            None => wrong(String::new(), format!("has no member '{member}', which says what schema it has")),
            Some(Value::String(value)) => match of.get(value) {
                Some(validator) => validator.violations(item),
                None => wrong(pointer(), format!("there is no schema for '{value}'")),
            },
            Some(_) => wrong(pointer(), "is not a text, and so names no schema".to_owned()),
        }
    }
}

/// The schemas of all containers, by container number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Picture(HashMap<u32, (Bytes, Arc<Schemas>)>);

impl Picture {
    /// Builds the schemas of `state`, reusing unchanged parts of `self`.
    pub fn refreshed(&self, state: &dyn Read) -> Result<Self, Error> {
        let mut next = HashMap::new();
        for row in state.range(META, &row::schemas(), Order::Ascending) {
            let (key, value) = row?;
            let container =
                row::read_schema(&key).ok_or_else(|| Error::Corrupt("the key of a schema".into()))?;
            let schemas = match self.0.get(&container) {
                Some((same, schemas)) if *same == value => schemas.clone(),
                _ => Arc::new(Schemas::read(&value)?),
            };
            next.insert(container, (value, schemas));
        }
        Ok(Self(next))
    }

    pub fn of(&self, container: u32) -> Option<&Arc<Schemas>> {
        self.0.get(&container).map(|(_, schemas)| schemas)
    }
}

// Statistics of a container's items under its schemas since these were set or the server started. Kept in
// memory.

#[derive(Default)]
pub(super) struct Tally {
    checked: AtomicU64,
    warned: AtomicU64,
    refused: AtomicU64,
    recent: Mutex<VecDeque<Seen>>,
}

/// An item with violations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub id: String,
    pub at: Timestamp,
    pub is_refused: bool,
    pub violations: Violations,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Items checked.
    pub checked: u64,
    /// Items written with violations, and items refused because of them.
    pub warned: u64,
    pub refused: u64,
    /// The most recent ones, newest first.
    pub recent: Vec<Seen>,
}

impl Tally {
    pub fn count(&self, id: &ItemId, violations: &Violations, is_refused: bool, now: Timestamp) {
        self.checked.fetch_add(1, Ordering::Relaxed);
        if violations.is_empty() {
            return;
        }
        let counter = if is_refused { &self.refused } else { &self.warned };
        counter.fetch_add(1, Ordering::Relaxed);
        let seen = Seen { id: id.to_string(), at: now, is_refused, violations: violations.clone() };
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.truncate(limits::VIOLATIONS_KEPT_MAX - 1);
        recent.push_front(seen);
    }

    pub fn report(&self) -> Report {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        Report {
            checked: self.checked.load(Ordering::Relaxed),
            warned: self.warned.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            recent: recent.iter().cloned().collect(),
        }
    }
}
