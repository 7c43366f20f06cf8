//! Deriving index predicates from expressions that must be true or false.
//!
//! An expression wanted true is exactly true, and one wanted false exactly false; neither is undefined. That
//! is why NOT can be pushed down: it exchanges the two and keeps undefined.
//!
//! Every rule is correct for a row, and therefore for its document: an alias bound to an element of `/tags`
//! has a value among those at `/tags/[]`.

mod arrays;
mod boolean;
mod compare;
mod spatial;
mod strings;

pub(super) use boolean::passing;
pub use spatial::rectangle_of;

use super::document_path::SlotPaths;
use super::indexes::Interval;
use super::predicate::IndexPredicate;
use crate::bind::bound::{Builtin, Expr};
use crate::parse::{BinaryOp, UnaryOp};
use orrery_value::Value;

/// The condition for the expression to be exactly this boolean.
fn when(expr: &Expr, wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    match expr {
        Expr::Constant(value) if *value == Value::Bool(wanted) => IndexPredicate::True,
        Expr::Constant(_) => IndexPredicate::False,
        Expr::Unary(UnaryOp::Not, inner) => when(inner, !wanted, slots),
        Expr::All(terms) => boolean::junction(terms, wanted, wanted, slots),
        Expr::Any(terms) => boolean::junction(terms, !wanted, wanted, slots),
        Expr::Conditional(test, yes, no) => boolean::conditional([test, yes, no], wanted, slots),
        Expr::Binary(BinaryOp::Coalesce, first, second) => boolean::coalesce(first, second, wanted, slots),
        Expr::Binary(op, a, b) => compare::comparison(*op, a, b, wanted, slots),
        Expr::In { value, list, negated } => compare::in_list(value, list, wanted != *negated, slots),
        Expr::InSet { value, set, negated } => compare::in_set(value, set, wanted != *negated, slots),
        Expr::Between { value, low, high, negated } => {
            compare::between([value, low, high], wanted != *negated, slots)
        }
        Expr::Like { value, pattern, escape, negated } => {
            strings::like(value, pattern, escape.as_deref(), wanted != *negated, slots)
        }
        Expr::Call(function, args) => call(*function, args, wanted, slots),
        Expr::Exists(block) => boolean::exists(block, wanted, slots),
        path => IndexPredicate::at(slots.path_containing(path), Interval::equal(Value::Bool(wanted))),
    }
}

/// The condition for a call with these arguments to be exactly the boolean.
type Rule = fn(&[Expr], bool, &SlotPaths<'_>) -> IndexPredicate;

const CALLS: &[(&str, Rule)] = &[
    ("ARRAY_CONTAINS", arrays::one),
    ("_TRY_ARRAY_CONTAINS", arrays::one),
    ("ARRAY_CONTAINS_ALL", arrays::all),
    ("ARRAY_CONTAINS_ANY", arrays::any),
    ("CONTAINS", strings::is_text),
    ("CONTAINS_ALL_CI", strings::is_text),
    ("CONTAINS_ALL_CS", strings::is_text),
    ("CONTAINS_ANY_CI", strings::is_text),
    ("CONTAINS_ANY_CS", strings::is_text),
    ("ENDSWITH", strings::is_text),
    ("FullTextContains", strings::is_text),
    ("FullTextContainsAll", strings::is_text),
    ("FullTextContainsAny", strings::is_text),
    ("IIF", boolean::iif),
    ("REGEXMATCH", strings::is_text),
    ("STARTSWITH", strings::starts_with),
    ("STRINGEQUALS", strings::string_equals),
    ("STRING_EQUALS", strings::string_equals),
    ("ST_INTERSECTS", spatial::meets),
    ("ST_WITHIN", spatial::meets),
];

fn call(function: Builtin, args: &[Expr], wanted: bool, slots: &SlotPaths<'_>) -> IndexPredicate {
    let name = function.0.name;
    match CALLS.iter().find(|(known, _)| *known == name) {
        Some((_, rule)) => rule(args, wanted, slots),
        None => compare::is_of_type(name, args, wanted, slots),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_names_an_existing_function() {
        for (name, _) in CALLS {
            assert_eq!(crate::functions::find(name).map(|function| function.name), Some(*name));
        }
    }
}
