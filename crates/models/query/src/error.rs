//! Query errors in the form in which the service reports them.
//!
//! A query that cannot run gives a 400 whose message contains a list of errors, each with a code (`SC1001` is
//! a syntax error, `SC2xxx` come from the binder), a span in the text and a sentence.

use crate::parse::TextSpan;

/// One complaint about the text of a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}, {message}")]
pub struct Complaint {
    /// `SC1001` and the like.
    pub code: &'static str,
    pub at: TextSpan,
    pub message: String,
}

impl Complaint {
    pub fn new(code: &'static str, at: TextSpan, message: impl Into<String>) -> Self {
        Self { code, at, message: message.into() }
    }

    /// Spans in the tree count bytes; to clients the service counts UTF-16 units.
    pub fn in_utf16(self, text: &str) -> Self {
        let units = |byte: u32| {
            let before = text.char_indices().take_while(|(at, _)| *at < byte as usize);
            before.map(|(_, character)| character.len_utf16() as u32).sum()
        };
        let at = TextSpan { start: units(self.at.start), end: units(self.at.end) };
        Self { at, ..self }
    }
}

/// Why a query returned no page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The text is malformed or names something unknown: 400.
    #[error(transparent)]
    Text(#[from] Complaint),
    /// The query is valid but cannot be executed: 400.
    #[error("{0}")]
    Refused(String),
    /// The query exceeded the time limit of a request: 408.
    #[error("{0}")]
    TooLong(String),
    /// No memory is available now: 429, and the client may retry.
    #[error("{0}")]
    Busy(String),
    /// The documents could not be read.
    #[error("{0}")]
    Storage(String),
}

impl QueryError {
    /// The error of a query that exceeded its time limit.
    pub fn too_long() -> Self {
        let seconds = crate::limits::QUERY_MILLIS_MAX / 1000;
        Self::TooLong(format!(
            "The query took longer than {seconds} seconds; narrow it with a filter or a partition key."
        ))
    }
}
