//! `ORDER BY RANK`: one component query per score; the client fuses their rows by rank.
//!
//! Each component query returns its best rows with all scores of each row, so that the client can rank every
//! row by every score. Rows are identified by their document.

use super::ast_builder::{array, binary, call, count, item, member, named, number, object, select};
use super::info::{Direction, Distributed, HybridSearchInfo, QueryInfo};
use super::order::Marks;
use super::plain::Bounds;
use super::score::{Score, Scores};
use super::{HybridForm, Planner, refused};
use crate::error::QueryError;
use crate::parse::{BinaryOp, Collection, Expr, OrderBy, Query, Select, SelectItem, print, print_expr};

/// Minimum number of rows the client fetches per component: ranks are meaningful only among enough rows.
const COMPONENT_ROWS_MIN: u64 = 120;

impl Planner<'_> {
    pub(super) fn hybrid(&self, rank: &Expr) -> Result<Distributed, QueryError> {
        self.check_hybrid()?;
        let scores = self.scores(rank)?;
        let bounds = self.bounds()?;
        let components = Components::new(self, &scores, bounds);
        let weights = scores.scores.iter().map(|score| score.weight.abs());
        let info = HybridSearchInfo {
            global_statistics_query: print(&self.statistics(&scores.scores)),
            component_query_infos: components.infos()?,
            component_weights: if scores.weighted { weights.collect() } else { Vec::new() },
            skip: bounds.skip(),
            take: bounds.take(),
            requires_global_statistics: scores.scores.iter().any(Score::is_text),
        };
        Ok(Distributed::of_hybrid(info))
    }

    fn check_hybrid(&self) -> Result<(), QueryError> {
        let is_document = |of: &Collection| matches!(of, Collection::Path(_, steps) if steps.is_empty());
        match &self.query.from[..] {
            [one] if is_document(&one.of) && !one.each => {}
            _ => {
                return Err(refused(
                    "'ORDER BY RANK' across partitions is only supported over whole documents.",
                ));
            }
        }
        let grouped = super::aggregate::is_in_select(&self.query.select) || !self.query.group_by.is_empty();
        if self.query.distinct || grouped {
            return Err(refused(
                "'ORDER BY RANK' is not supported in presence of GROUP BY, aggregates or DISTINCT.",
            ));
        }
        Ok(())
    }

    /// Statistics cover all documents, not only those that pass the filter.
    fn statistics(&self, scores: &[Score]) -> Query {
        let texts = scores.iter().filter_map(Score::statistics).collect();
        let list = vec![
            item(call("COUNT", vec![count(1)]), "documentCount"),
            item(array(texts), "fullTextStatistics"),
        ];
        select(Select::List(list), self.query.from.clone())
    }
}

struct Components<'a> {
    planner: &'a Planner<'a>,
    scores: &'a [Score],
    /// Each score as an expression.
    exprs: Vec<Expr>,
    marks: Marks,
    bounds: Bounds,
}

impl<'a> Components<'a> {
    fn new(planner: &'a Planner<'a>, scores: &'a Scores, bounds: Bounds) -> Self {
        let mut marks = Marks::new(planner.query);
        let mut texts = 0;
        let mut expr = |score: &Score| {
            let made = score.expr(texts, &mut marks);
            texts += usize::from(score.is_text());
            made
        };
        let exprs = scores.scores.iter().map(&mut expr).collect();
        Self { planner, scores: &scores.scores, exprs, marks, bounds: bounds_of_component(bounds) }
    }

    fn infos(mut self) -> Result<Vec<QueryInfo>, QueryError> {
        let scored = self.planner.options.hybrid == HybridForm::Scored;
        let indexes = 0..self.scores.len();
        match indexes.len() {
            1 => Ok(vec![self.ordered(0, !scored)?]),
            _ if scored => indexes.map(|index| self.scored(index)).collect(),
            _ => indexes.map(|index| self.ordered(index, true)).collect(),
        }
    }

    /// A query with an ORDER BY for the client to merge. A single component needs no scores in its
    /// payload.
    fn ordered(&mut self, index: usize, with_scores: bool) -> Result<QueryInfo, QueryError> {
        let all = if with_scores { self.all_scores() } else { Vec::new() };
        let (score, expr) = (&self.scores[index], &self.exprs[index]);
        let payload = object(vec![("payload", self.planner.payload()?), ("componentScores", array(all))]);
        let mut each = self.planner.ordered_rows(vec![expr.clone()], payload, &mut self.marks)?;
        each.order_by = OrderBy::Keys(vec![score.key(expr.clone())]);
        self.bounds.limit_each_range(&mut each);
        let direction = if score.is_least_best() { Direction::Ascending } else { Direction::Descending };
        let mut info = QueryInfo {
            order_by: vec![direction],
            order_by_expressions: vec![self.marks.fill(print_expr(expr))],
            rewritten_query: self.marks.fill(print(&each)),
            has_non_streaming_order_by: true,
            ..QueryInfo::of(self.planner.query)
        };
        self.bounds.write_to(&mut info);
        Ok(info)
    }

    /// A query whose rows need no merging: they carry their sort scores, the greatest always best.
    fn scored(&mut self, index: usize) -> Result<QueryInfo, QueryError> {
        let named_root = self.planner.named_root()?;
        let greatest_best = |(score, value): (&Score, Expr)| match score.is_least_best() {
            true => binary(BinaryOp::Multiply, number(-1.0), value),
            false => value,
        };
        let scores = self.scores.iter().zip(self.all_scores()).map(greatest_best).collect();
        let list = vec![
            SelectItem { expr: member(named(&named_root.root), "_rid"), alias: None },
            item(self.planner.payload()?, "payload"),
            item(array(scores), "componentScores"),
        ];
        let filter = self.planner.query.filter.clone();
        let filter = match self.planner.payload_is_defined() {
            Some(there) => Some(super::ast_builder::and(filter, there)),
            None => filter,
        };
        let key = self.scores[index].key(self.exprs[index].clone());
        let mut each = Query {
            filter,
            order_by: OrderBy::Keys(vec![key]),
            ..select(Select::List(list), named_root.from)
        };
        self.bounds.limit_each_range(&mut each);
        let rewritten_query = self.marks.fill(print(&each));
        Ok(QueryInfo { rewritten_query, ..QueryInfo::of(self.planner.query) })
    }

    fn all_scores(&mut self) -> Vec<Expr> {
        let scores = self.scores.iter().zip(&self.exprs);
        scores.map(|(score, expr)| score.or_worst(expr.clone(), &mut self.marks)).collect()
    }
}

/// Enough rows for meaningful ranks and at least as many as the client takes, written into the clause that
/// the query already has.
fn bounds_of_component(bounds: Bounds) -> Bounds {
    let rows = |take: u64, skip: u64| COMPONENT_ROWS_MIN.max(take.saturating_add(skip).saturating_mul(2));
    Bounds {
        top: bounds.top.map(|top| rows(top, 0)),
        window: bounds.window.map(|(offset, limit)| (0, rows(limit, offset))),
    }
}
