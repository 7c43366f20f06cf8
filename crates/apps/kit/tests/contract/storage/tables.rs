//! Entities: what was written is there, exactly, and no write is lost.

use super::world::{World, is_refused};
use orrery_kit::ports::StoreError;
use orrery_kit::ports::tables::{DateTime, Entity, FoundEntity, Guid, Query, Value, Write};

fn entity(partition_key: &str, row_key: &str, n: i32) -> Entity {
    Entity::new(partition_key, row_key).property("n", Value::Int32(n))
}

async fn read(world: &World, partition_key: &str, row_key: &str) -> Option<FoundEntity> {
    world.tables.read(&world.table, partition_key, row_key).await.unwrap()
}

async fn insert(world: &World, entity: Entity) -> String {
    world.tables.write(&world.table, &Write::Insert(entity)).await.unwrap().unwrap()
}

fn delete(partition_key: &str, row_key: &str, if_match: &str) -> Write {
    let (partition_key, row_key) = (partition_key.to_owned(), row_key.to_owned());
    Write::Delete { partition_key, row_key, if_match: if_match.to_owned() }
}

pub async fn an_entity_is_what_was_written(world: &World) {
    let date = "2026-11-15T00:59:26.3287118Z";
    let written = entity("p", "r", -1)
        .property("text", Value::String(" é\"\r\n🚀".to_owned()))
        .property("yes", Value::Boolean(true))
        .property("big", Value::Int64(i64::MAX))
        .property("whole", Value::Double(1.0))
        .property("exact", Value::Double(0.1 + 0.2))
        .property("endless", Value::Double(f64::NEG_INFINITY))
        .property("at", Value::DateTime(DateTime::parse(date).unwrap()))
        .property("id", Value::Guid(Guid::from_u128(7)))
        .property("bytes", Value::Binary(vec![0, 255].into()));
    let etag = insert(world, written.clone()).await;
    let found = read(world, "p", "r").await.unwrap();
    assert_eq!((found.partition_key.as_deref(), found.row_key.as_deref()), (Some("p"), Some("r")));
    assert_eq!((&found.properties, found.etag.as_ref()), (&written.properties, Some(&etag)));
    assert!(found.timestamp.is_some());
    assert_eq!(read(world, "p", "other").await, None);
    assert_eq!(world.tables.write(&world.table, &delete("p", "r", &etag)).await, Ok(None));
    assert_eq!(read(world, "p", "r").await, None);
}

pub async fn conflict_changed_missing_and_refused_are_told_apart(world: &World) {
    let stale = insert(world, entity("p", "a", 1)).await;
    let replace = |row: &str, if_match: &str| Write::Replace {
        entity: entity("p", row, 2),
        if_match: if_match.to_owned(),
    };
    let merge = |row: &str, if_match: &str| Write::Merge {
        entity: entity("p", row, 3),
        if_match: if_match.to_owned(),
    };
    world.tables.write(&world.table, &replace("a", &stale)).await.unwrap();
    let cases = [
        (Write::Insert(entity("p", "a", 1)), StoreError::Conflict),
        (replace("a", &stale), StoreError::Changed),
        (merge("a", &stale), StoreError::Changed),
        (delete("p", "a", &stale), StoreError::Changed),
        (replace("none", "*"), StoreError::Missing),
        (merge("none", &stale), StoreError::Missing),
        (delete("p", "none", "*"), StoreError::Missing),
    ];
    for (write, expected) in cases {
        assert_eq!(world.tables.write(&world.table, &write).await, Err(expected), "{write:?}");
    }
    let refused = [
        Write::Insert(entity("p/q", "a", 1)),
        Write::Insert(entity("p", &"k".repeat(513), 1)),
        Write::Insert(Entity::new("p", "b").property("not a name", Value::Int32(1))),
        Write::Insert(Entity::new("p", "b").property("long", Value::String("x".repeat(33_000)))),
    ];
    for write in refused {
        is_refused(world.tables.write(&world.table, &write).await, &[400]);
    }
    is_refused(world.tables.read("nosuchtable", "p", "a").await, &[404]);
    is_refused(world.tables.write("nosuchtable", &Write::Insert(entity("p", "a", 1))).await, &[404]);
    assert_eq!(read(world, "p", "a").await.unwrap().get("n"), Some(&Value::Int32(2)));
}

pub async fn a_merge_keeps_what_it_does_not_name(world: &World) {
    let text = |name: &str, text: &str| Entity::new("p", "r").property(name, Value::String(text.to_owned()));
    let tables = &world.tables;
    tables.write(&world.table, &Write::InsertOrMerge(text("a", "1"))).await.unwrap();
    tables.write(&world.table, &Write::InsertOrMerge(text("b", "2"))).await.unwrap();
    let merged = read(world, "p", "r").await.unwrap();
    assert_eq!((merged.properties.len(), merged.get("a")), (2, Some(&Value::String("1".to_owned()))));
    let merge = Write::Merge { entity: text("a", "3"), if_match: merged.etag.unwrap() };
    tables.write(&world.table, &merge).await.unwrap();
    let merged = read(world, "p", "r").await.unwrap();
    assert_eq!((merged.properties.len(), merged.get("a")), (2, Some(&Value::String("3".to_owned()))));
    tables.write(&world.table, &Write::InsertOrReplace(text("c", "4"))).await.unwrap();
    assert_eq!(read(world, "p", "r").await.unwrap().properties.len(), 1);
}

pub async fn keys_may_be_any_text_that_a_key_may_be(world: &World) {
    for text in ["", " ", "a b", "o'clock", "''", "é東🚀", "100%", "a%20b", "a+b", "x:y,z=(1)", "&;$", ".."]
    {
        let etag = insert(world, entity(text, text, 1)).await;
        let found = read(world, text, text).await.expect(text);
        assert_eq!((found.partition_key.as_deref(), found.etag.as_ref()), (Some(text), Some(&etag)));
        let replace = Write::Replace { entity: entity(text, text, 2), if_match: etag };
        let etag = world.tables.write(&world.table, &replace).await.unwrap().unwrap();
        assert_eq!(world.tables.write(&world.table, &delete(text, text, &etag)).await, Ok(None), "{text}");
    }
}

pub async fn a_batch_is_done_whole_or_not_at_all(world: &World) {
    let stale = insert(world, entity("p", "a", 1)).await;
    let writes = [
        Write::InsertOrReplace(entity("p", "a", 2)),
        Write::Insert(entity("p", "b", 2)),
        Write::InsertOrMerge(entity("p", "o'c", 2)),
    ];
    let versions = world.tables.batch(&world.table, &writes).await.unwrap();
    assert_eq!(versions.len(), 3);
    assert_eq!(read(world, "p", "b").await.unwrap().etag, versions[1]);
    let refused = |last: Write| [Write::InsertOrReplace(entity("p", "b", 3)), last];
    for (last, expected) in [
        (Write::Insert(entity("p", "a", 3)), StoreError::Conflict),
        (delete("p", "a", &stale), StoreError::Changed),
        (delete("p", "none", "*"), StoreError::Missing),
    ] {
        assert_eq!(world.tables.batch(&world.table, &refused(last)).await, Err(expected));
    }
    assert_eq!(read(world, "p", "b").await.unwrap().get("n"), Some(&Value::Int32(2)));
    let gone = [delete("p", "a", "*"), delete("p", "b", versions[1].as_ref().unwrap())];
    assert_eq!(world.tables.batch(&world.table, &gone).await, Ok(vec![None, None]));
    assert_eq!(world.tables.batch(&world.table, &[]).await, Ok(Vec::new()));
}

pub async fn a_batch_has_bounds(world: &World) {
    let rows = |count: usize| -> Vec<Write> {
        (0..count).map(|row| Write::Insert(entity("p", &row.to_string(), 1))).collect()
    };
    is_refused(world.tables.batch(&world.table, &rows(101)).await, &[400]);
    let apart = [Write::Insert(entity("p", "a", 1)), Write::Insert(entity("q", "b", 1))];
    is_refused(world.tables.batch(&world.table, &apart).await, &[400]);
    let twice = [Write::Insert(entity("p", "a", 1)), Write::InsertOrReplace(entity("p", "a", 2))];
    is_refused(world.tables.batch(&world.table, &twice).await, &[400]);
    assert_eq!(read(world, "p", "0").await, None);
    assert_eq!(world.tables.batch(&world.table, &rows(100)).await.unwrap().len(), 100);
}

pub async fn pages_together_are_one_page(world: &World) {
    for partition in ["a", "é", "🚀"] {
        let rows: Vec<Write> =
            (0..10).map(|row| Write::Insert(entity(partition, &format!("r{row}"), row))).collect();
        world.tables.batch(&world.table, &rows).await.unwrap();
    }
    for (filter, expected) in
        [(None, 30), (Some("n ge 5 and PartitionKey ne 'é'"), 10), (Some("n gt 100"), 0)]
    {
        let filter = filter.map(str::to_owned);
        let mut query = Query { filter, entities_max: 3, ..Query::default() };
        let mut keys = Vec::new();
        loop {
            let page = world.tables.query(&world.table, &query).await.unwrap();
            assert!(page.entities.len() <= 3);
            keys.extend(page.entities.into_iter().map(|found| (found.partition_key, found.row_key)));
            query.continuation = page.continuation;
            if query.continuation.is_none() {
                break;
            }
        }
        assert_eq!(keys.len(), expected);
        assert!(keys.is_sorted());
    }
}

pub async fn a_query_shows_what_is_selected(world: &World) {
    let text = Value::String("x".to_owned());
    insert(world, entity("p", "r", 1).property("other", text)).await;
    let select = |names: &[&str]| Query {
        select: names.iter().map(|name| (*name).to_owned()).collect(),
        ..Query::default()
    };
    let page = world.tables.query(&world.table, &select(&["n", "RowKey", "none"])).await.unwrap();
    let found = &page.entities[0];
    assert_eq!((found.row_key.as_deref(), &found.partition_key), (Some("r"), &None));
    assert_eq!(found.properties, [("n".to_owned(), Value::Int32(1))]);
    assert!(found.timestamp.is_none() && found.etag.is_some());
}

pub async fn a_query_that_is_none_is_refused(world: &World) {
    let query = |filter: &str| Query { filter: Some(filter.to_owned()), ..Query::default() };
    is_refused(world.tables.query(&world.table, &query("n eq")).await, &[400]);
    is_refused(world.tables.query(&world.table, &query("startswith(n, 'a')")).await, &[501]);
    is_refused(world.tables.query("nosuchtable", &Query::default()).await, &[404]);
    let too_many = Query { entities_max: 1001, ..Query::default() };
    is_refused(world.tables.query(&world.table, &too_many).await, &[400]);
    for nonsense in ["nonsense", "[]", "[1]"] {
        let query = Query { continuation: Some(nonsense.to_owned()), ..Query::default() };
        is_refused(world.tables.query(&world.table, &query).await, &[400]);
    }
}

/// Each reads, adds one under the version, and reads again where somebody was faster.
pub async fn increments_at_once_lose_none(world: &World) {
    insert(world, entity("p", "counter", 0)).await;
    const CROWD: i32 = 16;
    let tasks: Vec<_> = (0..CROWD)
        .map(|_| {
            let world = world.clone();
            tokio::spawn(async move { increment(&world).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(read(world, "p", "counter").await.unwrap().get("n"), Some(&Value::Int32(CROWD)));
}

async fn increment(world: &World) {
    for _ in 0..10_000 {
        let found = read(world, "p", "counter").await.unwrap();
        let Some(Value::Int32(n)) = found.get("n") else { panic!("{found:?}") };
        let replace =
            Write::Replace { entity: entity("p", "counter", n + 1), if_match: found.etag.clone().unwrap() };
        match world.tables.write(&world.table, &replace).await {
            Ok(_) => return,
            Err(StoreError::Changed) => {}
            Err(error) => panic!("{error}"),
        }
    }
    panic!("never");
}

pub async fn what_is_there_stays_as_it_is(world: &World) {
    insert(world, entity("p", "a", 1)).await;
    world.tables.ensure(&[&world.table, &world.table.to_uppercase()]).await.unwrap();
    assert!(read(world, "p", "a").await.is_some());
    is_refused(world.tables.ensure(&["no table"]).await, &[400]);
}
