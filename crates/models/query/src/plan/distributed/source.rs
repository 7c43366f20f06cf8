//! The origin of a query's rows: one document each, or all documents together.
//!
//! Only rows that come from one document each stay the same when every range computes its own. The first
//! source of the outermost query names the container, so a subquery there reads all of it. Every other
//! subquery starts from a row and stays within it.

use super::aggregate;
use super::ast_builder::{name, named};
use super::{Planner, refused};
use crate::error::QueryError;
use crate::lex::is_name;
use crate::parse::{Collection, Expr, Name, OrderBy, Query, Source, Step};

pub(super) enum Rows<'a> {
    /// No FROM: one row, wherever the query runs.
    None,
    OfDocuments,
    /// From a subquery that reads all documents before it returns a row.
    OfAll(&'a Query),
    /// From a subquery that reads no documents.
    Constant,
}

pub(super) fn rows(query: &Query) -> Rows<'_> {
    match query.from.first().map(|source| &source.of) {
        None => Rows::None,
        Some(Collection::Path(..)) => Rows::OfDocuments,
        Some(Collection::Query(inner)) => match rows(inner) {
            Rows::None => Rows::Constant,
            Rows::OfDocuments if is_row_by_row(inner) => Rows::OfDocuments,
            Rows::OfDocuments | Rows::OfAll(_) => Rows::OfAll(inner),
            Rows::Constant => Rows::Constant,
        },
    }
}

/// Whether each document gives the same rows regardless of the other documents.
pub(super) fn is_row_by_row(query: &Query) -> bool {
    !query.distinct
        && query.top.is_none()
        && query.window.is_none()
        && query.group_by.is_empty()
        && matches!(&query.order_by, OrderBy::Keys(keys) if keys.is_empty())
        && !aggregate::is_in_select(&query.select)
}

/// The sources of a query, rewritten so that the document itself has an alias, and that alias.
pub(super) struct NamedRoot {
    pub(super) from: Vec<Source>,
    pub(super) root: String,
}

impl Planner<'_> {
    /// `FROM x IN c.tags` gives the document no alias, so it becomes `FROM c JOIN x IN c.tags`.
    pub(super) fn named_root(&self) -> Result<NamedRoot, QueryError> {
        let [first, others @ ..] = &self.query.from[..] else { return Err(no_document()) };
        let Collection::Path(container, steps) = &first.of else { return Err(no_document()) };
        let own = first.alias.as_ref().unwrap_or(container);
        if steps.is_empty() && !first.each {
            return Ok(NamedRoot { from: self.query.from.clone(), root: own.text.clone() });
        }
        let alias = alias(first).ok_or_else(no_document)?;
        let root = self.free_name(&container.text);
        let document =
            Source { each: false, of: Collection::Path(name(&root), Vec::new()), alias: None, at: first.at };
        let part =
            Source { of: Collection::Path(name(&root), steps.clone()), alias: Some(alias), ..first.clone() };
        let from = [document, part].into_iter().chain(others.iter().cloned()).collect();
        Ok(NamedRoot { from, root })
    }

    /// The row of `SELECT *`.
    pub(super) fn whole_row(&self) -> Result<Expr, QueryError> {
        match &self.query.from[..] {
            [one] => alias(one).map(|alias| named(&alias.text)).ok_or_else(no_document),
            _ => Err(refused("'SELECT *' is only valid with a single input set.")),
        }
    }

    fn free_name(&self, wanted: &str) -> String {
        let taken: Vec<Name> = self.query.from.iter().filter_map(alias).collect();
        let mut free = wanted.to_owned();
        while taken.iter().any(|alias| alias.text == free) {
            free.push('_');
        }
        free
    }
}

/// The alias of a source.
fn alias(source: &Source) -> Option<Name> {
    match (&source.alias, &source.of) {
        (Some(alias), _) => Some(alias.clone()),
        (None, Collection::Path(container, steps)) => match steps.last() {
            None => Some(container.clone()),
            Some(Step::Member(member)) if is_name(member) => Some(name(member)),
            Some(Step::Member(_) | Step::Index(_)) => None,
        },
        (None, Collection::Query(_)) => None,
    }
}

fn no_document() -> QueryError {
    refused("ORDER BY across partitions needs the document itself in FROM, or a part of it that has a name.")
}
