//! Date and time functions.
//!
//! Dates and times are strings, `2020-07-03T01:02:03.4567891Z`, always UTC; `instant` parses and prints them.
//! A malformed string, an unknown part name and a result outside the years 1 to 9999 give undefined. The
//! clock stands still during an execution, so the functions named `Static` equal those without.

use super::{Context, Function, function};
use crate::datum::Datum;
use instant::{Instant, TICKS_PER_MS, date_of, time_of};
use part::Part;

mod format;
mod instant;
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
    function("GetCurrentTicks", 0, 0, |_, context| integer(now(context).map(Instant::ticks))),
    function("GetCurrentTicksStatic", 0, 0, |_, context| integer(now(context).map(Instant::ticks))),
    function("GetCurrentTimestamp", 0, 0, |_, context| integer(now(context).map(milliseconds))),
    function("GetCurrentTimestampStatic", 0, 0, |_, context| integer(now(context).map(milliseconds))),
    function("Month", 1, 1, |args, _| integer(of_one(args, Part::Month))),
    function("Now", 0, 2, |args, context| text(now_and(args, context))),
    function("TicksToDateTime", 1, 1, |args, _| text(from_ticks(args))),
    function("TimestampToDateTime", 1, 1, |args, _| text(from_timestamp(args))),
    function("Year", 1, 1, |args, _| integer(of_one(args, Part::Year))),
];

/// Whether a string is a date and time in any form that these functions accept.
pub(crate) fn is_date_time(text: &str) -> bool {
    Instant::parse(text).is_some()
}

fn now(context: &Context<'_>) -> Option<Instant> {
    Instant::from_ticks(i64::try_from(context.now_ms()).ok()?.checked_mul(TICKS_PER_MS)?)
}

/// `Now()` or `Now(part, amount)`.
fn now_and(args: &[Datum<'_>], context: &Context<'_>) -> Option<Instant> {
    match args {
        [] => now(context),
        [part, amount] => part::add(part_named(part)?, amount.as_i64()?, now(context)?),
        _ => None,
    }
}

fn ago(args: &[Datum<'_>], context: &Context<'_>) -> Option<Instant> {
    let [part, amount] = args else { return None };
    part::add(part_named(part)?, amount.as_i64()?.checked_neg()?, now(context)?)
}

fn add(args: &[Datum<'_>]) -> Option<Instant> {
    let [part, amount, instant] = args else { return None };
    part::add(part_named(part)?, amount.as_i64()?, read(instant)?)
}

/// By default the bin size is 1 and the first bin starts in 1970.
fn bin(args: &[Datum<'_>]) -> Option<Instant> {
    let size = args.get(2).map_or(Some(1), Datum::as_i64)?;
    let origin = args.get(3).map_or_else(|| Instant::from_ticks(0), read)?;
    part::bin(read(args.first()?)?, part_named(args.get(1)?)?, size, origin)
}

fn difference(args: &[Datum<'_>]) -> Option<i64> {
    let [part, start, end] = args else { return None };
    part::difference(part_named(part)?, read(start)?, read(end)?)
}

fn formatted(args: &[Datum<'_>]) -> Option<String> {
    let [instant, pattern] = args else { return None };
    format::format(read(instant)?, pattern.as_str()?)
}

/// Year, month and day, then any of hour, minute, second and fraction.
fn from_parts(args: &[Datum<'_>]) -> Option<Instant> {
    let given = |index: usize| args.get(index).and_then(Datum::as_i64);
    let or_zero = |index: usize| args.get(index).map_or(Some(0), Datum::as_i64);
    let date = date_of(given(0)?, given(1)?, given(2)?)?;
    Instant::from_civil(date.to_datetime(time_of(or_zero(3)?, or_zero(4)?, or_zero(5)?, or_zero(6)?)?))
}

fn part_of(args: &[Datum<'_>]) -> Option<i64> {
    let [part, instant] = args else { return None };
    Some(part_named(part)?.of(read(instant)?))
}

fn of_one(args: &[Datum<'_>], part: Part) -> Option<i64> {
    args.first().and_then(read).map(|instant| part.of(instant))
}

fn to_ticks(args: &[Datum<'_>]) -> Option<i64> {
    args.first().and_then(read).map(Instant::ticks)
}

fn to_timestamp(args: &[Datum<'_>]) -> Option<i64> {
    args.first().and_then(read).map(milliseconds)
}

fn from_ticks(args: &[Datum<'_>]) -> Option<Instant> {
    Instant::from_ticks(args.first()?.as_i64()?)
}

fn from_timestamp(args: &[Datum<'_>]) -> Option<Instant> {
    Instant::from_ticks(args.first()?.as_i64()?.checked_mul(TICKS_PER_MS)?)
}

/// Whole milliseconds since 1970, rounded down.
fn milliseconds(instant: Instant) -> i64 {
    instant.ticks().div_euclid(TICKS_PER_MS)
}

fn read(datum: &Datum<'_>) -> Option<Instant> {
    datum.as_str().and_then(Instant::parse)
}

fn part_named(datum: &Datum<'_>) -> Option<Part> {
    datum.as_str().and_then(Part::parse)
}

fn text<'a>(instant: Option<Instant>) -> Datum<'a> {
    instant.map_or(Datum::Undefined, |instant| instant.print().into())
}

fn integer<'a>(number: Option<i64>) -> Datum<'a> {
    number.map_or(Datum::Undefined, Datum::from)
}
