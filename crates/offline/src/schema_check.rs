//! `orrery check --schemas`: validates the items of a folder against their containers' schemas, whatever the schemas'
//! modes.

use orrery_documents::catalog::Container;
use orrery_documents::item::{ItemRow, partition_key_of};
use orrery_documents::row;
use orrery_documents::spaces::DOCUMENTS;
use orrery_kv::{Error, Order, Read};
use orrery_value::Value;

/// Validates the items of a container with a schema; reports each violation to `say`, and returns the number of invalid
/// items.
pub fn check_items(
    state: &dyn Read,
    container: &Container,
    mut say: impl FnMut(String),
) -> Result<u64, Error> {
    let Some(schemas) = container.schemas() else { return Ok(0) };
    let mut wrong = 0;
    for row in state.range(DOCUMENTS, &row::of_container(container.number()), Order::Ascending) {
        let (key, value) = row?;
        let item = ItemRow::read(state, value)?;
        let violations = schemas.check(item.text());
        if violations.is_empty() {
            continue;
        }
        wrong += 1;
        let (_, id) = row::read_item(&key).ok_or_else(|| Error::Corrupt("an item's key".into()))?;
        let partition = Value::Array(partition_key_of(container, item.text())).to_json();
        let place = format!("{}: item {} of {partition}", container.path(), Value::String(id).to_json());
        violations.first.iter().for_each(|violation| say(format!("{place}: {violation}")));
        let more = violations.count - violations.first.len() as u64;
        if more > 0 {
            say(format!("{place}: and {more} more"));
        }
    }
    Ok(wrong)
}
