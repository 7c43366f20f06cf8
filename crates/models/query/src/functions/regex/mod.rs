//! Compiled regular expressions with bounded cost that can be interrupted.
//!
//! ```text
//! compile   pattern text ─> Regex, or why it is none
//! vm        patterns that look around or refer back: a backtracking machine that counts its steps
//! meter     the steps that one call and one page may take, and when the clock is read
//! ```
//!
//! A pattern without look-around and back-references runs on automata, in time proportional to the product of
//! text and pattern; that product is limited. Other patterns run the program that `fancy-regex` compiles, but
//! on our own machine: the original cannot be interrupted and counts only its backtracking.

mod compile;
mod meter;
mod vm;

pub(crate) use compile::CompileError;
pub(super) use meter::{Meter, Stop};

use crate::limits;
use std::ops::Range;

/// A compiled pattern.
pub struct Regex {
    engine: Engine,
    /// The number of groups, including the whole match, which comes first.
    groups: usize,
    /// Characters and classes with repetitions expanded: how many may be tried per byte of text.
    positions: u64,
}

enum Engine {
    Automata(fancy_regex::Regex),
    Machine(vm::Program),
}

/// The positions of a match's groups in the text; the first is the whole match.
pub(super) struct Match(Vec<Option<Range<usize>>>);

impl Match {
    pub fn group(&self, group: usize) -> Option<Range<usize>> {
        self.0.get(group).cloned().flatten()
    }

    fn whole(&self) -> Range<usize> {
        self.group(0).unwrap_or(0..0)
    }
}

impl Regex {
    pub fn groups(&self) -> usize {
        self.groups
    }

    pub fn is_match(&self, text: &str, meter: &Meter<'_>) -> Result<bool, Stop> {
        self.admit(text, meter)?;
        match &self.engine {
            Engine::Automata(regex) => regex.is_match(text).map_err(|_| Stop::TooManySteps),
            Engine::Machine(program) => Ok(program.run(text, 0, false, meter)?.is_some()),
        }
    }

    /// The non-overlapping matches from left to right.
    pub fn matches<'r>(&'r self, text: &'r str, meter: &'r Meter<'r>) -> Matches<'r> {
        Matches { regex: self, text, meter, next: Some(0), last_end: None }
    }

    /// Automata cannot be interrupted, so their worst case is limited beforehand.
    fn admit(&self, text: &str, meter: &Meter<'_>) -> Result<(), Stop> {
        let work = self.positions.saturating_mul(text.len() as u64);
        if work > limits::REGEX_WORK_MAX {
            return Err(Stop::TooMuchWork);
        }
        meter.work(work)
    }

    fn find_at(
        &self,
        text: &str,
        at: usize,
        is_after_empty: bool,
        meter: &Meter<'_>,
    ) -> Result<Option<Match>, Stop> {
        self.admit(&text[at..], meter)?;
        match &self.engine {
            Engine::Automata(regex) => {
                let found = regex.captures_from_pos(text, at).map_err(|_| Stop::TooManySteps)?;
                let groups = |found: fancy_regex::Captures<'_>| {
                    (0..self.groups).map(|group| found.get(group).map(|it| it.range())).collect()
                };
                Ok(found.map(groups).map(Match))
            }
            Engine::Machine(program) => {
                let saves = program.run(text, at, is_after_empty, meter)?;
                Ok(saves.map(|saves| Match((0..self.groups).map(|group| vm::group(&saves, group)).collect())))
            }
        }
    }
}

/// Iterates over the matches of a text.
pub(super) struct Matches<'r> {
    regex: &'r Regex,
    text: &'r str,
    meter: &'r Meter<'r>,
    /// Where the next search begins; `None` at the end.
    next: Option<usize>,
    last_end: Option<usize>,
}

impl Iterator for Matches<'_> {
    type Item = Result<Match, Stop>;

    /// Skips an empty match directly after another match.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let at = self.next?;
            let is_after_empty = self.last_end.is_some_and(|last| at > last);
            let found = match self.regex.find_at(self.text, at, is_after_empty, self.meter) {
                Ok(found) => found,
                Err(stop) => {
                    self.next = None;
                    return Some(Err(stop));
                }
            };
            let Some(found) = found else {
                self.next = None;
                return None;
            };
            let Range { start, end } = found.whole();
            let is_repeated = start == end && self.last_end == Some(end);
            self.next = if start == end { self.behind_character(end) } else { Some(end) };
            if !is_repeated {
                self.last_end = Some(end);
                return Some(Ok(found));
            }
        }
    }
}

impl Matches<'_> {
    fn behind_character(&self, at: usize) -> Option<usize> {
        self.text[at..].chars().next().map(|character| at + character.len_utf8())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::QueryError;
    use crate::execute::Host;
    use orrery_value::Value;
    use proptest::prelude::*;
    use std::cell::Cell;

    /// A clock that advances by a fixed amount at each check and counts the checks.
    #[derive(Default)]
    struct Clock {
        checks: Cell<u64>,
        checks_max: u64,
    }

    impl Host for Clock {
        fn now_ms(&self) -> u64 {
            0
        }

        fn random(&self) -> f64 {
            0.0
        }

        fn elapsed_ms(&self) -> u64 {
            self.checks.set(self.checks.get() + 1);
            if self.checks.get() > self.checks_max { u64::MAX } else { 0 }
        }

        fn udf(&self, _name: &str, _args: &[Value]) -> Result<Value, QueryError> {
            Ok(Value::Undefined)
        }
    }

    fn still() -> Clock {
        Clock { checks: Cell::new(0), checks_max: u64::MAX }
    }

    fn compile(pattern: &str) -> Regex {
        Regex::compile(pattern).unwrap_or_else(|error| panic!("{pattern}: {error:?}"))
    }

    fn all(pattern: &str, text: &str) -> Result<Vec<Vec<Option<Range<usize>>>>, Stop> {
        let (regex, page, clock) = (compile(pattern), Cell::new(0), still());
        let meter = Meter::new(&page, &clock);
        regex.matches(text, &meter).map(|found| found.map(|found| found.0)).collect()
    }

    /// The matches that the compiling engine itself finds.
    fn expected(pattern: &str, text: &str) -> Vec<Vec<Option<Range<usize>>>> {
        let regex = fancy_regex::Regex::new(pattern).expect("a pattern");
        let groups = |found: fancy_regex::Captures<'_>| {
            (0..found.len()).map(|group| found.get(group).map(|it| it.range())).collect()
        };
        regex.captures_iter(text).map(|found| groups(found.expect("few steps"))).collect()
    }

    const PATTERNS: &[&str] = &[
        "a",
        "",
        "a*",
        "(a|b)+c?",
        r"(a|b)\1",
        r"(a|ab)(c|bcd)*\1?",
        r"(?<=a)b|c(?=a)",
        r"(?<!a)b(?!c)",
        r"(?>a+|b)c",
        r"(?>(a|b)*)(c)?",
        r"\b(\w+)\s\1\b",
        r"(?i)(a)\1",
        r"(a)?(?(1)b|c)",
        r"(?:(?=(a))a)*b",
        r"(a*)*\1b",
        r"(a{1,3}?)(b{2})?\1",
        r"a\Kb",
        r"(?m)^a|(b)\1$",
        r"(?=(a+))\1?b",
        r"((a)|b){2,3}\2",
        r"(?!(a))\w(?<=b)",
        r"(?<name>b)\k<name>",
        r"(é|🚀)\1",
    ];

    #[test]
    fn it_agrees_with_the_compiling_engine() {
        for pattern in PATTERNS {
            for text in
                ["", "a", "ab", "aab", "abab", "ba ba aa", "abcbcda", "aA b bb", "éé🚀🚀a", "caab\nbba"]
            {
                assert_eq!(all(pattern, text), Ok(expected(pattern, text)), "{pattern} in {text:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_compiling_engine_on_any_text(pattern in 0..PATTERNS.len(), text in "[abcéA \n]{0,12}") {
            let pattern = PATTERNS[pattern];
            prop_assert_eq!(all(pattern, &text), Ok(expected(pattern, &text)));
        }
    }

    #[test]
    fn endless_backtracking_stops_at_the_step_limit() {
        let text = "a".repeat(60);
        assert_eq!(all(r"^(a|aa)+\1$b", &text).err(), Some(Stop::TooManySteps));
    }

    /// Backtracks once per character, but looks at all the following ones each time.
    #[test]
    fn a_long_look_ahead_checks_the_clock() {
        let text = "a".repeat(200_000);
        let (page, clock) = (Cell::new(0), Clock { checks_max: 10, ..still() });
        let regex = compile("(?=a*b)a");
        assert_eq!(regex.is_match(&text, &Meter::new(&page, &clock)), Err(Stop::TooLong));
        assert_eq!(clock.checks.get(), 11);
    }

    #[test]
    fn a_page_has_its_own_step_limit() {
        let regex = compile(r"(a|b)\1c");
        let (clock, page) = (still(), Cell::new(limits::REGEX_PAGE_STEPS_MAX - 2_000_000));
        let text = "ab".repeat(50_000);
        let outcomes = [(); 4].map(|()| regex.is_match(&text, &Meter::new(&page, &clock)));
        assert_eq!((outcomes[0], outcomes[3]), (Ok(false), Err(Stop::PageSpent)));
    }

    #[test]
    fn a_large_pattern_is_not_run_over_a_large_text() {
        let text = "01".repeat(500_000);
        assert_eq!(all("[01]*1[01]{1000}x", &text).err(), Some(Stop::TooMuchWork));
        assert_eq!(all("[01]*1[01]{10}x", &text), Ok(Vec::new()));
    }

    #[test]
    fn pending_branches_have_limited_memory() {
        let text = "a".repeat(1 << 20);
        assert_eq!(all(r"((a)|b)*\1c", &text).err(), Some(Stop::TooMuchMemory));
    }

    #[test]
    fn a_pattern_too_large_differs_from_a_malformed_one() {
        let error = |pattern: &str| Regex::compile(pattern).err();
        for wrong in ["(", "[a", "*", r"(a)\2"] {
            assert_eq!(error(wrong), Some(CompileError::Wrong), "{wrong}");
        }
        let long = "a".repeat(limits::REGEX_PATTERN_BYTES_MAX + 1);
        let many = r"(?=\w)".repeat(1_000);
        for large in
            ["a{1000000}{1000000}", r"\w{20000}", &"(".repeat(10_000), &long, &many, r"(?=\w{20000})a"]
        {
            assert_eq!(error(large), Some(CompileError::TooLarge), "{large:.20}");
        }
        assert_eq!(error(r"[\w.+-]{1,64}@[\w-]{1,63}\.[a-z]{2,63}"), None);
    }
}
