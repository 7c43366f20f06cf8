//! What the headers of a request say about how an entity is written and answered. Requests inside a batch have the same.

use crate::errors::Failure;
use crate::json::{Level, check_content_type};
use orrery_tables::IfMatch;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub if_match: Option<IfMatch>,
    pub preference: Option<Preference>,
    pub level: Level,
}

/// What `Prefer` asks an insert to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preference {
    NoContent,
    Content,
}

impl Head {
    /// From the texts of headers; what is no text must have been made one, since an `If-Match` that was passed over would
    /// mean another operation.
    pub fn read<T: AsRef<str>>(
        header: impl Fn(&str) -> Option<T>,
        format: Option<&str>,
    ) -> Result<Self, Failure> {
        let text = |name: &str| header(name);
        check_content_type(text("content-type").as_ref().map(AsRef::as_ref))?;
        Ok(Self {
            if_match: text("if-match").map(|tag| IfMatch::parse(tag.as_ref())),
            preference: text("prefer").and_then(|value| Preference::parse(value.as_ref())),
            level: Level::asked(text("accept").as_ref().map(AsRef::as_ref), format)?,
        })
    }
}

impl Preference {
    fn parse(value: &str) -> Option<Self> {
        let known = [("return-no-content", Self::NoContent), ("return-content", Self::Content)];
        let named = |word: &str| known.iter().find(|(name, _)| word.trim().eq_ignore_ascii_case(name));
        value.split([',', ';']).find_map(named).map(|(_, preference)| *preference)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::NoContent => "return-no-content",
            Self::Content => "return-content",
        }
    }
}
