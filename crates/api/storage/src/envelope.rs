//! What every answer says of its request: its ids, the version, the date (wire guide §4.2).
//!
//! It is there before anything else of a request is read, so that a refusal has it too.

use crate::header;
use crate::limits::CLIENT_REQUEST_ID_CHARS_MAX;
use crate::version::Version;
use http::header::{DATE, SERVER};
use http::{HeaderMap, HeaderValue};
use orrery_core::{Env, Timestamp};

const OURS: HeaderValue = HeaderValue::from_static("Orrery");

#[derive(Clone, Debug)]
pub struct Envelope {
    pub request_id: String,
    /// The one that is answered by; the default, until it is known.
    pub version: Version,
    /// When the request came, by the clock of `Env`.
    pub now: Timestamp,
    client_request_id: Option<HeaderValue>,
}

impl Envelope {
    pub fn new(env: &Env, headers: &HeaderMap) -> Self {
        let given = headers.get(header::CLIENT_REQUEST_ID).filter(|id| is_echoed(id)).cloned();
        Self { request_id: env.guid(), version: Version::DEFAULT, now: env.now(), client_request_id: given }
    }

    /// Puts the standard headers on an answer, in the place of any it has.
    pub fn finish(&self, headers: &mut HeaderMap) {
        let text = |text: &str| HeaderValue::from_str(text).expect("ids, versions and dates are ASCII");
        headers.insert(header::REQUEST_ID, text(&self.request_id));
        headers.insert(header::VERSION, text(self.version.as_str()));
        headers.insert(DATE, text(&self.now.to_http()));
        headers.insert(SERVER, OURS);
        if let Some(id) = &self.client_request_id {
            headers.insert(header::CLIENT_REQUEST_ID, id.clone());
        }
    }
}

fn is_echoed(id: &HeaderValue) -> bool {
    (1..=CLIENT_REQUEST_ID_CHARS_MAX).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{DATE as NOW, fixture};

    #[test]
    fn every_answer_says_which_request_it_is_to() {
        let given = |id: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CLIENT_REQUEST_ID, HeaderValue::from_str(id).expect("a value"));
            let envelope = fixture().storage.begin(&headers);
            let mut answer = HeaderMap::new();
            envelope.finish(&mut answer);
            answer
        };
        let answer = given("my-id");
        assert_eq!(
            (&answer[header::CLIENT_REQUEST_ID], &answer[DATE]),
            (&"my-id".parse().expect("a value"), &NOW.parse().expect("a value"))
        );
        assert_eq!(
            (answer[header::REQUEST_ID].len(), &answer[header::VERSION]),
            (36, &HeaderValue::from_static("2025-11-05"))
        );
        for id in ["", "two words", &"x".repeat(CLIENT_REQUEST_ID_CHARS_MAX + 1)] {
            assert!(!given(id).contains_key(header::CLIENT_REQUEST_ID), "{id}");
        }
    }
}
