//! DocumentId: the number of an item in its container.
//!
//! It is the part of `_rid` that is the item's own (`36ZyAPW+uN8NAAAAAAAAAA==` is item 13). A value without
//! a `_rid` that is an item's has no number.

use super::args::defined;
use super::{Function, function};
use crate::datum::Datum;
use orrery_core::ItemRid;

pub(super) const TABLE: &[Function] = &[function("DOCUMENTID", 1, 1, |args, _| defined(number(args)))];

fn number(args: &[Datum<'_>]) -> Option<i64> {
    let rid = args.first()?.member("_rid");
    let rid = ItemRid::parse(rid.as_str()?).ok()?;
    i64::try_from(rid.ordinal()).ok()
}
