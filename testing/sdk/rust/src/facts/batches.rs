//! Transactional batches.

use super::{Outcome, facts};
use crate::check::{read, refused};
use crate::cosmos::Cosmos;
use azure_data_cosmos::TransactionalBatch;
use azure_data_cosmos::models::TransactionalBatchResponse;
use serde_json::{Value, json};

facts! { Running:
    "items.batch" => a_batch_does_every_kind_of_operation,
    "items.batch_rollback" => one_operation_that_fails_undoes_the_others,
}

fn item(id: &str, n: u32) -> Value {
    json!({"id": id, "pk": "p", "n": n})
}

fn statuses(answer: &TransactionalBatchResponse) -> Vec<u16> {
    answer.results().iter().map(|result| result.status_code()).collect()
}

async fn a_batch_does_every_kind_of_operation(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    container.create_item("p", "old", item("old", 0), None).await?;
    let batch = TransactionalBatch::new("p")
        .create_item(item("a", 1))?
        .upsert_item(item("b", 1), None)?
        .replace_item("a", item("a", 2), None)?
        .read_item("a", None)
        .delete_item("old", None);
    let answer = container.execute_transactional_batch(batch, None).await?.into_model()?;
    assert_eq!(statuses(&answer), [201, 201, 200, 200, 204]);
    let shown: Option<Value> = answer.results()[3].into_model()?;
    assert_eq!(shown.map(|item| item["n"].clone()), Some(json!(2)));
    assert_eq!(answer.results()[2].etag(), read(&container, "p", "a").await?["_etag"].as_str());
    assert_eq!(refused(container.read_item("p", "old", None).await), 404);
    Ok(())
}

async fn one_operation_that_fails_undoes_the_others(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    container.create_item("p", "there", item("there", 0), None).await?;
    let batch = TransactionalBatch::new("p").create_item(item("new", 1))?.create_item(item("there", 1))?;
    let answer = container.execute_transactional_batch(batch, None).await?.into_model()?;
    assert_eq!(statuses(&answer), [424, 409]);
    assert_eq!(refused(container.read_item("p", "new", None).await), 404);
    assert_eq!(read(&container, "p", "there").await?["n"], 0);
    Ok(())
}
