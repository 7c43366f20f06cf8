//! A client that sends a plan's text to ranges in memory, page by page, and leaves the rest to the library.

use crate::memory::{Memory, Still};
use orrery_query::bind::Settings;
use orrery_query::execute::{Limits, page};
use orrery_query::plan::Rules;
use orrery_query::plan::distributed::merge::{Merge, Next};
use orrery_query::plan::distributed::{Distributed, QueryRange};
use orrery_query::prepare_for;
use orrery_value::{Value, raw};

const PAGE: Limits = Limits { items: 3, bytes: 4 * 1024 * 1024 };

pub struct Client<'a> {
    pub ranges: &'a [Memory],
    pub parameters: &'a [(String, Value)],
    pub settings: &'a Settings,
}

impl Client<'_> {
    /// The plan travels as JSON, as it does over the wire.
    pub fn run(&self, sql: &str, plan: &Distributed) -> Result<Vec<Value>, String> {
        let document =
            Value::parse(&plan.to_json(&[QueryRange::whole()])).map_err(|error| error.to_string())?;
        let (read, _) = Distributed::read(&document).map_err(|error| error.to_string())?;
        let mut merge = Merge::new(&read, sql, self.ranges.len());
        let mut rows = Vec::new();
        loop {
            match merge.next().map_err(|error| error.to_string())? {
                Next::Row(row) => rows.push(row),
                Next::End => return Ok(rows),
                Next::Fetch { range, text, continuation } => {
                    let (page, next) = self.page(range, &text, continuation.as_deref())?;
                    merge.accept(page, next);
                }
            }
        }
    }

    fn page(
        &self,
        range: usize,
        text: &str,
        token: Option<&str>,
    ) -> Result<(Vec<Value>, Option<String>), String> {
        let failed = |error: orrery_query::QueryError| format!("{error} in {text}");
        let plan = prepare_for(text, self.parameters, Rules::On, self.settings).map_err(failed)?.plan;
        let state: Option<Vec<u8>> = token
            .map(|token| token.split(' ').map(|byte| byte.parse().expect("a byte of a state")).collect());
        let found = page(&plan, &self.ranges[range], &Still, state.as_deref(), None, PAGE).map_err(failed)?;
        let rows = format!("[{}]", String::from_utf8(found.rows).expect("rows are text"));
        let next = found.next.map(|state| state.iter().map(u8::to_string).collect::<Vec<_>>().join(" "));
        Ok((raw::elements(&rows).map(Value::read).collect(), next))
    }
}
