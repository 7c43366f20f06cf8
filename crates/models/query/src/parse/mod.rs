//! Parsing: from text to syntax tree, and back.
//!
//! Clauses use plain recursive descent ([`query`], [`source`]). Expressions do not: operators and parentheses
//! wait on an explicit stack ([`machine`]), so that ten thousand parentheses cost memory but no call stack.
//! Only nested constructs of the tree itself (calls, arrays, objects, subqueries) recurse; both the recursion
//! and the height of the tree are limited by [`QUERY_TREE_LEVELS_MAX`].
//!
//! Invariant: a parsed tree has at most that height, whatever the text, so dropping, cloning, comparing or
//! printing it needs a bounded stack. Chains of the associative AND, OR and `||` are built balanced: ten
//! thousand terms are about fourteen levels high.
//!
//! [`QUERY_TREE_LEVELS_MAX`]: orrery_core::limits::QUERY_TREE_LEVELS_MAX

pub mod ast;
mod cursor;
mod expression;
mod machine;
mod primary;
mod print;
mod query;
mod source;

pub use ast::*;
pub use print::{print, print_expr};

use crate::error::Complaint;
use crate::lex;
use crate::limits::{QUERY_IN_ITEMS_MAX, QUERY_JOINS_MAX};
use cursor::Cursor;

/// Parses one query.
pub fn parse(text: &str) -> Result<Query, Complaint> {
    orrery_core::tour_step!();
    lex::check_length(text)?;
    let mut cursor = Cursor::new(text);
    let query = cursor.query()?.query;
    cursor.expect_end()?;
    check_counts(&cursor, text)?;
    Ok(query)
}

/// The limits beyond syntax; their complaints refer to the whole text.
fn check_counts(cursor: &Cursor<'_>, text: &str) -> Result<(), Complaint> {
    let whole = TextSpan { start: 0, end: text.len() as u32 };
    if cursor.joins_most > QUERY_JOINS_MAX {
        return Err(exceeded("SC3002", whole, "joins", QUERY_JOINS_MAX));
    }
    if cursor.in_items_most > QUERY_IN_ITEMS_MAX {
        return Err(exceeded("SC3022", whole, "items of an IN expression", QUERY_IN_ITEMS_MAX));
    }
    Ok(())
}

fn exceeded(code: &'static str, at: TextSpan, what: &str, limit: usize) -> Complaint {
    let message =
        format!("The SQL query exceeded the maximum number of {what}. The allowed limit is {limit}.");
    Complaint::new(code, at, message)
}

#[cfg(test)]
mod tests;
