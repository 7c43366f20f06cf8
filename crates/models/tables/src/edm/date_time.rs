//! A date and time: the text that was written, which clients get back, and the moment that filters compare.

use super::Ticks;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DateTime {
    text: String,
    ticks: Ticks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateTimeRef<'a> {
    text: &'a str,
    ticks: Ticks,
}

impl DateTime {
    /// See [`Ticks::parse`] for the texts that are dates.
    pub fn parse(text: &str) -> Option<Self> {
        DateTimeRef::parse(text).map(DateTimeRef::to_owned)
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn ticks(&self) -> Ticks {
        self.ticks
    }

    pub fn as_ref(&self) -> DateTimeRef<'_> {
        DateTimeRef { text: &self.text, ticks: self.ticks }
    }
}

/// With the text that the service writes.
impl From<Ticks> for DateTime {
    fn from(ticks: Ticks) -> Self {
        Self { text: ticks.to_string(), ticks }
    }
}

impl<'a> DateTimeRef<'a> {
    pub fn parse(text: &'a str) -> Option<Self> {
        Ticks::parse(text).map(|ticks| Self { text, ticks })
    }

    /// Of a record, which was written from one that was parsed.
    pub(crate) fn stored(text: &'a str, ticks: Ticks) -> Self {
        Self { text, ticks }
    }

    pub fn text(self) -> &'a str {
        self.text
    }

    pub fn ticks(self) -> Ticks {
        self.ticks
    }

    pub fn to_owned(self) -> DateTime {
        DateTime { text: self.text.to_owned(), ticks: self.ticks }
    }
}
