//! Parses a line of the shell.

use crate::data::location::Location;
use crate::query::Format;
use clap::ValueEnum as _;
use orrery_query::plan::Rules;

#[derive(Debug, PartialEq, Eq)]
pub enum Statement {
    Nothing,
    Help,
    Exit,
    Use(String),
    List(String),
    Get(String),
    Put(String),
    Remove(String),
    Format(Format),
    Query(String),
}

/// The verbs, for completion.
pub const VERBS: [&str; 9] = ["SELECT", "use", "ls", "get", "put", "rm", "format", "help", "exit"];

pub fn parse(text: &str) -> Result<Statement, String> {
    let text = text.trim().trim_end_matches(';').trim_end();
    let (verb, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim().to_owned();
    let named = |rest: String, example: &str| match rest.is_empty() {
        true => Err(format!("say what: {example}")),
        false => Ok(rest),
    };
    Ok(match verb.to_ascii_lowercase().as_str() {
        "" => Statement::Nothing,
        "select" => Statement::Query(text.to_owned()),
        "help" | "?" | "\\?" => Statement::Help,
        "exit" | "quit" | "\\q" => Statement::Exit,
        "use" | "cd" => Statement::Use(rest),
        "ls" => Statement::List(rest),
        "get" => Statement::Get(named(rest, "get ID")?),
        "put" => Statement::Put(named(rest, "put {\"id\": …}")?),
        "rm" => Statement::Remove(named(rest, "rm ID")?),
        "format" => Statement::Format(
            Format::from_str(&rest, true).map_err(|_| "formats are table, json and lines".to_owned())?,
        ),
        other => return Err(format!("'{other}' is not a verb of the shell; help lists them")),
    })
}

/// Whether Enter runs the text. A query goes on over lines while its text is too short to be one.
pub fn is_complete(text: &str) -> bool {
    let text = text.trim();
    let is_query = text.get(..6).is_some_and(|verb| verb.eq_ignore_ascii_case("select"));
    if !is_query || text.ends_with(';') {
        return true;
    }
    match orrery_query::parse::parse(text) {
        // Names without a FROM clause can only be meant for one that is yet to come.
        Ok(_) => has_from(text) || orrery_query::prepare(text, &[], Rules::On).is_ok(),
        // Another line would not correct an error in the middle.
        Err(complaint) => (complaint.at.start as usize) < text.len(),
    }
}

fn has_from(text: &str) -> bool {
    text.split(|character: char| !character.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case("from"))
}

/// A path as it is meant where the shell is: below it, from the top with a slash in front, or up.
pub fn resolve(at: &Location, path: &str) -> Result<Location, String> {
    let mut parts: Vec<&str> = Vec::new();
    let here = at.to_string();
    if !path.starts_with('/') {
        parts.extend(here.split('/').filter(|part| !part.is_empty()));
    }
    for part in path.split('/').filter(|part| !part.is_empty()) {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    Location::parse(&parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_verb_and_what_it_is_about() {
        for (text, expected) in [
            ("", Statement::Nothing),
            ("  select 1 ;", Statement::Query("select 1".to_owned())),
            ("use shop/orders", Statement::Use("shop/orders".to_owned())),
            ("ls", Statement::List(String::new())),
            ("put {\"id\": \"a\"};", Statement::Put("{\"id\": \"a\"}".to_owned())),
            ("format LINES", Statement::Format(Format::Lines)),
            ("\\q", Statement::Exit),
        ] {
            assert_eq!(parse(text), Ok(expected), "{text}");
        }
        for (text, fragment) in [("get", "say what"), ("frob x", "not a verb"), ("format x", "formats are")] {
            assert!(parse(text).is_err_and(|sentence| sentence.contains(fragment)), "{text}");
        }
    }

    #[test]
    fn a_query_goes_on_until_it_is_one() {
        assert!(!is_complete("SELECT"));
        assert!(!is_complete("SELECT c.id FROM c WHERE"));
        assert!(is_complete("SELECT c.id FROM c WHERE c.n = 1"));
        assert!(!is_complete("SELECT VALUE c.n"), "where c comes from is still to be said");
        assert!(is_complete("SELECT VALUE 1 + 1"));
        assert!(is_complete("SELECT c.id FROM c WHERE;"));
        assert!(is_complete("SELECT FROM WHERE c"), "a mistake in the middle is told at once");
        assert!(is_complete("ls"));
    }

    #[test]
    fn paths_are_relative_unless_they_begin_with_a_slash() {
        let at = Location::parse("shop/orders").expect("a container");
        let resolved = |path: &str| resolve(&at, path).map(|location| location.to_string());
        assert_eq!(resolved("7"), Ok("shop/orders/7".to_owned()));
        assert_eq!(resolved(""), Ok("shop/orders".to_owned()));
        assert_eq!(resolved(".."), Ok("shop".to_owned()));
        assert_eq!(resolved("../../.."), Ok("/".to_owned()));
        assert_eq!(resolved("/other"), Ok("other".to_owned()));
    }
}
