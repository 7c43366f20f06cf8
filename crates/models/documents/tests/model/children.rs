//! Users, permissions, scripts and client encryption keys: what is stored, counted, found and removed.

use crate::world::{DATABASE, World};
use orrery_catalog as catalog;
use orrery_catalog::jobs::JobKind;
use orrery_catalog::jobs::Step;
use orrery_catalog::limits;
use orrery_catalog::subresources::{self, Definition, Kind, Owner, Subresource, SubresourceError};
use orrery_core::{DatabaseName, DatabaseRid, UserRid};
use orrery_documents::item::Preconditions;
use orrery_documents::sweep;
use orrery_kv::{KeyRange, META, Order, Read};
use orrery_query::execute::Limits;
use serde_json::{Value, json};

const ALWAYS: Preconditions = Preconditions { if_match: None, if_none_match: None };

fn database() -> Owner {
    Owner::Database { name: DatabaseName::parse(DATABASE).unwrap(), rid: DatabaseRid(1) }
}

fn user(child: &Subresource) -> Owner {
    let rid = UserRid::new(DatabaseRid(1), child.ordinal as u32);
    Owner::User { database: DatabaseName::parse(DATABASE).unwrap(), rid }
}

fn definition(kind: Kind, body: Value) -> Definition {
    let Value::Object(body) = body else { panic!("an object") };
    Definition::parse(kind, body).unwrap()
}

fn body(kind: Kind, id: &str) -> Value {
    match kind {
        Kind::User => json!({"id": id}),
        Kind::Permission => json!({"id": id, "permissionMode": "read", "resource": "dbs/db/colls/c"}),
        Kind::StoredProcedure | Kind::UserDefinedFunction => json!({"id": id, "body": "function () {}"}),
        Kind::Trigger => {
            json!({"id": id, "body": "function () {}", "triggerType": "pre", "triggerOperation": "All"})
        }
        Kind::ClientEncryptionKey => {
            json!({"id": id, "encryptionAlgorithm": "A", "wrappedDataEncryptionKey": "aa",
            "keyWrapMetadata": {"type": "t", "name": "n", "value": "v", "algorithm": "a"}})
        }
    }
}

fn create(world: &mut World, owner: &Owner, kind: Kind, id: &str) -> Result<Subresource, SubresourceError> {
    let (definition, stamp) = (definition(kind, body(kind, id)), world.stamp());
    world.txn(|txn| subresources::create(txn, owner, kind, &definition, stamp))
}

/// Every row of children, by what it is and its key; the jobs too.
fn rows(world: &World) -> Vec<String> {
    let snapshot = world.snapshot();
    let rows = snapshot.range(META, &KeyRange::all(), Order::Ascending).map(|row| row.unwrap());
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let of_children = rows.filter(|(key, _)| matches!(key[0], 8..=10));
    of_children.map(|(key, value)| format!("{} {}", hex(&key), String::from_utf8_lossy(&value))).collect()
}

#[test]
fn the_rows_are_as_the_format_says() {
    let mut world = World::new();
    let container = world.container("");
    create(&mut world, &Owner::Container(container.rid()), Kind::Trigger, "t").unwrap();
    let one = create(&mut world, &database(), Kind::User, "u").unwrap();
    create(&mut world, &user(&one), Kind::Permission, "p").unwrap();
    let record = |etag: u32, members: &str| {
        format!(
            r#"{{"v":1,"number":1,"etag":"\"00000000-0000-0000-0000-{etag:012}\"","written_ms":1000000000,"members":{members}}}"#
        )
    };
    let count =
        |live: u8, last: u8| String::from_utf8([&[0; 7][..], &[live], &[0; 7], &[last]].concat()).unwrap();
    let expected = [
        format!("08010000000175 {}", record(4, "{}")),
        format!("08020000000170 {}", record(5, r#"{"permissionMode":"read","resource":"dbs/db/colls/c"}"#)),
        format!(
            "08040000000174 {}",
            record(3, r#"{"body":"function () {}","triggerType":"pre","triggerOperation":"All"}"#)
        ),
        "0901000000010000000000000001 u".to_owned(),
        "0902000000010000000000000001 p".to_owned(),
        "0904000000010000000000000001 t".to_owned(),
        format!("0a0100000000 {}", count(0, 1)),
        format!("0a0100000001 {}", count(1, 0)),
        format!("0a0200000001 {}", count(1, 1)),
        format!("0a0400000001 {}", count(1, 1)),
    ];
    assert_eq!(rows(&world), expected);
}

#[test]
fn a_child_is_found_by_name_and_by_the_number_in_its_rid_whatever_its_name_becomes() {
    let mut world = World::new();
    let container = world.container("");
    let owners = |kind: Kind| match kind {
        Kind::User | Kind::ClientEncryptionKey => database(),
        Kind::Permission => Owner::User {
            database: DatabaseName::parse(DATABASE).unwrap(),
            rid: UserRid::new(DatabaseRid(1), 1),
        },
        _ => Owner::Container(container.rid()),
    };
    for kind in Kind::ALL {
        let owner = owners(kind);
        let made = create(&mut world, &owner, kind, "a").unwrap();
        let rid = owner.subresource_rid(kind, made.ordinal);
        let found = |world: &World, name: &str| {
            subresources::find(&*world.snapshot(), &owner, kind, name)
                .unwrap()
                .map(|child| child.name.to_string())
        };
        assert_eq!(found(&world, "a").as_deref(), Some("a"), "{kind:?}");
        assert_eq!(found(&world, &rid).as_deref(), Some("a"), "{kind:?}");
        let renamed = definition(kind, body(kind, "b"));
        let stamp = world.stamp();
        let said =
            world.txn(|txn| subresources::replace(txn, &owner, kind, "a", &renamed, ALWAYS, stamp).map(drop));
        if kind == Kind::ClientEncryptionKey {
            assert!(matches!(said, Err(SubresourceError::Renamed(_))));
            continue;
        }
        said.unwrap();
        assert_eq!((found(&world, "a"), found(&world, &rid)), (None, Some("b".to_owned())), "{kind:?}");
        for other in Kind::ALL.into_iter().filter(|other| *other != kind) {
            let elsewhere = subresources::find(&*world.snapshot(), &owners(other), other, &rid).unwrap();
            assert_eq!(elsewhere, None, "a rid of a {kind:?} is none of a {other:?}");
        }
    }
}

#[test]
fn an_owner_has_so_many_of_each_kind_and_no_more() {
    let mut world = World::new();
    let container = world.container("");
    let owner = Owner::Container(container.rid());
    for n in 0..limits::TRIGGERS_MAX {
        create(&mut world, &owner, Kind::Trigger, &n.to_string()).unwrap();
    }
    assert!(matches!(
        create(&mut world, &owner, Kind::Trigger, "x"),
        Err(SubresourceError::TooMany { max: limits::TRIGGERS_MAX, .. })
    ));
    assert!(matches!(create(&mut world, &owner, Kind::Trigger, "3"), Err(SubresourceError::Exists)));
    world.txn(|txn| subresources::delete(txn, &owner, Kind::Trigger, "3", ALWAYS)).unwrap();
    let again = create(&mut world, &owner, Kind::Trigger, "x").unwrap();
    assert_eq!(again.ordinal, limits::TRIGGERS_MAX + 1, "a number is not given twice");
    create(&mut world, &owner, Kind::StoredProcedure, "x").unwrap();
}

#[test]
fn pages_meet_without_gaps_and_end() {
    let mut world = World::new();
    for name in ["b", "a", "ab", "ä", "aa"] {
        create(&mut world, &database(), Kind::User, name).unwrap();
    }
    for items in 1..7 {
        let (mut seen, mut after) = (Vec::new(), None::<String>);
        loop {
            let limits = Limits { items, bytes: usize::MAX };
            let page =
                subresources::page(&*world.snapshot(), &database(), Kind::User, after.as_deref(), limits)
                    .unwrap();
            assert!(page.subresources.len() <= items);
            seen.extend(page.subresources.into_iter().map(|child| child.name.to_string()));
            match page.more_after {
                None => break,
                more => after = more,
            }
        }
        assert_eq!(seen, ["a", "aa", "ab", "b", "ä"], "by {items}");
    }
    let narrow = Limits { items: 9, bytes: 1 };
    let page = subresources::page(&*world.snapshot(), &database(), Kind::User, None, narrow).unwrap();
    assert_eq!(page.subresources.len(), 1, "the first is there at any size");
}

#[test]
fn what_is_dropped_takes_its_children_along_and_nobody_elses() {
    let mut world = World::new();
    let (kept, doomed) = (world.named_container("kept", ""), world.named_container("doomed", ""));
    for container in [&kept, &doomed] {
        for kind in Kind::SCRIPTS {
            create(&mut world, &Owner::Container(container.rid()), kind, "s").unwrap();
        }
    }
    let before = rows(&world).len();
    world.txn(|txn| catalog::delete_container(txn, DATABASE, "doomed", ALWAYS)).unwrap();
    let refused = create(&mut world, &Owner::Container(doomed.rid()), Kind::Trigger, "late");
    assert!(matches!(refused, Err(SubresourceError::OwnerMissing("container"))), "{refused:?}");
    while world.txn(|txn| sweep::step(txn, doomed.number())).unwrap() == Step::More {}
    assert_eq!(rows(&world).len(), before / 2);

    let names: Vec<String> = (0..limits::SWEEP_ROWS_MAX + 5).map(|n| n.to_string()).collect();
    let users: Vec<Subresource> =
        names.iter().map(|name| create(&mut world, &database(), Kind::User, name).unwrap()).collect();
    for owner in [&users[0], &users[limits::SWEEP_ROWS_MAX + 1]] {
        create(&mut world, &user(owner), Kind::Permission, "p").unwrap();
    }
    create(&mut world, &database(), Kind::ClientEncryptionKey, "k").unwrap();
    world.txn(|txn| catalog::delete_database(txn, DATABASE, ALWAYS)).unwrap();
    assert!(matches!(
        create(&mut world, &database(), Kind::User, "late"),
        Err(SubresourceError::OwnerMissing(_))
    ));
    let late = create(&mut world, &user(&users[0]), Kind::Permission, "late");
    assert!(matches!(late, Err(SubresourceError::OwnerMissing("user"))), "{late:?}");
    loop {
        let jobs = orrery_catalog::jobs::jobs(&*world.snapshot()).unwrap();
        for (kind, number) in &jobs {
            let number = *number;
            world = world.restarted();
            match kind {
                JobKind::Sweep => world.txn(|txn| sweep::step(txn, number)).map(drop),
                JobKind::Database => world.txn(|txn| subresources::sweep_database(txn, number)).map(drop),
                JobKind::User => world.txn(|txn| subresources::sweep_user(txn, number)).map(drop),
                JobKind::Expiry | JobKind::Index => panic!("nobody asked for that"),
            }
            .unwrap();
        }
        if jobs.is_empty() {
            break;
        }
    }
    assert_eq!(rows(&world).len(), 1, "the numbers that users were given: {:?}", rows(&world));
}

#[test]
fn a_dropped_users_permissions_go_and_another_users_stay() {
    let mut world = World::new();
    let one = create(&mut world, &database(), Kind::User, "one").unwrap();
    let two = create(&mut world, &database(), Kind::User, "two").unwrap();
    for owner in [&one, &two] {
        create(&mut world, &user(owner), Kind::Permission, "p").unwrap();
    }
    world.txn(|txn| subresources::delete(txn, &database(), Kind::User, "one", ALWAYS)).unwrap();
    assert_eq!(
        orrery_catalog::jobs::jobs(&*world.snapshot()).unwrap(),
        [(JobKind::User, one.ordinal as u32)]
    );
    assert_eq!(world.txn(|txn| subresources::sweep_user(txn, one.ordinal as u32)).unwrap(), Step::More);
    assert_eq!(world.txn(|txn| subresources::sweep_user(txn, one.ordinal as u32)).unwrap(), Step::Done);
    let left = |owner: &Subresource| {
        subresources::find(&*world.snapshot(), &user(owner), Kind::Permission, "p").unwrap()
    };
    assert!(left(&one).is_none() && left(&two).is_some());
    assert_eq!(orrery_catalog::jobs::jobs(&*world.snapshot()).unwrap(), []);
}
