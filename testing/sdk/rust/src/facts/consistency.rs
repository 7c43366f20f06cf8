//! Sessions over several ranges. What this SDK lacks: it keeps a token that a new data folder cannot serve, so after a reset
//! its clients are to be opened anew.

use super::{Outcome, facts};
use crate::check::read;
use crate::cosmos::{Cosmos, properties};
use azure_data_cosmos::models::ThroughputProperties;
use serde_json::json;

facts! { Running:
    "session.ranges" => a_session_over_several_ranges_reads_what_it_wrote,
}

async fn a_session_over_several_ranges_reads_what_it_wrote(cosmos: Cosmos) -> Outcome {
    let container =
        cosmos.container_of(properties("/pk"), Some(ThroughputProperties::manual(12_000))).await?;
    for n in 0..24 {
        if n == 12 {
            container.begin_replace_throughput(ThroughputProperties::manual(24_000), None).await?.await?;
        }
        let pk = format!("p{}", n % 4);
        container.upsert_item(&pk, "a", json!({"id": "a", "pk": pk, "n": n}), None).await?;
        assert_eq!(read(&container, &pk, "a").await?["n"], n);
    }
    Ok(())
}
