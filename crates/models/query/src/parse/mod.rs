//! From text to tree, and back.
//!
//! Clauses are read by plain recursive descent ([`query`], [`source`]). Expressions are not: operators and
//! parentheses wait on a stack of their own ([`machine`]), so that ten thousand parentheses cost memory and
//! no call stack. Only what a tree itself nests (calls, arrays, objects, subqueries) recurses, and both the
//! recursion and the height of the tree end at [`QUERY_TREE_LEVELS_MAX`].
//!
//! Invariant: a tree that comes from here is at most that high, whatever the text; so to drop, clone, compare
//! or print it needs a bounded stack. Chains of AND, OR and `||`, which mean the same however they are
//! grouped, are built balanced: one of ten thousand terms is about fourteen levels high.
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

/// Reads one query.
pub fn parse(text: &str) -> Result<Query, Complaint> {
    orrery_core::tour_step!();
    lex::check_length(text)?;
    let mut cursor = Cursor::new(text);
    let query = cursor.query()?.query;
    cursor.expect_end()?;
    check_counts(&cursor, text)?;
    Ok(query)
}

/// The limits that are not of syntax: complaints about them are about the whole text.
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
