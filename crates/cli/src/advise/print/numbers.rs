//! Numbers formatted for people.

/// `1,234,567`
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 item`, `2 items`
pub fn count(number: u64, what: &str) -> String {
    count_of(number, what, &format!("{what}s"))
}

pub fn count_of(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];

/// `96 KB`, `1.5 MB`
pub fn bytes(bytes: u64) -> String {
    if bytes < 1024 {
        return count(bytes, "byte");
    }
    let (mut size, mut unit) = (bytes as f64 / 1024.0, 0);
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(size < 10.0);
    format!("{size:.digits$} {}", UNITS[unit])
}

/// `12.3 %`
pub fn percent(part: u64, whole: u64) -> String {
    let percent = part as f64 * 100.0 / whole.max(1) as f64;
    if percent >= 10.0 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// `2.3 RU`
pub fn charge(units: f64) -> String {
    if units >= 1000.0 { format!("{} RU", grouped(units.round() as u64)) } else { format!("{units:.1} RU") }
}

/// In the largest unit of which there is at least one.
pub fn duration(seconds: u64) -> String {
    let units = [(86_400, "day"), (3600, "hour"), (60, "minute")];
    let unit = units.into_iter().find(|(length, _)| seconds >= *length);
    unit.map_or_else(|| count(seconds, "second"), |(length, name)| count(seconds / length, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three() {
        let check = |number, expected: &str| assert_eq!(grouped(number), expected);
        check(0, "0");
        check(999, "999");
        check(1000, "1,000");
        check(1_234_567, "1,234,567");
        assert_eq!((count(1, "item"), count(2000, "item")), ("1 item".into(), "2,000 items".into()));
    }

    #[test]
    fn sizes_and_times_are_in_the_unit_that_fits() {
        let check = |size, expected: &str| assert_eq!(bytes(size), expected);
        check(1, "1 byte");
        check(1023, "1,023 bytes");
        check(1536, "1.5 KB");
        check(96 * 1024, "96 KB");
        check(20_000_000_000, "19 GB");
        let check = |seconds, expected: &str| assert_eq!(duration(seconds), expected);
        check(59, "59 seconds");
        check(61, "1 minute");
        check(7300, "2 hours");
        check(90_000, "1 day");
    }

    #[test]
    fn shares_and_charges_have_a_digit_where_it_matters() {
        assert_eq!(
            (percent(1, 3), percent(1, 64), percent(0, 0)),
            ("33 %".into(), "1.6 %".into(), "0.0 %".into())
        );
        assert_eq!((charge(2.345), charge(12_345.6)), ("2.3 RU".into(), "12,346 RU".into()));
    }
}
