//! Where the rows of a page go, by what the query does with them.

mod aggregate;
mod group;
mod held;
mod identity;
mod keyed;
mod stream;

pub(crate) use aggregate::AggregateSink;
pub(crate) use group::GroupSink;
pub(crate) use held::Kept;
pub(crate) use keyed::{KeyedSink, Order, SortKey, descends};
pub(crate) use stream::{OneRow, StreamSink};
