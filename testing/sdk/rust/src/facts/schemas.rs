//! Schemas of a container: what does not match is refused.

use super::{Outcome, facts};
use crate::check::{read, refused};
use crate::cosmos::{Cosmos, properties};
use serde_json::{Value, json};

facts! { Running:
    "containers.schema_enforced" => what_does_not_match_is_refused,
}

async fn what_does_not_match_is_refused(cosmos: Cosmos) -> Outcome {
    let place = cosmos.place(properties("/pk"), None).await?;
    let container = place.seen_by(&cosmos.client).await?;
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    let path = format!("/v1/schemas/{}/{}", place.database, place.container);
    cosmos.server.ask("PUT", &path, &json!({"validation": "enforce", "schema": schema}))?;
    let item = |n: Value| json!({"id": "a", "pk": "p", "n": n});
    assert_eq!(refused(container.create_item("p", "a", item(json!("x")), None).await), 400);
    container.create_item("p", "a", item(json!(1)), None).await?;
    assert_eq!(refused(container.upsert_item("p", "a", item(json!("x")), None).await), 400);
    assert_eq!(refused(container.replace_item("p", "a", item(json!("x")), None).await), 400);
    assert_eq!(read(&container, "p", "a").await?["n"], 1);
    Ok(())
}
