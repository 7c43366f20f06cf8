//! Many writers at once, on several threads: what is answered is there, and a counter misses none.

use crate::harness::{START, account, entity, key, name, number};
use orrery_core::Env;
use orrery_kv::{MemoryEngine, Sync};
use orrery_table_store::model::spaces::SPACES;
use orrery_table_store::model::{EntityError, EntityOperation, IfMatch};
use orrery_table_store::{Error, TableHandle, TableStore};

const WRITERS: i64 = 8;
const STEPS: i64 = 20;

/// Adds one to the entity's number, again and again until nobody was faster.
async fn increment(store: &TableStore, table: &TableHandle) {
    loop {
        let found = store.get(table, &key("p", "counter")).unwrap();
        let next = entity("p", "counter", number(&found) + 1);
        let replace = EntityOperation::Replace(next, IfMatch::Version(found.timestamp()));
        match store.write(table, &replace).await {
            Ok(_) => return,
            Err(Error::Entity(EntityError::ConditionNotMet)) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn conditions_let_no_increment_be_lost() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap();
    let engine = MemoryEngine::new(&SPACES);
    let store = TableStore::standalone(engine, Env::seeded(START, 1), Sync::Data).unwrap();
    runtime.block_on(async {
        let table = store.create_table(&account(), &name("Runs")).await.unwrap();
        store.write(&table, &EntityOperation::Insert(entity("p", "counter", 0))).await.unwrap();
        let tasks: Vec<_> = (0..WRITERS)
            .map(|_| {
                let (store, table) = (store.clone(), table.clone());
                tokio::spawn(async move {
                    for _ in 0..STEPS {
                        increment(&store, &table).await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let counter = store.get(&table, &key("p", "counter")).unwrap();
        assert_eq!(number(&counter), WRITERS * STEPS);
    });
    store.close();
}
