//! The syntax tree of a query. Names are not resolved and parameters have no values yet.
//!
//! Every node has its span in the text, so that any later complaint can point at it. [`super::print`] turns a
//! tree back into text.

use orrery_value::Number;

/// Byte offsets into the query text, end exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextSpan {
    pub start: u32,
    pub end: u32,
}

/// A name with its span. Alias names are case-sensitive, keywords and functions are not.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    pub text: String,
    pub at: TextSpan,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub distinct: bool,
    pub top: Option<Expr>,
    pub select: Select,
    /// The first source, then that of each JOIN. Empty without FROM.
    pub from: Vec<Source>,
    pub filter: Option<Expr>,
    pub group_by: Vec<Expr>,
    pub order_by: OrderBy,
    pub window: Option<Window>,
    pub at: TextSpan,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Select {
    /// `SELECT *`
    All,
    /// `SELECT VALUE e`
    Value(Expr),
    List(Vec<SelectItem>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct SelectItem {
    pub expr: Expr,
    pub alias: Option<Name>,
}

/// A source of FROM or JOIN.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// `x IN …`: one row per element instead of one for the whole.
    pub each: bool,
    pub of: Collection,
    /// Always present if `each`.
    pub alias: Option<Name>,
    pub at: TextSpan,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Collection {
    /// `c`, `c.children`, `c["a-b"][0]`
    Path(Name, Vec<Step>),
    Query(Box<Query>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Member(String),
    Index(u64),
}

#[derive(Clone, Debug, PartialEq)]
pub enum OrderBy {
    /// Empty without ORDER BY.
    Keys(Vec<OrderKey>),
    /// `ORDER BY RANK score`
    Rank(Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub struct OrderKey {
    pub expr: Expr,
    /// As written; `None` means ascending.
    pub direction: Option<Direction>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Ascending,
    Descending,
}

impl OrderKey {
    pub fn descends(&self) -> bool {
        self.direction == Some(Direction::Descending)
    }
}

/// `OFFSET offset LIMIT limit`
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    pub offset: Expr,
    pub limit: Expr,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub at: TextSpan,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Undefined,
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    /// Including its `@`.
    Parameter(String),
    Name(String),
    /// `e.name` and `e["name"]`
    Member(Box<Expr>, String),
    /// `e[i]` with anything but a string literal in the brackets
    Index(Box<Expr>, Box<Expr>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a ? b : c`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    In {
        value: Box<Expr>,
        list: Vec<Expr>,
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
    /// A built-in function or an aggregate, by its name as written; `udf.f(…)` has `udf`.
    Call {
        name: Name,
        udf: bool,
        args: Vec<Expr>,
    },
    /// `(SELECT …)`
    Subquery(Box<Query>),
    /// `EXISTS(SELECT …)`
    Exists(Box<Query>),
    /// `ARRAY(SELECT …)`
    ArrayOf(Box<Query>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Plus,
    Minus,
    BitNot,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Or,
    And,
    /// `??`
    Coalesce,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    BitOr,
    BitXor,
    BitAnd,
    ShiftLeft,
    /// `>>`, keeps the sign
    ShiftRight,
    /// `>>>`
    ShiftRightZero,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    /// `||`
    Concat,
}
