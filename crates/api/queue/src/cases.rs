//! The golden files: bodies as they come in, and lists as they go out.

use crate::decode::message_text;
use crate::encode::{self, ListHead};
use bytes::Bytes;
use orrery_catalog::storage::{AccountName, QueueName, SignedIdentifiers};
use orrery_core::Timestamp;
use orrery_queue_store::{
    Accepted, Message, MessageId, MessageText, Metadata, PopReceipt, Queue, QueueId, QueuePage,
    ReceivedMessage,
};
use orrery_testing_golden::{case_files, lines};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// Calls `check` with each `keyword text` and the one after it; a file has pairs.
fn each_pair(folder: &str, check: impl Fn(&str, &str, &str, &str)) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").join(folder);
    let mut count = 0;
    for file in case_files(&folder, "case") {
        let text = std::fs::read_to_string(&file).expect("a file of cases");
        for pair in lines(&text).chunks(2) {
            let [asked, answer] = pair else { panic!("{}: cases are pairs", file.display()) };
            check(&asked.keyword, &asked.text, &answer.keyword, &answer.text);
            count += 1;
        }
    }
    count
}

/// `\n`, `\r`, `\t`, `\\` and `\u00e9`, as in JSON; quotes stand for themselves.
fn unescape(text: &str) -> String {
    serde_json::from_str(&format!("\"{}\"", text.replace('"', "\\\""))).expect("escapes as in JSON")
}

#[test]
fn bodies_are_read_to_the_letter() {
    let count = each_pair("decode", |asked, body, answer, expected| {
        assert_eq!(asked, "body");
        let said = match message_text(unescape(body).as_bytes()) {
            Ok(text) => ("text", serde_json::to_string(text.as_str()).expect("a text")),
            Err(failure) => ("error", format!("{} {}", failure.0.status.as_u16(), failure.0.code)),
        };
        assert_eq!(said, (answer, expected.to_owned()), "{body}");
    });
    assert!(count > 20, "{count} cases");
}

#[test]
fn lists_are_written_to_the_letter() {
    let count = each_pair("encode", |what, asked, answer, expected| {
        assert_eq!(answer, "xml");
        let asked: Value = serde_json::from_str(asked).expect("a description in JSON");
        let written = match what {
            "put" => encode::accepted(&accepted(&asked)),
            "get" => encode::received(&each(&asked, received)),
            "peek" => encode::peeked(&each(&asked, message)),
            "queues" => queues(&asked),
            other => panic!("'{other}' is not written"),
        };
        let written = std::str::from_utf8(&written).expect("text");
        let (declaration, written) = written.split_once("?>").expect("a declaration");
        assert_eq!(declaration, r#"<?xml version="1.0" encoding="utf-8""#);
        assert_eq!(written.replace('\n', "\\n"), expected);
    });
    assert!(count >= 8, "{count} cases");
}

fn each<T>(list: &Value, one: fn(&Value) -> T) -> Vec<T> {
    list.as_array().expect("a list").iter().map(one).collect()
}

fn moment(value: &Value) -> Option<Timestamp> {
    value.as_u64().map(Timestamp::from_seconds)
}

fn id(value: &Value) -> MessageId {
    MessageId::parse(value["id"].as_str().expect("an id")).expect("an id")
}

fn receipt(value: &Value) -> PopReceipt {
    PopReceipt::parse(value["receipt"].as_str().expect("a receipt")).expect("a receipt")
}

fn message(value: &Value) -> Message {
    Message {
        id: id(value),
        inserted: moment(&value["inserted"]).expect("a moment"),
        expires: moment(&value["expires"]),
        dequeue_count: value["count"].as_u64().expect("a count") as u32,
        text: MessageText::new(value["text"].as_str().expect("a text").to_owned()).expect("a short text"),
    }
}

fn received(value: &Value) -> ReceivedMessage {
    let next_visible = moment(&value["visible"]).expect("a moment");
    ReceivedMessage { message: message(value), receipt: receipt(value), next_visible }
}

fn accepted(value: &Value) -> Accepted {
    Accepted {
        id: id(value),
        inserted: moment(&value["inserted"]).expect("a moment"),
        expires: moment(&value["expires"]),
        receipt: receipt(value),
        next_visible: moment(&value["visible"]).expect("a moment"),
    }
}

fn queues(value: &Value) -> Bytes {
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let head = ListHead {
        endpoint: text("endpoint"),
        prefix: text("prefix"),
        marker: text("marker"),
        results_max: value["max"].as_u64().expect("a number") as usize,
        with_metadata: value["metadata"] == json!(true),
    };
    let next = value["next"].as_str().map(str::to_owned);
    encode::queues(&head, &QueuePage { queues: each(&value["queues"], queue), next })
}

fn queue(value: &Value) -> Arc<Queue> {
    let name = QueueName::parse(value["name"].as_str().expect("a name")).expect("a name");
    let account = AccountName::parse("devstoreaccount1").expect("a name");
    let pairs = value["metadata"].as_object().into_iter().flatten();
    let pairs = pairs.map(|(name, value)| (name.clone(), value.as_str().expect("a text").to_owned()));
    let metadata = Metadata::new(pairs).expect("metadata");
    let policies = SignedIdentifiers::default();
    Arc::new(Queue { id: QueueId { account, name }, number: 1, metadata, policies })
}
