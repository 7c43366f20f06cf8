//! Optimizer rules: they make a plan cheaper without changing its result.

use crate::bind::bound::Expr;
use crate::error::QueryError;
use crate::execute::{Host, constant};
use crate::plan::Plan;
use orrery_value::Value;

pub(super) const ALL: &[fn(Plan) -> Plan] = &[fold, sort];

// Constant folding: an expression that reads no row is computed once.

pub(super) fn fold(mut plan: Plan) -> Plan {
    orrery_core::tour_step!();
    plan.query.block.for_each_expr(&mut fold_expr);
    plan
}

/// Functions whose result depends on more than their arguments.
const CHANGING: &[&str] = &[
    "RAND",
    "GetCurrentDateTime",
    "GetCurrentDateTimeStatic",
    "GetCurrentTicks",
    "GetCurrentTicksStatic",
    "GetCurrentTimestamp",
    "GetCurrentTimestampStatic",
    "Now",
    "Ago",
];

fn fold_expr(expr: &mut Expr) {
    expr.for_each_child(&mut fold_expr);
    if is_foldable(expr)
        && let Some(value) = constant(expr, &ConstantHost)
    {
        *expr = Expr::Constant(value);
    }
}

/// Whether the result depends only on direct children, all of which are constants.
fn is_foldable(expr: &mut Expr) -> bool {
    let depends = match expr {
        Expr::Constant(_) | Expr::Slot(_) | Expr::Udf(..) => true,
        Expr::Subquery(_) | Expr::Exists(_) | Expr::ArrayOf(_) => true,
        Expr::Call(function, _) => CHANGING.iter().any(|name| name.eq_ignore_ascii_case(function.0.name)),
        _ => false,
    };
    let mut all_constant = true;
    expr.for_each_child(&mut |child| all_constant &= child.as_constant().is_some());
    !depends && all_constant
}

/// Folded expressions never use it.
struct ConstantHost;

impl Host for ConstantHost {
    fn now_ms(&self) -> u64 {
        0
    }

    fn random(&self) -> f64 {
        0.0
    }

    /// The first clock check stops the evaluation: expressions that slow are left to the page that
    /// needs them.
    fn elapsed_ms(&self) -> u64 {
        u64::MAX
    }

    fn udf(&self, _name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Ok(Value::Undefined)
    }
}

// `IN` with constants: sorted once, for a binary search instead of a comparison with each.

pub(super) fn sort(mut plan: Plan) -> Plan {
    orrery_core::tour_step!();
    plan.query.block.for_each_expr(&mut sort_expr);
    plan
}

fn sort_expr(expr: &mut Expr) {
    expr.for_each_child(&mut sort_expr);
    let Expr::In { value, list, negated } = expr else { return };
    let constants = list.iter().map(|item| item.as_constant().filter(|item| !item.is_undefined()).cloned());
    let Some(mut set) = constants.collect::<Option<Vec<Value>>>() else { return };
    set.sort();
    set.dedup();
    *expr = Expr::InSet { value: std::mem::replace(value, Box::new(Expr::TRUE)), set, negated: *negated };
}
