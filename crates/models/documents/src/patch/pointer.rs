//! JSON pointers (RFC 6901): `/a/0/b~1c`.

use super::Reason;
use orrery_core::limits;

/// The segments of a path, unescaped; at least one, since the item as a whole is not patched.
pub(super) fn parse(path: &str) -> Result<Vec<String>, Reason> {
    let segments = path.strip_prefix('/').ok_or(Reason::Path)?;
    if segments.split('/').nth(limits::NESTING_LEVELS_MAX).is_some() {
        return Err(Reason::PathTooLong);
    }
    segments.split('/').map(unescape).collect()
}

fn unescape(segment: &str) -> Result<String, Reason> {
    let mut parts = segment.split('~');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (stands_for, rest) = match part.as_bytes().first() {
            Some(b'0') => ('~', &part[1..]),
            Some(b'1') => ('/', &part[1..]),
            _ => return Err(Reason::Path),
        };
        text.push(stands_for);
        text.push_str(rest);
    }
    Ok(text)
}

/// The index that a segment names in an array; digits without a leading zero.
pub(super) fn index(segment: &str) -> Option<usize> {
    let is_plain = segment.bytes().all(|byte| byte.is_ascii_digit());
    let has_zero = segment.len() > 1 && segment.starts_with('0');
    if is_plain && !has_zero { segment.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_its_segments() {
        let check = |path: &str, expected: &[&str]| assert_eq!(parse(path).unwrap(), expected, "{path}");
        check("/a", &["a"]);
        check("/", &[""]);
        check("/a/0/-", &["a", "0", "-"]);
        check("/a~1b/~0/~01", &["a/b", "~", "~1"]);
        check("/a//b", &["a", "", "b"]);
        check("/ü ~1", &["ü /"]);
    }

    #[test]
    fn other_text_is_no_path() {
        for path in ["", "a", "a/b", "/a~", "/a~2", "/~/a"] {
            assert_eq!(parse(path), Err(Reason::Path), "{path}");
        }
        assert_eq!(parse(&"/a".repeat(limits::NESTING_LEVELS_MAX)).map(|path| path.len()), Ok(128));
        assert_eq!(parse(&"/a".repeat(limits::NESTING_LEVELS_MAX + 1)), Err(Reason::PathTooLong));
    }

    #[test]
    fn an_index_has_one_spelling() {
        assert_eq!((index("0"), index("10")), (Some(0), Some(10)));
        for other in ["", "-", "-1", "01", "00", "1.0", "+1", "a", "1 ", "99999999999999999999999"] {
            assert_eq!(index(other), None, "{other}");
        }
    }
}
