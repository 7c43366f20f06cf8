//! The queries that SDKs put to the lists of databases, containers and offers (wire guide §10, §16).
//!
//! `SELECT * FROM root r WHERE r.id = @id`: one source, equalities joined by AND, parameters or literals.
//! The whole language is another crate's work; what is not of this shape is refused with a sentence.

use crate::failure::Failure;
use orrery_core::limits;
use serde_json::{Map, Value};

/// A parsed query: the members that must have these values.
#[derive(Clone, Debug, PartialEq)]
pub struct MetadataQuery {
    equalities: Vec<(String, Value)>,
}

impl MetadataQuery {
    pub fn parse(body: &[u8]) -> Result<Self, Failure> {
        let body: Map<String, Value> = serde_json::from_slice(body).map_err(|error| {
            Failure::bad_request(format!("The query's body is not a JSON object: {error}."))
        })?;
        let text = body.get("query").and_then(Value::as_str);
        let text = text.ok_or_else(|| Failure::bad_request("The query's body has no 'query' member."))?;
        if text.len() > limits::QUERY_TEXT_BYTES_MAX {
            return Err(Failure::bad_request("The query's text is too long."));
        }
        let tokens = lex(text).ok_or_else(unsupported)?;
        let mut parser = Parser { tokens: &tokens, parameters: parameters(&body) };
        parser.query().ok_or_else(unsupported)
    }

    /// Whether it asks for everything.
    pub fn is_everything(&self) -> bool {
        self.equalities.is_empty()
    }

    pub fn matches(&self, resource: &Value) -> bool {
        self.equalities.iter().all(|(name, wanted)| resource.get(name) == Some(wanted))
    }
}

fn unsupported() -> Failure {
    Failure::bad_request(
        "This query is not supported yet: only SELECT * FROM c, and on lists of resources WHERE c.member = value AND …",
    )
}

fn parameters(body: &Map<String, Value>) -> Vec<(String, Value)> {
    let given = body.get("parameters").and_then(Value::as_array);
    let pair = |parameter: &Value| {
        Some((parameter.get("name")?.as_str()?.to_owned(), parameter.get("value")?.clone()))
    };
    given.into_iter().flatten().filter_map(pair).collect()
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Parameter(String),
    Literal(Value),
    Sign(char),
}

fn lex(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '=' | '.' | '*' => (Token::Sign(first), 1),
            '"' | '\'' => string(rest, first)?,
            '@' => {
                let length = 1 + word_length(&rest[1..]);
                (Token::Parameter(rest[..length].to_owned()), length)
            }
            '0'..='9' | '-' => {
                let length = rest
                    .find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)))
                    .unwrap_or(rest.len());
                (Token::Literal(serde_json::from_str(&rest[..length]).ok()?), length)
            }
            _ => {
                let length = word_length(rest);
                (Token::Word(rest[..length].to_owned()), length)
            }
        };
        if length == 0 {
            return None;
        }
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Some(tokens)
}

fn word_length(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len())
}

/// A literal in double quotes (JSON) or single quotes without escapes.
fn string(text: &str, quote: char) -> Option<(Token, usize)> {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == quote && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    let length = end?.0 + 1;
    let inner = &text[1..length - 1];
    let value = if quote == '"' {
        serde_json::from_str(&text[..length]).ok()?
    } else {
        Value::String(inner.to_owned())
    };
    Some((Token::Literal(value), length))
}

struct Parser<'a> {
    tokens: &'a [Token],
    parameters: Vec<(String, Value)>,
}

impl Parser<'_> {
    fn query(&mut self) -> Option<MetadataQuery> {
        self.keyword("SELECT")?;
        self.sign('*')?;
        self.keyword("FROM")?;
        let mut alias = self.word()?;
        if self.keyword("AS").is_some()
            || matches!(self.tokens, [Token::Word(next), ..] if !is(next, "WHERE"))
        {
            alias = self.word()?;
        }
        let mut equalities = Vec::new();
        if self.keyword("WHERE").is_some() {
            equalities.push(self.equality(&alias)?);
            while self.keyword("AND").is_some() {
                equalities.push(self.equality(&alias)?);
            }
        }
        self.tokens.is_empty().then_some(MetadataQuery { equalities })
    }

    fn equality(&mut self, alias: &str) -> Option<(String, Value)> {
        if self.word()? != alias {
            return None;
        }
        self.sign('.')?;
        let member = self.word()?;
        self.sign('=')?;
        let value = match self.next()? {
            Token::Literal(value) => value,
            Token::Parameter(name) => self.parameters.iter().find(|(given, _)| *given == name)?.1.clone(),
            Token::Word(_) | Token::Sign(_) => return None,
        };
        Some((member, value))
    }

    fn next(&mut self) -> Option<Token> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first.clone())
    }

    fn word(&mut self) -> Option<String> {
        match self.next()? {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    fn keyword(&mut self, wanted: &str) -> Option<()> {
        match self.tokens {
            [Token::Word(word), rest @ ..] if is(word, wanted) => {
                self.tokens = rest;
                Some(())
            }
            _ => None,
        }
    }

    fn sign(&mut self, wanted: char) -> Option<()> {
        (self.next()? == Token::Sign(wanted)).then_some(())
    }
}

fn is(word: &str, keyword: &str) -> bool {
    word.eq_ignore_ascii_case(keyword)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(query: &str, parameters: Value, resource: Value, expected: bool) {
        let body = json!({ "query": query, "parameters": parameters }).to_string();
        let parsed = MetadataQuery::parse(body.as_bytes()).expect(query);
        assert_eq!(parsed.matches(&resource), expected, "{query}");
    }

    #[test]
    fn the_queries_of_the_sdks() {
        let link = json!([{"name": "@link", "value": "dbs/a/"}]);
        check(
            "SELECT * FROM root r WHERE r.resource=@link",
            link.clone(),
            json!({"resource": "dbs/a/"}),
            true,
        );
        check("SELECT * FROM root r WHERE r.resource=@link", link, json!({"resource": "dbs/b/"}), false);
        check(
            r#"SELECT * from root where root.resource = "dbs/a/""#,
            json!([]),
            json!({"resource": "dbs/a/"}),
            true,
        );
        let rid = json!([{"name": "@rid", "value": "x="}]);
        check("SELECT * FROM c WHERE c.offerResourceId = @rid", rid, json!({"offerResourceId": "x="}), true);
        check("SELECT * FROM c", json!([]), json!({}), true);
        check(
            "select * from root r where r.id = 'a' and r.n = 1",
            json!([]),
            json!({"id": "a", "n": 1}),
            true,
        );
    }

    #[test]
    fn other_queries_are_refused_not_misread() {
        let refused = [
            "",
            "SELECT",
            "SELECT c.id FROM c",
            "SELECT * FROM c WHERE c.a > 1",
            "SELECT * FROM c ORDER BY c.a",
            "SELECT * FROM c WHERE d.a = 1",
            "SELECT * FROM c WHERE c.a = @missing",
            "SELECT * FROM c WHERE c.a = 1 OR c.b = 2",
            "SELECT * FROM c WHERE c.a = \"x",
            "SELECT * FROM c WHERE c.a.b = 1",
            "SELECT * FROM c; DROP",
        ];
        for query in refused {
            let body = json!({ "query": query }).to_string();
            assert_eq!(MetadataQuery::parse(body.as_bytes()).expect_err(query).status, 400, "{query}");
        }
        for body in ["", "[]", "{}", "{\"query\":1}"] {
            assert!(MetadataQuery::parse(body.as_bytes()).is_err());
        }
    }
}
