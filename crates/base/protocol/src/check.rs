//! One thing that was checked: how `/readyz` tells it of a service, and how `orrery doctor` shows it.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was checked, in a word.
    pub about: String,
    pub verdict: Verdict,
    pub sentence: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Ok,
    /// As somebody left it on purpose, and yet worth knowing.
    Look,
    /// Somebody has to do something about it.
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
