//! Several operations on items of one partition, in one transaction.
//!
//! `atomic`: all of them or none, each seeing what those before it did. `independent`: each for itself, in order; one
//! that is refused is undone and the others stand. What a step may do is what a request of its own may do, because
//! it is the same functions that do it.

mod atomic;
mod budget;
mod independent;
mod step;

pub use atomic::{Culprit, atomic};
pub use budget::Budget;
pub use independent::{OnRefusal, independent};
pub use step::{Action, Done, Step, StepError};

use orrery_catalog::Container;
use orrery_query::execute::Host;

/// What every step needs besides the transaction.
#[derive(Clone, Copy)]
pub struct Deps<'a> {
    pub container: &'a Container,
    /// Gives the number of a new item.
    pub ordinal: &'a dyn Fn() -> u64,
    pub host: &'a dyn Host,
    pub budget: &'a Budget,
}
