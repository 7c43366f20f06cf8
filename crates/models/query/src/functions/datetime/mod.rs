//! Date and time functions.
//!
//! Moments are text, `2020-07-03T01:02:03.4567891Z`, always UTC; `moment` reads and writes it. A text that
//! is no moment, a part that has no such name and a result outside the years 1 to 9999 are undefined. The
//! clock stands still for one execution, so the functions named `Static` are the same as those without.

use super::{Context, Function, function};
use crate::datum::Datum;
use moment::{Moment, TICKS_PER_MS, date_of, time_of};
use part::Part;

mod format;
mod moment;
mod part;

pub(super) const TABLE: &[Function] = &[
    function("Ago", 2, 2, |args, context| text(ago(args, context))),
    function("DateTimeAdd", 3, 3, |args, _| text(add(args))),
    function("DateTimeBin", 2, 4, |args, _| text(bin(args))),
    function("DateTimeDiff", 3, 3, |args, _| integer(difference(args))),
    function("DateTimeFormat", 2, 2, |args, _| formatted(args).map_or(Datum::Undefined, Datum::from)),
    function("DateTimeFromParts", 3, 7, |args, _| text(from_parts(args))),
    function("DateTimePart", 2, 2, |args, _| integer(part_of(args))),
    function("DateTimeToTicks", 1, 1, |args, _| integer(to_ticks(args))),
    function("DateTimeToTimestamp", 1, 1, |args, _| integer(to_timestamp(args))),
    function("Day", 1, 1, |args, _| integer(of_one(args, Part::Day))),
    function("GetCurrentDateTime", 0, 0, |_, context| text(now(context))),
    function("GetCurrentDateTimeStatic", 0, 0, |_, context| text(now(context))),
    function("GetCurrentTicks", 0, 0, |_, context| integer(now(context).map(Moment::ticks))),
    function("GetCurrentTicksStatic", 0, 0, |_, context| integer(now(context).map(Moment::ticks))),
    function("GetCurrentTimestamp", 0, 0, |_, context| integer(now(context).map(milliseconds))),
    function("GetCurrentTimestampStatic", 0, 0, |_, context| integer(now(context).map(milliseconds))),
    function("Month", 1, 1, |args, _| integer(of_one(args, Part::Month))),
    function("Now", 0, 2, |args, context| text(now_and(args, context))),
    function("TicksToDateTime", 1, 1, |args, _| text(from_ticks(args))),
    function("TimestampToDateTime", 1, 1, |args, _| text(from_timestamp(args))),
    function("Year", 1, 1, |args, _| integer(of_one(args, Part::Year))),
];

/// Whether a text is a moment, in any of the forms these functions read.
pub(crate) fn is_moment(text: &str) -> bool {
    Moment::parse(text).is_some()
}

fn now(context: &Context<'_>) -> Option<Moment> {
    Moment::from_ticks(i64::try_from(context.now_ms()).ok()?.checked_mul(TICKS_PER_MS)?)
}

/// `Now()` or `Now(part, amount)`.
fn now_and(args: &[Datum<'_>], context: &Context<'_>) -> Option<Moment> {
    match args {
        [] => now(context),
        [part, amount] => part::add(part_named(part)?, amount.as_i64()?, now(context)?),
        _ => None,
    }
}

fn ago(args: &[Datum<'_>], context: &Context<'_>) -> Option<Moment> {
    let [part, amount] = args else { return None };
    part::add(part_named(part)?, amount.as_i64()?.checked_neg()?, now(context)?)
}

fn add(args: &[Datum<'_>]) -> Option<Moment> {
    let [part, amount, moment] = args else { return None };
    part::add(part_named(part)?, amount.as_i64()?, read(moment)?)
}

/// The size of a bin is 1 and the first starts in 1970, unless told.
fn bin(args: &[Datum<'_>]) -> Option<Moment> {
    let size = args.get(2).map_or(Some(1), Datum::as_i64)?;
    let origin = args.get(3).map_or_else(|| Moment::from_ticks(0), read)?;
    part::bin(read(args.first()?)?, part_named(args.get(1)?)?, size, origin)
}

fn difference(args: &[Datum<'_>]) -> Option<i64> {
    let [part, start, end] = args else { return None };
    part::difference(part_named(part)?, read(start)?, read(end)?)
}

fn formatted(args: &[Datum<'_>]) -> Option<String> {
    let [moment, pattern] = args else { return None };
    format::format(read(moment)?, pattern.as_str()?)
}

/// Year, month and day, then as many of hour, minute, second and fraction as there are.
fn from_parts(args: &[Datum<'_>]) -> Option<Moment> {
    let given = |index: usize| args.get(index).and_then(Datum::as_i64);
    let or_zero = |index: usize| args.get(index).map_or(Some(0), Datum::as_i64);
    let date = date_of(given(0)?, given(1)?, given(2)?)?;
    Moment::from_civil(date.to_datetime(time_of(or_zero(3)?, or_zero(4)?, or_zero(5)?, or_zero(6)?)?))
}

fn part_of(args: &[Datum<'_>]) -> Option<i64> {
    let [part, moment] = args else { return None };
    Some(part_named(part)?.of(read(moment)?))
}

fn of_one(args: &[Datum<'_>], part: Part) -> Option<i64> {
    args.first().and_then(read).map(|moment| part.of(moment))
}

fn to_ticks(args: &[Datum<'_>]) -> Option<i64> {
    args.first().and_then(read).map(Moment::ticks)
}

fn to_timestamp(args: &[Datum<'_>]) -> Option<i64> {
    args.first().and_then(read).map(milliseconds)
}

fn from_ticks(args: &[Datum<'_>]) -> Option<Moment> {
    Moment::from_ticks(args.first()?.as_i64()?)
}

fn from_timestamp(args: &[Datum<'_>]) -> Option<Moment> {
    Moment::from_ticks(args.first()?.as_i64()?.checked_mul(TICKS_PER_MS)?)
}

/// Whole ones since 1970, the earlier where a fraction is left.
fn milliseconds(moment: Moment) -> i64 {
    moment.ticks().div_euclid(TICKS_PER_MS)
}

fn read(datum: &Datum<'_>) -> Option<Moment> {
    datum.as_str().and_then(Moment::parse)
}

fn part_named(datum: &Datum<'_>) -> Option<Part> {
    datum.as_str().and_then(Part::parse)
}

fn text<'a>(moment: Option<Moment>) -> Datum<'a> {
    moment.map_or(Datum::Undefined, |moment| moment.print().into())
}

fn integer<'a>(number: Option<i64>) -> Datum<'a> {
    number.map_or(Datum::Undefined, Datum::from)
}
