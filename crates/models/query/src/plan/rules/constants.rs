//! An expression that reads no row has one value: compute it once.

use crate::bind::bound::Expr;
use crate::error::QueryError;
use crate::execute::{Host, constant};
use crate::plan::Plan;
use orrery_value::Value;

pub(super) fn fold(mut plan: Plan) -> Plan {
    plan.query.block.for_each_expr(&mut fold_expr);
    plan
}

/// Functions whose answer is not in their arguments.
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
        && let Some(value) = constant(expr, &NoWorld)
    {
        *expr = Expr::Constant(value);
    }
}

/// Whether everything directly below is a constant, and that is all it depends on.
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

/// Nothing that is folded looks at it.
struct NoWorld;

impl Host for NoWorld {
    fn now_ms(&self) -> u64 {
        0
    }

    fn random(&self) -> f64 {
        0.0
    }

    /// One look at the clock is one too many: what takes that long is left to the page that needs it.
    fn elapsed_ms(&self) -> u64 {
        u64::MAX
    }

    fn udf(&self, _name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Ok(Value::Undefined)
    }
}
