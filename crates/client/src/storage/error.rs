//! Errors without a response, and refusals: in JSON for tables, in XML for queues.

use super::xml;
use crate::answer::Answer;
use crate::http::SendError;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StorageError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    NoAnswer(#[from] SendError),
    #[error("the answer is not understood: {0}")]
    NotUnderstood(String),
    /// The request cannot be expressed on the wire.
    #[error("{0}")]
    Invalid(String),
}

/// The service's message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Refusal {
    pub status: u16,
    pub code: String,
    pub message: String,
    /// The index of the transaction's operation at fault, from 0.
    pub index: Option<usize>,
}

/// Characters of a refusal's message that are kept.
const MESSAGE_CHARS_MAX: usize = 1000;
/// The suffix of the services' messages.
const REQUEST_ID: &str = "\nRequestId:";

impl StorageError {
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            Self::NoAnswer(_) | Self::NotUnderstood(_) | Self::Invalid(_) => None,
        }
    }

    /// The code of a refusal; empty if it is something else.
    pub fn code(&self) -> &str {
        self.refusal().map(|refusal| refusal.code.as_str()).unwrap_or_default()
    }

    pub(super) fn not_understood(why: impl ToString) -> Self {
        Self::NotUnderstood(why.to_string())
    }
}

impl Refusal {
    pub(super) fn of(answer: &Answer) -> Self {
        Self::read(answer.status.as_u16(), answer.header("x-ms-error-code"), &answer.body)
    }

    /// From a status, the code in a header, and a body.
    pub(super) fn read(status: u16, code: Option<&str>, body: &[u8]) -> Self {
        let (said_code, said) = of_json(body).or_else(|| of_xml(body)).unwrap_or_else(|| of_text(body));
        let said = said.split(REQUEST_ID).next().unwrap_or_default().trim_end();
        let code = code.map(str::to_owned).or(said_code).unwrap_or_else(|| status.to_string());
        let message = if said.is_empty() { "the service says no more" } else { said };
        let message = message.chars().take(MESSAGE_CHARS_MAX).collect();
        Self { status, code, message, index: None }
    }
}

type Said = (Option<String>, String);

/// `{"odata.error":{"code":"X","message":{"lang":"en-US","value":"…"}}}`
fn of_json(body: &[u8]) -> Option<Said> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let error = &body["odata.error"];
    let code = error["code"].as_str().map(str::to_owned);
    let message = error["message"]["value"].as_str().or_else(|| body["detail"].as_str())?;
    Some((code, message.to_owned()))
}

/// `<Error><Code>X</Code><Message>…</Message></Error>`
fn of_xml(body: &[u8]) -> Option<Said> {
    let error = xml::read(body).ok().filter(|root| root.name == "Error")?;
    Some((error.text_of("Code").map(str::to_owned), error.text_of("Message")?.to_owned()))
}

fn of_text(body: &[u8]) -> Said {
    (None, String::from_utf8_lossy(body).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_read_from_either_format() {
        let check = |code: Option<&str>, body: &str, expected: (&str, &str)| {
            let refusal = Refusal::read(409, code, body.as_bytes());
            assert_eq!((refusal.code.as_str(), refusal.message.as_str()), expected, "{body}");
        };
        let json =
            r#"{"odata.error":{"code":"X","message":{"lang":"en-US","value":"why\nRequestId:1\nTime:2"}}}"#;
        check(None, json, ("X", "why"));
        check(Some("Y"), json, ("Y", "why"));
        check(None, "<Error><Code>X</Code><Message>a &lt; b\nRequestId:1</Message></Error>", ("X", "a < b"));
        check(None, "go away", ("409", "go away"));
        check(Some("X"), "", ("X", "the service says no more"));
    }
}
