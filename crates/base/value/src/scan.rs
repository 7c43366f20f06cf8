//! Validates JSON text in one strict pass, and locates its members.
//!
//! The scanner walks the bytes once, with an explicit stack, and builds only the list of the top object's
//! members. It accepts RFC 8259 without repeated names, without numbers beyond a double, and no deeper than
//! [`NESTING_LEVELS_MAX`].
//!
//! A `\uD8xx`-style escape without its partner is accepted and reported: the caller overwrites its six bytes
//! with `\ufffd`, so every stored string is Unicode.

use orrery_core::limits::NESTING_LEVELS_MAX;

use crate::error::JsonError;
use crate::names::Names;
use crate::swar::plain_end;

/// The result of scanning an object's text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// The members of the top object, in text order.
    pub members: Vec<Member>,
    /// The offset of each unpaired surrogate escape (its backslash), anywhere in the text.
    pub lone_surrogates: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name, without quotes and still escaped.
    pub name: Span,
    pub value: Span,
}

/// A part of the text: byte offsets, end exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    /// The part of `text`; empty if the span is not one of this text.
    pub fn of<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// Validates the text of a document, which must be an object.
pub fn scan_object(text: &[u8]) -> Result<Scan, JsonError> {
    scan_object_text(utf8(text)?)
}

/// Variant of [`scan_object`] for text known to be UTF-8.
pub fn scan_object_text(text: &str) -> Result<Scan, JsonError> {
    orrery_core::tour_step!();
    let mut scanner = Scanner::new(text)?;
    let top = scanner.document()?;
    if top != b'{' {
        return Err(JsonError::NotAnObject);
    }
    Ok(Scan { members: scanner.members, lone_surrogates: scanner.lone_surrogates })
}

/// The bytes as text, or the offset at which they stop being UTF-8.
pub fn utf8(bytes: &[u8]) -> Result<&str, JsonError> {
    std::str::from_utf8(bytes).map_err(|error| JsonError::Utf8 { at: error.valid_up_to() })
}

/// Validates the text of any value.
pub fn scan_value(text: &[u8]) -> Result<(), JsonError> {
    Scanner::new(utf8(text)?)?.document().map(|_| ())
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    open: Vec<Frame>,
    names: Names<'a>,
    members: Vec<Member>,
    lone_surrogates: Vec<u32>,
}

#[derive(Clone, Copy)]
enum Frame {
    Array,
    Object { names_mark: usize },
}

/// The scanner's expectation after a step.
enum Next {
    Value,
    AfterValue,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Result<Self, JsonError> {
        if text.len() >= u32::MAX as usize {
            return Err(JsonError::TooLong { bytes: text.len() });
        }
        Ok(Self {
            text: text.as_bytes(),
            at: 0,
            open: Vec::with_capacity(16),
            names: Names::new(text),
            members: Vec::with_capacity(16),
            lone_surrogates: Vec::new(),
        })
    }

    /// Scans the whole text and returns the first byte of its value.
    fn document(&mut self) -> Result<u8, JsonError> {
        self.skip_space();
        let top = self.peek();
        loop {
            if let Next::Value = self.begin_value()? {
                continue;
            }
            if !self.find_next_value()? {
                break;
            }
        }
        self.skip_space();
        if self.at < self.text.len() {
            return Err(JsonError::Trailing { at: self.at });
        }
        Ok(top)
    }

    /// Reads a scalar or an empty container, or opens a container up to its first value.
    #[inline]
    fn begin_value(&mut self) -> Result<Next, JsonError> {
        match self.peek() {
            b'"' => self.string().map(|_| Next::AfterValue),
            b'{' => self.open_object(),
            b'[' => self.open_array(),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => Err(self.expected("a value")),
        }
    }

    /// After a value: closes the containers that end here. `false` when the top value is complete.
    #[inline]
    fn find_next_value(&mut self) -> Result<bool, JsonError> {
        loop {
            self.end_member();
            let Some(&frame) = self.open.last() else { return Ok(false) };
            self.skip_space();
            match (frame, self.peek()) {
                (Frame::Object { .. }, b',') => {
                    self.at += 1;
                    return self.member_name().map(|()| true);
                }
                (Frame::Array, b',') => {
                    self.at += 1;
                    self.skip_space();
                    return Ok(true);
                }
                (Frame::Object { names_mark }, b'}') => self.names.close(names_mark)?,
                (Frame::Array, b']') => {}
                (Frame::Object { .. }, _) => return Err(self.expected("',' or '}'")),
                (Frame::Array, _) => return Err(self.expected("',' or ']'")),
            }
            self.at += 1;
            self.open.pop();
        }
    }

    fn open_object(&mut self) -> Result<Next, JsonError> {
        self.push(Frame::Object { names_mark: self.names.mark() })?;
        self.skip_space();
        if self.peek() == b'}' {
            return Ok(self.close_empty());
        }
        self.member_name().map(|()| Next::Value)
    }

    fn open_array(&mut self) -> Result<Next, JsonError> {
        self.push(Frame::Array)?;
        self.skip_space();
        Ok(if self.peek() == b']' { self.close_empty() } else { Next::Value })
    }

    fn push(&mut self, frame: Frame) -> Result<(), JsonError> {
        if self.open.len() == NESTING_LEVELS_MAX {
            return Err(JsonError::TooDeep { at: self.at });
        }
        self.open.push(frame);
        self.at += 1;
        Ok(())
    }

    fn close_empty(&mut self) -> Next {
        self.at += 1;
        self.open.pop();
        Next::AfterValue
    }

    /// A name and its colon, up to the value.
    #[inline]
    fn member_name(&mut self) -> Result<(), JsonError> {
        self.skip_space();
        if self.peek() != b'"' {
            return Err(self.expected("a member name"));
        }
        let (name, escaped) = self.string()?;
        self.names.push(name, escaped);
        self.skip_space();
        if self.peek() != b':' {
            return Err(self.expected("':'"));
        }
        self.at += 1;
        self.skip_space();
        if self.open.len() == 1 {
            let start = self.at as u32;
            self.members.push(Member { name, value: Span { start, end: start } });
        }
        Ok(())
    }

    /// Only the top object has names at depth one, so `members` stays empty for any other top value.
    #[inline]
    fn end_member(&mut self) {
        if self.open.len() == 1
            && let Some(member) = self.members.last_mut()
        {
            member.value.end = self.at as u32;
        }
    }

    /// A string token; its inside, and whether it has escapes.
    #[inline]
    fn string(&mut self) -> Result<(Span, bool), JsonError> {
        let start = self.at + 1;
        let end = plain_end(self.text, start);
        self.at = end;
        if self.peek() == b'"' && end < self.text.len() {
            self.at += 1;
            return Ok((Span { start: start as u32, end: end as u32 }, false));
        }
        let end = self.string_rest()?;
        Ok((Span { start: start as u32, end: end as u32 }, true))
    }

    #[inline(never)]
    fn string_rest(&mut self) -> Result<usize, JsonError> {
        loop {
            self.at = plain_end(self.text, self.at);
            match self.text.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(self.at - 1);
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(JsonError::ControlCharacter { at: self.at }),
                None => return Err(self.expected("'\"'")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), JsonError> {
        match self.text.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(JsonError::Escape { at: self.at }),
        }
        Ok(())
    }

    fn unicode_escape(&mut self) -> Result<(), JsonError> {
        let unit = hex_unit(self.text, self.at).ok_or(JsonError::Escape { at: self.at })?;
        let is_high = (0xd800..0xdc00).contains(&unit);
        let next_is_low = || hex_unit(self.text, self.at + 6).is_some_and(|n| (0xdc00..0xe000).contains(&n));
        if is_high && next_is_low() {
            self.at += 12;
            return Ok(());
        }
        if (0xd800..0xe000).contains(&unit) {
            self.lone_surrogates.push(self.at as u32);
        }
        self.at += 6;
        Ok(())
    }

    #[inline]
    fn number(&mut self) -> Result<Next, JsonError> {
        let start = self.at;
        if self.peek() == b'-' {
            self.at += 1;
        }
        if self.peek() == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        let has_exponent = matches!(self.peek(), b'e' | b'E');
        if has_exponent {
            self.exponent()?;
        }
        // Without an exponent, only more than 308 digits exceed the range of a double.
        if (has_exponent || self.at - start > 308) && !is_finite(&self.text[start..self.at]) {
            return Err(JsonError::NumberTooLarge { at: start });
        }
        Ok(Next::AfterValue)
    }

    fn exponent(&mut self) -> Result<(), JsonError> {
        self.at += 1;
        if matches!(self.peek(), b'+' | b'-') {
            self.at += 1;
        }
        self.digits()
    }

    /// One digit or more.
    #[inline]
    fn digits(&mut self) -> Result<(), JsonError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let count = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.at += count;
        if count == 0 { Err(self.expected("a digit")) } else { Ok(()) }
    }

    fn word(&mut self, word: &'static [u8]) -> Result<Next, JsonError> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.expected("a value"));
        }
        self.at += word.len();
        Ok(Next::AfterValue)
    }

    /// The current byte; zero at the end, which is invalid everywhere.
    #[inline]
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    fn skip_space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    #[cold]
    fn expected(&self, what: &'static str) -> JsonError {
        JsonError::Expected { at: self.at, what }
    }
}

/// The code unit of a complete `\uXXXX` at `at`.
pub(crate) fn hex_unit(text: &[u8], at: usize) -> Option<u16> {
    let [b'\\', b'u', digits @ ..] = text.get(at..at + 6)? else { return None };
    digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | (digit as char).to_digit(16)? as u16))
}

fn is_finite(number: &[u8]) -> bool {
    std::str::from_utf8(number).ok().and_then(|text| text.parse::<f64>().ok()).is_some_and(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(text: &str) -> Vec<(&str, &str)> {
        let scan = scan_object(text.as_bytes()).unwrap();
        scan.members.iter().map(|m| (m.name.of(text), m.value.of(text))).collect()
    }

    fn error(text: &str) -> String {
        scan_object(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn member_spans_are_located() {
        assert_eq!(members("{}"), []);
        assert_eq!(
            members(" {\"a\" : 1 , \"b\":\t[1, {\"c\":2}]\n} "),
            [("a", "1"), ("b", "[1, {\"c\":2}]")]
        );
        assert_eq!(
            members(r#"{"\u0061\"":"x\"y","":{"q":{}},"e":[],"z":-0.5e+3}"#),
            [(r#"\u0061\""#, r#""x\"y""#), ("", r#"{"q":{}}"#), ("e", "[]"), ("z", "-0.5e+3")]
        );
    }

    #[test]
    fn errors_say_where_and_what() {
        assert_eq!(error(r#"{"id":"a" "pk":1}"#), "at byte 10: expected ',' or '}'");
        assert_eq!(error(r#"{"id"}"#), "at byte 5: expected ':'");
        assert_eq!(error(r#"{"a":1,}"#), "at byte 7: expected a member name");
        assert_eq!(error(r#"{"a":[1 2]}"#), "at byte 8: expected ',' or ']'");
        assert_eq!(error(r#"{"a":01}"#), "at byte 6: expected ',' or '}'");
        assert_eq!(error(r#"{"a":1.}"#), "at byte 7: expected a digit");
        assert_eq!(error(r#"{"a":nul}"#), "at byte 5: expected a value");
        assert_eq!(error(r#"{"a":"x"#), "at byte 7: expected '\"'");
        assert_eq!(error(r#"{"a":"\x"}"#), "at byte 6: not a valid escape");
        assert_eq!(error(r#"{"a":"\u12g4"}"#), "at byte 6: not a valid escape");
        assert_eq!(error("{\"a\":\"\n\"}"), "at byte 6: a control character in a string must be escaped");
        assert_eq!(error("{\"a\":\"\0"), "at byte 6: a control character in a string must be escaped");
        assert_eq!(error("{} x"), "at byte 3: text after the end of the value");
        assert_eq!(error(""), "at byte 0: expected a value");
        assert_eq!(error("[1]"), "expected an object");
        assert_eq!(scan_object(b"{\"a\":\"\xff\"}"), Err(JsonError::Utf8 { at: 6 }));
    }

    #[test]
    fn a_number_must_fit_a_double() {
        assert_eq!(error(r#"{"a":1e400}"#), "at byte 5: the number is too large for a double");
        assert_eq!(error(r#"{"a":[-1E+309]}"#), "at byte 6: the number is too large for a double");
        assert!(scan_value("9".repeat(400).as_bytes()).is_err());
        assert!(scan_value(format!("0.{}", "9".repeat(400)).as_bytes()).is_ok());
        assert!(scan_value(b"1e-400").is_ok());
        assert!(scan_value(b"1.7976931348623157e308").is_ok());
    }

    #[test]
    fn nesting_ends_at_the_limit() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(scan_value(nested(NESTING_LEVELS_MAX).as_bytes()).is_ok());
        let too_deep = scan_value(nested(NESTING_LEVELS_MAX + 1).as_bytes());
        assert_eq!(too_deep, Err(JsonError::TooDeep { at: NESTING_LEVELS_MAX }));
        assert!(scan_value("[".repeat(1_000_000).as_bytes()).is_err());
    }

    #[test]
    fn a_repeated_name_is_refused_in_any_object() {
        assert_eq!(
            error(r#"{"a":1,"b":2,"a":3}"#),
            "at byte 14: the object already has a member named \"a\""
        );
        assert_eq!(
            error(r#"{"a":[{"x":1,"\u0078":2}]}"#),
            "at byte 14: the object already has a member named \"x\""
        );
        assert!(error(r#"{"\ud800":1,"\udfff":1}"#).contains("already has"), "both are stored as U+FFFD");
        assert!(scan_object(br#"{"a":{"a":{"a":1}},"b":{"a":1},"A":0}"#).is_ok());
    }

    #[test]
    fn a_hundred_thousand_members_scan_quickly() {
        // Same length, same first and last eight bytes, so every fingerprint is equal.
        let names: Vec<String> = (0..100_000).map(|n| format!("\"prefix__{n:06}__suffix\":0")).collect();
        let text = format!("{{{}}}", names.join(","));
        assert_eq!(scan_object(text.as_bytes()).unwrap().members.len(), 100_000);
        let repeated = format!("{{{},{}}}", names.join(","), names[77]);
        let Err(JsonError::DuplicateName { at, name }) = scan_object(repeated.as_bytes()) else { panic!() };
        assert_eq!((at, name.as_str()), (text.len() + 1, "prefix__000077__suffix"));
    }

    #[test]
    fn unpaired_surrogates_are_listed() {
        let scan = |text: &str| scan_object(text.as_bytes()).unwrap().lone_surrogates;
        assert!(scan(r#"{"a":"\ud83d\ude80"}"#).is_empty());
        assert_eq!(scan(r#"{"a":"\uD83D"}"#), [6]);
        assert_eq!(scan(r#"{"a":"\ude80\ud83d"}"#), [6, 12]);
        assert_eq!(scan(r#"{"a":"\ud83d\ud83d\ude80","\udc00":[]}"#), [6, 27]);
        assert_eq!(scan(r#"{"a":"\ud83dx\ude80\\ud83d"}"#), [6, 13]);
    }
}
