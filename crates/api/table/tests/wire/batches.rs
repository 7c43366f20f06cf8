//! Entity group transactions: Python's and JavaScript's bytes, answers byte for byte (`cases/batch`), and all that makes a
//! batch fail as a whole.
//!
//! ```text
//! case what it shows
//! boundary batch_1
//! > --batch_1                  the body that is sent, line by line
//! < --batchresponse_G          the body that is answered; ids of boundaries are G and H, Timestamps T
//! ```

use crate::call::{Call, table_sas};
use crate::world::{World, text};
use orrery_testing_golden::{Line, case_files, lines};
use std::path::Path;

/// Operations of a changeset: a request line, headers and a body each.
fn changeset(operations: &[String]) -> Call {
    let parts = operations.iter().enumerate().map(|(id, operation)| {
        format!("--c\r\nContent-Type: application/http\r\nContent-ID: {id}\r\n\r\n{operation}\r\n")
    });
    let parts: String = parts.collect();
    let body =
        format!("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n{parts}--c--\r\n\r\n--b--\r\n");
    Call::post("/$batch", body).header("Content-Type", "multipart/mixed; boundary=b")
}

fn insert(partition_key: &str, row_key: &str) -> String {
    let body = format!(r#"{{"PartitionKey":"{partition_key}","RowKey":"{row_key}"}}"#);
    format!(
        "POST http://127.0.0.1:10002/devstoreaccount1/runs HTTP/1.1\r\nPrefer: return-no-content\r\n\r\n{body}"
    )
}

fn delete(partition_key: &str, row_key: &str) -> String {
    format!("DELETE /runs(PartitionKey='{partition_key}',RowKey='{row_key}') HTTP/1.1\r\nIf-Match: *\r\n\r\n")
}

#[tokio::test]
async fn answers_are_what_they_are_byte_for_byte() {
    let mut checked = 0;
    for file in case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/batch"), "case") {
        let content = std::fs::read_to_string(&file).unwrap();
        let lines = lines(&content);
        let starts = lines.iter().enumerate().filter(|(_, line)| line.keyword == "case").map(|(at, _)| at);
        let starts: Vec<usize> = starts.chain([lines.len()]).collect();
        for pair in starts.windows(2) {
            let case = &lines[pair[0]..pair[1]];
            check_case(case, &format!("{}:{}", file.display(), case[0].from + 1)).await;
            checked += 1;
        }
    }
    assert!(checked >= 5, "only {checked} cases were found");
}

async fn check_case(case: &[Line], place: &str) {
    let world = World::new().await;
    world.insert("b", "2", r#","a":1"#).await;
    world.insert("b", "3", "").await;
    let bytes = |keyword: &str| -> String {
        let lines = case.iter().filter(|line| line.keyword == keyword);
        lines.map(|line| format!("{}\r\n", line.text)).collect()
    };
    let boundary = &case.iter().find(|line| line.keyword == "boundary").expect(place).text;
    let call = Call::post("/$batch", bytes(">"));
    let call = call.header("Content-Type", &format!("multipart/mixed; boundary={boundary}"));
    let reply = world.answered(202, call).await;
    let content_type = reply.header("content-type").unwrap();
    assert!(content_type.starts_with("multipart/mixed; boundary=batchresponse_"), "{place}: {content_type}");
    assert_eq!(without_chance(&text(&reply)), bytes("<"), "{place}");
}

/// With letters for the ids and times that are new in each run.
fn without_chance(body: &str) -> String {
    let mut body = body.to_owned();
    for (before, letter) in [("--batchresponse_", "G"), ("boundary=changesetresponse_", "H")] {
        let Some(at) = body.find(before) else { continue };
        let id = body[at + before.len()..][..36].to_owned();
        body = body.replace(&id, letter);
    }
    for (before, after) in
        [("datetime'", "Z'"), ("\"Timestamp\":\"", "Z\""), ("RequestId:", "\\n"), ("Time:", "Z\"")]
    {
        let mut from = 0;
        while let Some(at) = body[from..].find(before) {
            let start = from + at + before.len();
            let end = start + body[start..].find(after).unwrap();
            body.replace_range(start..end, "T");
            from = start + 1;
        }
    }
    body
}

#[tokio::test]
async fn a_batch_is_done_whole() {
    let world = World::new().await;
    world.insert("p", "old", "").await;
    let operations = [
        insert("p", "1"),
        "MERGE /runs(PartitionKey='p',RowKey='2') HTTP/1.1\r\n\r\n{\"a\":1}".to_owned(),
        "POST /RUNS(PartitionKey='p',RowKey='3') HTTP/1.1\r\nX-HTTP-Method: MERGE\r\n\r\n{\"a\":1}"
            .to_owned(),
        "PUT https://other.host/devstoreaccount1/runs(PartitionKey='p',RowKey='4') HTTP/1.1\r\n\r\n{}"
            .to_owned(),
        delete("p", "old"),
    ];
    let reply = world.answered(202, changeset(&operations)).await;
    assert_eq!(text(&reply).matches("HTTP/1.1 204 No Content\r\n").count(), 5, "{}", text(&reply));
    assert_eq!(world.rows("/runs").await, ["1", "2", "3", "4"]);
}

#[tokio::test]
async fn a_batch_that_fails_does_nothing_and_says_which_operation_it_was() {
    let world = World::new().await;
    world.insert("p", "there", "").await;
    let refused = async |operations: &[String], status: u16, code: &str, begins: &str| {
        world.batch_refused(changeset(operations), status, code, begins).await;
        assert_eq!(world.rows("/runs").await, ["there"]);
    };
    let tagged =
        "PUT /runs(PartitionKey='p',RowKey='there') HTTP/1.1\r\nIf-Match: W/\"datetime'x'\"\r\n\r\n{}";
    let new = || insert("p", "new");
    refused(&[new(), insert("p", "there")], 409, "EntityAlreadyExists", "1:The specified entity").await;
    refused(&[new(), insert("p", "a"), delete("p", "none")], 404, "ResourceNotFound", "2:The specified")
        .await;
    refused(&[new(), tagged.to_owned()], 412, "UpdateConditionNotSatisfied", "1:The update").await;
    refused(&[new(), insert("q", "r")], 400, "CommandsInBatchActOnDifferentPartitions", "1:All commands")
        .await;
    refused(
        &[new(), insert("p", "a"), insert("p", "new")],
        400,
        "InvalidDuplicateRow",
        "2:The batch request",
    )
    .await;
    refused(&[new(), delete("p", "new")], 400, "InvalidDuplicateRow", "1:").await;
    let read = "GET /runs(PartitionKey='p',RowKey='there') HTTP/1.1\r\n\r\n".to_owned();
    refused(&[new(), read], 400, "InvalidInput", "1:").await;
    let bad = "POST /runs HTTP/1.1\r\n\r\n{\"PartitionKey\":".to_owned();
    refused(&[new(), bad], 400, "InvalidInput", "1:One of the request inputs is not valid").await;
    refused(&[new(), new().replace("/runs ", "/Other ")], 400, "InvalidInput", "1:").await;
    let without = delete("p", "there").replace("If-Match: *\r\n", "");
    refused(&[new(), without], 400, "MissingRequiredHeader", "1:").await;
    let many: Vec<String> = (0..101).map(|row| insert("p", &row.to_string())).collect();
    refused(&many, 400, "InvalidInput", "99:The batch request operation exceeds").await;
    let nowhere: Vec<String> = vec![new().replace("/runs ", "/none ")];
    refused(&nowhere, 404, "TableNotFound", "0:The table").await;
}

#[tokio::test]
async fn a_hundred_operations_are_a_batch() {
    let world = World::new().await;
    let many: Vec<String> = (0..100).map(|row| insert("p", &row.to_string())).collect();
    world.answered(202, changeset(&many)).await;
    assert_eq!(world.rows("/runs").await.len(), 100);
}

#[tokio::test]
async fn a_batch_that_cannot_be_read_is_refused_as_a_whole() {
    let world = World::new().await;
    world.refused(changeset(&[]), 400, "InvalidInput", "no part").await;
    let cut = |body: &str| Call::post("/$batch", body).header("Content-Type", "multipart/mixed; boundary=b");
    let body = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\n";
    let body = format!("{body}{}\r\n", insert("p", "r"));
    world.refused(cut(&body), 400, "InvalidInput", "does not end").await;
    world.refused(cut(""), 400, "InvalidInput", "").await;
    world.refused(Call::post("/$batch", "{}"), 400, "InvalidInput", "boundary").await;
    assert!(world.rows("/runs").await.is_empty());
}

#[tokio::test]
async fn a_signature_opens_of_a_batch_what_it_opens_by_itself() {
    let world = World::new().await;
    world.insert("p", "old", "").await;
    let mixed = || changeset(&[insert("p", "new"), delete("p", "old")]);
    let sas = |letters: &str| table_sas("runs", letters, &[]);
    let mismatch = "AuthorizationPermissionMismatch";
    world.batch_refused(mixed().sas(&sas("a")), 403, mismatch, "1:").await;
    world
        .batch_refused(mixed().sas(&table_sas("Other", "raud", &[])), 403, "AuthorizationFailure", "0:")
        .await;
    let part = table_sas("runs", "raud", &[("spk", "p"), ("srk", "o"), ("epk", "p"), ("erk", "z")]);
    world.batch_refused(mixed().sas(&part), 403, "AuthorizationFailure", "0:").await;
    let forged = changeset(&[insert("p", "new")]).sas(&sas("r").replace("sp=r", "sp=raud"));
    world.refused(forged, 403, "AuthenticationFailed", "").await;
    assert_eq!(world.rows("/runs").await, ["old"]);
    world.answered(202, mixed().sas(&sas("ad"))).await;
    assert_eq!(world.rows("/runs").await, ["new"]);
}
