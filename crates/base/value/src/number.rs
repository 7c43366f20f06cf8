//! Numbers: compared as doubles, while 64-bit integers keep their digits.
//!
//! The service computes and compares in IEEE doubles, yet returns `9007199254740993` as it was stored. So an
//! integer is stored as one and compared as a double; two integers that round to one double are equal.

use std::cmp::Ordering;

#[derive(Clone, Copy, Debug)]
pub enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    /// Parses a number token. An integer beyond `i64` becomes a double, as in the service.
    pub fn parse(token: &str) -> Option<Self> {
        // `from_str` also accepts "+1", ".5" and words like "inf", which are not JSON.
        let is_digit = |c: char| c.is_ascii_digit();
        if !token.trim_start_matches('-').starts_with(is_digit) || !token.ends_with(is_digit) {
            return None;
        }
        if let Ok(int) = token.parse::<i64>() {
            return Some(Self::Int(int));
        }
        token.parse::<f64>().ok().filter(|float| float.is_finite()).map(Self::Float)
    }

    pub fn as_f64(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }

    /// The integer value, if it is one and fits `i64`.
    pub fn as_i64(self) -> Option<i64> {
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        match self {
            Self::Int(int) => Some(int),
            Self::Float(float) => {
                (float.fract() == 0.0 && (-LIMIT..LIMIT).contains(&float)).then_some(float as i64)
            }
        }
    }

    /// Compares as doubles; `-0.0` equals `0`. A NaN (which no text has) equals itself and sorts first.
    pub fn cmp_total(self, other: Self) -> Ordering {
        let (a, b) = (self.as_f64(), other.as_f64());
        a.partial_cmp(&b).unwrap_or_else(|| b.is_nan().cmp(&a.is_nan()))
    }

    /// Appends the number as JSON: integers in full, doubles with the fewest digits that parse back,
    /// formatted as in JavaScript. NaN and infinity, which JSON cannot express, become `null`.
    pub fn write_json(self, out: &mut Vec<u8>) {
        match self {
            Self::Int(int) => out.extend_from_slice(int.to_string().as_bytes()),
            Self::Float(float) if !float.is_finite() => out.extend_from_slice(b"null"),
            Self::Float(float) => write_float(float, out),
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp_total(*other).is_eq()
    }
}

impl Eq for Number {}

/// Below this limit, every integral double is an integer with exactly its digits.
const EXACT_INTEGER_MAX: f64 = 9_007_199_254_740_992.0;

fn write_float(float: f64, out: &mut Vec<u8>) {
    if float.fract() == 0.0 && float.abs() < EXACT_INTEGER_MAX {
        return out.extend_from_slice((float as i64).to_string().as_bytes());
    }
    if float < 0.0 {
        out.push(b'-');
    }
    let shortest = format!("{:e}", float.abs());
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    lay_out(&digits, exponent.parse().unwrap_or(0), out);
}

/// Writes `d.ddd × 10^exponent`: plain from 1e-6 to below 1e21, else with an exponent.
fn lay_out(digits: &[u8], exponent: i32, out: &mut Vec<u8>) {
    let zeros = |count: usize| std::iter::repeat_n(b'0', count);
    match exponent {
        0..=20 if digits.len() <= exponent as usize + 1 => {
            out.extend_from_slice(digits);
            out.extend(zeros(exponent as usize + 1 - digits.len()));
        }
        0..=20 => write_point(digits, exponent as usize + 1, out),
        -6..=-1 => {
            out.extend_from_slice(b"0.");
            out.extend(zeros(exponent.unsigned_abs() as usize - 1));
            out.extend_from_slice(digits);
        }
        _ => {
            write_point(digits, 1, out);
            let sign = if exponent < 0 { '-' } else { '+' };
            out.extend_from_slice(format!("e{sign}{}", exponent.abs()).as_bytes());
        }
    }
}

fn write_point(digits: &[u8], before: usize, out: &mut Vec<u8>) {
    let (whole, fraction) = digits.split_at(before.min(digits.len()));
    out.extend_from_slice(whole);
    if !fraction.is_empty() {
        out.push(b'.');
        out.extend_from_slice(fraction);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn printed(number: Number) -> String {
        let mut out = Vec::new();
        number.write_json(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn check(token: &str, expected: &str) {
        assert_eq!(printed(Number::parse(token).unwrap()), expected, "{token}");
    }

    #[test]
    fn integers_keep_their_digits() {
        check("9007199254740993", "9007199254740993");
        check("-9223372036854775808", "-9223372036854775808");
        check("9223372036854775807", "9223372036854775807");
        check("18446744073709551615", "18446744073709552000");
        check("-0", "0");
    }

    #[test]
    fn doubles_print_as_javascript_prints_them() {
        check("1.0", "1");
        check("-0.0", "0");
        check("1.50", "1.5");
        check("-2.5e3", "-2500");
        check("0.1", "0.1");
        check("1e20", "100000000000000000000");
        check("1.5e21", "1.5e+21");
        check("1e300", "1e+300");
        check("0.000001", "0.000001");
        check("0.00000123", "0.00000123");
        check("1e-7", "1e-7");
        check("5e-324", "5e-324");
        check("123456789.125", "123456789.125");
        assert_eq!(printed(Number::Float(f64::NAN)), "null");
    }

    #[test]
    fn words_and_overflow_are_not_numbers() {
        for token in ["", "inf", "-Infinity", "NaN", "1e400", "abc", "nan0", "+1", ".5", "5.", "--1"] {
            assert!(Number::parse(token).is_none(), "{token}");
        }
    }

    #[test]
    fn numbers_compare_as_doubles() {
        let exact = Number::Int(9_007_199_254_740_992);
        assert_eq!(exact, Number::Int(9_007_199_254_740_993));
        assert_eq!(Number::Float(-0.0), Number::Int(0));
        assert!(Number::Int(1).cmp_total(Number::Float(1.5)).is_lt());
        assert!(Number::Float(f64::NAN).cmp_total(Number::Float(f64::NEG_INFINITY)).is_lt());
        assert_eq!(Number::Float(f64::NAN), Number::Float(f64::NAN));
    }

    #[test]
    fn as_i64_takes_integral_values_in_range() {
        assert_eq!(Number::Float(3.0).as_i64(), Some(3));
        assert_eq!(Number::Float(3.5).as_i64(), None);
        assert_eq!(Number::Float(9.3e18).as_i64(), None);
        assert_eq!(Number::Float(-9_223_372_036_854_775_808.0).as_i64(), Some(i64::MIN));
    }

    proptest! {
        #[test]
        fn printed_numbers_parse_back(bits: u64) {
            let float = f64::from_bits(bits);
            prop_assume!(float.is_finite());
            let text = printed(Number::Float(float));
            prop_assert_eq!(Number::parse(&text).unwrap().as_f64(), float);
            prop_assert!(serde_json::from_str::<f64>(&text).is_ok());
        }
    }
}
