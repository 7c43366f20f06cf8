//! The parts of a moment, and what is counted in them: the part itself, adding, differences, bins.
//!
//! Years and months are of the calendar; from days on a part is a fixed length, and a boundary of it is a
//! multiple of that length since 1970 (midnight, the full hour).

use super::calendar::Date;
use super::moment::{Moment, TICKS_PER_DAY, TICKS_PER_MS, TICKS_PER_SECOND};

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
const BIN_START_YEAR_MIN: i64 = 1601;

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
        let fields = moment.fields();
        match self {
            Self::Year => fields.date.year(),
            Self::Month => fields.date.month(),
            Self::Day => fields.date.day(),
            Self::Hour => fields.hour,
            Self::Minute => fields.minute,
            Self::Second => fields.second,
            Self::Millisecond => fields.fraction / TICKS_PER_MS,
            Self::Microsecond => fields.fraction / 10,
            Self::Nanosecond => fields.fraction * 100,
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
        Part::Year => moment.date().add_months(amount.checked_mul(12)?).map(|date| moment.on(date)),
        Part::Month => moment.date().add_months(amount).map(|date| moment.on(date)),
        _ => {
            let ticks = i128::from(amount) * part.nanos()? / NANOS_PER_TICK;
            Moment::from_ticks(i64::try_from(i128::from(moment.ticks()) + ticks).ok()?)
        }
    }
}

/// How many boundaries of the part lie between two moments; negative if the end is first.
pub(super) fn difference(part: Part, start: Moment, end: Moment) -> Option<i64> {
    let of_dates = |count: fn(Date) -> i64| count(end.date()) - count(start.date());
    match part.nanos() {
        Some(length) => {
            let whole = |moment| nanos(moment).div_euclid(length);
            i64::try_from(whole(end) - whole(start)).ok()
        }
        None if part == Part::Year => Some(of_dates(Date::year)),
        None => Some(of_dates(Date::months)),
    }
}

/// The start of the bin a moment is in, when bins are `size` parts long and one starts at `origin`.
pub(super) fn bin(moment: Moment, part: Part, size: i64, origin: Moment) -> Option<Moment> {
    let length = part.nanos()? * i128::from(size);
    if size <= 0 || origin.date().year() < BIN_START_YEAR_MIN {
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
            prop_assume!(origin.date().year() >= BIN_START_YEAR_MIN);
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
