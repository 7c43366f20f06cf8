//! Is one item linearizable? Each operation must seem to happen at one moment between its call and its answer.
//!
//! ```text
//!   run     several tasks on one item of a store in memory ──▶ a history: who called what when, and was told what
//!   check   Wing & Gong: is there an order of the operations that explains every answer? ──▶ yes, or the history
//! ```
//!
//! The checker knows only `model`, a value and its tag, so it repeats nothing of the store. An operation that failed
//! without a word may have happened or not. What is left out: more than one item; a history of two items is
//! linearizable if those of each are.

mod check;
mod history;
mod model;
mod run;

pub use check::is_linearizable;
pub use history::{Answer, Call, Event, History, Seen, Tag};
pub use run::{Options, run};
