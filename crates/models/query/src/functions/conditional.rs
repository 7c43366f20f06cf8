//! IIF: one of two values, as `a ? b : c` gives it. What is not true is as good as false.

use super::{Function, function};
use crate::datum::Datum;

pub(super) const TABLE: &[Function] = &[function("IIF", 3, 3, |args, _| iif(args))];

fn iif<'a>(args: &[Datum<'a>]) -> Datum<'a> {
    let chosen = if args.first().is_some_and(Datum::is_true) { 1 } else { 2 };
    args.get(chosen).cloned().unwrap_or(Datum::Undefined)
}
