//! The tokens of a text, kind by kind.

use super::*;

fn kinds(text: &str) -> Vec<TokenKind> {
    let mut kinds: Vec<_> = lex(text).unwrap().into_iter().map(|token| token.kind).collect();
    assert_eq!(kinds.pop(), Some(TokenKind::End));
    kinds
}

fn check(text: &str, expected: impl Into<TokenKind>) {
    assert_eq!(kinds(text), [expected.into()], "{text}");
}

fn check_number(text: &str, expected: Number) {
    check(text, TokenKind::Number(expected));
    let same = |a: Number, b: Number| matches!(a, Number::Int(_)) == matches!(b, Number::Int(_));
    assert!(matches!(kinds(text)[..], [TokenKind::Number(it)] if same(it, expected)), "{text}");
}

fn check_string(text: &str, expected: &str) {
    check(text, TokenKind::String(expected.to_owned()));
}

fn check_wrong(text: &str, code: &str, start: u32, end: u32) {
    let complaint = lex(text).unwrap_err();
    assert_eq!((complaint.code, complaint.at), (code, TextSpan { start, end }), "{text}: {complaint}");
}

#[test]
fn numbers_are_decimal_or_hexadecimal() {
    check_number("0", Number::Int(0));
    check_number("007", Number::Int(7));
    check_number("9007199254740993", Number::Int(9_007_199_254_740_993));
    check_number("9223372036854775808", Number::Float(9_223_372_036_854_775_808.0));
    check_number("1.5", Number::Float(1.5));
    check_number("1.", Number::Float(1.0));
    check_number(".5", Number::Float(0.5));
    check_number("1e3", Number::Float(1000.0));
    check_number("1.5E-3", Number::Float(0.0015));
    check_number("2e+2", Number::Float(200.0));
    check_number("0x1F", Number::Int(31));
    check_number("0Xff", Number::Int(255));
    check_number("0xFFFFFFFFFFFFFFFF", Number::Float(18_446_744_073_709_551_615.0));
}

#[test]
fn letters_attached_to_a_number_make_it_malformed() {
    check_wrong(" 12a ", "SC1011", 1, 4);
    check_wrong("1e", "SC1011", 0, 2);
    check_wrong("1e+", "SC1011", 0, 3);
    check_wrong("0x", "SC1011", 0, 2);
    check_wrong("0xg", "SC1011", 0, 3);
    check_wrong("0x+1", "SC1011", 0, 2);
    check_wrong("1e999", "SC1011", 0, 5);
    check_wrong("1_000", "SC1011", 0, 5);
    check_wrong("1.x", "SC1011", 0, 3);
}

#[test]
fn strings_have_either_quote_and_the_escapes_of_json() {
    check_string("'a'", "a");
    check_string("\"a\"", "a");
    check_string("''", "");
    check_string("'say \"hi\"'", "say \"hi\"");
    check_string(r"'it\'s'", "it's");
    check_string(r#""a\"b""#, "a\"b");
    check_string(r"'\\\/\b\f\n\r\t'", "\\/\u{8}\u{c}\n\r\t");
    check_string(r"'\u00e9\ud83d\ude80'", "é🚀");
    check_string(r"'\ud800'", "\u{fffd}");
    check_string("'東京 -- no comment'", "東京 -- no comment");
}

#[test]
fn an_unterminated_string_takes_the_rest() {
    check_wrong("x = \"abc", "SC1012", 4, 8);
    check_wrong("'", "SC1012", 0, 1);
    check_wrong(r"'a\'", "SC1012", 0, 4);
    check_wrong(r"'a\", "SC1012", 0, 3);
    assert_eq!(lex("\"").unwrap_err().message, "Syntax error, invalid string literal token '\"'.");
}

#[test]
fn an_unknown_escape_makes_the_string_malformed() {
    check_wrong(r"1 '\d' 2", "SC1012", 2, 6);
    check_wrong(r"'\u12'", "SC1012", 0, 6);
    check_wrong(r"'\u12g4'", "SC1012", 0, 8);
    check_wrong(r"'\u+123'", "SC1012", 0, 8);
    check_wrong("'\\é'", "SC1012", 0, 5);
}

#[test]
fn names_have_letters_of_any_script_digits_underscores_and_dollars() {
    for name in ["c", "_rid", "a1", "$v", "größe", "名前", "RANK", "selected"] {
        check(name, TokenKind::Name);
        assert!(is_name(name));
    }
    for other in ["select", "1a", "", "a b", "a-b", "@a", "a.b"] {
        assert!(!is_name(other), "{other}");
    }
}

#[test]
fn parameters_start_with_an_at() {
    check("@p0", TokenKind::Parameter);
    check("@__id_0", TokenKind::Parameter);
    check("@1", TokenKind::Parameter);
    check("@", TokenKind::Stray);
}

#[test]
fn the_longest_symbol_wins() {
    use Symbol::*;
    check(">>>", ShiftRightZero);
    check("<>", NotEqual);
    check("!=", NotEqual);
    assert_eq!(kinds(">>>="), [ShiftRightZero.into(), Equal.into()]);
    assert_eq!(kinds("???"), [QuestionQuestion.into(), Question.into()]);
    assert_eq!(kinds("|||"), [BarBar.into(), Bar.into()]);
    assert_eq!(kinds("- -"), [Minus.into(), Minus.into()]);
}

#[test]
fn a_stray_character_is_a_token() {
    for stray in ["#", "!", ";", "`", "\\", "€", "\u{0}"] {
        check(stray, TokenKind::Stray);
    }
}

#[test]
fn comments_end_with_their_line() {
    assert_eq!(kinds("1 -- 2 'x\n3--4"), kinds("1 3"));
    assert_eq!(kinds("--"), []);
    use Symbol::*;
    assert_eq!(kinds("/**/"), [Slash.into(), Star.into(), Star.into(), Slash.into()]);
}

#[test]
fn spans_count_bytes() {
    let places: Vec<_> = lex(" é\u{a0}'ü' ").unwrap().iter().map(|t| (t.at.start, t.at.end)).collect();
    assert_eq!(places, [(1, 3), (5, 9), (10, 10)]);
}

#[test]
fn a_text_beyond_the_limit_is_not_read() {
    let text = " ".repeat(QUERY_TEXT_BYTES_MAX + 1);
    let complaint = lex(&text).unwrap_err();
    assert_eq!(complaint.code, "SC3020");
    assert_eq!(complaint.message, "The SQL query text exceeded the maximum limit of 524288 characters.");
    assert!(lex(&text[1..]).is_ok());
}

#[test]
fn a_message_shows_only_the_beginning_of_a_long_token() {
    let complaint = lex(&format!("'{}", "é".repeat(10_000))).unwrap_err();
    assert!(complaint.message.len() < 2 * QUERY_TOKEN_SHOWN_BYTES_MAX);
    assert_eq!(complaint.at, TextSpan { start: 0, end: 20_001 });
}
