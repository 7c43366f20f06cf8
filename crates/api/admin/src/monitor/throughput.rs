//! Owners of throughput: containers with their own, databases that share theirs, or every container
//! alike.

use orrery_core::limits;
use orrery_documents::catalog::limits::THROUGHPUT_MANUAL_MIN;
use orrery_documents::catalog::{Catalog, Offer};
use orrery_documents::definition::Throughput;
use orrery_documents::metering::Owner;
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Debug, Default)]
pub struct Provisioned {
    pub supplies: Vec<Supply>,
    /// Database and container, by the container's number.
    pub names: BTreeMap<u32, (String, String)>,
}

/// Throughput, and the containers that share it.
#[derive(Clone, Debug)]
pub struct Supply {
    pub owner: Owner,
    pub database: String,
    /// `None` if a database's containers share it.
    pub container: Option<String>,
    pub containers: Vec<u32>,
    pub throughput: Option<Throughput>,
    pub units_per_second: u64,
}

pub fn provisioned(catalog: &Catalog, is_serverless: bool) -> Provisioned {
    let offers: HashMap<u32, &Offer> = catalog.offers().map(|offer| (offer.rid.0, &**offer)).collect();
    let mut found = Provisioned::default();
    for database in catalog.databases() {
        let name = database.name.to_string();
        let offer = |rid: Option<orrery_core::OfferRid>| {
            rid.and_then(|rid| offers.get(&rid.0)).map(|offer| offer.throughput).filter(|_| !is_serverless)
        };
        let shared = offer(database.offer);
        let mut sharing = Vec::new();
        for container in catalog.containers(database.rid) {
            let (number, own) = (container.number(), offer(container.offer()));
            let container_name = container.definition().name().to_string();
            found.names.insert(number, (name.clone(), container_name.clone()));
            if own.is_none() && shared.is_some() {
                sharing.push(number);
                continue;
            }
            let ranges = container.ranges().leaves().len() as u64;
            // The minimum if there is no offer, as in a folder that was serverless before.
            let own = own.or((!is_serverless).then_some(Throughput::Manual(THROUGHPUT_MANUAL_MIN)));
            let everybody = ranges * limits::SERVERLESS_UNITS_PER_SECOND_MAX;
            found.supplies.push(Supply {
                owner: Owner::Container(number),
                database: name.clone(),
                container: Some(container_name),
                containers: vec![number],
                throughput: own,
                units_per_second: own.map_or(everybody, |own| own.most()),
            });
        }
        if let Some(throughput) = shared {
            found.supplies.push(Supply {
                owner: Owner::Database(database.rid.0),
                database: name,
                container: None,
                containers: sharing,
                throughput: Some(throughput),
                units_per_second: throughput.most(),
            });
        }
    }
    found
}
