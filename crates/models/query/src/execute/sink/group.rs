//! GROUP BY: the groups that come first by key, each with its accumulators.
//!
//! As with sorted rows, only the groups of this page are held. A group dropped for lack of space never
//! returns, since only smaller groups are admitted afterwards.

use crate::bind::bound::{Block, Grouping};
use crate::datum::Datum;
use crate::execute::accumulator::Accumulator;
use crate::execute::eval::{Row, eval};
use crate::execute::exec_context::ExecContext;
use crate::execute::scan::{RowPosition, Sink, SinkResult};
use crate::execute::subquery::size_of_value;
use crate::limits;
use orrery_value::Value;
use std::collections::BTreeMap;

pub(crate) struct GroupSink {
    after: Option<Vec<Value>>,
    capacity: usize,
    groups: BTreeMap<Vec<Value>, Group>,
    /// Memory of all groups.
    bytes: usize,
    /// Whether later groups were dropped.
    pub dropped: bool,
}

struct Group {
    accumulators: Vec<Accumulator>,
    /// Memory of the keys and accumulators, also counted in the context.
    bytes: usize,
}

impl Group {
    fn new(grouping: &Grouping, keys: &[Value], ctx: &ExecContext<'_>) -> Self {
        let bytes = 128 + keys.iter().map(size_of_value).sum::<usize>();
        ctx.hold(bytes);
        Self { accumulators: Accumulator::for_all(grouping), bytes }
    }

    /// Adds a row; returns the group's memory before and after.
    fn add<'d>(
        &mut self,
        grouping: &'d Grouping,
        row: &mut Row<'d>,
        ctx: &ExecContext<'_>,
    ) -> (usize, usize) {
        let (before, others) = (self.bytes, ctx.held().saturating_sub(self.bytes));
        Accumulator::add_row(&mut self.accumulators, grouping, row, ctx);
        self.bytes = ctx.held().saturating_sub(others);
        (before, self.bytes)
    }
}

impl GroupSink {
    pub fn new(after: Option<Vec<Value>>, capacity: usize) -> Self {
        Self { after, capacity, groups: BTreeMap::new(), bytes: 0, dropped: false }
    }

    /// The groups of the page, in order.
    pub fn finish(self) -> impl Iterator<Item = (Vec<Value>, Vec<Accumulator>)> {
        self.groups.into_iter().map(|(keys, group)| (keys, group.accumulators))
    }

    /// Whether a new group with these keys would come after a full page.
    fn is_beyond(&self, keys: &[Value]) -> bool {
        let is_last = || self.groups.last_key_value().is_none_or(|(last, _)| last.as_slice() < keys);
        self.groups.len() >= self.capacity && is_last()
    }

    /// Drops the last groups while the page is over its limits.
    fn shrink(&mut self, ctx: &ExecContext<'_>) {
        while self.groups.len() > self.capacity
            || (self.bytes > limits::PAGE_SORT_BYTES_MAX && self.groups.len() > 1)
        {
            if let Some((_, group)) = self.groups.pop_last() {
                self.bytes -= group.bytes;
                ctx.release(ctx.held().saturating_sub(group.bytes));
            }
            self.capacity = self.capacity.min(self.groups.len());
            self.dropped = true;
        }
    }
}

impl Sink for GroupSink {
    fn row<'d>(
        &mut self,
        block: &'d Block,
        row: &mut Row<'d>,
        _at: &RowPosition<'_>,
        ctx: &ExecContext<'_>,
    ) -> SinkResult {
        let Some(grouping) = &block.grouping else { return SinkResult::Taken };
        let keys: Vec<Value> =
            grouping.keys.iter().map(|(_, key)| eval(key, row, ctx)).map(Datum::into_value).collect();
        if self.after.as_ref().is_some_and(|after| keys <= *after) {
            return SinkResult::Taken;
        }
        if let Some(group) = self.groups.get_mut(&keys) {
            let (before, after) = group.add(grouping, row, ctx);
            self.bytes = self.bytes - before + after;
        } else if self.is_beyond(&keys) {
            self.dropped = true;
        } else {
            let mut group = Group::new(grouping, &keys, ctx);
            group.add(grouping, row, ctx);
            self.bytes += group.bytes;
            self.groups.insert(keys, group);
        }
        self.shrink(ctx);
        SinkResult::Taken
    }
}
