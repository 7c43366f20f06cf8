//! The crate itself, asked the same question: text in, all rows out, in pages.

use crate::memory::{Memory, answer};
use orrery_query::plan::Rules;
use orrery_query::prepare;
use orrery_value::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// One way to run a query; all ways must give the same rows in the same order.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    pub rules: Rules,
    pub page_items: usize,
}

pub const WAYS: [Way; 4] = [
    Way { rules: Rules::On, page_items: usize::MAX },
    Way { rules: Rules::On, page_items: 3 },
    Way { rules: Rules::On, page_items: 1 },
    Way { rules: Rules::Off, page_items: usize::MAX },
];

/// A panic is an error like any other here, so that its case is shown.
pub fn engine(
    text: &str,
    parameters: &[(String, Value)],
    documents: &[Value],
    way: Way,
) -> Result<Vec<Value>, String> {
    let run = || {
        let plan = prepare(text, parameters, way.rules)?.plan;
        answer(&plan, &Memory::new(documents), way.page_items)
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(rows) => rows.map_err(|error| error.to_string()),
        Err(panic) => Err(format!("panicked: {}", message(&*panic))),
    }
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a word")
}
