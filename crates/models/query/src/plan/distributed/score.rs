//! The scores of `ORDER BY RANK`, and their form in rewritten queries.
//!
//! A full-text score needs statistics of the whole container, which the client collects first and substitutes
//! for placeholders. A vector score depends on the row alone.

use super::ast_builder::{array, binary, call, expr, is_call, literal, number, object};
use super::info::Direction;
use super::order::Marks;
use super::{Planner, refused};
use crate::error::QueryError;
use crate::functions::full_text::written_words;
use crate::functions::vector::Distance;
use crate::parse::{BinaryOp, Expr, ExprKind, OrderKey};
use orrery_value::Value;

const DOCUMENTS: &str = "{documentdb-formattablehybridsearchquery-totaldocumentcount}";
/// A score worse than any other, as the service writes it.
const WORST: &str = "1.79769e+308";

/// `ORDER BY RANK score`, or RRF of several.
pub(super) struct Scores {
    pub(super) scores: Vec<Score>,
    /// Whether the query specifies weights.
    pub(super) weighted: bool,
}

pub(super) struct Score {
    of: ScoreOf,
    /// A negative weight reverses the order: the worst score counts as the best.
    pub(super) weight: f64,
    /// Whether smaller is better: a Euclidean distance or a negative weight, but not both.
    is_least_best: bool,
}

enum ScoreOf {
    Text { path: Expr, terms: Vec<Expr> },
    Vector { args: Vec<Expr> },
}

impl Score {
    pub(super) fn is_text(&self) -> bool {
        matches!(self.of, ScoreOf::Text { .. })
    }

    pub(super) fn is_least_best(&self) -> bool {
        self.is_least_best
    }

    /// The score as an expression; `text_index` is the number of full-text scores before it.
    pub(super) fn expr(&self, text_index: usize, marks: &mut Marks) -> Expr {
        let prefix = "{documentdb-formattablehybridsearchquery-";
        match &self.of {
            ScoreOf::Vector { args } => call("_VectorScore", args.clone()),
            ScoreOf::Text { path, terms } => {
                let documents = marks.name_for(DOCUMENTS);
                let words = marks.name_for(&format!("{prefix}totalwordcount-{text_index}}}"));
                let hits = marks.name_for(&format!("{prefix}hitcountsarray-{text_index}}}"));
                call("_FullTextScore", vec![path.clone(), array(terms.clone()), documents, words, hits])
            }
        }
    }

    /// The sort score for a client: a row without a score comes last.
    pub(super) fn or_worst(&self, score: Expr, marks: &mut Marks) -> Expr {
        let worst = match self.of {
            _ if self.is_least_best() => marks.name_for(WORST),
            ScoreOf::Text { .. } => number(-1.0),
            ScoreOf::Vector { .. } => marks.name_for(&format!("-{WORST}")),
        };
        binary(BinaryOp::Coalesce, score, worst)
    }

    pub(super) fn key(&self, score: Expr) -> OrderKey {
        let direction = (!self.is_least_best()).then_some(Direction::Descending);
        OrderKey { expr: score, direction }
    }

    /// The statistics that a full-text score needs.
    pub(super) fn statistics(&self) -> Option<Expr> {
        let ScoreOf::Text { path, terms } = &self.of else { return None };
        let contains = |term: &Expr| call("FullTextContains", vec![path.clone(), term.clone()]);
        let hits = terms.iter().map(|term| call("COUNTIF", vec![contains(term)])).collect();
        let words = call("SUM", vec![call("_FullTextWordCount", vec![path.clone()])]);
        Some(object(vec![("totalWordCount", words), ("hitCounts", array(hits))]))
    }
}

impl Planner<'_> {
    pub(super) fn scores(&self, rank: &Expr) -> Result<Scores, QueryError> {
        let Some(args) = is_call(rank, "RRF") else {
            return Ok(Scores { scores: vec![self.score(rank, 1.0)?], weighted: false });
        };
        let (fused, weights) = match args.split_last() {
            Some((last, fused)) if !matches!(last.kind, ExprKind::Call { .. }) => {
                (fused, Some(self.weights(last)?))
            }
            _ => (args, None),
        };
        let weighted = weights.is_some();
        let weights = weights.unwrap_or_else(|| vec![1.0; fused.len()]);
        if weights.len() != fused.len() || fused.is_empty() {
            return Err(refused(
                "The RRF function requires scores, and as many weights as scores if it has any.",
            ));
        }
        let scores = fused.iter().zip(weights).map(|(score, weight)| self.score(score, weight));
        Ok(Scores { scores: scores.collect::<Result<_, _>>()?, weighted })
    }

    fn score(&self, score: &Expr, weight: f64) -> Result<Score, QueryError> {
        if let Some(args) = is_call(score, "VectorDistance") {
            let measure = distance(score, self.parameters, &self.options.vectors).unwrap_or_default();
            let is_least_best = (best_first(measure) == Direction::Ascending) != (weight < 0.0);
            return Ok(Score { of: ScoreOf::Vector { args: args.to_vec() }, weight, is_least_best });
        }
        match is_call(score, "FullTextScore") {
            Some([path, terms @ ..]) if !terms.is_empty() => {
                let terms = terms.iter().flat_map(|term| self.terms(term)).collect();
                Ok(Score {
                    of: ScoreOf::Text { path: path.clone(), terms },
                    weight,
                    is_least_best: weight < 0.0,
                })
            }
            _ => Err(refused("ORDER BY RANK takes FullTextScore, VectorDistance or RRF of these.")),
        }
    }

    /// The terms of an argument: one, or the elements of an array. A phrase counts as one term per
    /// word, each with its own hits.
    fn terms(&self, term: &Expr) -> Vec<Expr> {
        let known = match &term.kind {
            ExprKind::Parameter(name) => self.parameter(name).map(literal),
            _ => None,
        };
        let split = match &known.as_ref().unwrap_or(term).kind {
            ExprKind::Array(terms) => Some(terms.iter().flat_map(|term| self.terms(term)).collect()),
            ExprKind::String(phrase) => several_words(phrase),
            ExprKind::Object(members) => words_of_fuzzy(members),
            _ => None,
        };
        split.unwrap_or_else(|| vec![term.clone()])
    }

    fn weights(&self, weights: &Expr) -> Result<Vec<f64>, QueryError> {
        let numbers = match &weights.kind {
            ExprKind::Array(items) => items.iter().map(|item| self.number(item)).collect::<Option<Vec<_>>>(),
            ExprKind::Parameter(name) => match self.parameter(name) {
                Some(Value::Array(items)) => items.iter().map(as_number).collect(),
                _ => None,
            },
            _ => None,
        };
        numbers.ok_or_else(|| refused("The weights of the RRF function must be an array of numbers."))
    }

    fn number(&self, expr: &Expr) -> Option<f64> {
        use crate::parse::UnaryOp::{Minus, Plus};
        match &expr.kind {
            ExprKind::Number(number) => Some(number.as_f64()),
            ExprKind::Unary(Minus, inner) => self.number(inner).map(|number| -number),
            ExprKind::Unary(Plus, inner) => self.number(inner),
            ExprKind::Parameter(name) => self.parameter(name).and_then(as_number),
            _ => None,
        }
    }
}

/// The words of a phrase; an argument of one word or none stays as written.
fn several_words(phrase: &str) -> Option<Vec<Expr>> {
    let words = written_words(phrase);
    (words.len() > 1).then(|| words.into_iter().map(|word| literal(&Value::String(word))).collect())
}

/// Variant for `{"term": phrase, "distance": n}`.
fn words_of_fuzzy(members: &[(String, Expr)]) -> Option<Vec<Expr>> {
    let at = members.iter().position(|(name, _)| name == "term")?;
    let ExprKind::String(phrase) = &members[at].1.kind else { return None };
    let with = |word: Expr| {
        let mut members = members.to_vec();
        members[at].1 = word;
        expr(ExprKind::Object(members))
    };
    Some(several_words(phrase)?.into_iter().map(with).collect())
}

fn as_number(value: &Value) -> Option<f64> {
    if let Value::Number(number) = value { Some(number.as_f64()) } else { None }
}

// `ORDER BY VectorDistance(…)`: best first, in the direction that the distance function implies.

/// The direction that puts the best first: Euclidean distances grow with difference, the others with
/// similarity.
pub(super) fn best_first(distance: Distance) -> Direction {
    if distance.is_similarity() { Direction::Descending } else { Direction::Ascending }
}

pub(super) fn is_distance(expr: &Expr) -> bool {
    is_call(expr, "VectorDistance").is_some()
}

/// The distance function of a `VectorDistance` call: the one in its options, else the one of the path's
/// policy. `None` if the expression is not such a call.
pub(super) fn distance(
    expr: &Expr,
    parameters: &[(String, Value)],
    policy: &[(Vec<String>, Distance)],
) -> Option<Distance> {
    let args = is_call(expr, "VectorDistance")?;
    let of_policy = || {
        let paths = args.iter().take(2).filter_map(path);
        paths
            .filter_map(|path| policy.iter().find(|(known, _)| *known == path))
            .map(|(_, distance)| *distance)
            .next()
    };
    let asked = args.get(3).and_then(|options| option(options, parameters));
    Some(asked.or_else(of_policy).unwrap_or_default())
}

fn option(options: &Expr, parameters: &[(String, Value)]) -> Option<Distance> {
    const NAME: &str = "distanceFunction";
    let value = |name: &str| parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let text = |value: &Value| if let Value::String(text) = value { Some(text.clone()) } else { None };
    let name = match &options.kind {
        ExprKind::Parameter(name) => text(value(name)?.member(NAME)),
        ExprKind::Object(members) => match &members.iter().find(|(name, _)| name == NAME)?.1.kind {
            ExprKind::String(name) => Some(name.clone()),
            ExprKind::Parameter(name) => text(value(name)?),
            _ => None,
        },
        _ => None,
    };
    Distance::parse(&name?)
}

/// The member names after the document's alias.
fn path(expr: &Expr) -> Option<Vec<String>> {
    match &expr.kind {
        ExprKind::Name(_) => Some(Vec::new()),
        ExprKind::Member(of, member) => {
            let mut path = path(of)?;
            path.push(member.clone());
            Some(path)
        }
        _ => None,
    }
}
