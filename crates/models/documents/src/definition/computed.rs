//! Computed properties: a name for `SELECT VALUE <expression> FROM <alias>`.
//!
//! The check here is of the query's shape, word by word; whether the expression itself makes sense is for
//! the query parser, which this module does not know.

use super::SYSTEM_PROPERTIES;
use super::error::{Parsed, invalid};
use super::members::Members;
use orrery_core::limits;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComputedProperty {
    pub name: String,
    pub query: String,
}

/// Words that would make the query more than one expression over one item.
const FORBIDDEN: [&str; 9] =
    ["WHERE", "ORDER", "GROUP", "TOP", "DISTINCT", "OFFSET", "LIMIT", "JOIN", "EXISTS"];

pub(super) fn parse(raw: Value) -> Parsed<Vec<ComputedProperty>> {
    let Value::Array(entries) = raw else {
        return Err(invalid("The computedProperties must be an array."));
    };
    let count_max = limits::COMPUTED_PROPERTIES_MAX;
    if entries.len() > count_max {
        return Err(invalid(format!(
            "The container has {} computed properties. The most are {count_max}.",
            entries.len()
        )));
    }
    let parsed = entries.into_iter().map(parse_property).collect::<Result<Vec<_>, _>>()?;
    let (properties, shown): (Vec<ComputedProperty>, Vec<Value>) = parsed.into_iter().unzip();
    let mut seen = HashSet::new();
    if let Some(twice) = properties.iter().find(|property| !seen.insert(&property.name)) {
        return Err(invalid(format!("The computed property '{}' is there twice.", twice.name)));
    }
    Ok((properties, Value::Array(shown)))
}

fn parse_property(raw: Value) -> Parsed<ComputedProperty> {
    let mut members = Members::of("computed property", raw)?;
    let name = members.required_string("name")?;
    let query = members.required_string("query")?;
    if name.is_empty() || name == "id" || SYSTEM_PROPERTIES.contains(&name.as_str()) {
        return Err(invalid(format!(
            "The computed property name '{name}' is empty or a system property. Choose another."
        )));
    }
    check_query(&query).map_err(|why| {
        invalid(format!(
            "The query of the computed property '{name}' is invalid: {why}. It must have the form 'SELECT \
             VALUE <expression> FROM <alias>'."
        ))
    })?;
    let shown = Map::from_iter([("name".to_owned(), json!(name)), ("query".to_owned(), json!(query))]);
    Ok((ComputedProperty { name, query }, members.followed_by_rest(shown)))
}

fn check_query(query: &str) -> Result<(), String> {
    let tokens = tokens(query)?;
    let words = keywords(&tokens);
    if !matches!(&words[..], [(0, first), (1, second), ..] if is(first, "SELECT") && is(second, "VALUE")) {
        return Err("it does not start with SELECT VALUE".to_owned());
    }
    if let Some((_, word)) = words.iter().find(|(_, word)| FORBIDDEN.iter().any(|bad| is(word, bad))) {
        return Err(format!("it has {}", word.to_uppercase()));
    }
    if words[1..].iter().any(|(_, word)| is(word, "SELECT")) {
        return Err("it has a subquery".to_owned());
    }
    let sources: Vec<usize> = words.iter().filter(|(_, word)| is(word, "FROM")).map(|(at, _)| *at).collect();
    match sources[..] {
        [2] => Err("it has no expression".to_owned()),
        [from] => check_source(&tokens[from + 1..]),
        _ => Err("it does not have exactly one FROM".to_owned()),
    }
}

/// `c`, `root c` or `root AS c`.
fn check_source(tokens: &[Token<'_>]) -> Result<(), String> {
    match tokens {
        [Token::Word(_)] => Ok(()),
        [Token::Word(_), Token::Word(alias)] if !is(alias, "AS") && !is(alias, "IN") => Ok(()),
        [Token::Word(_), Token::Word(word), Token::Word(_)] if is(word, "AS") => Ok(()),
        _ => Err("its FROM is not a single alias".to_owned()),
    }
}

fn is(word: &str, keyword: &str) -> bool {
    word.eq_ignore_ascii_case(keyword)
}

enum Token<'a> {
    Word(&'a str),
    Text,
    Symbol(char),
}

/// The words that can be keywords, with their places: not the `top` of `c.top` or of `{top: 1}`.
fn keywords<'a>(tokens: &[Token<'a>]) -> Vec<(usize, &'a str)> {
    let follows_dot = |at: usize| at > 0 && matches!(tokens[at - 1], Token::Symbol('.'));
    let is_label = |at: usize| matches!(tokens.get(at + 1), Some(Token::Symbol(':')));
    let words = tokens.iter().enumerate().filter_map(|(at, token)| match token {
        Token::Word(word) if !follows_dot(at) && !is_label(at) => Some((at, *word)),
        _ => None,
    });
    words.collect()
}

fn tokens(query: &str) -> Result<Vec<Token<'_>>, String> {
    let mut found = Vec::new();
    let mut rest = query.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => text_length(rest, first).ok_or("a string in it does not end")?,
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        found.push(match first {
            '"' | '\'' => Token::Text,
            c if is_word(c) => Token::Word(&rest[..length]),
            c => Token::Symbol(c),
        });
        rest = rest[length..].trim_start();
    }
    Ok(found)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The bytes of the string literal that `text` starts with, quotes included.
fn text_length(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(query: &str) {
        assert_eq!(check_query(query), Ok(()), "{query}");
    }

    fn refused(query: &str, why: &str) {
        let error = check_query(query).unwrap_err();
        assert!(error.contains(why), "{query}: {error}");
    }

    #[test]
    fn one_expression_over_one_alias_is_accepted() {
        accepted("SELECT VALUE LOWER(c.name) FROM c");
        accepted("select value c.price * 0.8 from root as c");
        accepted("SELECT VALUE c.top FROM c");
        accepted("SELECT VALUE {order: c.a, 'from': c.b} FROM c");
        accepted("SELECT VALUE 'no FROM, no WHERE \\' here' FROM root c");
        accepted("SELECT VALUE c[\"where\"] FROM c");
    }

    #[test]
    fn anything_more_is_refused_with_the_reason() {
        refused("", "does not start with SELECT VALUE");
        refused("SELECT c.a FROM c", "does not start with SELECT VALUE");
        refused("SELECT VALUE FROM c", "no expression");
        refused("SELECT VALUE c.a", "exactly one FROM");
        refused("SELECT VALUE c.a FROM c WHERE c.b", "has WHERE");
        refused("SELECT VALUE c.a FROM c order by c.a", "has ORDER");
        refused("SELECT VALUE TOP 1 c.a FROM c", "has TOP");
        refused("SELECT VALUE t FROM c JOIN t IN c.tags", "has JOIN");
        refused("SELECT VALUE t FROM t IN c.tags", "not a single alias");
        refused("SELECT VALUE c.a FROM c, d", "not a single alias");
        refused("SELECT VALUE (SELECT VALUE 1) FROM c", "subquery");
        refused("SELECT VALUE 'open FROM c", "does not end");
    }
}
