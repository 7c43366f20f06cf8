//! Search terms: a word, a phrase, or words with a permitted edit distance.
//!
//! A phrase matches where its words are adjacent, ignoring stop words. A fuzzy term (`{"term": "bycycle",
//! "distance": 2}`) permits that many inserted, deleted or replaced letters in each of its words, as written
//! or stemmed.

use super::analyze::{Word, words};
use crate::datum::Datum;

/// The greatest edit distance per word, as in the reference.
const DISTANCE_MAX: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// Empty if there were only stop words; then nothing matches.
    words: Vec<Word>,
    distance: usize,
}

impl Term {
    pub fn exact(phrase: &str) -> Self {
        Self { words: words(phrase), distance: 0 }
    }

    /// A string, or an object with a `term` and a `distance`.
    pub fn read(value: &Datum<'_>) -> Option<Self> {
        if let Some(phrase) = value.as_str() {
            return Some(Self::exact(phrase));
        }
        let words = words(value.member("term").as_str()?);
        let distance = match value.member("distance") {
            Datum::Undefined => 0,
            number => usize::try_from(number.as_i64()?).ok().filter(|&it| it <= DISTANCE_MAX)?,
        };
        Some(Self { words, distance })
    }

    /// Each word as a term of its own: a phrase matches as a whole but is scored word by word.
    pub fn each_word(&self) -> Vec<Self> {
        let of_word = |word: &Word| Self { words: vec![word.clone()], distance: self.distance };
        self.words.iter().map(of_word).collect()
    }

    /// Whether a text contains the term.
    pub fn hits(&self, text: &str) -> bool {
        self.frequency(&words(text)) > 0
    }

    /// The number of matches among the words of a text.
    pub(super) fn frequency(&self, words: &[Word]) -> u64 {
        if self.words.is_empty() {
            return 0;
        }
        let matches =
            |run: &&[Word]| run.iter().zip(&self.words).all(|(found, wanted)| self.is_like(found, wanted));
        words.windows(self.words.len()).filter(matches).count() as u64
    }

    /// The number of matches of each word on its own.
    pub(super) fn frequencies<'t>(&'t self, words: &'t [Word]) -> impl Iterator<Item = u64> + 't {
        let of = move |wanted: &Word| words.iter().filter(|found| self.is_like(found, wanted)).count() as u64;
        self.words.iter().map(of)
    }

    fn is_like(&self, found: &Word, wanted: &Word) -> bool {
        found.stem == wanted.stem
            || (self.distance > 0
                && (is_within(&found.written, &wanted.written, self.distance)
                    || is_within(&found.stem, &wanted.stem, self.distance)))
    }
}

/// The terms of several arguments: strings and fuzzy terms, or arrays of them.
pub fn terms_of(args: &[Datum<'_>]) -> Option<Vec<Term>> {
    let mut found = Vec::new();
    for arg in args {
        match arg.elements() {
            Some(elements) => found.extend(elements.iter().map(Term::read).collect::<Option<Vec<_>>>()?),
            None => found.push(Term::read(arg)?),
        }
    }
    Some(found)
}

/// Whether a text contains a word or phrase.
pub fn hit(text: &str, term: &str) -> bool {
    frequency(text, term) > 0
}

/// The number of occurrences of a word or phrase in a text.
pub fn frequency(text: &str, term: &str) -> u64 {
    Term::exact(term).frequency(&words(text))
}

/// Whether the edit distance of two words is at most `distance`.
fn is_within(a: &str, b: &str, distance: usize) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > distance {
        return false;
    }
    // Levenshtein's rows: the edits from the first letters of `a` to each prefix of `b`.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let changed = corner + usize::from(letter != other);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
        if row.iter().all(|&changes| changes > distance) {
            return false;
        }
    }
    row[b.len()] <= distance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_matches_adjacent_words() {
        let text = "red bicycles, a red bicycle and bicycles in red";
        assert_eq!(frequency(text, "red"), 3);
        assert_eq!(frequency(text, "bicycle"), 3);
        assert_eq!(frequency(text, "red bicycle"), 2);
        assert_eq!(frequency(text, "bicycle red"), 2);
        assert!(!hit(text, "blue"));
        assert!(!hit(text, "a"), "a stop word is never found");
        assert!(!hit(text, ""));
    }

    #[test]
    fn overlapping_matches_all_count() {
        assert_eq!(frequency("run run run", "run run"), 2);
    }

    fn within(a: &str, b: &str, least: usize) {
        assert!(is_within(a, b, least) && is_within(b, a, least), "{a} {b} {least}");
        assert!(least == 0 || !is_within(a, b, least - 1), "{a} {b} {least}");
    }

    #[test]
    fn word_distance_is_the_edit_distance() {
        within("same", "same", 0);
        within("red", "rad", 1);
        within("red", "read", 1);
        within("bicycl", "bycycl", 1);
        within("kitten", "sitting", 3);
        within("ab", "ba", 2);
        within("", "ab", 2);
        within("größe", "grösse", 2);
    }
}
