//! What is looked for in a text: a word, a phrase, or words that are nearly written so.
//!
//! A phrase is found where its words follow each other, stop words not counted. A fuzzy term
//! (`{"term": "bycycle", "distance": 2}`) lets each of its words, as written or as a stem, differ by that many
//! letters added, left out or changed.

use super::analyze::{Word, words};
use crate::datum::Datum;

/// The most letters by which a word may differ, as in the reference.
const DISTANCE_MAX: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// None when there were only stop words, and then nothing is found.
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

    /// Each word by itself: a phrase is found as a whole, and scored word by word.
    pub fn each_word(&self) -> Vec<Self> {
        let of_word = |word: &Word| Self { words: vec![word.clone()], distance: self.distance };
        self.words.iter().map(of_word).collect()
    }

    /// Whether a text has it.
    pub fn hits(&self, text: &str) -> bool {
        self.frequency(&words(text)) > 0
    }

    /// How often it is found among the words of a text.
    pub(super) fn frequency(&self, words: &[Word]) -> u64 {
        if self.words.is_empty() {
            return 0;
        }
        let matches =
            |run: &&[Word]| run.iter().zip(&self.words).all(|(found, wanted)| self.is_like(found, wanted));
        words.windows(self.words.len()).filter(matches).count() as u64
    }

    /// How often each of its words is found, by itself.
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

/// The terms of some arguments: strings and fuzzy terms, or arrays of them.
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

/// Whether a text has a word or phrase.
pub fn hit(text: &str, term: &str) -> bool {
    frequency(text, term) > 0
}

/// How often a text has a word or phrase.
pub fn frequency(text: &str, term: &str) -> u64 {
    Term::exact(term).frequency(&words(text))
}

/// Whether one word becomes the other by at most so many letters added, left out or changed.
fn is_within(a: &str, b: &str, distance: usize) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > distance {
        return false;
    }
    // Row by row: the changes from the first letters of `a` to each beginning of `b`.
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
    fn a_phrase_is_found_as_often_as_its_words_follow_each_other() {
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
    fn overlapping_runs_are_counted_each() {
        assert_eq!(frequency("run run run", "run run"), 2);
    }

    fn within(a: &str, b: &str, least: usize) {
        assert!(is_within(a, b, least) && is_within(b, a, least), "{a} {b} {least}");
        assert!(least == 0 || !is_within(a, b, least - 1), "{a} {b} {least}");
    }

    #[test]
    fn the_distance_of_words_is_the_least_number_of_changes() {
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
