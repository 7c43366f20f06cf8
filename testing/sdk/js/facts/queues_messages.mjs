// Messages: send, receive, peek, update, delete, clear; receipts, counts, order, expiry, texts.

import assert from "node:assert/strict";
import { clockedStorageFact, refused, storageFact } from "../storage.mjs";

const HOUR = 3600;
const WEEK = 7 * 24 * HOUR;
const GONE = [404, "MessageNotFound"];
const STALE = [400, "PopReceiptMismatch"];

async function filled(storage, ...texts) {
  const queue = await storage.queue();
  for (const text of texts) await queue.sendMessage(text);
  return queue;
}

/** One message, if there is one. */
async function receive(queue, visibilityTimeout) {
  return (await queue.receiveMessages({ visibilityTimeout })).receivedMessageItems[0];
}

/** The texts of what is there, in the order it comes. */
async function received(queue) {
  const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 32, visibilityTimeout: HOUR });
  return receivedMessageItems.map(({ messageText }) => messageText);
}

async function peeked(queue) {
  const { peekedMessageItems } = await queue.peekMessages({ numberOfMessages: 32 });
  return peekedMessageItems.map(({ messageText }) => messageText);
}

async function count(queue) {
  return (await queue.getProperties()).approximateMessagesCount;
}

function seconds(from, to) {
  return (to - from) / 1000;
}

/** Updates a message by the receipt of something that came before. */
function update(queue, { messageId }, { popReceipt }, ...rest) {
  return queue.updateMessage(messageId, popReceipt, ...rest);
}

storageFact("queues.messages.send", "a message is sent and told of", async (storage) => {
  const queue = await storage.queue();
  const sent = await queue.sendMessage("moon");
  assert.equal(seconds(sent.insertedOn, sent.expiresOn), WEEK);
  assert.deepEqual(sent.nextVisibleOn, sent.insertedOn);
  const found = await receive(queue);
  assert.deepEqual([found.messageId, found.messageText, found.dequeueCount], [sent.messageId, "moon", 1]);
  assert.deepEqual([found.insertedOn, found.expiresOn], [sent.insertedOn, sent.expiresOn]);
  assert.notEqual(found.popReceipt, sent.popReceipt);
});

storageFact("queues.messages.send", "a message may live for ever", async (storage) => {
  const queue = await storage.queue();
  const { expiresOn } = await queue.sendMessage("moon", { messageTimeToLive: -1 });
  assert.equal(expiresOn.toISOString(), "9999-12-31T23:59:59.000Z");
});

storageFact("queues.messages.receive", "one message is received, or 32, or none", async (storage) => {
  const texts = Array.from({ length: 34 }, (_, n) => String(n));
  const queue = await filled(storage, ...texts);
  assert.equal((await receive(queue)).messageText, "0");
  assert.deepEqual(await received(queue), texts.slice(1, 33));
  assert.deepEqual(await received(queue), texts.slice(33));
  assert.deepEqual(await received(queue), []);
  assert.equal(await receive(queue), undefined);
});

storageFact("queues.messages.order", "messages come as they were sent", async (storage) => {
  const texts = Array.from({ length: 30 }, (_, n) => String(n));
  const queue = await filled(storage, ...texts);
  assert.deepEqual(await peeked(queue), texts);
  assert.deepEqual(await received(queue), texts);
});

clockedStorageFact("queues.messages.order", "what becomes visible again comes behind", async (storage) => {
  const queue = await filled(storage, "a", "b");
  await storage.advance(1);
  const first = await receive(queue, 100);
  await storage.advance(1);
  await update(queue, first, first, undefined, 0);
  assert.deepEqual(await peeked(queue), ["b", "a"]);
  await storage.advance(1);
  await queue.sendMessage("c");
  assert.deepEqual(await received(queue), ["b", "a", "c"]);
});

clockedStorageFact("queues.messages.visibility", "what was received is hidden until its time is over", async (storage) => {
  const queue = await filled(storage, "moon");
  const first = await receive(queue, 10);
  await storage.advance(9);
  assert.equal(await receive(queue), undefined);
  await storage.advance(1);
  const second = await receive(queue);
  assert.deepEqual([second.messageId, second.dequeueCount], [first.messageId, 2]);
  assert.equal(seconds(first.nextVisibleOn, second.nextVisibleOn), 30);
});

clockedStorageFact("queues.messages.visibility", "a message may be sent hidden", async (storage) => {
  const queue = await storage.queue();
  const sent = await queue.sendMessage("later", { visibilityTimeout: 60 });
  assert.equal(seconds(sent.insertedOn, sent.nextVisibleOn), 60);
  await queue.sendMessage("now");
  assert.deepEqual([await peeked(queue), await count(queue)], [["now"], 2]);
  await storage.advance(60);
  assert.deepEqual(await received(queue), ["now", "later"]);
});

clockedStorageFact("queues.messages.expiry", "a message goes when its time is over", async (storage) => {
  const queue = await storage.queue();
  const short = await queue.sendMessage("short", { messageTimeToLive: 60 });
  await queue.sendMessage("week");
  await queue.sendMessage("forever", { messageTimeToLive: -1 });
  await storage.advance(59);
  assert.deepEqual(await peeked(queue), ["short", "week", "forever"]);
  await storage.advance(1);
  assert.deepEqual(await peeked(queue), ["week", "forever"]);
  assert.deepEqual(await refused(queue.deleteMessage(short.messageId, short.popReceipt)), GONE);
  await storage.advance(WEEK);
  assert.deepEqual(await received(queue), ["forever"]);
});

storageFact("queues.messages.count", "the approximate count has hidden messages too", async (storage) => {
  const queue = await filled(storage, "a", "b");
  const found = await receive(queue);
  await queue.sendMessage("c", { visibilityTimeout: 60 });
  assert.equal(await count(queue), 3);
  await queue.deleteMessage(found.messageId, found.popReceipt);
  assert.equal(await count(queue), 2);
});

storageFact("queues.messages.count", "only receiving counts", async (storage) => {
  const queue = await filled(storage, "moon");
  for (const times of [1, 2, 3]) {
    const found = await receive(queue);
    assert.equal(found.dequeueCount, times);
    await update(queue, found, found, undefined, 0);
    assert.equal((await queue.peekMessages()).peekedMessageItems[0].dequeueCount, times);
  }
});

storageFact("queues.messages.peek", "peeking changes nothing", async (storage) => {
  const queue = await filled(storage, "a", "b", "c");
  const { peekedMessageItems } = await queue.peekMessages();
  assert.deepEqual(peekedMessageItems.map(({ messageText }) => messageText), ["a"]);
  assert(!("popReceipt" in peekedMessageItems[0]));
  assert.deepEqual(await peeked(queue), ["a", "b", "c"]);
  assert.deepEqual(await received(queue), ["a", "b", "c"]);
  assert.deepEqual(await peeked(queue), []);
});

clockedStorageFact("queues.messages.update", "text and visibility are updated", async (storage) => {
  const queue = await filled(storage, "one");
  const found = await receive(queue);
  const both = await update(queue, found, found, "two", 100);
  assert.notEqual(both.popReceipt, found.popReceipt);
  await storage.advance(99);
  assert.deepEqual(await peeked(queue), []);
  await storage.advance(1);
  const again = await receive(queue);
  assert.deepEqual([again.messageText, again.dequeueCount, again.expiresOn], ["two", 2, found.expiresOn]);
  await update(queue, again, again, undefined, 10);
  await storage.advance(10);
  assert.deepEqual(await peeked(queue), ["two"]);
});

storageFact("queues.messages.delete", "a message is deleted", async (storage) => {
  const queue = await filled(storage, "a", "b");
  const found = await receive(queue);
  await queue.deleteMessage(found.messageId, found.popReceipt);
  const sent = await queue.sendMessage("c");
  await queue.deleteMessage(sent.messageId, sent.popReceipt);
  assert.deepEqual(await received(queue), ["b"]);
});

storageFact("queues.messages.clear", "all messages are cleared", async (storage) => {
  const queue = await filled(storage, "a", "b");
  const found = await receive(queue);
  await queue.clearMessages();
  assert.equal(await count(queue), 0);
  assert.deepEqual(await refused(queue.deleteMessage(found.messageId, found.popReceipt)), GONE);
});

clockedStorageFact("queues.messages.receipt", "only the newest receipt works", async (storage) => {
  const queue = await storage.queue();
  const sent = await queue.sendMessage("one");
  const first = await receive(queue, 10);
  await storage.advance(10);
  const second = await receive(queue, 10);
  const third = await update(queue, second, second, "two", 10);
  for (const { popReceipt } of [sent, first, second]) {
    assert.deepEqual(await refused(queue.deleteMessage(sent.messageId, popReceipt)), STALE);
    assert.deepEqual(await refused(queue.updateMessage(sent.messageId, popReceipt, "stale")), STALE);
  }
  // It is visible again, and nobody has received it: the last receipt is still good.
  await storage.advance(10);
  assert.deepEqual(await peeked(queue), ["two"]);
  await queue.deleteMessage(sent.messageId, third.popReceipt);
  assert.deepEqual(await refused(queue.deleteMessage(sent.messageId, third.popReceipt)), GONE);
});

storageFact("queues.messages.text", "a text comes back as it was sent", async (storage) => {
  const texts = [
    `<a href="x">&amp; ]]> & 'quoted'</a>`,
    "<![CDATA[moon]]>",
    "  between  spaces  ",
    // No end of line: the SDK takes them out of every body.
    "a\ttab",
    "ü 日本 🌙",
    "a%20b+c",
    "0",
    '{"json": [1, 2]}',
    Buffer.from([0, 1, 254, 255]).toString("base64"),
  ];
  const queue = await filled(storage, ...texts);
  assert.deepEqual(await peeked(queue), texts);
  assert.deepEqual(await received(queue), texts);
});

storageFact("queues.messages.size", "a message has at most 64 kibibytes", async (storage) => {
  const queue = await filled(storage, "x".repeat(65_536), "&".repeat(65_536));
  assert.deepEqual((await received(queue)).map(({ length }) => length), [65_536, 65_536]);
  for (const text of ["x".repeat(65_537), "ü".repeat(32_769)]) {
    const [status, code] = await refused(queue.sendMessage(text));
    assert(["413 RequestBodyTooLarge", "400 MessageTooLarge"].includes(`${status} ${code}`), `${status} ${code}`);
  }
  assert.equal(await count(queue), 2);
});

storageFact("queues.messages.limits", "what is beyond the limits of messages is refused", async (storage) => {
  const queue = await filled(storage, "moon");
  const found = await receive(queue);
  const beyond = [
    () => queue.sendMessage("x", { visibilityTimeout: WEEK + 1, messageTimeToLive: -1 }),
    () => queue.sendMessage("x", { visibilityTimeout: -1 }),
    () => queue.sendMessage("x", { messageTimeToLive: -2 }),
    () => queue.sendMessage("x", { messageTimeToLive: 0 }),
    () => queue.sendMessage("x", { visibilityTimeout: 60, messageTimeToLive: 60 }),
    () => queue.receiveMessages({ visibilityTimeout: 0 }),
    () => queue.receiveMessages({ visibilityTimeout: WEEK + 1 }),
    () => queue.receiveMessages({ numberOfMessages: 0 }),
    () => queue.receiveMessages({ numberOfMessages: 33 }),
    () => queue.peekMessages({ numberOfMessages: 33 }),
    () => update(queue, found, found, undefined, WEEK + 1),
  ];
  for (const call of beyond) {
    const [status, code] = await refused(call());
    assert.equal(status, 400, String(call));
    assert(["OutOfRangeQueryParameterValue", "InvalidQueryParameterValue"].includes(code), `${call}: ${code}`);
  }
  assert.equal(await count(queue), 1);
});
