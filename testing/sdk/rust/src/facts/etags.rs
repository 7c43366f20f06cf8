//! Optimistic concurrency: a write or read that names the tag it expects.

use super::{Outcome, facts};
use crate::check::{read, refused, status};
use crate::cosmos::{Cosmos, properties};
use azure_core::http::Etag;
use azure_data_cosmos::models::ItemResponse;
use azure_data_cosmos::options::{ItemReadOptions, ItemWriteOptions, Precondition};
use serde_json::{Value, json};

facts! { Running:
    "etags.replace" => a_replace_with_a_stale_tag_is_refused_and_changes_nothing,
    "etags.upsert" => an_upsert_with_a_stale_tag_is_refused,
    "etags.delete" => a_delete_with_a_stale_tag_is_refused,
    "etags.not_modified" => a_read_that_knows_the_tag_answers_without_the_item,
    "etags.two_writers" => of_two_writers_with_one_tag_one_succeeds,
}

async fn a_replace_with_a_stale_tag_is_refused_and_changes_nothing(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let first = tag(&container.create_item("p", "a", item(1), None).await?)?;
    let second = tag(&container.replace_item("p", "a", item(2), only_this(&first)).await?)?;
    assert_eq!(refused(container.replace_item("p", "a", item(3), only_this(&first)).await), 412);
    assert_eq!(read(&container, "p", "a").await?["n"], 2);
    container.replace_item("p", "a", item(4), only_this(&second)).await?;
    assert_eq!(read(&container, "p", "a").await?["n"], 4);
    Ok(())
}

async fn an_upsert_with_a_stale_tag_is_refused(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let first = tag(&container.upsert_item("p", "a", item(1), None).await?)?;
    assert_eq!(status(container.upsert_item("p", "a", item(2), only_this(&first)).await), 200);
    assert_eq!(refused(container.upsert_item("p", "a", item(3), only_this(&first)).await), 412);
    assert_eq!(read(&container, "p", "a").await?["n"], 2);
    Ok(())
}

async fn a_delete_with_a_stale_tag_is_refused(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let first = tag(&container.create_item("p", "a", item(1), None).await?)?;
    let second = tag(&container.replace_item("p", "a", item(2), None).await?)?;
    assert_eq!(refused(container.delete_item("p", "a", only_this(&first)).await), 412);
    assert_eq!(read(&container, "p", "a").await?["n"], 2);
    assert_eq!(status(container.delete_item("p", "a", only_this(&second)).await), 204);
    Ok(())
}

async fn a_read_that_knows_the_tag_answers_without_the_item(cosmos: Cosmos) -> Outcome {
    let container = cosmos.container().await?;
    let first = tag(&container.create_item("p", "a", item(1), None).await?)?;
    let unless_known =
        || Some(ItemReadOptions::default().with_precondition(Precondition::if_none_match(first.clone())));
    assert_eq!(status(container.read_item("p", "a", unless_known()).await), 304);
    container.replace_item("p", "a", item(2), None).await?;
    let changed: Value = container.read_item("p", "a", unless_known()).await?.into_model()?;
    assert_eq!(changed["n"], 2);
    Ok(())
}

async fn of_two_writers_with_one_tag_one_succeeds(cosmos: Cosmos) -> Outcome {
    let place = cosmos.place(properties("/pk"), None).await?;
    let (one, two) = (place.seen_by(&cosmos.client).await?, place.seen_by(&cosmos.open().await?).await?);
    let first = tag(&one.create_item("p", "a", item(0), None).await?)?;
    let outcomes = tokio::join!(
        one.replace_item("p", "a", item(1), only_this(&first)),
        two.replace_item("p", "a", item(2), only_this(&first)),
    );
    let codes = [status(outcomes.0), status(outcomes.1)];
    assert!(codes == [200, 412] || codes == [412, 200], "{codes:?}");
    let winner = if codes[0] == 200 { 1 } else { 2 };
    assert_eq!(read(&one, "p", "a").await?["n"], winner);
    Ok(())
}

fn item(n: u32) -> Value {
    json!({"id": "a", "pk": "p", "n": n})
}

fn tag(answer: &ItemResponse) -> Result<Etag, &'static str> {
    answer.headers().etag().cloned().ok_or("the answer has no tag")
}

fn only_this(tag: &Etag) -> Option<ItemWriteOptions> {
    Some(ItemWriteOptions::default().with_precondition(Precondition::if_match(tag.clone())))
}
