//! Full-text search: `FullTextContains` and its siblings, and the parts of BM25 and rank fusion.
//!
//! ```text
//! analyze: text ─> words (small, without stop words, stems)      term: what is looked for, exact or fuzzy
//! score:   BM25 of a text, given the numbers of the whole collection      fuse: several rankings into one
//! ```
//!
//! `FullTextScore` and `RRF` have a meaning only in `ORDER BY RANK`, where the executor computes them with
//! this module. Called anywhere else they are undefined.

mod analyze;
mod rank;
mod stop_words;
mod term;

pub use analyze::{terms, word_count, written_words};

pub use rank::{Collection, bm25, fuse, score};
pub use term::{Term, frequency, hit, terms_of};

use super::{Context, Function, function};
use crate::datum::Datum;

pub(super) const TABLE: &[Function] = &[
    function("FullTextContains", 2, 2, contains_all),
    function("FullTextContainsAll", 2, usize::MAX, contains_all),
    function("FullTextContainsAny", 2, usize::MAX, contains_any),
    function("FullTextScore", 2, usize::MAX, only_in_rank),
    function("RRF", 1, usize::MAX, only_in_rank),
    function("_FullTextScore", 5, 5, full_text_score),
    function("_FullTextWordCount", 1, 1, full_text_word_count),
];

fn contains_all<'a>(args: &[Datum<'a>], _: &Context<'_>) -> Datum<'a> {
    contains(args, |found| found.iter().all(|&it| it))
}

fn contains_any<'a>(args: &[Datum<'a>], _: &Context<'_>) -> Datum<'a> {
    contains(args, |found| found.contains(&true))
}

fn contains<'a>(args: &[Datum<'a>], say: fn(&[bool]) -> bool) -> Datum<'a> {
    let Some(text) = args[0].as_str() else { return Datum::Undefined };
    let wanted: Option<Vec<Term>> = args[1..].iter().map(Term::read).collect();
    let Some(wanted) = wanted else { return Datum::Undefined };
    let words = analyze::words(text);
    let found: Vec<bool> = wanted.iter().map(|term| term.frequency(&words) > 0).collect();
    say(&found).into()
}

fn only_in_rank<'a>(_: &[Datum<'a>], _: &Context<'_>) -> Datum<'a> {
    Datum::Undefined
}

/// `_FullTextScore(text, [terms], documents, words, [hits])`, with the statistics substituted by a client.
fn full_text_score<'a>(args: &[Datum<'a>], _: &Context<'_>) -> Datum<'a> {
    let result = || {
        let count = |value: &Datum<'_>| value.as_i64().and_then(|it| u64::try_from(it).ok());
        let terms = terms_of(&args[1..2])?;
        let collection = Collection { documents: count(&args[2])?, words: count(&args[3])? };
        let hits: Vec<u64> = args[4].elements()?.iter().map(count).collect::<Option<_>>()?;
        score(args[0].as_str()?, &terms, collection, &hits)
    };
    result().map_or(Datum::Undefined, Into::into)
}

fn full_text_word_count<'a>(args: &[Datum<'a>], _: &Context<'_>) -> Datum<'a> {
    match args[0].as_str() {
        Some(text) => i64::try_from(word_count(text)).map_or(Datum::Undefined, Into::into),
        None => Datum::Undefined,
    }
}
