//! From text to plan in one call.

use crate::bind::{Parameters, Settings, bind};
use crate::error::QueryError;
use crate::parse;
use crate::plan::{Plan, Rules};
use std::sync::Arc;

/// A parsed and planned query: the tree for callers that forward it, the plan for the executor.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub ast: Arc<parse::Query>,
    pub plan: Plan,
}

pub fn prepare(text: &str, parameters: &Parameters, rules: Rules) -> Result<Prepared, QueryError> {
    prepare_for(text, parameters, rules, &Settings::default())
}

/// Variant of [`prepare`] with the settings of a container.
pub fn prepare_for(
    text: &str,
    parameters: &Parameters,
    rules: Rules,
    settings: &Settings,
) -> Result<Prepared, QueryError> {
    plan_parsed(text, parse_shared(text)?, parameters, rules, settings)
}

pub(crate) fn parse_shared(text: &str) -> Result<Arc<parse::Query>, QueryError> {
    orrery_core::tour_step!();
    let ast = parse::parse(text).map_err(|complaint| complaint.in_utf16(text))?;
    Ok(Arc::new(ast))
}

pub(crate) fn plan_parsed(
    text: &str,
    ast: Arc<parse::Query>,
    parameters: &Parameters,
    rules: Rules,
    settings: &Settings,
) -> Result<Prepared, QueryError> {
    orrery_core::tour_step!();
    let bound = bind(&ast, parameters, settings).map_err(|error| match error {
        QueryError::Text(complaint) => complaint.in_utf16(text).into(),
        other => other,
    })?;
    let mut plan = Plan::new(bound, rules);
    plan.check_patterns()?;
    Ok(Prepared { ast, plan })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_spans_count_utf16_units() {
        let place = |text: &str| match prepare(text, &[], Rules::On) {
            Err(QueryError::Text(complaint)) => (complaint.at.start, complaint.at.end),
            other => panic!("{other:?}"),
        };
        assert_eq!(place("SELECT VALUE x"), (13, 14));
        assert_eq!(place("SELECT VALUE '🚀é' || x"), (22, 23));
        assert_eq!(place("SELECT VALUE 'é' '"), (17, 18));
    }
}
