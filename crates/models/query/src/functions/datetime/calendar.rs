//! The calendar: days counted from 1970-01-01, and their dates.
//!
//! The rules of today's (Gregorian) calendar hold for every year. A year is taken to begin in March, so that
//! the leap day is its last, and 400 years are one cycle of 146 097 days.

/// A date that exists, in the years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Date {
    year: i64,
    month: i64,
    day: i64,
}

pub(super) const YEAR_MAX: i64 = 9999;
const DAYS_PER_CYCLE: i64 = 146_097;
/// From 0000-03-01 to 1970-01-01.
const DAYS_TO_EPOCH: i64 = 719_468;

impl Date {
    pub(super) fn new(year: i64, month: i64, day: i64) -> Option<Self> {
        let exists = (1..=YEAR_MAX).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_in_month(year, month)).contains(&day);
        exists.then_some(Self { year, month, day })
    }

    pub(super) fn year(self) -> i64 {
        self.year
    }

    pub(super) fn month(self) -> i64 {
        self.month
    }

    pub(super) fn day(self) -> i64 {
        self.day
    }

    /// The date so many days after 1970-01-01, if its year has four digits.
    pub(super) fn from_days(days: i64) -> Option<Self> {
        let days = days.checked_add(DAYS_TO_EPOCH)?;
        let (cycle, day_of_cycle) = (days.div_euclid(DAYS_PER_CYCLE), days.rem_euclid(DAYS_PER_CYCLE));
        // Take out the leap days before this one, and years are 365 days each.
        let year_of_cycle =
            (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
        let day_of_year = day_of_cycle - (year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100);
        // From March on, the months are 31, 30, 31, 30, 31 days again and again: 153 days for each five.
        let month_of_year = (day_of_year * 5 + 2) / 153;
        let day = day_of_year - days_before_month(month_of_year) + 1;
        let month = if month_of_year < 10 { month_of_year + 3 } else { month_of_year - 9 };
        let year = cycle * 400 + year_of_cycle + i64::from(month <= 2);
        Self::new(year, month, day)
    }

    /// Days since 1970-01-01.
    pub(super) fn to_days(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let month_of_year = (self.month + 9) % 12;
        let (cycle, year_of_cycle) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = days_before_month(month_of_year) + self.day - 1;
        let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
        cycle * DAYS_PER_CYCLE + day_of_cycle - DAYS_TO_EPOCH
    }

    /// Months since the January of the year 0.
    pub(super) fn months(self) -> i64 {
        self.year * 12 + self.month - 1
    }

    /// The same day so many months later, or the last day of a month too short for it.
    pub(super) fn add_months(self, months: i64) -> Option<Self> {
        let months = self.months().checked_add(months)?;
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        Self::new(year, month, self.day.min(days_in_month(year, month)))
    }
}

/// Days before a month counted from March, within its year.
fn days_before_month(month_of_year: i64) -> i64 {
    (month_of_year * 153 + 2) / 5
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn date(year: i64, month: i64, day: i64) -> Date {
        Date::new(year, month, day).unwrap()
    }

    /// Counts one day on, by nothing but a table of months.
    fn next_day((year, month, day): (i64, i64, i64)) -> (i64, i64, i64) {
        const DAYS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let leap = if year % 400 == 0 { true } else { year % 100 != 0 && year % 4 == 0 };
        let last = DAYS[month as usize - 1] + i64::from(leap && month == 2);
        if day < last {
            (year, month, day + 1)
        } else if month < 12 {
            (year, month + 1, 1)
        } else {
            (year + 1, 1, 1)
        }
    }

    #[test]
    fn every_day_of_ten_thousand_years_is_where_counting_puts_it() {
        let mut expected = (1, 1, 1);
        let mut days = -719_162;
        while expected.0 <= YEAR_MAX {
            let found = Date::from_days(days).unwrap();
            assert_eq!((found.year, found.month, found.day), expected);
            assert_eq!(found.to_days(), days);
            expected = next_day(expected);
            days += 1;
        }
        assert_eq!(days, 2_932_897);
        assert_eq!(Date::from_days(days), None);
        assert_eq!(Date::from_days(-719_163), None);
    }

    #[test]
    fn the_epoch_is_day_zero() {
        assert_eq!(date(1970, 1, 1).to_days(), 0);
        assert_eq!(date(1969, 12, 31).to_days(), -1);
        assert_eq!(date(2000, 2, 29).to_days(), 11_016);
    }

    #[test]
    fn days_that_are_in_no_calendar_are_no_dates() {
        for (year, month, day) in [
            (2021, 2, 29),
            (1900, 2, 29),
            (2000, 2, 30),
            (2020, 4, 31),
            (2020, 0, 1),
            (2020, 13, 1),
            (2020, 1, 0),
        ] {
            assert_eq!(Date::new(year, month, day), None, "{year}-{month}-{day}");
        }
        assert_eq!(Date::new(0, 1, 1), None);
        assert_eq!(Date::new(10_000, 1, 1), None);
        assert!(Date::new(2000, 2, 29).is_some());
        assert_eq!(Date::from_days(i64::MAX), None);
        assert_eq!(Date::from_days(i64::MIN), None);
    }

    #[test]
    fn a_month_too_short_takes_its_last_day() {
        assert_eq!(date(2020, 1, 31).add_months(1), Some(date(2020, 2, 29)));
        assert_eq!(date(2020, 3, 31).add_months(-1), Some(date(2020, 2, 29)));
        assert_eq!(date(2020, 2, 29).add_months(12), Some(date(2021, 2, 28)));
        assert_eq!(date(2020, 11, 30).add_months(3), Some(date(2021, 2, 28)));
        assert_eq!(date(9999, 12, 1).add_months(1), None);
        assert_eq!(date(1, 1, 1).add_months(-1), None);
        assert_eq!(date(1, 1, 1).add_months(i64::MAX), None);
    }

    proptest! {
        #[test]
        fn months_added_are_months_apart(days in -719_162i64..2_932_897, months in -500i64..500) {
            let from = Date::from_days(days).unwrap();
            if let Some(to) = from.add_months(months) {
                prop_assert_eq!(to.months() - from.months(), months);
                prop_assert!(to.day <= from.day);
            }
        }
    }
}
