//! Where the rows of a page go, by what the query does with them.

mod distinct_key;
mod group;
mod row_buffer;
mod streaming;
mod top_n;

pub(crate) use group::GroupSink;
pub(crate) use row_buffer::BufferedRow;
pub(crate) use streaming::AggregateSink;
pub(crate) use streaming::{OneRow, StreamSink};
pub(crate) use top_n::{Order, SortKey, TopNSink, descends};
