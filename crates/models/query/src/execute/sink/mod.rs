//! The destinations of a page's rows, one per kind of query.

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
