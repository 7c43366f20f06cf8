//! Parameters of the query, each within its limits.

use crate::errors::Failure;
use orrery_api_storage::{StorageError, StorageRequest};
use orrery_queue_store::{OutOfRange, PopReceipt};
use std::num::IntErrorKind;

/// A number that `check` accepts; None if the parameter is missing.
pub fn number<T>(
    request: &StorageRequest,
    name: &str,
    check: impl Fn(i64) -> Result<T, OutOfRange>,
) -> Result<Option<T>, Failure> {
    let Some(text) = request.query(name) else { return Ok(None) };
    let checked = parse(&text).map(&check);
    match checked {
        Some(Ok(value)) => Ok(Some(value)),
        Some(Err(OutOfRange { min, max, .. })) => {
            Err(StorageError::out_of_range_query(name, &text, min, max).into())
        }
        None => Err(StorageError::invalid_query(name, &text, "It is not a whole number.").into()),
    }
}

/// The same, of a parameter that must be there.
pub fn required_number<T>(
    request: &StorageRequest,
    name: &str,
    check: impl Fn(i64) -> Result<T, OutOfRange>,
) -> Result<T, Failure> {
    number(request, name, check)?.ok_or_else(|| StorageError::missing_query(name).into())
}

/// A number too large to be one is as good as the largest.
fn parse(text: &str) -> Option<i64> {
    match text.parse::<i64>() {
        Ok(value) => Some(value),
        Err(error) => match error.kind() {
            IntErrorKind::PosOverflow => Some(i64::MAX),
            IntErrorKind::NegOverflow => Some(i64::MIN),
            _ => None,
        },
    }
}

pub fn pop_receipt(request: &StorageRequest) -> Result<PopReceipt, Failure> {
    const NAME: &str = "popreceipt";
    let text = request.query(NAME).ok_or_else(|| StorageError::missing_query(NAME))?;
    let refused = |error| StorageError::invalid_query(NAME, &text, format!("{error}"));
    PopReceipt::parse(&text).map_err(|error| refused(error).into())
}

/// A parameter that clients also send empty when they mean none.
pub fn text(request: &StorageRequest, name: &str) -> String {
    request.query(name).map(std::borrow::Cow::into_owned).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_with_digits_and_may_be_very_large() {
        assert_eq!([parse("7"), parse("-1"), parse("0")], [Some(7), Some(-1), Some(0)]);
        assert_eq!(parse("99999999999999999999"), Some(i64::MAX));
        assert_eq!(parse("-99999999999999999999"), Some(i64::MIN));
        assert_eq!([parse(""), parse("1.5"), parse("abc"), parse(" 1")], [None; 4]);
    }
}
