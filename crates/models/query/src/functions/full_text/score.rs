//! BM25: how much a text is about some terms.
//!
//! ```text
//! score = Σ over words   ln(1 + (N − n + 0.5) / (n + 0.5)) · f · (k1 + 1) / (f + k1 · (1 − b + b · L / A))
//! ```
//!
//! `N` documents are ranked, `n` of them have the word, this text has it `f` times and has `L` words where the average
//! is `A`; `k1` is 1.2 and `b` 0.75. The words of a phrase are scored separately. The terms are added in the order in
//! which the query names them, so equal texts have equal scores. `N`, `n` and `A` come from the caller.
//! Sources: `docs/adr/0031-full-text-scores.md`.

use super::analyze::words;
use super::term::Term;

/// How soon a repeated term stops to count.
const K1: f64 = 1.2;
/// How much the length of a text matters.
const B: f64 = 0.75;

/// The numbers of all the texts that are ranked together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collection {
    pub documents: u64,
    /// In all documents together, as [`super::word_count`] counts them.
    pub words: u64,
}

/// The score of a text. `hits` says for each term how many documents have it.
pub fn bm25(text: &str, terms: &[String], total_docs: u64, total_words: u64, hits: &[u64]) -> f64 {
    let terms: Vec<Term> = terms.iter().map(|term| Term::exact(term)).collect();
    score(text, &terms, Collection { documents: total_docs, words: total_words }, hits).unwrap_or(0.0)
}

/// The same for terms that may be fuzzy; none if there is not one hit count for each term.
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

/// Never negative, even for a term that most documents have.
fn rarity(documents: u64, hits: u64) -> f64 {
    let (documents, hits) = (documents.max(hits) as f64, hits as f64);
    (1.0 + (documents - hits + 0.5) / (hits + 0.5)).ln()
}

fn saturated(frequency: u64, length: f64) -> f64 {
    let frequency = frequency as f64;
    frequency * (K1 + 1.0) / (frequency + K1 * (1.0 - B + B * length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, term: &str, hits: u64) -> f64 {
        bm25(text, &[term.to_owned()], 10, 100, &[hits])
    }

    #[test]
    fn the_formula_gives_its_textbook_value() {
        // One hit in a text of five words where ten are the average: ln(1 + 7.5/3.5) * 2.2 / (1 + 1.2 * 0.625).
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
    fn what_is_not_found_scores_nothing() {
        assert_eq!(of("red bicycle", "skateboard", 4), 0.0);
        assert_eq!(of("", "skateboard", 4), 0.0);
        assert_eq!(bm25("", &["red".to_owned()], 0, 0, &[0]), 0.0);
    }

    #[test]
    fn each_term_wants_its_number_of_hits() {
        assert_eq!(score("red", &[Term::exact("red")], Collection { documents: 1, words: 1 }, &[]), None);
    }
}
