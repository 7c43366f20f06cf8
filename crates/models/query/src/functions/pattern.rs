//! Translates PCRE patterns to the syntax of our engine.
//!
//! The two differ in a few places that queries meet. Outside a class, PCRE takes a `{` that begins no
//! repetition literally. Inside a class, `[`, `&&`, `--` and `~~` are literal, where our engine would begin a
//! nested class or a set operation, and spaces count even under `x`. The translation escapes those and keeps
//! the rest.

/// The longest name in braces or in `[:…:]`. Without a limit, a pattern of nothing but openings would be
/// searched to its end for each of them.
const NAME_BYTES_MAX: usize = 64;

/// The pattern with the modifiers, which must be among `imsx`; otherwise `None`.
pub(super) fn with_modifiers(pattern: &str, modifiers: &str) -> Option<String> {
    if modifiers.chars().any(|modifier| !"imsx".contains(modifier)) {
        return None;
    }
    let mut out = String::with_capacity(pattern.len() + 8);
    let known = "imsx".chars().filter(|modifier| modifiers.contains(*modifier));
    let flags: String = known.collect();
    if !flags.is_empty() {
        out.push_str(&format!("(?{flags})"));
    }
    translate(pattern, &mut out);
    Some(out)
}

fn translate(pattern: &str, out: &mut String) {
    let mut rest = pattern;
    while let Some(character) = rest.chars().next() {
        let taken = match character {
            '\\' => escape_bytes(rest),
            '[' => class(rest, out),
            '{' if !is_repetition(rest) => {
                out.push('\\');
                1
            }
            _ => character.len_utf8(),
        };
        // The class has been written already.
        if character != '[' {
            out.push_str(&rest[..taken]);
        }
        rest = &rest[taken..];
    }
}

/// The length of an escape: the backslash and its character, and the braces of `\x{…}`, `\p{…}` and the like.
fn escape_bytes(rest: &str) -> usize {
    let Some(escaped) = rest[1..].chars().next() else { return 1 };
    let bytes = 1 + escaped.len_utf8();
    let has_braces = "xpPguk".contains(escaped) && rest[bytes..].starts_with('{');
    let end = if has_braces { rest.bytes().take(NAME_BYTES_MAX).position(|byte| byte == b'}') } else { None };
    end.map_or(bytes, |end| end + 1)
}

/// Whether a `{` begins `{n}`, `{n,}` or `{n,m}`.
fn is_repetition(rest: &str) -> bool {
    let is_digit = |it: char| it.is_ascii_digit();
    let after_low = rest[1..].trim_start_matches(is_digit);
    let has_low = after_low.len() < rest.len() - 1;
    let after_high = after_low.strip_prefix(',').map_or(after_low, |high| high.trim_start_matches(is_digit));
    has_low && after_high.starts_with('}')
}

/// Writes a class and returns its length. A `]` right after the opening bracket is a member.
fn class(rest: &str, out: &mut String) -> usize {
    let opening = if rest.starts_with("[^") { 2 } else { 1 };
    out.push_str(&rest[..opening]);
    let mut at = opening;
    let mut after_dash = false;
    while at < rest.len() && (at == opening || !rest[at..].starts_with(']')) {
        let item = class_item(&rest[at..]);
        write_class_item(item, after_dash, out);
        after_dash = item == "-" && at > opening;
        at += item.len();
    }
    if at < rest.len() {
        out.push(']');
        at += 1;
    }
    at
}

/// The first item of a class: an escape, a `[:name:]`, or one character.
fn class_item(rest: &str) -> &str {
    let first = rest.chars().next().map_or(0, char::len_utf8);
    let bytes = match rest.as_bytes() {
        [b'\\', ..] => escape_bytes(rest),
        [b'[', b':', ..] => class_name_bytes(rest).unwrap_or(first),
        _ => first,
    };
    &rest[..bytes]
}

/// The length of a `[:name:]`, if there is one.
fn class_name_bytes(rest: &str) -> Option<usize> {
    let pairs = rest.as_bytes().windows(2).take(NAME_BYTES_MAX);
    pairs.skip(2).position(|pair| pair == b":]").map(|at| at + 4)
}

/// Escapes white space and `#`, so that the modifier `x` does not remove them.
fn write_class_item(item: &str, after_dash: bool, out: &mut String) {
    match item {
        "-" if after_dash => out.push_str("\\-"),
        "[" | "]" | "&" | "~" | "#" => out.extend(["\\", item]),
        space if space.starts_with(char::is_whitespace) => {
            out.extend(space.chars().map(|it| format!("\\x{{{:x}}}", it as u32)));
        }
        other => out.push_str(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, expected: &str) {
        assert_eq!(with_modifiers(pattern, "").as_deref(), Some(expected), "{pattern}");
    }

    #[test]
    fn common_syntax_is_unchanged() {
        for pattern in
            ["", "a.b*", r"^\d{3}-\w+$", "a{2}b{2,}c{2,3}", "[a-z0-9_-]", "[^,]", "(?<=a)b", r"\p{Lu}"]
        {
            check(pattern, pattern);
        }
        for pattern in [r"[[:alpha:]_]", r"\x{1F680}", r"[\x{61}-\x{7a}]", r"\[a\]", "é🚀", "a\\", "[a", "["]
        {
            check(pattern, pattern);
        }
    }

    #[test]
    fn a_brace_without_repetition_is_literal() {
        check("{a}", r"\{a}");
        check("a{,2}", r"a\{,2}");
        check("{", r"\{");
        check("a{2", r"a\{2");
        check("{2}", "{2}");
    }

    #[test]
    fn class_members_are_literal() {
        check("[[]", r"[\[]");
        check("[]a]", r"[\]a]");
        check("[^]a]", r"[^\]a]");
        check("[a&&b]", r"[a\&\&b]");
        check("[!--]", r"[!-\-]");
        check("[--9]", "[--9]");
        check("[ #]", r"[\x{20}\#]");
        check("[a~~b]x{", r"[a\~\~b]x\{");
    }

    #[test]
    fn unclosed_brackets_are_literal() {
        check(&"{".repeat(1000), &r"\{".repeat(1000));
        check("[[:[:", r"[\[:\[:");
        check(&format!(r"\x{{{}}}", "f".repeat(100)), &format!(r"\x\{{{}}}", "f".repeat(100)));
    }

    #[test]
    fn modifiers_come_first_and_once() {
        assert_eq!(with_modifiers("a", "xix").as_deref(), Some("(?ix)a"));
        assert_eq!(with_modifiers("a", "g"), None);
        assert_eq!(with_modifiers("a", "I"), None);
    }
}
