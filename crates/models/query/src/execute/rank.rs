//! `ORDER BY RANK`: scores that depend on all documents, and rows by their fused rank.
//!
//! There are three passes: the first counts words and hits for BM25, the second scores every row, the third
//! writes the winning rows. Only numbers are kept between them. A page resumes by count, since a rank depends
//! on all rows and changes with them.

use super::continuation::{QueryState, StateKind};
use super::eval::{Row, eval, write};
use super::exec_context::ExecContext;
use super::page::{Limits, Output, Page};
use super::scan::{RowPosition, Scan, Sink, SinkResult};
use crate::bind::bound::{Block, Expr, Rank, Score};
use crate::datum::Datum;
use crate::error::QueryError;
use crate::functions::full_text::{self, Term};
use crate::limits;
use std::collections::{BTreeMap, HashMap};

/// BM25 statistics of the collection for one score.
#[derive(Default)]
struct Statistics {
    terms: Vec<Term>,
    documents: u64,
    words: u64,
    hits: Vec<u64>,
}

pub(crate) fn run(scan: &Scan<'_>, resume: QueryState, limits: Limits) -> Result<Page, QueryError> {
    let Some(rank) = &scan.block.rank else { return Output::default().finish(None) };
    let behind = if let StateKind::Ranked(behind) = resume.kind { behind } else { 0 };
    let mut counting = Counting { statistics: rank.scores.iter().map(Statistics::of).collect() };
    if rank.scores.iter().any(|score| matches!(score, Score::FullText { .. })) {
        // Statistics cover all documents, regardless of the filter.
        let block = Block { filter: None, ..scan.block.clone() };
        scan.of_all(&block).run(None, &mut counting)?;
    }
    let mut scoring = Scoring { statistics: counting.statistics, rows: Vec::new() };
    scan.run(None, &mut scoring)?;
    let winners = winners(rank, &scoring.rows);
    let first = usize::try_from(behind.saturating_add(resume.skip)).unwrap_or(usize::MAX).min(winners.len());
    let wanted = &winners[first..winners.len().min(first.saturating_add(limits.items))];
    let places = wanted.iter().enumerate().map(|(i, row)| (scoring.rows[*row].place, i)).collect();
    let mut writing = Writing { places, rows: BTreeMap::new(), bytes: 0, end: wanted.len() };
    scan.run(None, &mut writing)?;
    let mut output = Output::default();
    let kept = writing.rows.iter().take_while(|(_, row)| output.push(row, limits)).last();
    // Ranks already returned: up to the last row of the page, or all that were examined if none was a
    // row.
    let taken = match kept {
        Some((rank, _)) => *rank as u64 + 1,
        None => writing.end.max(1) as u64,
    };
    let left = resume.left.map(|left| left.saturating_sub(taken));
    let is_end = first + taken as usize >= winners.len() || left == Some(0);
    let kind = StateKind::Ranked(behind + taken);
    output.finish((!is_end).then_some(QueryState { skip: resume.skip, left, kind }))
}

/// The row indexes, best first; ties in creation order, whatever the scan order.
fn winners(rank: &Rank, rows: &[Scored]) -> Vec<usize> {
    // A negative weight reverses its score's order.
    let column = |i: usize| -> Vec<f64> {
        let ascends = matches!(&rank.scores[i], Score::Own { descending: false, .. });
        let is_turned = rank.weights.get(i).is_some_and(|weight| *weight < 0.0);
        let sign = if ascends == is_turned { 1.0 } else { -1.0 };
        rows.iter().map(|row| row.scores[i] * sign).collect()
    };
    let best = if rank.weights.is_empty() {
        column(0)
    } else {
        let columns: Vec<Vec<f64>> = (0..rank.scores.len()).map(column).collect();
        let weights: Vec<f64> = rank.weights.iter().map(|weight| weight.abs()).collect();
        full_text::fuse(&columns, &weights)
    };
    let key = |row: usize| if best[row].is_nan() { f64::NEG_INFINITY } else { best[row] };
    let mut winners: Vec<usize> = (0..rows.len()).collect();
    winners.sort_by(|a, b| key(*b).total_cmp(&key(*a)).then_with(|| rows[*a].place.cmp(&rows[*b].place)));
    winners
}

struct Counting {
    statistics: Vec<Statistics>,
}

impl Statistics {
    fn of(score: &Score) -> Self {
        let Score::FullText { terms, .. } = score else { return Self::default() };
        // Every word of a phrase has its own hits.
        let terms = terms.iter().filter_map(|term| Term::read(&Datum::of(term)));
        let terms: Vec<Term> = terms.flat_map(|term| term.each_word()).collect();
        Self { hits: vec![0; terms.len()], terms, ..Self::default() }
    }
}

impl Sink for Counting {
    fn row<'d>(
        &mut self,
        block: &'d Block,
        row: &mut Row<'d>,
        _at: &RowPosition<'_>,
        ctx: &ExecContext<'_>,
    ) -> SinkResult {
        let scores = block.rank.iter().flat_map(|rank| &rank.scores);
        for (score, statistics) in scores.zip(&mut self.statistics) {
            let Score::FullText { text, .. } = score else { continue };
            statistics.documents += 1;
            let text = eval(text, row, ctx);
            let Some(text) = text.as_str() else { continue };
            statistics.words += full_text::word_count(text);
            for (term, hits) in statistics.terms.iter().zip(&mut statistics.hits) {
                *hits += u64::from(term.hits(text));
            }
        }
        SinkResult::Taken
    }
}

struct Scored {
    place: (u64, u64),
    scores: Vec<f64>,
}

struct Scoring {
    statistics: Vec<Statistics>,
    rows: Vec<Scored>,
}

impl Sink for Scoring {
    fn row<'d>(
        &mut self,
        block: &'d Block,
        row: &mut Row<'d>,
        at: &RowPosition<'_>,
        ctx: &ExecContext<'_>,
    ) -> SinkResult {
        let scores = block.rank.iter().flat_map(|rank| &rank.scores).zip(&self.statistics);
        let scores: Vec<f64> = scores
            .map(|(score, statistics)| match score {
                Score::Own { expr, .. } => eval(expr, row, ctx).as_f64().unwrap_or(f64::NAN),
                Score::FullText { text, .. } => {
                    let Statistics { terms, documents, words, hits } = statistics;
                    let of = full_text::Collection { documents: *documents, words: *words };
                    let text = eval(text, row, ctx);
                    text.as_str().and_then(|text| full_text::score(text, terms, of, hits)).unwrap_or(f64::NAN)
                }
            })
            .collect();
        if !is_row(&block.select, row, ctx) {
            return SinkResult::Taken;
        }
        ctx.hold(std::mem::size_of::<Scored>() + scores.len() * 8);
        self.rows.push(Scored { place: at.tie_breaker(), scores });
        SinkResult::Taken
    }
}

/// An undefined value is not a row and takes no rank.
fn is_row<'d>(select: &'d Expr, row: &mut Row<'d>, ctx: &ExecContext<'_>) -> bool {
    matches!(select, Expr::Object(_) | Expr::Array(_) | Expr::Slot(_))
        || !eval(select, row, ctx).is_undefined()
}

/// The winning rows by rank; if they exceed the memory limit, the last are dropped and left to another page.
struct Writing {
    places: HashMap<(u64, u64), usize>,
    rows: BTreeMap<usize, Vec<u8>>,
    bytes: usize,
    /// Rows from this rank on were dropped.
    end: usize,
}

impl Writing {
    fn shrink(&mut self) {
        while self.bytes > limits::PAGE_SORT_BYTES_MAX && self.rows.len() > 1 {
            if let Some((rank, row)) = self.rows.pop_last() {
                self.bytes -= row.len();
                self.end = rank;
            }
        }
    }
}

impl Sink for Writing {
    fn row<'d>(
        &mut self,
        block: &'d Block,
        row: &mut Row<'d>,
        at: &RowPosition<'_>,
        ctx: &ExecContext<'_>,
    ) -> SinkResult {
        if let Some(rank) = self.places.get(&at.tie_breaker()).filter(|rank| **rank < self.end) {
            let mut text = Vec::new();
            // It was a row when scored; only a random function can have changed that.
            if write(&block.select, row, ctx, &mut text) {
                self.bytes += text.len();
                self.rows.insert(*rank, text);
                self.shrink();
            }
        }
        SinkResult::Taken
    }
}
