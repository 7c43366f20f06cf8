//! A moment written as a pattern says: `yyyy-MM-dd [HH:mm:ss]`.
//!
//! A run of one letter is a specifier; every character that is none stands for itself, and so does any after
//! a backslash.
//!
//! ```text
//! y yy yyyy   the year's last two digits, the same with a zero, the year
//! M MM  d dd  month and day          H HH  h hh   hours of 24 and of 12
//! m mm  s ss  minute and second      tt           AM or PM
//! f … fffffff  as many digits of the second's fraction
//! F … FFFFFFF  the same without the zeros at its end
//! ```
//!
//! A run of another length is no specifier, and a pattern with one gives nothing.

use super::moment::{Fields, Moment};
use std::iter::Peekable;
use std::str::Chars;

pub(super) fn format(moment: Moment, pattern: &str) -> Option<String> {
    let fields = moment.fields();
    let mut out = String::new();
    let mut rest = pattern.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\\' => out.push(rest.next()?),
            'y' | 'M' | 'd' | 'H' | 'h' | 'm' | 's' | 't' | 'f' | 'F' => {
                out.push_str(&written(letter, run(letter, &mut rest), fields)?);
            }
            itself => out.push(itself),
        }
    }
    Some(out)
}

/// Takes the rest of a run of one letter; its whole length.
fn run(letter: char, rest: &mut Peekable<Chars<'_>>) -> usize {
    let mut count = 1;
    while rest.next_if_eq(&letter).is_some() {
        count += 1;
    }
    count
}

fn written(letter: char, count: usize, fields: Fields) -> Option<String> {
    let number = match (letter, count) {
        ('y', 1 | 2) => fields.date.year() % 100,
        ('y', 4) => fields.date.year(),
        ('M', 1 | 2) => fields.date.month(),
        ('d', 1 | 2) => fields.date.day(),
        ('H', 1 | 2) => fields.hour,
        // Midnight and noon are both twelve.
        ('h', 1 | 2) => (fields.hour + 11) % 12 + 1,
        ('m', 1 | 2) => fields.minute,
        ('s', 1 | 2) => fields.second,
        ('t', 2) => return Some(if fields.hour < 12 { "AM" } else { "PM" }.to_owned()),
        ('f', 1..=7) => return Some(fraction(fields, count)),
        ('F', 1..=7) => return Some(fraction(fields, count).trim_end_matches('0').to_owned()),
        _ => return None,
    };
    Some(format!("{number:0count$}"))
}

fn fraction(fields: Fields, count: usize) -> String {
    let mut digits = format!("{:07}", fields.fraction);
    digits.truncate(count);
    digits
}
