//! The schemas of a container without a catalog.

use orrery_catalog::Catalog;
use orrery_catalog::Stamp;
use orrery_catalog::definition::ContainerDefinition;
use orrery_catalog::schema::{self, Definition, Schemas};
use orrery_core::{DatabaseName, ETag, Timestamp};
use orrery_kv::{Db, MemoryEngine, Overlay, SpaceSet, Sync, Txn};
use std::sync::Arc;

static META_ONLY: SpaceSet = SpaceSet::new(&[]);

/// The schemas as set on a container; the reason if they are refused.
pub fn schemas_of(body: &str) -> Result<Arc<Schemas>, String> {
    let definition = Definition::parse(body.as_bytes()).map_err(|error| error.to_string())?;
    let container = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    let container = ContainerDefinition::parse(serde_json::from_str(container).unwrap()).unwrap();
    let db = Db::open(Box::new(MemoryEngine::new(&META_ONLY)), Sync::Data).unwrap();
    let (snapshot, nothing) = (db.snapshot(), Overlay::default());
    let mut txn = Txn::new(&snapshot, &nothing);
    let (now, etag) = (Timestamp::from_seconds(1), ETag::from_u128(1));
    let stamp = Stamp { now, etag, partition_bytes_max: u64::MAX };
    orrery_catalog::create_database(&mut txn, &DatabaseName::parse("d").unwrap(), None, stamp).unwrap();
    orrery_catalog::create_container(&mut txn, "d", &container, None, stamp).unwrap();
    schema::set(&mut txn, "d", "c", &definition).unwrap();
    let catalog = Catalog::default().refreshed(&txn).unwrap();
    let container = catalog.all_containers().next().unwrap();
    Ok(container.schemas().unwrap().clone())
}

/// One enforced schema.
pub fn schema(schema: &serde_json::Value) -> Arc<Schemas> {
    schemas_of(&format!(r#"{{"validation":"enforce","schema":{schema}}}"#)).unwrap()
}
