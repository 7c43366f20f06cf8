//! A bound query: names are resolved; the planner and the executor work on this tree.
//!
//! A row in flight is a list of slots: one for each FROM alias, each GROUP BY key and each aggregate. A
//! subquery sees the slots of the enclosing queries and adds its own. Parameters have become constants.

use crate::functions::Function;
use crate::parse::{BinaryOp, UnaryOp};
use orrery_value::Value;

/// One SELECT with its clauses.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub from: Vec<Source>,
    pub filter: Option<Expr>,
    /// Present with GROUP BY, and with aggregates alone.
    pub grouping: Option<Grouping>,
    /// The value that SELECT computes from a row.
    pub select: Expr,
    pub distinct: bool,
    pub order: Vec<OrderKey>,
    pub rank: Option<Rank>,
    pub offset: u64,
    pub limit: Option<u64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    pub slot: usize,
    pub name: String,
    pub of: SourceOf,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SourceOf {
    /// The documents of the container; only the first source of a query may be this.
    Collection,
    /// One row with this value, none if it is undefined.
    Value(Expr),
    /// A row for each element of this array.
    Each(Expr),
    /// A row for each row of a subquery.
    Rows(Box<Block>),
    /// A row for each element of each row of a subquery.
    EachOfRows(Box<Block>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Grouping {
    /// The GROUP BY expressions and the slots that receive their values.
    pub keys: Vec<(usize, Expr)>,
    pub aggregates: Vec<Aggregate>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    pub slot: usize,
    pub function: AggregateFunction,
    pub arg: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateFunction {
    Avg,
    Count,
    CountIf,
    MakeList,
    MakeSet,
    Max,
    Min,
    Sum,
}

#[derive(Clone, Debug, PartialEq)]
pub struct OrderKey {
    pub expr: Expr,
    pub descending: bool,
}

/// `ORDER BY RANK`: the scores, and how they are fused into one.
#[derive(Clone, Debug, PartialEq)]
pub struct Rank {
    pub scores: Vec<Score>,
    /// One weight per score; empty if there is a single score and nothing to fuse.
    pub weights: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Score {
    /// BM25 of a text over all documents. Each term is a string, or an object with the permitted edit
    /// distance.
    FullText { text: Expr, terms: Vec<Value> },
    /// A number computed from the row alone, such as a vector's distance; `descending` if a greater one
    /// is better.
    Own { expr: Expr, descending: bool },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Constant(Value),
    Slot(usize),
    Member(Box<Expr>, String),
    Index(Box<Expr>, Box<Expr>),
    Unary(UnaryOp, Box<Expr>),
    /// Any operator except AND and OR.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    All(Vec<Expr>),
    Any(Vec<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    In {
        value: Box<Expr>,
        list: Vec<Expr>,
        negated: bool,
    },
    /// `In` with a sorted list of constants.
    InSet {
        value: Box<Expr>,
        set: Vec<Value>,
        negated: bool,
    },
    Between {
        value: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
        negated: bool,
    },
    Like {
        value: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<Box<Expr>>,
        negated: bool,
    },
    Array(Vec<Expr>),
    Object(Vec<(String, Expr)>),
    Call(Builtin, Vec<Expr>),
    Udf(String, Vec<Expr>),
    /// The first row of a subquery.
    Subquery(Box<Block>),
    Exists(Box<Block>),
    ArrayOf(Box<Block>),
}

/// An entry of the function table; two are equal if their names are.
#[derive(Clone, Copy)]
pub struct Builtin(pub &'static Function);

impl PartialEq for Builtin {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl std::fmt::Debug for Builtin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name)
    }
}

impl AggregateFunction {
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("AVG", Self::Avg),
        ("COUNT", Self::Count),
        ("COUNTIF", Self::CountIf),
        ("MAKELIST", Self::MakeList),
        ("MAKESET", Self::MakeSet),
        ("MAX", Self::Max),
        ("MIN", Self::Min),
        ("SUM", Self::Sum),
    ];

    /// Finds an aggregate by name, ignoring case.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, function)| *function)
    }

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }
}

impl Block {
    /// Whether rows can be emitted one by one, in the order of the documents.
    pub fn is_streaming(&self) -> bool {
        self.grouping.is_none() && !self.distinct && self.order.is_empty() && self.rank.is_none()
    }

    /// Whether two rows are equal exactly when their ORDER BY keys are.
    pub fn is_row_its_keys(&self) -> bool {
        let is_key = |expr: &Expr| self.order.iter().any(|key| key.expr == *expr);
        match &self.select {
            Expr::Object(members) => {
                let mut names = members.iter().enumerate().map(|(at, (name, _))| (at, name));
                let is_once = names.all(|(at, name)| members[..at].iter().all(|(known, _)| known != name));
                let in_row = |key: &OrderKey| members.iter().any(|(_, value)| *value == key.expr);
                is_once && members.iter().all(|(_, value)| is_key(value)) && self.order.iter().all(in_row)
            }
            select => self.order.iter().all(|key| key.expr == *select) && is_key(select),
        }
    }

    /// Whether the first source is the collection, or a subquery over it.
    pub fn reads_collection(&self) -> bool {
        match self.from.first().map(|source| &source.of) {
            Some(SourceOf::Collection) => true,
            Some(SourceOf::Rows(block) | SourceOf::EachOfRows(block)) => block.reads_collection(),
            _ => false,
        }
    }
}

impl Expr {
    pub const TRUE: Self = Self::Constant(Value::Bool(true));

    pub fn as_constant(&self) -> Option<&Value> {
        if let Self::Constant(value) = self { Some(value) } else { None }
    }
}
