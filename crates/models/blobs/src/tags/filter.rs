//! The two languages of tags (wire guide §9.1, §9.2): a filter finds blobs, and an expression is a condition of one.
//!
//! ```text
//! expression   and ("OR" and)*
//! and          term ("AND" term)*
//! term         "(" expression ")" | key operator 'value'
//! key          "quoted" | bare | @container
//! operator     = <> > >= < <=
//! ```
//!
//! A filter is an expression of comparisons joined by AND, without `<>`; it alone may name `@container`. Values compare
//! as strings, byte by byte. A comparison with a tag that a blob does not have is false.

use super::TagSet;
use super::parse::Parser;
use crate::limits;
use orrery_catalog::storage::BlobContainerName;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    pub key: String,
    pub operator: Operator,
    pub value: String,
}

/// `x-ms-if-tags`
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagExpression {
    Compare(Comparison),
    And(Vec<TagExpression>),
    Or(Vec<TagExpression>),
}

/// The `where` of Find Blobs by Tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagFilter {
    /// `@container = 'name'`
    pub container: Option<BlobContainerName>,
    /// All of them hold; at least one.
    pub comparisons: Vec<Comparison>,
}

/// Where a text is not a filter or expression, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Error parsing query at or near character position {}: {what}", at + 1)]
pub struct TagSyntaxError {
    /// In bytes from the beginning.
    pub at: usize,
    pub what: String,
}

impl Operator {
    pub fn compare(self, left: &str, right: &str) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
        }
    }
}

impl Comparison {
    pub fn matches(&self, tags: &TagSet) -> bool {
        tags.get(&self.key).is_some_and(|value| self.operator.compare(value, &self.value))
    }
}

impl TagExpression {
    pub fn parse(text: &str) -> Result<Self, TagSyntaxError> {
        Parser::new(text, limits::TAG_EXPRESSION_TERMS_MAX)?.expression()
    }

    pub fn matches(&self, tags: &TagSet) -> bool {
        match self {
            Self::Compare(comparison) => comparison.matches(tags),
            Self::And(parts) => parts.iter().all(|part| part.matches(tags)),
            Self::Or(parts) => parts.iter().any(|part| part.matches(tags)),
        }
    }
}

impl TagFilter {
    pub fn parse(text: &str) -> Result<Self, TagSyntaxError> {
        Parser::new(text, limits::TAG_FILTER_TERMS_MAX)?.filter()
    }

    pub fn matches(&self, tags: &TagSet) -> bool {
        self.comparisons.iter().all(|comparison| comparison.matches(tags))
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
        })
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, operator, value } = self;
        write!(f, "\"{key}\" {operator} '{}'", value.replace('\'', "''"))
    }
}

impl fmt::Display for TagExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, word) = match self {
            Self::Compare(comparison) => return comparison.fmt(f),
            Self::And(parts) => (parts, "AND"),
            Self::Or(parts) => (parts, "OR"),
        };
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                write!(f, " {word} ")?;
            }
            match part {
                Self::Compare(comparison) => comparison.fmt(f)?,
                group => write!(f, "({group})")?,
            }
        }
        Ok(())
    }
}
