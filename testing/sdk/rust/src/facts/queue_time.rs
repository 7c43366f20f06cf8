//! Messages and the clock: visibility, expiry, updates, receipts.

use super::{Outcome, facts};
use crate::cosmos::Cosmos;
use crate::queues::{Queues, code, message, peeked, properties, receive, receive_one, refused, send};
use azure_core::time::Duration;
use azure_storage_queue::QueueClient;
use azure_storage_queue::models::{QueueClientSendMessageOptions, QueueClientUpdateMessageOptions};

facts! { Manual:
    "queues.messages.visibility" => what_was_received_is_hidden_until_its_time_is_over,
    "queues.messages.visibility" => a_message_may_be_sent_hidden,
    "queues.messages.expiry" => a_message_goes_when_its_time_is_over,
    "queues.messages.update" => text_and_visibility_are_updated,
    "queues.messages.receipt" => only_the_newest_receipt_works,
}

/// Gives the message another text.
async fn update(
    queue: &QueueClient,
    id: &str,
    receipt: &str,
    text: &str,
    seconds: i32,
) -> azure_core::Result<()> {
    let options =
        QueueClientUpdateMessageOptions { queue_message: Some(message(text)?), ..Default::default() };
    queue.update_message(id, receipt, seconds, Some(options)).await.map(drop)
}

async fn what_was_received_is_hidden_until_its_time_is_over(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).filled(&["moon"]).await?;
    let (first, _, before) = receive_one(&queue, 10).await?;
    cosmos.server.advance(9)?;
    assert!(receive(&queue, 1, 10).await?.is_empty());
    cosmos.server.advance(1)?;
    let (second, _, after) = receive_one(&queue, 30).await?;
    assert_eq!((first, after.dequeue_count), (second, Some(2)));
    let apart = after.time_next_visible.ok_or("no time")? - before.time_next_visible.ok_or("no time")?;
    assert_eq!(apart, Duration::seconds(30));
    Ok(())
}

async fn a_message_may_be_sent_hidden(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).queue().await?;
    let hidden = QueueClientSendMessageOptions { visibility_timeout: Some(60), ..Default::default() };
    send(&queue, "later", Some(hidden)).await?;
    send(&queue, "now", None).await?;
    assert_eq!((peeked(&queue).await?, properties(&queue).await?.1), (vec!["now".to_owned()], 2));
    cosmos.server.advance(60)?;
    assert_eq!(peeked(&queue).await?, ["now", "later"]);
    Ok(())
}

async fn a_message_goes_when_its_time_is_over(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).queue().await?;
    for (text, ttl) in [("short", Some(60)), ("week", None), ("forever", Some(-1))] {
        let options = QueueClientSendMessageOptions { message_time_to_live: ttl, ..Default::default() };
        send(&queue, text, Some(options)).await?;
    }
    cosmos.server.advance(59)?;
    assert_eq!(peeked(&queue).await?, ["short", "week", "forever"]);
    cosmos.server.advance(1)?;
    assert_eq!(peeked(&queue).await?, ["week", "forever"]);
    cosmos.server.advance(7 * 24 * 60 * 60)?;
    assert_eq!(peeked(&queue).await?, ["forever"]);
    Ok(())
}

async fn text_and_visibility_are_updated(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).filled(&["one"]).await?;
    let (id, receipt, _) = receive_one(&queue, 30).await?;
    update(&queue, &id, &receipt, "two", 100).await?;
    cosmos.server.advance(99)?;
    assert!(peeked(&queue).await?.is_empty());
    cosmos.server.advance(1)?;
    let (id, receipt, again) = receive_one(&queue, 30).await?;
    assert_eq!((again.message_text.as_deref(), again.dequeue_count), (Some("two"), Some(2)));
    queue.update_message(&id, &receipt, 10, None).await?;
    cosmos.server.advance(10)?;
    assert_eq!(peeked(&queue).await?, ["two"]);
    Ok(())
}

async fn only_the_newest_receipt_works(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).queue().await?;
    let sent = send(&queue, "one", None).await?.pop_receipt.ok_or("no receipt")?;
    let (id, first, _) = receive_one(&queue, 10).await?;
    cosmos.server.advance(10)?;
    let (_, second, _) = receive_one(&queue, 10).await?;
    let stale = code(400, "PopReceiptMismatch");
    for receipt in [sent, first] {
        assert_eq!(refused(queue.delete_message(&id, &receipt, None).await), stale);
        assert_eq!(refused(update(&queue, &id, &receipt, "stale", 0).await), stale);
    }
    cosmos.server.advance(10)?;
    assert_eq!(peeked(&queue).await?, ["one"]);
    queue.delete_message(&id, &second, None).await?;
    assert_eq!(refused(queue.delete_message(&id, &second, None).await), code(404, "MessageNotFound"));
    Ok(())
}
