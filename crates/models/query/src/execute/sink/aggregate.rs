//! Aggregates without GROUP BY: one row in the end, whatever came.

use crate::bind::bound::Block;
use crate::execute::accumulate::Accumulator;
use crate::execute::eval::Row;
use crate::execute::exec_context::ExecContext;
use crate::execute::scan::{At, Sink, Took};
use orrery_core::limits;

pub(crate) struct AggregateSink {
    pub accumulators: Vec<Accumulator>,
    /// Whether the documents come in an order that another page can go on with.
    pub is_resumable: bool,
}

impl Sink for AggregateSink {
    fn row<'d>(&mut self, block: &'d Block, row: &mut Row<'d>, _at: &At<'_>, ctx: &ExecContext<'_>) -> Took {
        if let Some(grouping) = &block.grouping {
            Accumulator::add_row(&mut self.accumulators, grouping, row, ctx);
        }
        Took::Yes
    }

    fn counted(&mut self, rows: u64) {
        for accumulator in &mut self.accumulators {
            if let Accumulator::Count(count) = accumulator {
                *count = rows;
            }
        }
    }

    /// Only with what fits into a token; half of it is for the place.
    fn can_pause(&self) -> bool {
        let bytes = self.accumulators.iter().map(Accumulator::token_bytes).fold(0, usize::saturating_add);
        self.is_resumable && bytes <= limits::CONTINUATION_STATE_BYTES_MAX / 2
    }
}
