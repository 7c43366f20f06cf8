//! Databases, containers and offers.

use crate::audit::audit;
use crate::world::{World, definition_body, said};
use bytes::Bytes;
use orrery_catalog::definition::{ContainerDefinition, Throughput};
use orrery_catalog::limits;
use orrery_catalog::row::Row;
use orrery_catalog::{self as catalog, Catalog, CatalogError, Container, Database, Offer, OfferTarget};
use orrery_core::{DatabaseName, ETag, OfferRid};
use orrery_documents::item::{Preconditions, TagMatch};
use orrery_kv::{Engine, Error, META, Put, Read, Sync};
use proptest::prelude::*;

const ALWAYS: Preconditions = Preconditions { if_match: None, if_none_match: None };

fn create_database(world: &mut World, name: &str, throughput: Option<u64>) -> Result<Database, CatalogError> {
    let (name, stamp) = (DatabaseName::parse(name).unwrap(), world.stamp());
    let throughput = throughput.map(Throughput::Manual);
    world.txn(|txn| catalog::create_database(txn, &name, throughput.as_ref(), stamp))
}

fn create_container(
    world: &mut World,
    database: &str,
    name: &str,
    throughput: Option<u64>,
) -> Result<Container, CatalogError> {
    let definition = ContainerDefinition::parse(definition_body(name, "")).unwrap();
    let (throughput, stamp) = (throughput.map(Throughput::Manual), world.stamp());
    world.txn(|txn| catalog::create_container(txn, database, &definition, throughput.as_ref(), stamp))
}

fn replace_container(
    world: &mut World,
    database: &str,
    name: &str,
    ttl: u32,
) -> Result<Container, CatalogError> {
    let (body, stamp) = (definition_body(name, &format!(r#""defaultTtl":{ttl}"#)), world.stamp());
    world.txn(|txn| catalog::replace_container(txn, database, name, body, ALWAYS, stamp))
}

fn replace_offer(world: &mut World, rid: OfferRid, units: u64) -> Result<Offer, CatalogError> {
    let stamp = world.stamp();
    world.txn(|txn| catalog::replace_offer(txn, rid, &Throughput::Manual(units), ALWAYS, stamp))
}

fn delete_database(world: &mut World, name: &str) -> Result<(), CatalogError> {
    world.txn(|txn| catalog::delete_database(txn, name, ALWAYS))
}

fn delete_container(world: &mut World, database: &str, name: &str) -> Result<(), CatalogError> {
    world.txn(|txn| catalog::delete_container(txn, database, name, ALWAYS))
}

#[test]
fn a_name_is_taken_once() {
    let mut world = World::bare();
    assert_eq!(said(&create_database(&mut world, "a", None)), "ok");
    assert_eq!(said(&create_database(&mut world, "a", None)), "Exists");
    assert_eq!(said(&create_database(&mut world, "A", None)), "ok");
    assert_eq!(said(&create_container(&mut world, "a", "c", None)), "ok");
    assert_eq!(said(&create_container(&mut world, "a", "c", None)), "Exists");
    assert_eq!(said(&create_container(&mut world, "A", "c", None)), "ok");
    audit(&*world.snapshot(), world.db.tip().lsn);
}

#[test]
fn what_is_not_there_is_missing() {
    let mut world = World::new();
    assert_eq!(said(&delete_database(&mut world, "no")), "DatabaseMissing");
    assert_eq!(said(&create_container(&mut world, "no", "c", None)), "DatabaseMissing");
    assert_eq!(said(&delete_container(&mut world, "no", "c")), "DatabaseMissing");
    assert_eq!(said(&delete_container(&mut world, "db", "c")), "ContainerMissing");
    assert_eq!(said(&replace_container(&mut world, "db", "c", 5)), "ContainerMissing");
    assert_eq!(said(&replace_offer(&mut world, OfferRid(7), 400)), "OfferMissing");
}

#[test]
fn a_deleted_database_takes_everything_with_it() {
    let mut world = World::new();
    create_database(&mut world, "other", Some(400)).unwrap();
    create_container(&mut world, "other", "stays", Some(500)).unwrap();
    let doomed = [
        create_container(&mut world, "db", "one", None),
        create_container(&mut world, "db", "two", Some(800)),
    ];
    delete_database(&mut world, "db").unwrap();
    let catalog = world.catalog();
    assert!(catalog.database("db").is_none());
    assert_eq!(
        catalog.all_containers().map(|container| container.definition().name().as_str()).collect::<Vec<_>>(),
        ["stays"]
    );
    assert_eq!(catalog.offers().count(), 2);
    let swept: Vec<u32> = orrery_catalog::jobs::jobs(&*world.snapshot())
        .unwrap()
        .into_iter()
        .map(|(_, number)| number)
        .collect();
    assert_eq!(swept, doomed.map(|container| container.unwrap().number()));
    audit(&*world.snapshot(), world.db.tip().lsn);
}

#[test]
fn numbers_are_never_given_twice() {
    let mut world = World::new();
    let first = create_container(&mut world, "db", "c", None).unwrap();
    delete_container(&mut world, "db", "c").unwrap();
    let second = create_container(&mut world, "db", "c", None).unwrap();
    assert!(first.rid() < second.rid() && first.offer() < second.offer());
    let before = world.catalog().database("db").unwrap().rid;
    delete_database(&mut world, "db").unwrap();
    let mut world = world.restarted();
    assert!(create_database(&mut world, "db", None).unwrap().rid > before);
}

#[test]
fn a_resource_is_found_by_name_and_by_rid() {
    let mut world = World::new();
    let container = create_container(&mut world, "db", "c", None).unwrap();
    let catalog = world.catalog();
    let database = catalog.database("db").unwrap();
    assert_eq!(catalog.database(&database.rid.to_string()).unwrap().name.as_str(), "db");
    assert_eq!(catalog.container(database.rid, "c").unwrap().rid(), container.rid());
    assert_eq!(catalog.container(database.rid, container.rid_text()).unwrap().rid(), container.rid());
    assert_eq!(catalog.container_by_number(container.number()).unwrap().rid(), container.rid());
    let offer = container.offer().unwrap();
    assert_eq!(catalog.offer(&offer.to_string()).unwrap().target, OfferTarget::Container(container.rid()));
    assert!(catalog.database("c").is_none() && catalog.container(database.rid, "db").is_none());
}

#[test]
fn a_container_has_the_throughput_it_asks_for_or_shares_its_databases() {
    let mut world = World::bare();
    create_database(&mut world, "own", None).unwrap();
    create_database(&mut world, "shared", Some(1000)).unwrap();
    let mut check = |database: &str, asked: Option<u64>, expected: Option<u64>| {
        let name = format!("c{asked:?}").replace(['(', ')'], "");
        let container = create_container(&mut world, database, &name, asked).unwrap();
        let offer = container.offer().map(|rid| world.catalog().offer(&rid.to_string()).unwrap().throughput);
        assert_eq!(offer, expected.map(Throughput::Manual), "{database} {asked:?}");
    };
    check("own", None, Some(400));
    check("own", Some(700), Some(700));
    check("shared", None, None);
    check("shared", Some(700), Some(700));
    audit(&*world.snapshot(), world.db.tip().lsn);
}

#[test]
fn more_throughput_splits_ranges_and_less_merges_none() {
    let mut world = World::new();
    let created = create_container(&mut world, "db", "c", Some(6000)).unwrap();
    let ranges = |world: &World| world.catalog().all_containers().next().unwrap().ranges().clone();
    assert_eq!(ranges(&world).leaves().len(), 1);
    let offer = created.offer().unwrap();
    replace_offer(&mut world, offer, 6100).unwrap();
    let two = ranges(&world);
    assert_eq!((two.leaves().len(), two.version()), (2, 2));
    assert!(two.leaves().iter().all(|range| range.parents == [0]));
    replace_offer(&mut world, offer, 400).unwrap();
    assert_eq!(ranges(&world), two);
    replace_offer(&mut world, offer, 30_000).unwrap();
    assert_eq!(ranges(&world).leaves().len(), 5);
    let now = world.catalog();
    assert_eq!(
        now.all_containers().next().unwrap().etag(),
        created.etag(),
        "its definition is the same version"
    );
    assert_eq!(now.offers().next().unwrap().throughput, Throughput::Manual(30_000));
    let at_once = create_container(&mut world, "db", "d", Some(30_000)).unwrap();
    assert_eq!((at_once.ranges().leaves().len(), at_once.ranges().version()), (5, 1));
}

#[test]
fn every_change_may_ask_for_a_version() {
    let mut world = World::new();
    let container = create_container(&mut world, "db", "c", None).unwrap();
    let stale =
        Preconditions { if_match: Some(TagMatch::Tag(Some(ETag::from_u128(999)))), if_none_match: None };
    let (body, stamp) = (definition_body("c", ""), world.stamp());
    let replaced = world.txn(|txn| catalog::replace_container(txn, "db", "c", body, stale, stamp));
    assert_eq!(said(&replaced), "Changed");
    let offer = container.offer().unwrap();
    let said_of_offer =
        world.txn(|txn| catalog::replace_offer(txn, offer, &Throughput::Manual(500), stale, stamp));
    assert_eq!(said(&said_of_offer), "Changed");
    assert_eq!(said(&world.txn(|txn| catalog::delete_container(txn, "db", "c", stale))), "Changed");
    assert_eq!(said(&world.txn(|txn| catalog::delete_database(txn, "db", stale))), "Changed");
    let current =
        Preconditions { if_match: Some(TagMatch::Tag(Some(container.etag()))), if_none_match: None };
    assert_eq!(said(&world.txn(|txn| catalog::delete_container(txn, "db", "c", current))), "ok");
}

#[test]
fn a_replaced_container_is_the_same_one_in_a_new_version() {
    let mut world = World::new();
    let first = create_container(&mut world, "db", "c", Some(12_000)).unwrap();
    world.at(9);
    let second = replace_container(&mut world, "db", "c", 30).unwrap();
    assert_eq!((second.rid(), second.offer(), second.ranges()), (first.rid(), first.offer(), first.ranges()));
    assert_ne!(second.etag(), first.etag());
    assert_eq!(second.written(), world.now());
    let stored = world.catalog();
    assert_eq!(stored.all_containers().next().unwrap().definition(), second.definition());
}

#[test]
fn an_account_and_a_database_are_full_at_some_point() {
    let mut world = World::new();
    let copies = |world: &World, from: Row<'_>, to: fn(&str) -> Bytes, count: usize| {
        let value = world.snapshot().get(META, &from.key()).unwrap();
        let put = |n: usize| Put { space: META, key: to(&format!("copy{n}")), value: value.clone() };
        world.engine.write((1..count).map(put).collect(), Sync::Data).unwrap();
    };
    create_container(&mut world, "db", "c", None).unwrap();
    let container = |name: &str| Row::Container { database: 1, name }.key();
    copies(&world, Row::Container { database: 1, name: "c" }, container, limits::CONTAINERS_MAX);
    copies(&world, Row::Database { name: "db" }, |name| Row::Database { name }.key(), limits::DATABASES_MAX);
    let mut world = world.restarted();
    assert_eq!(said(&create_container(&mut world, "db", "one more", None)), "TooMany");
    assert_eq!(said(&create_container(&mut world, "db", "c", None)), "Exists");
    assert_eq!(said(&create_database(&mut world, "one more", None)), "TooMany");
}

#[test]
fn a_record_of_an_unknown_version_is_not_guessed_at() {
    for row in
        [Row::Database { name: "db" }, Row::Container { database: 1, name: "c" }, Row::Offer { number: 1 }]
    {
        let mut world = World::new();
        create_container(&mut world, "db", "c", None).unwrap();
        let stored = world.snapshot().get(META, &row.key()).unwrap().unwrap();
        let newer = String::from_utf8(stored.to_vec()).unwrap().replacen("\"v\":1", "\"v\":2", 1);
        world.edit(|txn| txn.put(META, row.key(), newer));
        assert!(
            matches!(Catalog::default().refreshed(&*world.snapshot()), Err(Error::Corrupt(_))),
            "{row:?}"
        );
    }
}

#[derive(Clone, Debug)]
enum Step {
    CreateDatabase(u8, bool),
    DeleteDatabase(u8),
    CreateContainer(u8, u8, Option<u64>),
    ReplaceContainer(u8, u8, u32),
    DeleteContainer(u8, u8),
    ReplaceOffer(prop::sample::Index, u64),
}

fn step() -> impl Strategy<Value = Step> {
    let units = (4u64..200).prop_map(|hundreds| hundreds * 100);
    prop_oneof![
        2 => (0..3u8, any::<bool>()).prop_map(|(name, offer)| Step::CreateDatabase(name, offer)),
        1 => (0..3u8).prop_map(Step::DeleteDatabase),
        4 => (0..3u8, 0..3u8, prop::option::of(units.clone())).prop_map(|(a, b, units)| Step::CreateContainer(a, b, units)),
        2 => (0..3u8, 0..3u8, 1..9u32).prop_map(|(a, b, ttl)| Step::ReplaceContainer(a, b, ttl)),
        2 => (0..3u8, 0..3u8).prop_map(|(a, b)| Step::DeleteContainer(a, b)),
        2 => (any::<prop::sample::Index>(), units).prop_map(|(offer, units)| Step::ReplaceOffer(offer, units)),
    ]
}

/// Takes the step; whether it is possible does not matter here.
fn take(world: &mut World, step: Step) {
    let name = |n: u8| format!("n{n}");
    match step {
        Step::CreateDatabase(a, offer) => drop(create_database(world, &name(a), offer.then_some(400))),
        Step::DeleteDatabase(a) => drop(delete_database(world, &name(a))),
        Step::CreateContainer(a, b, units) => drop(create_container(world, &name(a), &name(b), units)),
        Step::ReplaceContainer(a, b, ttl) => drop(replace_container(world, &name(a), &name(b), ttl)),
        Step::DeleteContainer(a, b) => drop(delete_container(world, &name(a), &name(b))),
        Step::ReplaceOffer(offer, units) => {
            let offers: Vec<OfferRid> = world.catalog().offers().map(|offer| offer.rid).collect();
            if !offers.is_empty() {
                replace_offer(world, offers[offer.index(offers.len())], units).unwrap();
            }
        }
    }
}

/// Everything a catalog shows, in order.
fn shown(catalog: &Catalog) -> Vec<String> {
    let databases = catalog.databases().map(|database| format!("{database:?}"));
    let containers = catalog.all_containers().map(|container| format!("{container:?}"));
    databases.chain(containers).chain(catalog.offers().map(|offer| format!("{offer:?}"))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_refreshed_catalog_is_the_one_a_restart_loads(steps in prop::collection::vec(step(), 1..40)) {
        let mut world = World::bare();
        let mut kept = Catalog::default();
        for (at, step) in steps.into_iter().enumerate() {
            take(&mut world, step);
            if at % 3 == 0 {
                kept = kept.refreshed(&*world.snapshot()).unwrap();
            }
        }
        kept = kept.refreshed(&*world.snapshot()).unwrap();
        let world = world.restarted();
        prop_assert_eq!(shown(&kept), shown(&world.catalog()));
        audit(&*world.snapshot(), world.db.tip().lsn);
    }
}
