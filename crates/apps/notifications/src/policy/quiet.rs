//! Quiet hours by the user's wall clock (C-43, C-50).
//!
//! ```text
//! local hour   20   21   22   23   00  ..  06   07   08
//! quiet         .    .    #    #    #       #    .    .
//!                        23:10 ─────────────────▶ 07:00
//! ```
//!
//! Hours come from the time zone database in the binary, so results do not depend on the machine. A local
//! hour ends when the wall clock shows another one or jumps, whichever is first. So a skipped hour is not
//! waited for, a repeated hour is quiet twice, and in a half-hour zone the end is on the half hour of UTC.

use super::{Invalid, is_urgent};
use crate::records::Category;
use jiff::tz::TimeZone;
use orrery_core::Timestamp;

pub const HOURS: usize = 24;

/// 22:00 to 07:00.
pub const DEFAULT_HOURS: [bool; HOURS] = {
    let mut hours = [false; HOURS];
    let mut hour = 0;
    while hour < HOURS {
        hours[hour] = hour < 7 || hour >= 22;
        hour += 1;
    }
    hours
};

/// A time zone of the database.
#[derive(Clone, Debug)]
pub struct Zone(TimeZone);

impl Zone {
    /// Finds a zone by name, such as `Asia/Kolkata`, ignoring case.
    pub fn parse(name: &str) -> Result<Self, Invalid> {
        let unknown = || {
            let reason = format!("'{name}' is not a time zone of the IANA database, such as Europe/Berlin");
            Invalid::new("timezone", reason)
        };
        let zone = TimeZone::get(name).map_err(|_| unknown())?;
        if zone.iana_name().is_none() { Err(unknown()) } else { Ok(Self(zone)) }
    }

    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// The database's spelling.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// The hour of the wall clock, 0 to 23.
    pub fn hour(&self, at: Timestamp) -> usize {
        jiff_time(at).map_or(0, |at| self.0.to_datetime(at).hour() as usize)
    }

    /// The next moment at which the wall clock may show another hour: a full hour or a jump.
    fn next_hour(&self, at: Timestamp) -> Option<Timestamp> {
        let time = jiff_time(at)?;
        let offset = i64::from(self.0.to_offset(time).seconds()) * 1000;
        let into_hour = (time.as_millisecond() + offset).rem_euclid(HOUR_MILLIS);
        let full = time.as_millisecond() + HOUR_MILLIS - into_hour;
        let jump = self.0.following(time).next().map(|jump| jump.timestamp().as_millisecond());
        let next = jump.map_or(full, |jump| jump.min(full));
        u64::try_from(next).ok().map(Timestamp::from_millis)
    }
}

const HOUR_MILLIS: i64 = 3_600_000;

fn jiff_time(at: Timestamp) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_millisecond(i64::try_from(at.millis()).ok()?).ok()
}

/// When a push may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    Now,
    /// At the first moment that is not quiet.
    At(Timestamp),
    /// All hours are quiet: in-app only.
    Never,
}

/// Hours and jumps examined: two days of hours, and the jumps between them.
const STEPS_MAX: usize = 64;

pub fn release(now: Timestamp, zone: &Zone, quiet_hours: &[bool], category: Category) -> Release {
    orrery_core::tour_step!();
    let is_quiet = |at| quiet_hours.get(zone.hour(at)).copied().unwrap_or(false);
    if is_urgent(category) || !is_quiet(now) {
        return Release::Now;
    }
    let moments = std::iter::successors(Some(now), |at| zone.next_hour(*at)).take(STEPS_MAX);
    match moments.skip(1).find(|at| !is_quiet(*at)) {
        Some(at) => Release::At(at),
        None => Release::Never,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_kit::time;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        time::parse(text).expect("a time")
    }

    fn zone(name: &str) -> Zone {
        Zone::parse(name).expect("a zone")
    }

    fn check(name: &str, hours: &[bool], now: &str, expected: &str) {
        let release = release(at(now), &zone(name), hours, Category::Social);
        let shown = match release {
            Release::Now => "now".to_owned(),
            Release::At(at) => time::format(at).replace(".000Z", "Z"),
            Release::Never => "never".to_owned(),
        };
        assert_eq!(shown, expected, "{name} at {now}");
    }

    fn quiet(hours: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut quiet = vec![false; HOURS];
        hours.into_iter().for_each(|hour| quiet[hour] = true);
        quiet
    }

    #[test]
    fn the_night_is_quiet_by_the_users_clock() {
        let night = &DEFAULT_HOURS;
        check("UTC", night, "2026-11-15T21:59:59.999Z", "now");
        check("UTC", night, "2026-11-15T22:00:00Z", "2026-11-16T07:00:00Z");
        check("UTC", night, "2026-11-16T06:59:59.999Z", "2026-11-16T07:00:00Z");
        check("UTC", night, "2026-11-16T07:00:00Z", "now");
        // B-4: 23:10 in India is 17:40 UTC, and 07:00 is 01:30.
        check("Asia/Kolkata", night, "2026-11-15T17:40:00Z", "2026-11-16T01:30:00Z");
        check("Asia/Kathmandu", night, "2026-11-15T18:00:00Z", "2026-11-16T01:15:00Z");
        check("America/St_Johns", night, "2026-11-15T02:00:00Z", "2026-11-15T10:30:00Z");
        check("Pacific/Kiritimati", night, "2026-11-15T09:00:00Z", "2026-11-15T17:00:00Z");
        check("Pacific/Marquesas", night, "2026-11-15T08:00:00Z", "2026-11-15T16:30:00Z");
    }

    #[test]
    fn a_night_with_a_clock_change_still_ends_at_seven() {
        // B-4. New York: forward on 2026-03-08, back on 2026-11-01.
        let night = &DEFAULT_HOURS;
        check("America/New_York", night, "2026-03-08T04:00:00Z", "2026-03-08T11:00:00Z");
        check("America/New_York", night, "2026-11-01T03:00:00Z", "2026-11-01T12:00:00Z");
        check("Europe/Berlin", night, "2026-03-28T22:30:00Z", "2026-03-29T05:00:00Z");
        check("Europe/Berlin", night, "2026-10-24T21:30:00Z", "2026-10-25T06:00:00Z");
    }

    #[test]
    fn a_skipped_hour_is_not_waited_for() {
        // Quiet at 1; at 2:00 the clock shows 3:00, and 3 is not quiet.
        check("America/New_York", &quiet([1]), "2026-03-08T06:20:00Z", "2026-03-08T07:00:00Z");
        // Only the skipped hour is free on this day; it exists again on the next.
        let all_but_two = quiet((0..24).filter(|hour| *hour != 2));
        check("America/New_York", &all_but_two, "2026-03-08T05:00:00Z", "2026-03-09T06:00:00Z");
        // Quiet at 2 only: that night is never quiet.
        check("America/New_York", &quiet([2]), "2026-03-08T07:00:00Z", "now");
    }

    #[test]
    fn a_repeated_hour_is_quiet_twice() {
        // 1:20 before the change, and after it.
        check("America/New_York", &quiet([1]), "2026-11-01T05:20:00Z", "2026-11-01T07:00:00Z");
        check("America/New_York", &quiet([1]), "2026-11-01T06:20:00Z", "2026-11-01T07:00:00Z");
        // Quiet at 2 only: the hour before it comes twice and is free twice.
        check("America/New_York", &quiet([2]), "2026-11-01T06:20:00Z", "now");
    }

    #[test]
    fn clock_changes_of_half_an_hour_or_a_day_are_handled() {
        // Lord Howe moves by 30 minutes: on 2026-10-04 at 2:00 its clock shows 2:30.
        check("Australia/Lord_Howe", &quiet([2]), "2026-10-03T15:30:00Z", "2026-10-03T16:00:00Z");
        // On 2026-04-05 it goes from 2:00 back to 1:30.
        check("Australia/Lord_Howe", &quiet([1]), "2026-04-04T14:10:00Z", "2026-04-04T15:30:00Z");
        // Samoa had no 30 December 2011.
        check("Pacific/Apia", &DEFAULT_HOURS, "2011-12-30T08:30:00Z", "2011-12-30T17:00:00Z");
    }

    #[test]
    fn quiet_at_all_hours_is_never() {
        // C-50.
        check("Europe/Berlin", &[true; 24], "2026-11-15T12:00:00Z", "never");
        check("Europe/Berlin", &[false; 24], "2026-11-15T23:00:00Z", "now");
    }

    #[test]
    fn safety_and_security_do_not_wait() {
        // C-45, K4.
        let urgent = |category| release(at("2026-11-15T23:00:00Z"), &Zone::utc(), &[true; 24], category);
        assert_eq!(urgent(Category::Safety), Release::Now);
        assert_eq!(urgent(Category::Security), Release::Now);
        for category in [Category::Social, Category::News, Category::Marketing] {
            assert_eq!(urgent(category), Release::Never);
        }
    }

    #[test]
    fn only_zones_of_the_database_are_zones() {
        // S2-29.
        for name in ["UTC", "Europe/Berlin", "Asia/Kolkata", "America/Argentina/Buenos_Aires", "Etc/GMT+5"] {
            assert_eq!(zone(name).name(), name);
        }
        assert_eq!(zone("europe/berlin").name(), "Europe/Berlin");
        for name in ["", "Mars/Olympus", "+02:00", "Etc/Unknown", "CEST-1", "../../etc/passwd", " UTC"] {
            assert_eq!(Zone::parse(name).expect_err(name).member, "timezone");
        }
    }

    /// A scan by minute, as fine as any clock change since 1970 that is examined here.
    fn scan(now: Timestamp, zone: &Zone, hours: &[bool]) -> Release {
        if !hours[zone.hour(now)] {
            return Release::Now;
        }
        let first = now.millis() / 60_000 + 1;
        let found = (first..first + 3 * 24 * 60).map(|minute| Timestamp::from_millis(minute * 60_000));
        found.into_iter().find(|at| !hours[zone.hour(*at)]).map_or(Release::Never, Release::At)
    }

    const ZONES: [&str; 10] = [
        "UTC",
        "Asia/Kolkata",
        "Asia/Kathmandu",
        "America/New_York",
        "Europe/London",
        "Australia/Lord_Howe",
        "Australia/Adelaide",
        "America/Sao_Paulo",
        "Africa/Casablanca",
        "Pacific/Chatham",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        /// The release is not quiet, and no moment before it is free.
        #[test]
        fn the_release_is_the_first_moment_that_is_not_quiet(
            zone in proptest::sample::select(&ZONES[..]),
            // 2000 to 2035, often near a clock change.
            millis in prop_oneof![946_684_800_000_u64..2_051_222_400_000, near_a_change()],
            bits in prop_oneof![any::<u32>(), Just(0xFF_FFFF_u32), (0..24_u32).prop_map(|hour| 0xFF_FFFF & !(1 << hour))],
        ) {
            let (zone, now) = (self::zone(zone), Timestamp::from_millis(millis));
            let hours: Vec<bool> = (0..24).map(|hour| bits & (1 << hour) != 0).collect();
            let release = release(now, &zone, &hours, Category::News);
            prop_assert_eq!(release, scan(now, &zone, &hours));
            if let Release::At(at) = release {
                prop_assert!(at > now && !hours[zone.hour(at)]);
            }
        }
    }

    /// Within a day and a half of a clock change in New York, London or Lord Howe.
    fn near_a_change() -> impl Strategy<Value = u64> {
        let changes = [
            "2026-03-08T07:00:00Z",
            "2026-11-01T06:00:00Z",
            "2026-03-29T01:00:00Z",
            "2026-10-25T01:00:00Z",
            "2026-04-04T15:00:00Z",
            "2026-10-03T15:30:00Z",
        ];
        let changes = changes.map(|text| at(text).millis());
        (proptest::sample::select(changes.to_vec()), 0..3 * 86_400_000_u64)
            .prop_map(|(change, into)| change - 3 * 43_200_000 + into)
    }
}
