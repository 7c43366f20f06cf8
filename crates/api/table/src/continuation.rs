//! Where a page ended, as headers and query parameters carry it: `1!{length}!{Base64 of the key}`.
//!
//! JavaScript's client passes the values through functions that keep ASCII only, and stops at an empty one; so a value is
//! ASCII whatever the key, and never empty.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the continuation is none that this service gave out")]
pub struct InvalidContinuation;

pub fn write(key: &str) -> String {
    let encoded = URL_SAFE_NO_PAD.encode(key);
    format!("1!{}!{encoded}", encoded.len())
}

pub fn read(value: &str) -> Result<String, InvalidContinuation> {
    let (length, encoded) =
        value.strip_prefix("1!").and_then(|rest| rest.split_once('!')).ok_or(InvalidContinuation)?;
    if length.parse() != Ok(encoded.len()) {
        return Err(InvalidContinuation);
    }
    let key = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| InvalidContinuation)?;
    String::from_utf8(key).map_err(|_| InvalidContinuation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_back_through_plain_ascii() {
        for key in ["", "p", "o'clock", "é 日本", "a!b", &"k".repeat(1000)] {
            let written = write(key);
            assert!(!written.is_empty() && written.bytes().all(|byte| byte.is_ascii_graphic()), "{written}");
            assert_eq!(read(&written), Ok(key.to_owned()));
        }
        assert_eq!(write("part"), "1!6!cGFydA");
    }

    #[test]
    fn what_was_not_given_out_is_refused() {
        for value in ["", "part", "1!6!cGFyd", "1!6!cGFyd*", "2!6!cGFydA", "1!x!cGFydA", "1!3!_-8"] {
            assert_eq!(read(value), Err(InvalidContinuation), "{value}");
        }
    }
}
