//! What is too large, out of range or not understood is refused, and nothing of it is done.

use crate::call::Call;
use crate::world::World;

const MESSAGES: &str = "/turns/messages";
const TEXT_BYTES_MAX: usize = 65_536;

#[tokio::test]
async fn a_text_has_at_most_64_kib_however_it_is_written() {
    let world = World::new().await;
    world.answered(201, Call::send(MESSAGES, &"a".repeat(TEXT_BYTES_MAX))).await;
    world.answered(201, Call::send(MESSAGES, &"&quot;".repeat(TEXT_BYTES_MAX))).await;
    let too_long = Call::send(MESSAGES, &"a".repeat(TEXT_BYTES_MAX + 1));
    let error = world.refused(too_long, 413, "RequestBodyTooLarge").await;
    assert_eq!(error.text_of("MaxLimit"), Some("65536"));
    let huge = Call::send(MESSAGES, &"a".repeat(600_000));
    world.refused(huge, 413, "RequestBodyTooLarge").await;
    let texts = world.texts(Call::get(&format!("{MESSAGES}?numofmessages=32"))).await;
    assert_eq!(texts.iter().map(String::len).collect::<Vec<_>>(), [TEXT_BYTES_MAX; 2]);
}

#[tokio::test]
async fn bodies_that_are_no_message_are_refused() {
    let world = World::new().await;
    for body in ["", "hello", "<QueueMessage>", "<QueueMessage/>", "<Other/>", "<a>\u{1}</a>"] {
        world.refused(Call::new("POST", MESSAGES).body(body), 400, "InvalidXmlDocument").await;
    }
    world.refused(Call::new("POST", MESSAGES).body(vec![0xff, 0xfe]), 400, "InvalidXmlDocument").await;
    let count = world.answered(200, Call::get("/turns?comp=metadata")).await;
    assert_eq!(count.header("x-ms-approximate-messages-count"), Some("0"));
}

#[tokio::test]
async fn numbers_out_of_range_are_refused_with_the_range() {
    let world = World::new().await;
    let check = async |call: Call, name: &str, min: &str, max: &str| {
        let error = world.refused(call, 400, "OutOfRangeQueryParameterValue").await;
        let details = ["QueryParameterName", "MinimumAllowed", "MaximumAllowed"];
        assert_eq!(details.map(|detail| error.text_of(detail).unwrap()), [name, min, max]);
    };
    let get = |query: &str| Call::get(&format!("{MESSAGES}?{query}"));
    check(get("numofmessages=0"), "numofmessages", "1", "32").await;
    check(get("numofmessages=33"), "numofmessages", "1", "32").await;
    check(get("peekonly=true&numofmessages=33"), "numofmessages", "1", "32").await;
    check(get("visibilitytimeout=0"), "visibilitytimeout", "1", "604800").await;
    check(get("visibilitytimeout=604801"), "visibilitytimeout", "1", "604800").await;
    let put = |query: &str| Call::send(&format!("{MESSAGES}?{query}"), "a");
    check(put("visibilitytimeout=-1"), "visibilitytimeout", "0", "604800").await;
    check(put("visibilitytimeout=99999999999999999999"), "visibilitytimeout", "0", "604800").await;
    check(put("messagettl=0"), "messagettl", "1", "9223372036854775807").await;
    check(put("visibilitytimeout=10&messagettl=10"), "visibilitytimeout", "0", "9").await;
    for wrong in ["numofmessages=two", "numofmessages=", "visibilitytimeout=1.5"] {
        world.refused(get(wrong), 400, "InvalidQueryParameterValue").await;
    }
    world.answered(201, put("visibilitytimeout=604800&messagettl=-1")).await;
}

#[tokio::test]
async fn an_update_needs_a_visibility_within_the_life_of_the_message() {
    let world = World::new().await;
    let put = world.messages(Call::send(&format!("{MESSAGES}?messagettl=60"), "a")).await.remove(0);
    let (id, receipt) = (put.text_of("MessageId").unwrap(), put.text_of("PopReceipt").unwrap());
    let update = |more: &str| Call::put(&format!("{MESSAGES}/{id}?popreceipt={receipt}{more}"));
    world.refused(update(""), 400, "MissingRequiredQueryParameter").await;
    world.refused(update("&visibilitytimeout=61"), 400, "OutOfRangeQueryParameterValue").await;
    world.refused(update("&visibilitytimeout=1").body("<no"), 400, "InvalidXmlDocument").await;
    let long = format!("<QueueMessage><MessageText>{}</MessageText></QueueMessage>", "a".repeat(65_537));
    world.refused(update("&visibilitytimeout=1").body(long), 413, "RequestBodyTooLarge").await;
    world.answered(204, update("&visibilitytimeout=60")).await;
}
