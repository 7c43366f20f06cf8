//! The messages in an answer of the queue protocol, read from the XML that it is.

/// A message as a put, a get or a peek shows it; what is not shown is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueMessage {
    pub id: String,
    pub receipt: String,
    pub dequeue_count: u32,
    pub text: String,
}

/// `None` if it is no list of messages.
pub fn read_messages(body: &[u8]) -> Option<Vec<QueueMessage>> {
    let text = std::str::from_utf8(body).ok()?;
    if text.contains("<QueueMessagesList/>") || text.contains("<QueueMessagesList />") {
        return Some(Vec::new());
    }
    let list = inside(text, "QueueMessagesList")?;
    list.split("<QueueMessage>").skip(1).map(read_one).collect()
}

fn read_one(message: &str) -> Option<QueueMessage> {
    let part = |name: &str| inside(message, name).map(unescape);
    let dequeue_count = match inside(message, "DequeueCount") {
        Some(count) => count.parse().ok()?,
        None => 0,
    };
    Some(QueueMessage {
        id: part("MessageId")?,
        receipt: part("PopReceipt").unwrap_or_default(),
        dequeue_count,
        text: part("MessageText").unwrap_or_default(),
    })
}

fn inside<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(inside, _)| inside)
}

/// The body of a put or an update with this text.
pub fn message_body(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("<QueueMessage><MessageText>{escaped}</MessageText></QueueMessage>")
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOT: &str = "<?xml version=\"1.0\"?><QueueMessagesList><QueueMessage><MessageId>i</MessageId>\
        <InsertionTime>Sun, 15 Nov 2026 01:02:43 GMT</InsertionTime><PopReceipt>r</PopReceipt>\
        <DequeueCount>2</DequeueCount><MessageText>a&lt;&amp;lt;</MessageText></QueueMessage><QueueMessage>\
        <MessageId>j</MessageId></QueueMessage></QueueMessagesList>";

    #[test]
    fn messages_are_read_as_they_are() {
        let first = QueueMessage {
            id: "i".to_owned(),
            receipt: "r".to_owned(),
            dequeue_count: 2,
            text: "a<&lt;".to_owned(),
        };
        let second = QueueMessage { id: "j".to_owned(), ..QueueMessage::default() };
        assert_eq!(read_messages(GOT.as_bytes()), Some(vec![first, second]));
        assert_eq!(read_messages(b"<?xml version=\"1.0\"?><QueueMessagesList/>"), Some(Vec::new()));
        assert_eq!(read_messages(b"<Error/>"), None);
        assert_eq!(read_messages(GOT.replace("<DequeueCount>2", "<DequeueCount>x").as_bytes()), None);
        assert_eq!(
            message_body("a<&lt;"),
            "<QueueMessage><MessageText>a&lt;&amp;lt;</MessageText></QueueMessage>"
        );
    }
}
