//! What is done with a set: items read, replaced or created, or a question asked again and again.

use super::set::Item;
use crate::report::Target;

#[derive(Clone, Debug)]
pub struct Workload {
    pub name: String,
    /// What it is done on, for the report.
    pub about: String,
    /// The place of its set among those of the scene.
    pub set: usize,
    pub connections: usize,
    pub act: Act,
    pub p95: Option<P95>,
}

/// What 95 of 100 must stay below, and what the seed asks for if it does.
#[derive(Clone, Copy, Debug)]
pub struct P95 {
    pub millis_max: f64,
    pub seed_millis: Option<u32>,
}

#[derive(Clone, Debug)]
pub enum Act {
    /// Any item of the set, by its id.
    Read,
    /// Any item of the set, replaced by itself after so many changes.
    Update(fn(number: u64, revision: u64) -> Item),
    /// Items beyond the set, one after another.
    Create,
    Ask(Question),
}

#[derive(Clone, Debug)]
pub struct Question {
    pub cosmos: &'static str,
    /// The same for PostgreSQL, with `$1` for the first parameter. Its one column is the item's text or a value's.
    pub postgres: String,
    pub parameters: &'static [&'static str],
    pub scope: Scope,
    pub pages: Pages,
    pub agreement: Agreement,
    pub cases: Vec<Case>,
}

/// The parameters' values of one question.
#[derive(Clone, Debug)]
pub struct Case {
    pub values: Vec<String>,
    /// How many rows the answer has, once that is known.
    pub rows: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The first parameter is the partition key.
    Partition,
    Everywhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// The first, of so many rows.
    First(u32),
    All,
}

/// In what two answers must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    Order,
    /// The same rows in any order.
    Rows,
    /// As many: the question is for any so many of more.
    Number,
}

impl Workload {
    pub fn changes_its_set(&self) -> bool {
        matches!(self.act, Act::Update(_) | Act::Create)
    }

    /// The questions' text in both languages, if it asks any.
    pub fn asked(&self) -> Vec<String> {
        match &self.act {
            Act::Ask(question) => vec![question.cosmos.to_owned(), question.postgres.clone()],
            Act::Read | Act::Update(_) | Act::Create => Vec::new(),
        }
    }

    /// `Target` of what the server needed, in milliseconds.
    pub fn target(&self, p95_millis: Option<f64>) -> Option<Target> {
        let P95 { millis_max, seed_millis } = self.p95?;
        let seed = seed_millis.map_or(String::new(), |millis| format!(" (seed: {millis} ms)"));
        Some(Target::at_most(&format!("{}, p95{seed}", self.name), millis_max, "ms").measured(p95_millis))
    }
}

impl Case {
    pub fn new<const N: usize>(values: [String; N]) -> Self {
        Self { values: values.into(), rows: None }
    }
}

impl P95 {
    pub const fn ours(millis_max: f64) -> Self {
        Self { millis_max, seed_millis: None }
    }

    pub const fn of_seed(millis_max: f64, seed_millis: u32) -> Self {
        Self { millis_max, seed_millis: Some(seed_millis) }
    }
}
