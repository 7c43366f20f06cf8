//! A table's size is that of its entities, whatever was done to them.

use crate::world::{World, entity, key};
use orrery_tables::{
    EntityOperation, GroupTransaction, IfMatch, TableSize, Value, ValueRef, operations, size,
};
use proptest::prelude::*;

fn table_size(world: &World) -> TableSize {
    size(&*world.snapshot(), world.table.number()).unwrap()
}

/// The service's formula, by hand.
#[test]
fn an_entity_counts_as_the_service_counts_it() {
    let mut world = World::new();
    assert_eq!(table_size(&world), TableSize::default());
    world.insert(entity(
        "pé",
        "row",
        &[("n", Value::Int32(1)), ("text", Value::String("aé\u{10000}".into()))],
    ));
    let keys = 4 + 2 * (2 + 3);
    let (number, text) = (8 + 2 + 4, 8 + 2 * 4 + 4 + 2 * 4);
    assert_eq!(table_size(&world), TableSize { entities: 1, bytes: keys + number + text });
}

#[test]
fn what_is_refused_counts_nothing() {
    let mut world = World::new();
    let one = || entity("p", "r", &[("n", Value::Int32(1))]);
    world.insert(one());
    let before = table_size(&world);
    world.apply(&EntityOperation::Insert(one())).unwrap_err();
    let group = vec![
        EntityOperation::InsertOrReplace(entity("p", "new", &[])),
        EntityOperation::Delete(key("p", "none"), IfMatch::Any),
    ];
    world.apply_group(&GroupTransaction::new(group).unwrap()).unwrap_err();
    assert_eq!(table_size(&world), before);
}

/// Recounted from the rows.
fn recounted(world: &World) -> TableSize {
    let units = |text: &str| 2 * text.encode_utf16().count() as u64;
    let page = world.query(&orrery_tables::Query::default());
    assert!(page.next.is_none(), "all of them are on one page");
    let bytes = page.entities.iter().map(|entity| {
        let properties = entity.properties().map(|(name, value)| {
            8 + units(name)
                + match value {
                    ValueRef::String(text) => 4 + units(text),
                    ValueRef::Int32(_) => 4,
                    other => panic!("no test writes {other:?}"),
                }
        });
        4 + units(&entity.partition_key()) + units(&entity.row_key()) + properties.sum::<u64>()
    });
    TableSize { entities: page.entities.len() as u64, bytes: bytes.sum() }
}

fn operation() -> impl Strategy<Value = EntityOperation> {
    let properties = prop::collection::btree_map("[a-c]", "[xé\u{10000}]{0,4}", 0..3);
    (0..6u8, "[ab]", properties, any::<i32>()).prop_map(|(kind, row, texts, number)| {
        let mut all: Vec<(&str, Value)> =
            texts.iter().map(|(name, text)| (name.as_str(), Value::String(text.clone()))).collect();
        all.push(("n", Value::Int32(number)));
        let entity = entity("p", &row, &all);
        match kind {
            0 => EntityOperation::Insert(entity),
            1 => EntityOperation::InsertOrMerge(entity),
            2 => EntityOperation::InsertOrReplace(entity),
            3 => EntityOperation::Merge(entity, IfMatch::Any),
            4 => EntityOperation::Replace(entity, IfMatch::Any),
            _ => EntityOperation::Delete(key("p", &row), IfMatch::Any),
        }
    })
}

proptest! {
    #[test]
    fn the_size_is_what_a_recount_finds(all in prop::collection::vec((operation(), any::<bool>()), 1..40)) {
        let mut world = World::new();
        for (operation, in_group) in all {
            // What is refused counts nothing, and that is seen in the end.
            let _ = match in_group {
                true => world.apply_group(&GroupTransaction::new(vec![operation]).unwrap()).map(drop).is_ok(),
                false => world.apply(&operation).is_ok(),
            };
        }
        prop_assert_eq!(table_size(&world), recounted(&world));
    }

    #[test]
    fn a_group_counts_all_of_its_operations(count in 1..20usize) {
        let mut world = World::new();
        let inserts = (0..count).map(|n| EntityOperation::Insert(entity("p", &n.to_string(), &[])));
        world.apply_group(&GroupTransaction::new(inserts.collect()).unwrap()).unwrap();
        prop_assert_eq!(table_size(&world), recounted(&world));
        let deletes = (0..count).map(|n| EntityOperation::Delete(key("p", &n.to_string()), IfMatch::Any));
        world.apply_group(&GroupTransaction::new(deletes.collect()).unwrap()).unwrap();
        prop_assert_eq!(table_size(&world), TableSize::default());
        prop_assert_eq!(operations::get(&*world.snapshot(), world.table.number(), &key("p", "0")).unwrap(), None);
    }
}
