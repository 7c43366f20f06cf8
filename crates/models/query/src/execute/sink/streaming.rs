//! Rows in document order, written as they arrive.

use crate::bind::bound::Block;
use crate::execute::accumulator::Accumulator;
use crate::execute::eval::{Row, write};
use crate::execute::exec_context::ExecContext;
use crate::execute::page::{Limits, Output};
use crate::execute::scan::{RowPosition, Sink, SinkResult};
use crate::limits;

/// The text of the first row.
#[derive(Default)]
pub(crate) struct OneRow(pub Vec<u8>);

impl Sink for OneRow {
    fn row<'d>(
        &mut self,
        block: &'d Block,
        row: &mut Row<'d>,
        _at: &RowPosition<'_>,
        ctx: &ExecContext<'_>,
    ) -> SinkResult {
        write(&block.select, row, ctx, &mut self.0);
        SinkResult::Done
    }
}

pub(crate) struct StreamSink {
    pub skip: u64,
    pub left: Option<u64>,
    pub output: Output,
    pub limits: Limits,
}

impl Sink for StreamSink {
    fn row<'d>(
        &mut self,
        block: &'d Block,
        row: &mut Row<'d>,
        _at: &RowPosition<'_>,
        ctx: &ExecContext<'_>,
    ) -> SinkResult {
        if self.left == Some(0) {
            return SinkResult::Done;
        }
        let start = self.output.begin_row();
        if !write(&block.select, row, ctx, &mut self.output.rows) {
            self.output.undo_row(start);
            return SinkResult::Taken;
        }
        if self.skip > 0 {
            self.output.undo_row(start);
            self.skip -= 1;
            return SinkResult::Taken;
        }
        if !self.output.commit_row(start, self.limits) {
            return SinkResult::PageFull;
        }
        ctx.set_page_bytes(self.output.rows.capacity());
        match &mut self.left {
            None => SinkResult::Taken,
            Some(left) => {
                *left -= 1;
                if *left == 0 { SinkResult::Done } else { SinkResult::Taken }
            }
        }
    }

    fn is_full(&self) -> bool {
        self.output.count >= self.limits.items
    }

    fn can_pause(&self) -> bool {
        true
    }
}

// Aggregates without GROUP BY: one row at the end, whatever the input.

pub(crate) struct AggregateSink {
    pub accumulators: Vec<Accumulator>,
    /// Whether the documents arrive in an order in which another page can resume.
    pub is_resumable: bool,
}

impl Sink for AggregateSink {
    fn row<'d>(
        &mut self,
        block: &'d Block,
        row: &mut Row<'d>,
        _at: &RowPosition<'_>,
        ctx: &ExecContext<'_>,
    ) -> SinkResult {
        if let Some(grouping) = &block.grouping {
            Accumulator::add_row(&mut self.accumulators, grouping, row, ctx);
        }
        SinkResult::Taken
    }

    fn counted(&mut self, rows: u64) {
        for accumulator in &mut self.accumulators {
            if let Accumulator::Count(count) = accumulator {
                *count = rows;
            }
        }
    }

    /// Only if the state fits into a token; half of the token is for the position.
    fn can_pause(&self) -> bool {
        let bytes = self.accumulators.iter().map(Accumulator::token_bytes).fold(0, usize::saturating_add);
        self.is_resumable && bytes <= limits::CONTINUATION_STATE_BYTES_MAX / 2
    }
}
