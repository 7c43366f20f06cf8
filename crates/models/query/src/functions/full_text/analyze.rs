//! Text analysis for English: from a text to its search terms.
//!
//! The text is split at Unicode word boundaries and lowercased; the reference's stop words are removed and
//! the rest is stemmed. Documents and search phrases are analyzed alike.

use super::stop_words::is_stop_word;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Lowercased, otherwise as written.
    pub written: String,
    pub stem: String,
}

/// The words of a text, in order.
pub(super) fn words(text: &str) -> Vec<Word> {
    let stemmer = Stemmer::create(Algorithm::English);
    let stemmed = |written: String| Word { stem: stemmer.stem(&written).into_owned(), written };
    written(text).map(stemmed).collect()
}

/// The lowercased words of a text, in order.
pub fn written_words(text: &str) -> Vec<String> {
    written(text).collect()
}

/// The stems of a text's words, in order.
pub fn terms(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.stem).collect()
}

/// The number of words of a text, as [`terms`] counts them.
pub fn word_count(text: &str) -> u64 {
    written(text).count() as u64
}

fn written(text: &str) -> impl Iterator<Item = String> {
    text.unicode_words().map(plain).filter(|word| !is_stop_word(word))
}

fn plain(word: &str) -> String {
    word.to_lowercase().replace('\u{2019}', "'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(terms(text), expected, "{text:?}");
        assert_eq!(word_count(text), expected.len() as u64, "{text:?}");
    }

    #[test]
    fn words_are_lowercased_and_stemmed() {
        check("Bicycles, BICYCLE; bicycling!", &["bicycl", "bicycl", "bicycl"]);
        check("running runner runs ran", &["run", "runner", "run", "ran"]);
        check("mountain-bike trail_head", &["mountain", "bike", "trail_head"]);
    }

    #[test]
    fn stop_words_are_left_out_with_either_apostrophe() {
        check("the red and the blue", &["red", "blue"]);
        check("don't DON\u{2019}T isn't stop", &["stop"]);
        check("the of and", &[]);
    }

    #[test]
    fn a_text_without_words_has_no_terms() {
        check("", &[]);
        check(" ... --- !!! \u{1F600}", &[]);
    }

    #[test]
    fn other_scripts_are_words_too() {
        check("Grüße, МОСКВА 北京", &["grüße", "москва", "北", "京"]);
        check("42 3.14", &["42", "3.14"]);
    }

    proptest! {
        #[test]
        fn any_text_has_terms(text in any::<String>()) {
            prop_assert_eq!(terms(&text).len() as u64, word_count(&text));
        }

        #[test]
        fn words_of_all_letters_have_stems(text in "[a-zA-Zàéîöüßñçœæøå'\u{2019}ıİſΣ ]{0,40}") {
            prop_assert_eq!(terms(&text).len() as u64, word_count(&text));
        }
    }
}
