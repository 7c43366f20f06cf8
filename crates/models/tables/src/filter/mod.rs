//! `$filter`: which entities a query wants.
//!
//! ```text
//! lex.rs        the text into tokens
//! parse.rs      tokens into a tree
//! ast.rs        the tree
//! literal.rs    constants
//! error.rs      what is wrong with a text, and where
//! evaluate.rs   whether an entity is wanted
//! compare.rs    how two values compare
//! print.rs      the tree as text again, and its shape without constants
//! ```
//!
//! The language is the service's, no more: comparisons, `and`, `or`, `not` and parentheses. There are no functions and no
//! arithmetic. What a filter says of keys becomes ranges of keys in [`plan`](crate::plan).

mod ast;
mod compare;
mod error;
mod evaluate;
mod lex;
mod literal;
mod parse;
mod print;

pub use ast::{Comparison, Expr, Filter, Operand};
pub(crate) use compare::holds;
pub use error::FilterError;
pub use print::Shape;
