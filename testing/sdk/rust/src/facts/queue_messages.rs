//! Messages: send, receive, peek, delete, clear; counts, order, texts, limits.

use super::{Outcome, facts};
use crate::cosmos::Cosmos;
use crate::queues::{Queues, code, peek, peeked, properties, receive, receive_one, refused, send};
use azure_core::time::Duration;
use azure_storage_queue::QueueClient;
use azure_storage_queue::models::QueueClientSendMessageOptions;
use std::error::Error;

const WEEK: i32 = 7 * 24 * 60 * 60;

facts! { Running:
    "queues.messages.send" => a_message_is_sent_and_told_of,
    "queues.messages.receive" => one_is_received_or_32_or_none,
    "queues.messages.order" => messages_come_as_they_were_sent,
    "queues.messages.count" => only_receiving_counts,
    "queues.messages.peek" => peeking_changes_nothing,
    "queues.messages.delete" => a_message_is_deleted,
    "queues.messages.clear" => all_messages_are_cleared,
    "queues.messages.text" => a_text_comes_back_as_it_was_sent,
    "queues.messages.size" => a_message_has_at_most_64_kibibytes,
    "queues.messages.limits" => what_is_beyond_the_limits_is_refused,
}

fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

async fn filled(cosmos: &Cosmos, texts: &[String]) -> Result<QueueClient, Box<dyn Error + Send + Sync>> {
    Queues::of(cosmos).filled(&texts.iter().map(String::as_str).collect::<Vec<_>>()).await
}

fn timed(visibility: Option<i32>, ttl: Option<i32>) -> Option<QueueClientSendMessageOptions<'static>> {
    let (visibility_timeout, message_time_to_live) = (visibility, ttl);
    Some(QueueClientSendMessageOptions { visibility_timeout, message_time_to_live, ..Default::default() })
}

async fn a_message_is_sent_and_told_of(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).queue().await?;
    let sent = send(&queue, "moon", None).await?;
    let (from, to) = (sent.insertion_time.ok_or("no time")?, sent.expiration_time.ok_or("no expiry")?);
    assert_eq!(to - from, Duration::days(7));
    assert_eq!(sent.time_next_visible, sent.insertion_time);
    let (id, receipt, found) = receive_one(&queue, 30).await?;
    assert_eq!((Some(id), found.message_text.as_deref()), (sent.message_id, Some("moon")));
    assert_eq!((found.dequeue_count, found.insertion_time), (Some(1), sent.insertion_time));
    assert_ne!(Some(receipt), sent.pop_receipt);
    let forever = send(&queue, "sun", timed(None, Some(-1))).await?;
    assert_eq!(forever.expiration_time.ok_or("no expiry")?.year(), 9999);
    Ok(())
}

async fn one_is_received_or_32_or_none(cosmos: Cosmos) -> Outcome {
    let queue = filled(&cosmos, &numbered(34)).await?;
    assert_eq!(receive_one(&queue, 60).await?.2.message_text.as_deref(), Some("0"));
    assert_eq!(receive(&queue, 32, 60).await?.len(), 32);
    assert_eq!(receive(&queue, 32, 60).await?.len(), 1);
    assert!(receive(&queue, 32, 60).await?.is_empty());
    assert!(peek(&queue).await?.is_empty());
    Ok(())
}

async fn messages_come_as_they_were_sent(cosmos: Cosmos) -> Outcome {
    let texts = numbered(30);
    let queue = filled(&cosmos, &texts).await?;
    assert_eq!(peeked(&queue).await?, texts);
    let found = receive(&queue, 32, 60).await?;
    assert_eq!(found.into_iter().filter_map(|message| message.message_text).collect::<Vec<_>>(), texts);
    Ok(())
}

async fn only_receiving_counts(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).filled(&["moon"]).await?;
    send(&queue, "hidden", timed(Some(60), None)).await?;
    for times in 1..4 {
        let (id, receipt, found) = receive_one(&queue, 30).await?;
        assert_eq!(found.dequeue_count, Some(times));
        queue.update_message(&id, &receipt, 0, None).await?;
        assert_eq!(peek(&queue).await?[0].dequeue_count, Some(times));
        assert_eq!(properties(&queue).await?.1, 2);
    }
    Ok(())
}

async fn peeking_changes_nothing(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).filled(&["a", "b"]).await?;
    assert_eq!(peek(&queue).await?[0].dequeue_count, Some(0));
    assert_eq!(peeked(&queue).await?, ["a", "b"]);
    assert_eq!(receive(&queue, 32, 60).await?.len(), 2);
    Ok(())
}

async fn a_message_is_deleted(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).filled(&["a", "b"]).await?;
    let (id, receipt, _) = receive_one(&queue, 30).await?;
    queue.delete_message(&id, &receipt, None).await?;
    assert_eq!(refused(queue.delete_message(&id, &receipt, None).await), code(404, "MessageNotFound"));
    let sent = send(&queue, "c", None).await?;
    let (id, receipt) = (sent.message_id.ok_or("no id")?, sent.pop_receipt.ok_or("no receipt")?);
    queue.delete_message(&id, &receipt, None).await?;
    assert_eq!(peeked(&queue).await?, ["b"]);
    Ok(())
}

async fn all_messages_are_cleared(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).filled(&["a", "b"]).await?;
    let (id, receipt, _) = receive_one(&queue, 30).await?;
    queue.clear(None).await?;
    assert_eq!(properties(&queue).await?.1, 0);
    assert_eq!(refused(queue.delete_message(&id, &receipt, None).await), code(404, "MessageNotFound"));
    Ok(())
}

async fn a_text_comes_back_as_it_was_sent(cosmos: Cosmos) -> Outcome {
    let texts =
        ["<a href=\"x\">&amp; ]]> & 'quoted'</a>", "<![CDATA[moon]]>", "ü 日本 🌙", "a%20b+c", "AAH+/w=="];
    let queue = Queues::of(&cosmos).filled(&texts).await?;
    assert_eq!(peeked(&queue).await?, texts);
    Ok(())
}

async fn a_message_has_at_most_64_kibibytes(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).queue().await?;
    send(&queue, &"x".repeat(65_536), None).await?;
    let answer = refused(send(&queue, &"x".repeat(65_537), None).await);
    assert!([code(413, "RequestBodyTooLarge"), code(400, "MessageTooLarge")].contains(&answer), "{answer:?}");
    assert_eq!(properties(&queue).await?.1, 1);
    Ok(())
}

async fn what_is_beyond_the_limits_is_refused(cosmos: Cosmos) -> Outcome {
    let queue = Queues::of(&cosmos).filled(&["moon"]).await?;
    for (visibility, ttl) in
        [(Some(WEEK + 1), Some(-1)), (Some(-1), None), (None, Some(0)), (Some(60), Some(60))]
    {
        let answer = refused(send(&queue, "x", timed(visibility, ttl)).await);
        assert_eq!(answer.0, 400, "{visibility:?} {ttl:?}: {answer:?}");
    }
    for (count, seconds) in [(0, 30), (33, 30), (1, 0), (1, WEEK + 1)] {
        let answer = refused(receive(&queue, count, seconds).await);
        assert_eq!(answer.0, 400, "{count} {seconds}: {answer:?}");
    }
    assert_eq!(peeked(&queue).await?, ["moon"]);
    Ok(())
}
