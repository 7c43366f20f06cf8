//! Formats a date and time by a pattern: `yyyy-MM-dd [HH:mm:ss]`.
//!
//! A run of one letter is a specifier. Every other character stands for itself, and so does any character
//! after a backslash.
//!
//! ```text
//! y yy yyyy   the year's last two digits, the same with a zero, the year
//! M MM  d dd  month and day          H HH  h hh   hours of 24 and of 12
//! m mm  s ss  minute and second      tt           AM or PM
//! f … fffffff  as many digits of the second's fraction
//! F … FFFFFFF  the same without the zeros at its end
//! ```
//!
//! A run of any other length is invalid, and the result is then undefined.

use super::instant::Instant;
use jiff::civil::DateTime;
use std::iter::Peekable;
use std::str::Chars;

pub(super) fn format(instant: Instant, pattern: &str) -> Option<String> {
    let civil = instant.civil();
    let mut out = String::new();
    let mut rest = pattern.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\\' => out.push(rest.next()?),
            'y' | 'M' | 'd' | 'H' | 'h' | 'm' | 's' | 't' | 'f' | 'F' => {
                out.push_str(&written(letter, run(letter, &mut rest), civil)?);
            }
            itself => out.push(itself),
        }
    }
    Some(out)
}

/// Consumes the rest of a run of one letter; returns the run's length.
fn run(letter: char, rest: &mut Peekable<Chars<'_>>) -> usize {
    let mut count = 1;
    while rest.next_if_eq(&letter).is_some() {
        count += 1;
    }
    count
}

fn written(letter: char, count: usize, civil: DateTime) -> Option<String> {
    let number = match (letter, count) {
        ('y', 1 | 2) => civil.year() % 100,
        ('y', 4) => civil.year(),
        ('M', 1 | 2) => civil.month().into(),
        ('d', 1 | 2) => civil.day().into(),
        ('H', 1 | 2) => civil.hour().into(),
        // Midnight and noon are both twelve on a 12-hour clock.
        ('h', 1 | 2) => ((civil.hour() + 11) % 12 + 1).into(),
        ('m', 1 | 2) => civil.minute().into(),
        ('s', 1 | 2) => civil.second().into(),
        ('t', 2) => return Some(if civil.hour() < 12 { "AM" } else { "PM" }.to_owned()),
        ('f', 1..=7) => return Some(fraction(civil, count)),
        ('F', 1..=7) => return Some(fraction(civil, count).trim_end_matches('0').to_owned()),
        _ => return None,
    };
    Some(format!("{number:0count$}"))
}

fn fraction(civil: DateTime, count: usize) -> String {
    let mut digits = format!("{:09}", civil.subsec_nanosecond());
    digits.truncate(count);
    digits
}
