//! The parts of an instant: extraction, addition, differences and bins.
//!
//! Years and months follow the calendar. From days on, a part has a fixed length, and its boundaries are
//! multiples of that length since 1970 (midnight, the full hour).

use super::instant::{Instant, TICKS_PER_DAY, TICKS_PER_MS, TICKS_PER_SECOND};
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
/// A bin may not start before this year, the first of the service's clock.
const BIN_START_YEAR_MIN: i16 = 1601;

impl Part {
    /// Finds a part by its full or short name, ignoring case.
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

    /// The value of this part; parts below the second count the whole fraction of the second.
    pub(super) fn of(self, instant: Instant) -> i64 {
        let civil = instant.civil();
        match self {
            Self::Year => civil.year().into(),
            Self::Month => civil.month().into(),
            Self::Day => civil.day().into(),
            Self::Hour => civil.hour().into(),
            Self::Minute => civil.minute().into(),
            Self::Second => civil.second().into(),
            Self::Millisecond => instant.fraction() / TICKS_PER_MS,
            Self::Microsecond => instant.fraction() / 10,
            Self::Nanosecond => instant.fraction() * 100,
        }
    }

    /// The length in nanoseconds, if it is fixed.
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

/// Adds an amount of parts. A day that the resulting month does not have becomes its last day; less than a
/// tick is truncated.
pub(super) fn add(part: Part, amount: i64, instant: Instant) -> Option<Instant> {
    match part {
        Part::Year => add_span(instant, Span::new().try_years(amount).ok()?),
        Part::Month => add_span(instant, Span::new().try_months(amount).ok()?),
        _ => {
            let ticks = i128::from(amount) * part.nanos()? / NANOS_PER_TICK;
            Instant::from_ticks(i64::try_from(i128::from(instant.ticks()) + ticks).ok()?)
        }
    }
}

/// By the calendar: the same time of day, on an existing day.
fn add_span(instant: Instant, span: Span) -> Option<Instant> {
    Instant::from_civil(instant.civil().checked_add(span).ok()?)
}

/// The number of part boundaries between two instants; negative if the end comes first.
pub(super) fn difference(part: Part, start: Instant, end: Instant) -> Option<i64> {
    let years = Part::Year.of(end) - Part::Year.of(start);
    match part.nanos() {
        Some(length) => {
            let whole = |instant| nanos(instant).div_euclid(length);
            i64::try_from(whole(end) - whole(start)).ok()
        }
        None if part == Part::Year => Some(years),
        None => Some(years * 12 + Part::Month.of(end) - Part::Month.of(start)),
    }
}

/// The start of the bin that contains an instant, for bins of `size` parts, one of which starts at `origin`.
pub(super) fn bin(instant: Instant, part: Part, size: i64, origin: Instant) -> Option<Instant> {
    let length = part.nanos()? * i128::from(size);
    if size <= 0 || origin.civil().year() < BIN_START_YEAR_MIN {
        return None;
    }
    let into_bin = (nanos(instant) - nanos(origin)).rem_euclid(length);
    let start = (nanos(instant) - into_bin).div_euclid(NANOS_PER_TICK);
    Instant::from_ticks(i64::try_from(start).ok()?)
}

/// Nanoseconds since 1970.
fn nanos(instant: Instant) -> i128 {
    i128::from(instant.ticks()) * NANOS_PER_TICK
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

    fn instants() -> impl Strategy<Value = Instant> {
        (-621_355_968_000_000_000i64..2_534_023_008_000_000_000)
            .prop_map(|ticks| Instant::from_ticks(ticks).unwrap())
    }

    fn part() -> impl Strategy<Value = Part> {
        (0..PARTS.len()).prop_map(|index| PARTS[index])
    }

    proptest! {
        #[test]
        fn difference_undoes_addition(part in part(), amount in -100_000i64..100_000, start in instants()) {
            let amount = if part == Part::Nanosecond { amount / 100 * 100 } else { amount };
            if let Some(end) = add(part, amount, start) {
                prop_assert_eq!(difference(part, start, end), Some(amount));
                prop_assert_eq!(difference(part, end, start), Some(-amount));
            }
        }

        #[test]
        fn fixed_lengths_add_up_to_where_they_began(index in 2usize..9, amount: i32, start in instants()) {
            if let Some(end) = add(PARTS[index], i64::from(amount), start) {
                prop_assert_eq!(add(PARTS[index], -i64::from(amount), end), Some(start));
            }
        }

        #[test]
        fn differences_over_two_spans_add_up(part in part(), a in instants(), b in instants(), c in instants()) {
            if let (Some(ab), Some(bc), Some(ac)) = (difference(part, a, b), difference(part, b, c), difference(part, a, c)) {
                prop_assert_eq!(ab + bc, ac);
            }
        }

        #[test]
        fn an_instant_is_in_its_bin_and_a_bin_starts_itself(
            index in 2usize..8, size in 1i64..1000, instant in instants(), origin in instants()
        ) {
            let part = PARTS[index];
            prop_assume!(origin.civil().year() >= BIN_START_YEAR_MIN);
            if let Some(start) = bin(instant, part, size, origin) {
                prop_assert!(start <= instant);
                prop_assert!(add(part, size, start).is_none_or(|next| next > instant));
                prop_assert_eq!(bin(start, part, size, origin), Some(start));
            }
        }
    }

    #[test]
    fn a_difference_beyond_64_bits_is_undefined() {
        let first = Instant::parse("0001-01-01").unwrap();
        let last = Instant::parse("9999-12-31").unwrap();
        assert_eq!(difference(Part::Nanosecond, first, last), None);
        assert_eq!(difference(Part::Microsecond, first, last), Some(315_537_811_200_000_000));
    }

    #[test]
    fn adding_months_clamps_to_the_last_day() {
        let check = |from: &str, months: i64, expected: Option<&str>| {
            let instant = |text: &str| Instant::parse(text).unwrap();
            assert_eq!(add(Part::Month, months, instant(from)), expected.map(instant), "{from} {months}");
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
    fn amounts_that_leave_the_calendar_are_undefined() {
        let instant = Instant::parse("2020-01-01").unwrap();
        for part in PARTS {
            if part != Part::Nanosecond {
                assert_eq!(add(part, i64::MAX, instant), None, "{part:?}");
                assert_eq!(add(part, i64::MIN, instant), None, "{part:?}");
            }
        }
    }
}
