//! Parses ARM expressions: calls, strings, numbers, members and indexes, between `[` and `]`.

use crate::limits;
use crate::node::{Fault, Location, fault};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Text(String),
    Number(i64),
    Call { name: String, arguments: Vec<Expression> },
    Member { of: Box<Expression>, name: String },
    Index { of: Box<Expression>, at: Box<Expression> },
}

/// The text inside the brackets if a string is an expression. `[[` is an escaped bracket.
pub(super) fn inside(text: &str) -> Option<&str> {
    text.strip_prefix('[').filter(|rest| !rest.starts_with('['))?.strip_suffix(']')
}

pub(super) fn parse(text: &str, at: Location) -> Result<Expression, Fault> {
    let mut parser = Parser { text, rest: text, at, levels: 0 };
    let parsed = parser.expression()?;
    parser.space();
    match parser.rest {
        "" => Ok(parsed),
        rest => parser.unlike(rest),
    }
}

struct Parser<'t> {
    text: &'t str,
    rest: &'t str,
    at: Location,
    levels: usize,
}

impl<'t> Parser<'t> {
    fn expression(&mut self) -> Result<Expression, Fault> {
        self.levels += 1;
        if self.levels > limits::BLUEPRINT_LEVELS_MAX {
            return fault(self.at, "the expression is nested too deep");
        }
        let mut found = self.atom()?;
        // Each member and index access adds a tree level.
        for _ in 0..limits::BLUEPRINT_LEVELS_MAX {
            self.space();
            found = if let Some(rest) = self.rest.strip_prefix('.') {
                self.rest = rest.trim_start_matches('?');
                Expression::Member { of: Box::new(found), name: self.word()?.to_owned() }
            } else if let Some(rest) = self.rest.strip_prefix('[') {
                self.rest = rest;
                let index = self.expression()?;
                self.expect(']')?;
                Expression::Index { of: Box::new(found), at: Box::new(index) }
            } else {
                self.levels -= 1;
                return Ok(found);
            };
        }
        fault(self.at, "the expression is nested too deep")
    }

    fn atom(&mut self) -> Result<Expression, Fault> {
        self.space();
        if self.rest.starts_with('\'') {
            return Ok(Expression::Text(self.quoted()?));
        }
        if self.rest.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
            return self.number();
        }
        let name = self.word()?.to_owned();
        self.expect('(')?;
        Ok(Expression::Call { name, arguments: self.arguments()? })
    }

    fn arguments(&mut self) -> Result<Vec<Expression>, Fault> {
        let mut arguments = Vec::new();
        self.space();
        if let Some(rest) = self.rest.strip_prefix(')') {
            self.rest = rest;
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression()?);
            self.space();
            match self.rest.strip_prefix(',') {
                Some(rest) => self.rest = rest,
                None => break,
            }
        }
        self.expect(')')?;
        Ok(arguments)
    }

    /// A doubled quote inside a string is an escape.
    fn quoted(&mut self) -> Result<String, Fault> {
        let mut text = String::new();
        let mut rest = &self.rest[1..];
        loop {
            let Some(end) = rest.find('\'') else { return self.unlike(self.rest) };
            text.push_str(&rest[..end]);
            rest = &rest[end + 1..];
            match rest.strip_prefix('\'') {
                Some(after) => {
                    text.push('\'');
                    rest = after;
                }
                None => break,
            }
        }
        self.rest = rest;
        Ok(text)
    }

    fn number(&mut self) -> Result<Expression, Fault> {
        let end =
            self.rest[1..].find(|one: char| !one.is_ascii_digit()).map_or(self.rest.len(), |end| end + 1);
        let (digits, rest) = self.rest.split_at(end);
        let Ok(number) = digits.parse() else { return self.unlike(digits) };
        self.rest = rest;
        Ok(Expression::Number(number))
    }

    fn word(&mut self) -> Result<&'t str, Fault> {
        let is_part = |one: char| one.is_ascii_alphanumeric() || matches!(one, '_' | '-');
        let end = self.rest.find(|one: char| !is_part(one)).unwrap_or(self.rest.len());
        if end == 0 {
            return self.unlike(self.rest);
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(word)
    }

    fn expect(&mut self, wanted: char) -> Result<(), Fault> {
        self.space();
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => self.unlike(self.rest),
        }
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn unlike<T>(&self, rest: &str) -> Result<T, Fault> {
        let near = match rest.is_empty() {
            true => "its end".to_owned(),
            false => format!("'{}'", rest.chars().take(20).collect::<String>()),
        };
        fault(self.at, format!("the expression '{}' is not understood near {near}", self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let parsed = parse(text, Location::default()).map(|parsed| shown(&parsed));
        assert_eq!(parsed.as_deref(), Ok(expected), "{text}");
    }

    fn shown(expression: &Expression) -> String {
        match expression {
            Expression::Text(text) => format!("{text:?}"),
            Expression::Number(number) => number.to_string(),
            Expression::Call { name, arguments } => {
                format!("{name}({})", arguments.iter().map(shown).collect::<Vec<_>>().join(" "))
            }
            Expression::Member { of, name } => format!("{}.{name}", shown(of)),
            Expression::Index { of, at } => format!("{}[{}]", shown(of), shown(at)),
        }
    }

    #[test]
    fn calls_members_and_indexes_are_read() {
        check("parameters('name')", "parameters(\"name\")");
        check("format('{0}/{1}', parameters('a'), -12)", "format(\"{0}/{1}\" parameters(\"a\") -12)");
        check(" variables('c')[copyIndex()].name ", "variables(\"c\")[copyIndex()].name");
        check("'it''s'", "\"it's\"");
    }

    #[test]
    fn malformed_expressions_are_refused() {
        for text in [
            "",
            "parameters(",
            "parameters('a",
            "a.b",
            "f(1,)",
            "f(1) 2",
            "-",
            "f('a').",
            "f()[",
            "99999999999999999999",
        ] {
            assert!(parse(text, Location::default()).is_err(), "{text}");
        }
        for deep in [
            "f(".repeat(10_000),
            format!("f(){}", "[f()".repeat(10_000)),
            format!("f(){}", ".a".repeat(10_000)),
        ] {
            assert!(parse(&deep, Location::default()).is_err_and(|fault| fault.reason.contains("too deep")));
        }
    }

    #[test]
    fn two_brackets_are_text() {
        assert_eq!(
            (inside("[f()]"), inside("[[x]"), inside("x"), inside("[")),
            (Some("f()"), None, None, None)
        );
    }
}
