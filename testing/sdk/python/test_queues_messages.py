"""Messages: send, receive, peek, update, delete, clear; receipts, counts, order, expiry, texts."""

from datetime import timedelta

import pytest
from azure.storage.queue import (
    BinaryBase64DecodePolicy,
    BinaryBase64EncodePolicy,
    TextBase64DecodePolicy,
    TextBase64EncodePolicy,
)

from harness import done, feature, pages, rows
from storage import refused

HOUR = 60 * 60
WEEK = 7 * 24 * HOUR
GONE = (404, "MessageNotFound")
STALE = (400, "PopReceiptMismatch")


async def filled(storage, *texts):
    queue = await storage.queue()
    for text in texts:
        await done(queue.send_message(text))
    return queue


async def received(queue):
    """The texts of what is there, in the order it comes."""
    found = await rows(queue.receive_messages(messages_per_page=32, visibility_timeout=HOUR))
    return [message.content for message in found]


async def peeked(queue):
    return [message.content for message in await done(queue.peek_messages(32))]


async def count(queue):
    return (await done(queue.get_queue_properties())).approximate_message_count


@feature("queues.messages.send")
async def test_a_message_is_sent_and_told_of(storage):
    queue = await storage.queue()
    sent = await done(queue.send_message("moon"))
    assert sent.id and sent.pop_receipt and sent.content == "moon"
    assert sent.expires_on - sent.inserted_on == timedelta(days=7)
    assert sent.next_visible_on == sent.inserted_on
    found = await done(queue.receive_message())
    assert (found.id, found.content, found.dequeue_count) == (sent.id, "moon", 1)
    assert (found.inserted_on, found.expires_on) == (sent.inserted_on, sent.expires_on)
    assert found.pop_receipt != sent.pop_receipt
    assert timedelta(seconds=29) <= found.next_visible_on - found.inserted_on


@feature("queues.messages.send")
async def test_a_message_may_live_for_ever(storage):
    queue = await storage.queue()
    sent = await done(queue.send_message("moon", time_to_live=-1))
    assert (sent.expires_on.year, sent.expires_on.month, sent.expires_on.day) == (9999, 12, 31)
    assert (await done(queue.receive_message())).content == "moon"


@feature("queues.messages.receive")
async def test_one_is_received_or_none(storage):
    queue = await filled(storage, "a", "b")
    assert (await done(queue.receive_message())).content == "a"
    assert (await done(queue.receive_message())).content == "b"
    assert await done(queue.receive_message()) is None
    assert await rows(queue.receive_messages()) == []


@feature("queues.messages.receive")
async def test_up_to_32_are_received_at_once(storage):
    texts = [f"{n:02}" for n in range(40)]
    queue = await filled(storage, *texts)
    found, _ = await pages(queue.receive_messages(messages_per_page=32))
    assert [[message.content for message in page] for page in found] == [texts[:32], texts[32:]]
    for page in found:
        for message in page:
            await done(queue.delete_message(message))
    assert await count(queue) == 0


@feature("queues.messages.receive")
async def test_no_more_are_received_than_asked_for(storage):
    queue = await filled(storage, *"abcde")
    found = await rows(queue.receive_messages(messages_per_page=2, max_messages=3))
    assert [message.content for message in found] == ["a", "b", "c"]
    assert await peeked(queue) == ["d", "e"]


@feature("queues.messages.order")
async def test_messages_come_as_they_were_sent(storage):
    texts = [f"{n:02}" for n in range(30)]
    queue = await filled(storage, *texts)
    assert await peeked(queue) == texts
    assert await received(queue) == texts


@feature("queues.messages.order")
async def test_what_becomes_visible_again_comes_behind(clocked_storage):
    queue = await filled(clocked_storage, "a", "b")
    clocked_storage.server.advance(1)
    first = await done(queue.receive_message(visibility_timeout=100))
    assert first.content == "a"
    clocked_storage.server.advance(1)
    await done(queue.update_message(first, visibility_timeout=0))
    assert await peeked(queue) == ["b", "a"]
    clocked_storage.server.advance(1)
    await done(queue.send_message("c"))
    assert await received(queue) == ["b", "a", "c"]


@feature("queues.messages.visibility")
async def test_what_was_received_is_hidden_until_its_time_is_over(clocked_storage):
    queue = await filled(clocked_storage, "moon")
    first = await done(queue.receive_message(visibility_timeout=10))
    clocked_storage.server.advance(9)
    assert await done(queue.receive_message()) is None
    assert await peeked(queue) == []
    clocked_storage.server.advance(1)
    assert await peeked(queue) == ["moon"]
    second = await done(queue.receive_message())
    assert (second.id, second.dequeue_count) == (first.id, 2)
    assert second.next_visible_on - first.next_visible_on == timedelta(seconds=30)
    clocked_storage.server.advance(30)
    assert (await done(queue.receive_message())).dequeue_count == 3


@feature("queues.messages.visibility")
async def test_a_message_may_be_sent_hidden(clocked_storage):
    queue = await clocked_storage.queue()
    sent = await done(queue.send_message("later", visibility_timeout=60))
    assert sent.next_visible_on - sent.inserted_on == timedelta(seconds=60)
    await done(queue.send_message("now"))
    assert await peeked(queue) == ["now"]
    assert await count(queue) == 2
    clocked_storage.server.advance(60)
    assert await received(queue) == ["now", "later"]


@feature("queues.messages.expiry")
async def test_a_message_goes_when_its_time_is_over(clocked_storage):
    queue, server = await clocked_storage.queue(), clocked_storage.server
    short = await done(queue.send_message("short", time_to_live=60))
    await done(queue.send_message("week"))
    await done(queue.send_message("forever", time_to_live=-1))
    await done(queue.send_message("long", time_to_live=30 * 24 * HOUR))
    server.advance(59)
    assert await peeked(queue) == ["short", "week", "forever", "long"]
    server.advance(1)
    assert await peeked(queue) == ["week", "forever", "long"]
    assert await refused(lambda: queue.delete_message(short)) == GONE
    assert await refused(lambda: queue.update_message(short, content="new")) == GONE
    server.advance(WEEK)
    assert await received(queue) == ["forever", "long"]
    server.advance(40 * 24 * HOUR)
    assert await received(queue) == ["forever"]


@feature("queues.messages.expiry")
async def test_a_hidden_message_expires_too(clocked_storage):
    queue = await clocked_storage.queue()
    await done(queue.send_message("moon", time_to_live=60))
    found = await done(queue.receive_message(visibility_timeout=50))
    clocked_storage.server.advance(60)
    assert await done(queue.receive_message()) is None
    assert await refused(lambda: queue.delete_message(found)) == GONE


@feature("queues.messages.count")
async def test_the_approximate_count_has_hidden_messages_too(storage):
    queue = await filled(storage, *"abc")
    assert await count(queue) == 3
    found = await done(queue.receive_message())
    await done(queue.send_message("d", visibility_timeout=60))
    assert await count(queue) == 4
    await done(queue.delete_message(found))
    assert await count(queue) == 3
    await done(queue.clear_messages())
    assert await count(queue) == 0


@feature("queues.messages.count")
async def test_only_receiving_counts(storage):
    queue = await filled(storage, "moon")
    (peek,) = await done(queue.peek_messages())
    assert peek.dequeue_count == 0
    for times in (1, 2, 3):
        found = await done(queue.receive_message())
        assert found.dequeue_count == times
        await done(queue.update_message(found, visibility_timeout=0))
        (peek,) = await done(queue.peek_messages())
        assert peek.dequeue_count == times


@feature("queues.messages.peek")
async def test_peeking_changes_nothing(storage):
    queue = await filled(storage, *"abc")
    (first,) = await done(queue.peek_messages())
    assert (first.content, first.pop_receipt, first.next_visible_on) == ("a", None, None)
    assert first.inserted_on < first.expires_on
    assert [message.content for message in await done(queue.peek_messages(2))] == ["a", "b"]
    assert await peeked(queue) == ["a", "b", "c"]
    assert await received(queue) == ["a", "b", "c"]
    assert await done(queue.peek_messages()) == []


@feature("queues.messages.update")
async def test_text_and_visibility_are_updated(clocked_storage):
    queue = await filled(clocked_storage, "one")
    found = await done(queue.receive_message())
    both = await done(queue.update_message(found, content="two", visibility_timeout=100))
    assert both.pop_receipt != found.pop_receipt
    assert await peeked(queue) == []
    clocked_storage.server.advance(99)
    assert await peeked(queue) == []
    clocked_storage.server.advance(1)
    again = await done(queue.receive_message())
    assert (again.content, again.dequeue_count, again.expires_on) == ("two", 2, found.expires_on)
    # Without a text the text stays; the visibility always begins anew.
    kept = await done(queue.update_message(again.id, again.pop_receipt, visibility_timeout=10))
    assert kept.next_visible_on < again.next_visible_on
    clocked_storage.server.advance(10)
    assert await peeked(queue) == ["two"]


@feature("queues.messages.update")
async def test_an_update_without_visibility_shows_the_message(storage):
    queue = await filled(storage, "one")
    found = await done(queue.receive_message())
    await done(queue.update_message(found, content="two"))
    assert await peeked(queue) == ["two"]


@feature("queues.messages.delete")
async def test_a_message_is_deleted(storage):
    queue = await filled(storage, "a", "b")
    await done(queue.delete_message(await done(queue.receive_message())))
    assert await peeked(queue) == ["b"]
    found = await done(queue.receive_message())
    await done(queue.delete_message(found.id, found.pop_receipt))
    assert await count(queue) == 0
    # What was sent has a receipt already.
    await done(queue.delete_message(await done(queue.send_message("c"))))
    assert await peeked(queue) == []


@feature("queues.messages.clear")
async def test_all_messages_are_cleared(storage):
    queue = await filled(storage, *"abc")
    found = await done(queue.receive_message())
    await done(queue.clear_messages())
    assert await peeked(queue) == []
    assert await refused(lambda: queue.delete_message(found)) == GONE
    await done(queue.send_message("d"))
    assert await received(queue) == ["d"]


@feature("queues.messages.receipt")
async def test_only_the_newest_receipt_works(clocked_storage):
    queue = await clocked_storage.queue()
    sent = await done(queue.send_message("one"))
    first = await done(queue.receive_message(visibility_timeout=10))
    clocked_storage.server.advance(10)
    second = await done(queue.receive_message(visibility_timeout=10))
    third = await done(queue.update_message(second, content="two", visibility_timeout=10))
    for stale in (sent, first, second):
        assert await refused(lambda: queue.delete_message(stale)) == STALE  # noqa: B023
        assert await refused(lambda: queue.update_message(stale, content="stale")) == STALE  # noqa: B023
    # It is visible again, and nobody has received it: the last receipt is still good.
    clocked_storage.server.advance(10)
    assert await peeked(queue) == ["two"]
    await done(queue.delete_message(third))
    assert await refused(lambda: queue.delete_message(third)) == GONE
    assert await count(queue) == 0


@feature("queues.messages.receipt")
async def test_a_receipt_that_is_none_is_refused(storage):
    queue = await filled(storage, "moon")
    found = await done(queue.receive_message())
    assert (await refused(lambda: queue.delete_message(found.id, "nonsense")))[0] == 400
    nobody = "c9da6455-213d-42c9-9a79-3e9149a57833"
    assert (await refused(lambda: queue.delete_message(nobody, found.pop_receipt)))[0] in (400, 404)
    await done(queue.delete_message(found))


@feature("queues.messages.text")
@pytest.mark.parametrize("text", [
    "<a href=\"x\">&amp; ]]> & 'quoted'</a>", "<![CDATA[moon]]>", "  between  spaces  ", "two\nlines\tand a tab",
    "ü 日本 🌙", "a%20b+c", "0", '{"json": [1, 2]}',
], ids=range(8))  # fmt: skip
async def test_a_text_comes_back_as_it_was_sent(storage, text):
    queue = await filled(storage, text)
    assert await peeked(queue) == [text]
    found = await done(queue.receive_message())
    assert found.content == text
    await done(queue.update_message(found, content=text + text))
    assert await received(queue) == [text + text]


@feature("queues.messages.text")
async def test_text_and_bytes_in_base64(storage):
    queue = await storage.queue()
    options = {"message_encode_policy": BinaryBase64EncodePolicy(), "message_decode_policy": BinaryBase64DecodePolicy()}
    binary = storage.queues.get_queue_client(queue.queue_name, **options)
    await done(binary.send_message(bytes(range(256))))
    found = await done(binary.receive_message())
    assert found.content == bytes(range(256))
    await done(binary.delete_message(found))
    options = {"message_encode_policy": TextBase64EncodePolicy(), "message_decode_policy": TextBase64DecodePolicy()}
    text = storage.queues.get_queue_client(queue.queue_name, **options)
    await done(text.send_message("\x00 <ü>"))
    assert [message.content for message in await done(text.peek_messages())] == ["\x00 <ü>"]
    assert await peeked(queue) == ["ACA8w7w+"]


@feature("queues.messages.size")
async def test_a_message_has_at_most_64_kibibytes(storage):
    queue = await storage.queue()
    await done(queue.send_message("x" * 65_536))
    assert len((await done(queue.receive_message())).content) == 65_536
    # Escapes of XML do not count, bytes of UTF-8 do.
    await done(queue.send_message("&" * 65_536))
    for text in ("x" * 65_537, "ü" * 32_769):
        status, code = await refused(lambda: queue.send_message(text))  # noqa: B023
        assert (status, code) in ((413, "RequestBodyTooLarge"), (400, "MessageTooLarge"))
    found = await done(queue.receive_message())
    assert found.content == "&" * 65_536
    assert (await refused(lambda: queue.update_message(found, content="x" * 65_537)))[0] in (400, 413)
    await done(queue.delete_message(found))


@feature("queues.messages.limits")
async def test_what_is_beyond_the_limits_is_refused(storage):
    queue = await filled(storage, "moon")
    found = await done(queue.receive_message())
    beyond = (
        lambda: queue.send_message("x", visibility_timeout=WEEK + 1, time_to_live=-1),
        lambda: queue.send_message("x", visibility_timeout=-1),
        lambda: queue.send_message("x", time_to_live=-2),
        lambda: queue.send_message("x", time_to_live=0),
        lambda: queue.send_message("x", visibility_timeout=60, time_to_live=60),
        lambda: queue.receive_message(visibility_timeout=0),
        lambda: queue.receive_message(visibility_timeout=WEEK + 1),
        lambda: queue.update_message(found, visibility_timeout=WEEK + 1),
        lambda: rows(queue.receive_messages(messages_per_page=33)),
    )
    for number, call in enumerate(beyond):
        status, code = await refused(call)
        assert (status, code) in (
            (400, "OutOfRangeQueryParameterValue"), (400, "InvalidQueryParameterValue"),
        ), number  # fmt: skip
    assert await count(queue) == 1
    await done(queue.send_message("x", visibility_timeout=WEEK, time_to_live=-1))
