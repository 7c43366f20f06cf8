//! Rows in the order of their documents, written as they come.

use crate::bind::bound::Block;
use crate::execute::eval::{Row, write};
use crate::execute::exec_context::ExecContext;
use crate::execute::page::{Limits, Output};
use crate::execute::scan::{At, Sink, Took};

/// The text of the first row.
#[derive(Default)]
pub(crate) struct OneRow(pub Vec<u8>);

impl Sink for OneRow {
    fn row<'d>(&mut self, block: &'d Block, row: &mut Row<'d>, _at: &At<'_>, ctx: &ExecContext<'_>) -> Took {
        write(&block.select, row, ctx, &mut self.0);
        Took::Done
    }
}

pub(crate) struct StreamSink {
    pub skip: u64,
    pub left: Option<u64>,
    pub output: Output,
    pub limits: Limits,
}

impl Sink for StreamSink {
    fn row<'d>(&mut self, block: &'d Block, row: &mut Row<'d>, _at: &At<'_>, ctx: &ExecContext<'_>) -> Took {
        if self.left == Some(0) {
            return Took::Done;
        }
        let start = self.output.begin();
        if !write(&block.select, row, ctx, &mut self.output.rows) {
            self.output.forget(start);
            return Took::Yes;
        }
        if self.skip > 0 {
            self.output.forget(start);
            self.skip -= 1;
            return Took::Yes;
        }
        if !self.output.keep_within(start, self.limits) {
            return Took::No;
        }
        ctx.set_page_bytes(self.output.rows.capacity());
        match &mut self.left {
            None => Took::Yes,
            Some(left) => {
                *left -= 1;
                if *left == 0 { Took::Done } else { Took::Yes }
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
