//! Session tokens: `<range>:-1#<lsn>`, several joined by commas (wire guide §21).

use crate::failure::Failure;
use orrery_core::{Lsn, limits};

pub fn token(range: u32, lsn: Lsn) -> String {
    [&range.to_string(), ":-1#", &lsn.0.to_string()].concat()
}

/// The newest LSN that a token names for any range. LSNs are of one order, so one number speaks for all.
pub fn newest(token: &str) -> Result<Lsn, Failure> {
    if token.len() > limits::CONTINUATION_BYTES_MAX {
        return Err(malformed(token));
    }
    let mut newest = Lsn(0);
    for part in token.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        newest = newest.max(lsn(part).ok_or_else(|| malformed(token))?);
    }
    Ok(newest)
}

/// `0:-1#12` or with regions `0:-1#12#1=9`; the short form `0:12` of old clients too.
fn lsn(part: &str) -> Option<Lsn> {
    let (range, vector) = part.split_once(':')?;
    range.parse::<u32>().ok()?;
    let mut fields = vector.split('#');
    let first = fields.next()?;
    let lsn = match fields.next() {
        None => first,
        Some(lsn) => {
            first.parse::<i64>().ok()?;
            lsn
        }
    };
    lsn.parse().ok().map(Lsn)
}

fn malformed(token: &str) -> Failure {
    let shown: String = token.chars().take(64).collect();
    Failure::bad_request(format!("The session token '{shown}' is malformed; send it as it was received."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_as_they_are_written() {
        assert_eq!(newest(&token(3, Lsn(9))), Ok(Lsn(9)));
        assert_eq!(newest("0:-1#8,1:-1#7"), Ok(Lsn(8)));
        assert_eq!(newest("0:-1#8#1=3"), Ok(Lsn(8)));
        assert_eq!(newest("0:12"), Ok(Lsn(12)));
        assert_eq!(newest(""), Ok(Lsn(0)));
    }

    #[test]
    fn a_malformed_token_is_a_bad_request() {
        for token in ["x", "0:", "0:-1#", "0:-1#x", "x:-1#1", "0:a#1", "0:-1#99999999999999999999"] {
            assert_eq!(newest(token).expect_err(token).status, 400);
        }
    }
}
