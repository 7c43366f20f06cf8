//! Bodies about messages: `<QueueMessage><MessageText>…</MessageText></QueueMessage>` (wire guide §6.2).

use crate::errors::Failure;
use orrery_api_storage::{StorageError, xml};
use orrery_queue_store::MessageText;

/// The text to the letter: white space, line breaks, CDATA and references.
pub fn message_text(body: &[u8]) -> Result<MessageText, Failure> {
    const TEXT: &str = "MessageText";
    let root = xml::read(body)?;
    root.named("QueueMessage")?;
    root.only(&[TEXT])?;
    let text = root.required(TEXT)?.to_owned();
    if root.child(TEXT).is_some_and(|text| !text.children.is_empty()) {
        return Err(StorageError::invalid_xml(format!("the element '{TEXT}' has elements in it")).into());
    }
    Ok(MessageText::new(text)?)
}
