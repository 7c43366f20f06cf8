//! Health checks, as `/readyz` reports them and `orrery doctor` shows them.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The subject in a word.
    pub about: String,
    pub verdict: Verdict,
    pub sentence: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Ok,
    /// Deliberate, but worth knowing.
    Look,
    /// The operator has to act.
    Bad,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Look => "look",
            Self::Bad => "bad",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        [Self::Ok, Self::Look, Self::Bad].into_iter().find(|verdict| verdict.word() == word)
    }
}

impl Check {
    pub fn new(about: &str, verdict: Verdict, sentence: impl Into<String>) -> Self {
        Self { about: about.to_owned(), verdict, sentence: sentence.into() }
    }

    pub fn ok(about: &str, sentence: impl Into<String>) -> Self {
        Self::new(about, Verdict::Ok, sentence)
    }
}
