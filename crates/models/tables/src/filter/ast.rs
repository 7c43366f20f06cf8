//! The tree of a filter. A chain of `and` or `or` is one node, so that long chains are not deep.

use super::parse::parse;
use super::{FilterError, Shape, evaluate, print};
use crate::edm::Value;
use crate::entity::EntityRow;
use std::sync::Arc;

/// A filter that was parsed. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter(Arc<Tree>);

#[derive(Debug, PartialEq)]
pub(super) struct Tree {
    pub root: Expr,
    /// The properties that it names, each once; operands have indexes into them.
    pub names: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// Two or more, none of them an `Or`.
    Or(Vec<Expr>),
    /// Two or more, none of them an `And`.
    And(Vec<Expr>),
    Not(Box<Expr>),
    Compare(Comparison, Operand, Operand),
    /// An operand by itself: whether it is true.
    Truth(Operand),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// The index of its name.
    Property(usize),
    Literal(Value),
    /// Equal to nothing.
    Null,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

impl Filter {
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        Ok(Self(Arc::new(parse(text)?)))
    }

    pub fn root(&self) -> &Expr {
        &self.0.root
    }

    pub fn names(&self) -> &[String] {
        &self.0.names
    }

    pub fn matches(&self, entity: &EntityRow) -> bool {
        evaluate::entity(&self.0.root, &self.0.names, entity)
    }

    /// Whether an entity has what a part of the filter asks.
    pub(crate) fn matches_part(&self, part: &Expr, entity: &EntityRow) -> bool {
        evaluate::entity(part, &self.0.names, entity)
    }

    pub(crate) fn write_part(&self, part: &Expr, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        print::write(part, &self.0.names, f)
    }

    /// The filter without its constants.
    pub fn shape(&self) -> Shape<'_> {
        Shape(self)
    }

    /// Whether it wants a table, whose only property is `TableName`.
    pub fn matches_table(&self, name: &str) -> bool {
        evaluate::table(&self.0.root, &self.0.names, name)
    }
}

impl Comparison {
    pub const ALL: [Self; 6] =
        [Self::Equal, Self::NotEqual, Self::Greater, Self::GreaterOrEqual, Self::Less, Self::LessOrEqual];

    pub fn keyword(self) -> &'static str {
        match self {
            Self::Equal => "eq",
            Self::NotEqual => "ne",
            Self::Greater => "gt",
            Self::GreaterOrEqual => "ge",
            Self::Less => "lt",
            Self::LessOrEqual => "le",
        }
    }

    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|comparison| comparison.keyword() == word)
    }

    /// The one that holds for `b, a` when this holds for `a, b`.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::Equal | Self::NotEqual => self,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
        }
    }

    /// The one that holds for two ordered values when this does not.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
        }
    }
}
