//! An account that provisions nothing.

use super::{Outcome, facts};
use crate::check::{read, refused};
use crate::cosmos::Cosmos;
use serde_json::json;

facts! { Serverless:
    "throttling.serverless" => a_serverless_account_takes_no_throughput,
}

async fn a_serverless_account_takes_no_throughput(cosmos: Cosmos) -> Outcome {
    cosmos.server.advance(2)?;
    let container = cosmos.container().await?;
    container.create_item("p", "a", json!({"id": "a", "pk": "p"}), None).await?;
    assert_eq!(refused(cosmos.container_with_throughput(400).await), 400);
    assert_eq!(refused(container.read_throughput(None).await), 400);
    assert_eq!(read(&container, "p", "a").await?["id"], "a");
    Ok(())
}
