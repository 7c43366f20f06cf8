//! Placeholders in a rewritten query: text between braces that a client replaces before it sends the query.
//!
//! They are no expressions, so in the tree a name that occurs nowhere else stands for each, and the name is
//! replaced when the query is printed.

use crate::parse::{Expr, Query, print};

use super::tree::named;

/// Where a client may put a condition on the rows to go on from.
pub(super) const FILTER: &str = "({documentdb-formattableorderbyquery-filter})";

pub(super) struct Marks {
    prefix: String,
    placeholders: Vec<String>,
}

impl Marks {
    pub(super) fn new(query: &Query) -> Self {
        let text = print(query);
        let mut prefix = "mark".to_owned();
        while text.contains(&prefix) {
            prefix.push('_');
        }
        Self { prefix, placeholders: Vec::new() }
    }

    /// The name that stands for a placeholder.
    pub(super) fn stand_in(&mut self, placeholder: &str) -> Expr {
        let known = self.placeholders.iter().position(|it| it == placeholder);
        let index = known.unwrap_or_else(|| {
            self.placeholders.push(placeholder.to_owned());
            self.placeholders.len() - 1
        });
        named(&self.mark(index))
    }

    /// The text with every placeholder in its place.
    pub(super) fn fill(&self, printed: String) -> String {
        let marked = self.placeholders.iter().enumerate();
        marked.fold(printed, |text, (index, placeholder)| text.replace(&self.mark(index), placeholder))
    }

    /// Ends in a letter, so that no mark begins another.
    fn mark(&self, index: usize) -> String {
        format!("{}{index}x", self.prefix)
    }
}
