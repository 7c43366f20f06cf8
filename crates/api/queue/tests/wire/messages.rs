//! Messages: put, get, peek, update, delete, clear.

use crate::call::Call;
use crate::world::World;
use orrery_api_storage::xml::Element;

const MESSAGES: &str = "/turns/messages";

fn text<'a>(message: &'a Element, name: &str) -> &'a str {
    message.text_of(name).unwrap_or_else(|| panic!("no {name} in {message:?}"))
}

/// The target of an operation on a message that is held.
fn held(message: &Element, more: &str) -> String {
    let (id, receipt) = (text(message, "MessageId"), text(message, "PopReceipt"));
    format!("/turns/messages/{id}?popreceipt={receipt}{more}")
}

#[tokio::test]
async fn a_message_is_put_got_and_deleted() {
    let world = World::new().await;
    let put = world.messages(Call::send(MESSAGES, "hello")).await.remove(0);
    assert_eq!(text(&put, "InsertionTime"), "Fri, 15 Jan 2027 08:00:00 GMT");
    assert_eq!(text(&put, "ExpirationTime"), "Fri, 22 Jan 2027 08:00:00 GMT");
    assert_eq!(text(&put, "TimeNextVisible"), "Fri, 15 Jan 2027 08:00:00 GMT");
    let got = world.messages(Call::get(MESSAGES)).await.remove(0);
    assert_eq!((text(&got, "MessageId"), text(&got, "MessageText")), (text(&put, "MessageId"), "hello"));
    assert_eq!(
        (text(&got, "DequeueCount"), text(&got, "TimeNextVisible")),
        ("1", "Fri, 15 Jan 2027 08:00:30 GMT")
    );
    assert!(world.messages(Call::get(MESSAGES)).await.is_empty(), "it is hidden");
    let count = world.answered(200, Call::get("/turns?comp=metadata")).await;
    assert_eq!(count.header("x-ms-approximate-messages-count"), Some("1"));
    world.answered(204, Call::delete(&held(&got, ""))).await;
    world.refused(Call::delete(&held(&got, "")), 404, "MessageNotFound").await;
}

#[tokio::test]
async fn texts_are_given_back_to_the_letter() {
    let world = World::new().await;
    let body = "<?xml version='1.0' encoding='utf-8'?>\n<QueueMessage>\n<MessageText> \t<![CDATA[<a> & ]]>&lt;b/&gt;\r\n\
                &#x1F680; é \n</MessageText></QueueMessage>";
    world.answered(201, Call::new("POST", MESSAGES).body(body)).await;
    let expected = " \t<a> & <b/>\r\n🚀 é \n";
    assert_eq!(world.texts(Call::get(&format!("{MESSAGES}?peekonly=true"))).await, [expected]);
    assert_eq!(world.texts(Call::get(MESSAGES)).await, [expected]);
}

#[tokio::test]
async fn messages_come_in_order_and_a_peek_changes_nothing() {
    let world = World::new().await;
    for text in ["a", "b", "c"] {
        world.answered(201, Call::send(MESSAGES, text)).await;
    }
    for _ in 0..2 {
        let peeked = world.messages(Call::get(&format!("{MESSAGES}?peekonly=true&numofmessages=2"))).await;
        assert_eq!([text(&peeked[0], "MessageText"), text(&peeked[1], "MessageText")], ["a", "b"]);
        assert_eq!((text(&peeked[0], "DequeueCount"), peeked[0].child("PopReceipt")), ("0", None));
        assert_eq!(peeked[0].child("TimeNextVisible"), None);
    }
    assert_eq!(world.texts(Call::get(&format!("{MESSAGES}?numofmessages=32"))).await, ["a", "b", "c"]);
}

#[tokio::test]
async fn a_message_is_visible_from_its_time_to_its_end() {
    let world = World::new().await;
    world.answered(201, Call::send(&format!("{MESSAGES}?visibilitytimeout=10&messagettl=20"), "a")).await;
    let texts = || world.texts(Call::get(&format!("{MESSAGES}?peekonly=true")));
    assert!(texts().await.is_empty());
    world.advance(10);
    assert_eq!(texts().await, ["a"]);
    world.advance(10);
    assert!(texts().await.is_empty());
    let endless = world.messages(Call::send(&format!("{MESSAGES}?messagettl=-1"), "b")).await.remove(0);
    assert_eq!(text(&endless, "ExpirationTime"), "Fri, 31 Dec 9999 23:59:59 GMT");
}

#[tokio::test]
async fn an_update_gives_a_new_receipt_and_keeps_or_replaces_the_text() {
    let world = World::new().await;
    world.answered(201, Call::send(MESSAGES, "before")).await;
    let got = world.messages(Call::get(MESSAGES)).await.remove(0);
    let updated = world.answered(204, Call::put(&held(&got, "&visibilitytimeout=60"))).await;
    assert_eq!(updated.header("x-ms-time-next-visible"), Some("Fri, 15 Jan 2027 08:01:00 GMT"));
    let receipt = updated.header("x-ms-popreceipt").unwrap().to_owned();
    world.refused(Call::put(&held(&got, "&visibilitytimeout=0")), 400, "PopReceiptMismatch").await;
    world.refused(Call::delete(&held(&got, "")), 400, "PopReceiptMismatch").await;
    let id = text(&got, "MessageId");
    let again = format!("{MESSAGES}/{id}?popreceipt={receipt}&visibilitytimeout=0");
    let body = "<QueueMessage><MessageText>after</MessageText></QueueMessage>";
    world.answered(204, Call::put(&again).body(body)).await;
    let got = world.messages(Call::get(MESSAGES)).await.remove(0);
    assert_eq!((text(&got, "MessageText"), text(&got, "DequeueCount")), ("after", "2"));
}

#[tokio::test]
async fn a_message_can_be_deleted_by_the_receipt_of_its_put() {
    let world = World::new().await;
    let put = world.messages(Call::send(MESSAGES, "a")).await.remove(0);
    world.answered(204, Call::delete(&held(&put, ""))).await;
    assert!(world.messages(Call::get(MESSAGES)).await.is_empty());
}

#[tokio::test]
async fn clearing_removes_every_message() {
    let world = World::new().await;
    world.answered(201, Call::send(MESSAGES, "a")).await;
    let hidden = world.messages(Call::get(MESSAGES)).await.remove(0);
    world.answered(201, Call::send(MESSAGES, "b")).await;
    world.answered(204, Call::delete(MESSAGES)).await;
    assert!(world.messages(Call::get(MESSAGES)).await.is_empty());
    world.refused(Call::delete(&held(&hidden, "")), 404, "MessageNotFound").await;
    let count = world.answered(200, Call::get("/turns?comp=metadata")).await;
    assert_eq!(count.header("x-ms-approximate-messages-count"), Some("0"));
    world.refused(Call::delete("/missing/messages"), 404, "QueueNotFound").await;
}

#[tokio::test]
async fn receipts_and_ids_that_were_never_given_are_refused() {
    let world = World::new().await;
    let put = world.messages(Call::send(MESSAGES, "a")).await.remove(0);
    let other = world.messages(Call::send(MESSAGES, "b")).await.remove(0);
    let (id, receipt) = (text(&put, "MessageId"), text(&other, "PopReceipt"));
    let delete = |id: &str, query: &str| Call::delete(&format!("{MESSAGES}/{id}?{query}"));
    let mine = format!("popreceipt={}", text(&put, "PopReceipt"));
    world.refused(delete(id, &format!("popreceipt={receipt}")), 400, "PopReceiptMismatch").await;
    world.refused(delete(id, "popreceipt=nonsense"), 400, "InvalidQueryParameterValue").await;
    world.refused(delete(id, "popreceipt="), 400, "InvalidQueryParameterValue").await;
    world.refused(delete(id, ""), 400, "MissingRequiredQueryParameter").await;
    world.refused(delete("00000000-0000-8000-8000-000000000000", &mine), 404, "MessageNotFound").await;
    world.refused(delete("not-a-guid", &mine), 404, "MessageNotFound").await;
    let missing = Call::delete(&format!("/missing/messages/{id}?{mine}"));
    world.refused(missing, 404, "QueueNotFound").await;
    world.refused(Call::delete("/missing/messages/7?popreceipt=nonsense"), 404, "QueueNotFound").await;
    assert_eq!(
        world.texts(Call::get(&format!("{MESSAGES}?peekonly=true&numofmessages=32"))).await,
        ["a", "b"]
    );
}
