//! Entity group transactions: which may be, and that all or nothing of one is done.

use crate::world::{World, entity, key};
use orrery_tables::{EntityError, EntityOperation, GroupTransaction, IfMatch, InvalidGroup, Value, limits};

fn insert(partition_key: &str, row_key: &str) -> EntityOperation {
    EntityOperation::Insert(entity(partition_key, row_key, &[("n", Value::Int32(1))]))
}

#[test]
fn a_group_is_of_one_partition_and_has_each_row_once() {
    let check = |operations: Vec<EntityOperation>, expected: Option<InvalidGroup>| {
        assert_eq!(GroupTransaction::new(operations).err(), expected);
    };
    check(vec![], Some(InvalidGroup::Empty));
    check(vec![insert("p", "a"), insert("p", "b")], None);
    check(
        vec![insert("p", "a"), insert("p", "b"), insert("q", "c")],
        Some(InvalidGroup::DifferentPartitions { index: 2 }),
    );
    let delete = EntityOperation::Delete(key("p", "a"), IfMatch::Any);
    check(vec![insert("p", "a"), delete], Some(InvalidGroup::DuplicateRow { index: 1 }));
    let rows = |count: usize| (0..count).map(|row| insert("p", &row.to_string())).collect::<Vec<_>>();
    check(rows(limits::GROUP_OPERATIONS_MAX), None);
    check(rows(limits::GROUP_OPERATIONS_MAX + 1), Some(InvalidGroup::TooManyOperations));
}

#[test]
fn a_group_has_four_mebibytes() {
    let large = |row: usize| {
        let value = Value::Binary(vec![0; 64 * 1024].into());
        EntityOperation::Insert(entity("p", &row.to_string(), &[("b", value)]))
    };
    assert!(GroupTransaction::new((0..63).map(large).collect()).is_ok());
    let over = GroupTransaction::new((0..64).map(large).collect());
    assert_eq!(over, Err(InvalidGroup::TooLarge));
}

#[test]
fn all_of_a_group_is_done_or_nothing() {
    let mut world = World::new();
    world.insert(entity("p", "there", &[("n", Value::Int32(7))]));
    let group = GroupTransaction::new(vec![
        insert("p", "a"),
        EntityOperation::Merge(entity("p", "there", &[("m", Value::Int32(8))]), IfMatch::Any),
        insert("p", "b"),
    ]);
    let written = world.apply_group(&group.unwrap()).unwrap();
    assert_eq!(written.iter().map(|written| written.is_new).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(world.counts(), (3, 4));

    let fails = |world: &mut World, last: EntityOperation| {
        let operations =
            vec![insert("p", "c"), EntityOperation::Delete(key("p", "there"), IfMatch::Any), last];
        let error = world.apply_group(&GroupTransaction::new(operations).unwrap()).unwrap_err();
        assert_eq!(world.counts(), (3, 4), "nothing of it was done");
        error
    };
    let error = fails(&mut world, insert("p", "a"));
    assert_eq!(error.index, 2);
    assert!(matches!(error.error, EntityError::Exists));
    assert_eq!(error.to_string(), "2:The specified entity already exists.");
    let error = fails(&mut world, EntityOperation::Delete(key("p", "x"), IfMatch::Any));
    assert!(matches!(error.error, EntityError::NotFound));
    let error = fails(&mut world, EntityOperation::Delete(key("p", "b"), IfMatch::NoVersion));
    assert!(matches!(error.error, EntityError::ConditionNotMet));
}
