//! The parts of a moment, and what is counted in them: the part itself, adding, differences, bins.
//!
//! Years and months are of the calendar; from days on a part is a fixed length, and a boundary of it is a
//! multiple of that length since 1970 (midnight, the full hour).

use super::moment::{Moment, TICKS_PER_DAY, TICKS_PER_MS, TICKS_PER_SECOND};
use jiff::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Microsecond,
    Nanosecond,
}

const NANOS_PER_TICK: i128 = 100;
/// A bin may not start before this year, the first that the service's clock counts from.
const BIN_START_YEAR_MIN: i16 = 1601;

impl Part {
    /// By its name or a short one, whatever the case.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "year" | "yyyy" | "yy" => Self::Year,
            "month" | "mm" | "m" => Self::Month,
            "day" | "dd" | "d" => Self::Day,
            "hour" | "hh" => Self::Hour,
            "minute" | "mi" | "n" => Self::Minute,
            "second" | "ss" | "s" => Self::Second,
            "millisecond" | "ms" => Self::Millisecond,
            "microsecond" | "mcs" => Self::Microsecond,
            "nanosecond" | "ns" => Self::Nanosecond,
            _ => return None,
        })
    }

    /// The value of this part; those below the second count all of the second's fraction.
    pub(super) fn of(self, moment: Moment) -> i64 {
        let civil = moment.civil();
        match self {
            Self::Year => civil.year().into(),
            Self::Month => civil.month().into(),
            Self::Day => civil.day().into(),
            Self::Hour => civil.hour().into(),
            Self::Minute => civil.minute().into(),
            Self::Second => civil.second().into(),
            Self::Millisecond => moment.fraction() / TICKS_PER_MS,
            Self::Microsecond => moment.fraction() / 10,
            Self::Nanosecond => moment.fraction() * 100,
        }
    }

    /// Its length in nanoseconds, if it always has the same.
    fn nanos(self) -> Option<i128> {
        let ticks = match self {
            Self::Year | Self::Month => return None,
            Self::Day => TICKS_PER_DAY,
            Self::Hour => 3600 * TICKS_PER_SECOND,
            Self::Minute => 60 * TICKS_PER_SECOND,
            Self::Second => TICKS_PER_SECOND,
            Self::Millisecond => TICKS_PER_MS,
            Self::Microsecond => 10,
            Self::Nanosecond => return Some(1),
        };
        Some(i128::from(ticks) * NANOS_PER_TICK)
    }
}

/// So many parts later. A day that the month reached does not have becomes its last; nanoseconds less than
/// a tick are lost.
pub(super) fn add(part: Part, amount: i64, moment: Moment) -> Option<Moment> {
    match part {
        Part::Year => add_span(moment, Span::new().try_years(amount).ok()?),
        Part::Month => add_span(moment, Span::new().try_months(amount).ok()?),
        _ => {
            let ticks = i128::from(amount) * part.nanos()? / NANOS_PER_TICK;
            Moment::from_ticks(i64::try_from(i128::from(moment.ticks()) + ticks).ok()?)
        }
    }
}

/// By the calendar: the same time of day, on a day that exists.
fn add_span(moment: Moment, span: Span) -> Option<Moment> {
    Moment::from_civil(moment.civil().checked_add(span).ok()?)
}

/// How many boundaries of the part lie between two moments; negative if the end is first.
pub(super) fn difference(part: Part, start: Moment, end: Moment) -> Option<i64> {
    let years = Part::Year.of(end) - Part::Year.of(start);
    match part.nanos() {
        Some(length) => {
            let whole = |moment| nanos(moment).div_euclid(length);
            i64::try_from(whole(end) - whole(start)).ok()
        }
        None if part == Part::Year => Some(years),
        None => Some(years * 12 + Part::Month.of(end) - Part::Month.of(start)),
    }
}

/// The start of the bin a moment is in, when bins are `size` parts long and one starts at `origin`.
pub(super) fn bin(moment: Moment, part: Part, size: i64, origin: Moment) -> Option<Moment> {
    let length = part.nanos()? * i128::from(size);
    if size <= 0 || origin.civil().year() < BIN_START_YEAR_MIN {
        return None;
    }
    let into_bin = (nanos(moment) - nanos(origin)).rem_euclid(length);
    let start = (nanos(moment) - into_bin).div_euclid(NANOS_PER_TICK);
    Moment::from_ticks(i64::try_from(start).ok()?)
}

/// Since 1970.
fn nanos(moment: Moment) -> i128 {
    i128::from(moment.ticks()) * NANOS_PER_TICK
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PARTS: [Part; 9] = [
        Part::Year,
        Part::Month,
        Part::Day,
        Part::Hour,
        Part::Minute,
        Part::Second,
        Part::Millisecond,
        Part::Microsecond,
        Part::Nanosecond,
    ];

    fn moments() -> impl Strategy<Value = Moment> {
        (-621_355_968_000_000_000i64..2_534_023_008_000_000_000)
            .prop_map(|ticks| Moment::from_ticks(ticks).unwrap())
    }

    fn part() -> impl Strategy<Value = Part> {
        (0..PARTS.len()).prop_map(|index| PARTS[index])
    }

    proptest! {
        #[test]
        fn what_was_added_is_the_difference(part in part(), amount in -100_000i64..100_000, start in moments()) {
            let amount = if part == Part::Nanosecond { amount / 100 * 100 } else { amount };
            if let Some(end) = add(part, amount, start) {
                prop_assert_eq!(difference(part, start, end), Some(amount));
                prop_assert_eq!(difference(part, end, start), Some(-amount));
            }
        }

        #[test]
        fn fixed_lengths_add_up_to_where_they_began(index in 2usize..9, amount: i32, start in moments()) {
            if let Some(end) = add(PARTS[index], i64::from(amount), start) {
                prop_assert_eq!(add(PARTS[index], -i64::from(amount), end), Some(start));
            }
        }

        #[test]
        fn differences_over_two_spans_add_up(part in part(), a in moments(), b in moments(), c in moments()) {
            if let (Some(ab), Some(bc), Some(ac)) = (difference(part, a, b), difference(part, b, c), difference(part, a, c)) {
                prop_assert_eq!(ab + bc, ac);
            }
        }

        #[test]
        fn a_moment_is_in_its_bin_and_the_bin_starts_itself(
            index in 2usize..8, size in 1i64..1000, moment in moments(), origin in moments()
        ) {
            let part = PARTS[index];
            prop_assume!(origin.civil().year() >= BIN_START_YEAR_MIN);
            if let Some(start) = bin(moment, part, size, origin) {
                prop_assert!(start <= moment);
                prop_assert!(add(part, size, start).is_none_or(|next| next > moment));
                prop_assert_eq!(bin(start, part, size, origin), Some(start));
            }
        }
    }

    #[test]
    fn a_difference_beyond_64_bits_is_none() {
        let first = Moment::parse("0001-01-01").unwrap();
        let last = Moment::parse("9999-12-31").unwrap();
        assert_eq!(difference(Part::Nanosecond, first, last), None);
        assert_eq!(difference(Part::Microsecond, first, last), Some(315_537_811_200_000_000));
    }

    #[test]
    fn a_month_too_short_takes_its_last_day() {
        let check = |from: &str, months: i64, expected: Option<&str>| {
            let moment = |text: &str| Moment::parse(text).unwrap();
            assert_eq!(add(Part::Month, months, moment(from)), expected.map(moment), "{from} {months}");
        };
        check("2020-01-31", 1, Some("2020-02-29"));
        check("2020-03-31T23:59:59.9999999", -1, Some("2020-02-29T23:59:59.9999999"));
        check("2020-02-29", 12, Some("2021-02-28"));
        check("2020-11-30", 3, Some("2021-02-28"));
        check("0001-01-31T01:02:03.0000001", 9998 * 12 + 11, Some("9999-12-31T01:02:03.0000001"));
        check("9999-12-01", 1, None);
        check("0001-01-01", -1, None);
        check("0001-01-01", i64::MAX, None);
    }

    #[test]
    fn amounts_that_leave_the_calendar_are_none() {
        let moment = Moment::parse("2020-01-01").unwrap();
        for part in PARTS {
            if part != Part::Nanosecond {
                assert_eq!(add(part, i64::MAX, moment), None, "{part:?}");
                assert_eq!(add(part, i64::MIN, moment), None, "{part:?}");
            }
        }
    }
}
