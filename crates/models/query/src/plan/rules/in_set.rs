//! `IN` a list of constants: sort them once, and search instead of comparing with each.

use crate::bind::bound::Expr;
use crate::plan::Plan;
use orrery_value::Value;

pub(super) fn sort(mut plan: Plan) -> Plan {
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
