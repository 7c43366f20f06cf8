//! What the fuzzers run, here so that the ordinary tests run the same. Each takes any bytes and panics only if a promise of
//! this crate is broken.

use crate::decode::message_text;
use orrery_api_storage::xml::Writer;

/// A message's body is refused as a request that is not understood, or has a text that is written and read back to the
/// letter.
pub fn message(data: &[u8]) {
    match message_text(data) {
        Ok(text) => {
            let mut writer = Writer::new();
            writer.element("QueueMessage", |inside| inside.text("MessageText", text.as_str()));
            assert_eq!(message_text(&writer.finish()), Ok(text));
        }
        Err(failure) => assert!(failure.0.status.is_client_error()),
    }
}
