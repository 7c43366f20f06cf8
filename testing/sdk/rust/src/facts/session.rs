//! Session consistency: what one client wrote, another reads when it is given the token.

use super::{Outcome, facts};
use crate::cosmos::{Cosmos, properties};
use azure_data_cosmos::models::ThroughputProperties;
use azure_data_cosmos::options::ItemReadOptions;
use serde_json::{Value, json};

facts! { Running:
    "session.read_your_writes" => a_token_carries_a_write_to_another_client,
    "session.read_your_writes" => tokens_of_several_ranges_work_together,
}

async fn a_token_carries_a_write_to_another_client(cosmos: Cosmos) -> Outcome {
    carry(cosmos, None).await
}

async fn tokens_of_several_ranges_work_together(cosmos: Cosmos) -> Outcome {
    carry(cosmos, Some(ThroughputProperties::manual(12_000))).await
}

async fn carry(cosmos: Cosmos, throughput: Option<ThroughputProperties>) -> Outcome {
    let place = cosmos.place(properties("/pk"), throughput).await?;
    let writer = place.seen_by(&cosmos.client).await?;
    let reader = place.seen_by(&cosmos.open().await?).await?;
    for n in 0..10 {
        let pk = format!("p{}", n % 5);
        let written = writer.upsert_item(&pk, "a", json!({"id": "a", "pk": pk, "n": n}), None).await?;
        let token = written.headers().session_token().cloned().ok_or("the answer has no session token")?;
        let options = ItemReadOptions::default().with_session_token(token);
        let read: Value = reader.read_item(&pk, "a", Some(options)).await?.into_model()?;
        assert_eq!(read["n"], n);
    }
    Ok(())
}
