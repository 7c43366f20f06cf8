//! BM25: the relevance of a text for some terms.
//!
//! ```text
//! score = Σ over words   ln(1 + (N − n + 0.5) / (n + 0.5)) · f · (k1 + 1) / (f + k1 · (1 − b + b · L / A))
//! ```
//!
//! `N` documents are ranked and `n` of them contain the word; this text contains it `f` times and has `L`
//! words where the average is `A`; `k1` is 1.2 and `b` 0.75. The words of a phrase are scored separately. The
//! terms are added in query order, so equal texts have equal scores. `N`, `n` and `A` come from the caller.
//! Sources: `docs/adr/0031-full-text-scores.md`.

use super::analyze::words;
use super::term::Term;
use std::cmp::Ordering;

/// BM25's `k1`: how soon repetitions of a term stop counting.
const K1: f64 = 1.2;
/// BM25's `b`: how much the length of a text matters.
const B: f64 = 0.75;

/// Statistics of all ranked texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collection {
    pub documents: u64,
    /// In all documents, counted as [`super::word_count`] does.
    pub words: u64,
}

/// The score of a text. `hits` is the number of documents that contain each term.
pub fn bm25(text: &str, terms: &[String], total_docs: u64, total_words: u64, hits: &[u64]) -> f64 {
    let terms: Vec<Term> = terms.iter().map(|term| Term::exact(term)).collect();
    score(text, &terms, Collection { documents: total_docs, words: total_words }, hits).unwrap_or(0.0)
}

/// Variant for terms that may be fuzzy; `None` unless there is one hit count per term.
pub fn score(text: &str, terms: &[Term], of: Collection, hits: &[u64]) -> Option<f64> {
    if terms.len() != hits.len() {
        return None;
    }
    let words = words(text);
    let average = of.words as f64 / of.documents as f64;
    let length = if average > 0.0 { words.len() as f64 / average } else { 1.0 };
    let weigh = |(term, &hits): (&Term, &u64)| {
        let each = term.frequencies(&words).map(|frequency| saturated(frequency, length));
        rarity(of.documents, hits) * each.sum::<f64>()
    };
    Some(terms.iter().zip(hits).map(weigh).sum())
}

/// Inverse document frequency; never negative, even for a term that most documents contain.
fn rarity(documents: u64, hits: u64) -> f64 {
    let (documents, hits) = (documents.max(hits) as f64, hits as f64);
    (1.0 + (documents - hits + 0.5) / (hits + 0.5)).ln()
}

fn saturated(frequency: u64, length: f64) -> f64 {
    let frequency = frequency as f64;
    frequency * (K1 + 1.0) / (frequency + K1 * (1.0 - B + B * length))
}

// Reciprocal rank fusion of several rankings.
//
// A ranking contributes `weight / (60 + rank)` to a row, with ranks from 1. Rows with equal scores share a
// rank and the next score has the next rank, as in clients that fuse by themselves.

/// The rank constant, which the clients of the protocol also fix.
const K: f64 = 60.0;

/// The fused score of each row; greater is better. `scores` holds, per component, the score of each row; NaN
/// means no score and ranks last. Missing weights are 1.
pub fn fuse(scores: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let rows = scores.iter().map(Vec::len).max().unwrap_or(0);
    let mut fused = vec![0.0; rows];
    for (component, scores) in scores.iter().enumerate() {
        let weight = weights.get(component).copied().unwrap_or(1.0);
        for (row, rank) in ranks(scores).into_iter().enumerate() {
            fused[row] += weight / (K + rank as f64);
        }
    }
    fused
}

/// The rank of each row, from 1.
fn ranks(scores: &[f64]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| best_first(scores[a], scores[b]));
    let mut ranks = vec![1; scores.len()];
    for pair in order.windows(2) {
        let is_worse = best_first(scores[pair[0]], scores[pair[1]]).is_ne();
        ranks[pair[1]] = ranks[pair[0]] + u64::from(is_worse);
    }
    ranks
}

fn best_first(a: f64, b: f64) -> Ordering {
    b.partial_cmp(&a).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, term: &str, hits: u64) -> f64 {
        bm25(text, &[term.to_owned()], 10, 100, &[hits])
    }

    #[test]
    fn the_formula_gives_its_textbook_value() {
        // One hit in a text of five words where ten are average: ln(1 + 7.5/3.5) * 2.2 / (1 + 1.2 *
        // 0.625).
        let expected = (1.0f64 + 7.5 / 3.5).ln() * 2.2 / 1.75;
        assert!((of("red bicycle parked outdoors yesterday", "bicycles", 3) - expected).abs() < 1e-12);
    }

    #[test]
    fn rarer_more_frequent_and_shorter_score_higher() {
        assert!(of("red bicycle", "bicycle", 1) > of("red bicycle", "bicycle", 5));
        assert!(of("bicycle bicycle", "bicycle", 5) > of("red bicycle", "bicycle", 5));
        assert!(of("red bicycle", "bicycle", 5) > of("red bicycle parked outdoors", "bicycle", 5));
        assert!(of("red bicycle", "bicycle", 10) > 0.0);
    }

    #[test]
    fn the_words_of_a_phrase_score_separately() {
        let phrase = |text| of(text, "United States", 3);
        assert_eq!(phrase("united nations"), of("united nations", "united", 3));
        assert_eq!(phrase("states and united"), phrase("united states"), "whatever their order");
        assert!(phrase("united states") > phrase("united nations"));
        assert_eq!(phrase("nations"), 0.0);
        assert_eq!(of("united", "the united", 3), of("united", "united", 3), "stop words score nothing");
    }

    #[test]
    fn a_missing_term_scores_zero() {
        assert_eq!(of("red bicycle", "skateboard", 4), 0.0);
        assert_eq!(of("", "skateboard", 4), 0.0);
        assert_eq!(bm25("", &["red".to_owned()], 0, 0, &[0]), 0.0);
    }

    #[test]
    fn each_term_needs_its_hit_count() {
        assert_eq!(score("red", &[Term::exact("red")], Collection { documents: 1, words: 1 }, &[]), None);
    }
}

#[cfg(test)]
mod fuse_tests {
    use super::*;

    const NONE: f64 = f64::NAN;

    #[test]
    fn equal_scores_share_a_rank() {
        assert_eq!(ranks(&[0.5, 0.9, 0.5, 0.1]), [2, 1, 2, 3]);
        assert_eq!(ranks(&[0.0, -0.0]), [1, 1]);
    }

    #[test]
    fn rows_without_a_score_come_last_together() {
        assert_eq!(ranks(&[NONE, -5.0, NONE, f64::NEG_INFINITY]), [3, 1, 3, 2]);
    }

    #[test]
    fn contributions_are_summed() {
        let fused = fuse(&[vec![0.9, 0.1], vec![1.0, 7.0]], &[]);
        assert_eq!(fused, [1.0 / 61.0 + 1.0 / 62.0, 1.0 / 62.0 + 1.0 / 61.0]);
    }

    #[test]
    fn weights_scale_the_components() {
        let fused = fuse(&[vec![0.9, 0.1], vec![1.0, 7.0]], &[2.0, 1.0]);
        assert!(fused[0] > fused[1]);
        let fused = fuse(&[vec![0.9, 0.1], vec![1.0, 7.0]], &[1.0, 2.0]);
        assert!(fused[0] < fused[1]);
    }

    #[test]
    fn nothing_fuses_to_nothing() {
        assert!(fuse(&[], &[]).is_empty());
        assert!(fuse(&[vec![], vec![]], &[1.0]).is_empty());
    }
}
