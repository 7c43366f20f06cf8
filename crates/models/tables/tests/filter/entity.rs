//! Stored entities, made of a filter that names all their properties: `PartitionKey eq 'p' and RowKey eq 'r' and n eq 1`.

use orrery_tables::filter::{Expr, Operand};
use orrery_tables::{EntityBuilder, EntityKey, EntityRow, Filter, Ticks, Value};

pub fn read(text: &str) -> Result<EntityRow, String> {
    let filter = Filter::parse(text).map_err(|error| error.to_string())?;
    let parts = match filter.root() {
        Expr::And(parts) => &parts[..],
        single => std::slice::from_ref(single),
    };
    let (mut keys, mut at) = ([String::from("p"), String::from("r")], Ticks::default());
    let mut entity = EntityBuilder::new();
    for part in parts {
        let Expr::Compare(_, Operand::Property(index), Operand::Literal(value)) = part else {
            return Err("a property has a name and a value".to_owned());
        };
        match (filter.names()[*index].as_str(), value) {
            ("PartitionKey", Value::String(key)) => keys[0].clone_from(key),
            ("RowKey", Value::String(key)) => keys[1].clone_from(key),
            ("Timestamp", Value::DateTime(value)) => at = value.ticks(),
            (name, value) => entity.push(name, value.as_ref()).map_err(|error| error.to_string())?,
        }
    }
    let key = EntityKey::parse(&keys[0], &keys[1]).map_err(|error| error.to_string())?;
    let entity = entity.finish(key).map_err(|error| error.to_string())?;
    Ok(entity.as_row(7, at))
}
