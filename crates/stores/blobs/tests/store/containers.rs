//! Containers: created, changed, leased, listed, dropped and restored.

use crate::world::{World, account, blob, container, metadata, refused};
use orrery_blob_store::model::containers::{ContainerConditions, ListContainers, NewContainer, PublicAccess};
use orrery_blob_store::model::lease::{LeaseAction, LeaseConflict, LeaseDuration};
use orrery_blob_store::model::operations::ListBlobs;
use orrery_blob_store::model::settings::Days;
use orrery_blob_store::model::spaces::{BLOBS, CONTENT, LOG, TAGS};
use orrery_blob_store::model::{Conditions, Refusal, Selector};
use orrery_catalog::storage::{Metadata, SignedIdentifiers};

const NONE: ContainerConditions =
    ContainerConditions { if_modified_since: None, if_unmodified_since: None, lease: None };

fn list(with_deleted: bool) -> ListContainers {
    ListContainers { prefix: String::new(), marker: None, count_max: 100, with_deleted, with_system: false }
}

fn names(world: &World, request: &ListContainers) -> Vec<String> {
    let page = world.store.list_containers(&account(), request).unwrap();
    page.containers.iter().map(|container| container.id.name.as_str().to_owned()).collect()
}

#[test]
fn a_container_is_created_once_and_its_properties_change_its_etag() {
    let world = World::new();
    let new = NewContainer { metadata: metadata(&[("Owner", "me")]), public_access: PublicAccess::Blob };
    let again = world.run(world.store.create_container(&container("runs"), new.clone()));
    assert_eq!(refused(again), Refusal::ContainerAlreadyExists);
    let created = world.run(world.store.create_container(&container("public"), new)).unwrap();
    assert_eq!(created.public_access, PublicAccess::Blob);
    let changed = world
        .run(world.store.set_container_metadata(&container("public"), Metadata::default(), NONE))
        .unwrap();
    assert!(changed.modified > created.modified && changed.metadata.is_empty());
    world
        .run(world.store.set_container_access(
            &container("public"),
            PublicAccess::None,
            Default::default(),
            NONE,
        ))
        .unwrap();
    let shown = world.store.container(&container("public")).unwrap();
    assert_eq!(
        (shown.public_access, shown.policies.clone()),
        (PublicAccess::None, SignedIdentifiers::default())
    );
    world.put("a", b"");
    let before = world.store.container(&container("runs")).unwrap();
    world.put("a", b"again");
    assert_eq!(world.store.container(&container("runs")).unwrap().modified, before.modified);
}

#[test]
fn a_lease_keeps_a_container_from_being_deleted() {
    let world = World::new();
    let acquire = LeaseAction::Acquire { duration: LeaseDuration::Infinite, proposed: None };
    let (leased, _) = world.run(world.store.lease_container(&container("runs"), acquire, NONE)).unwrap();
    let delete = |lease| {
        world.run(world.store.delete_container(&container("runs"), ContainerConditions { lease, ..NONE }))
    };
    assert_eq!(refused(delete(None)), Refusal::ContainerLease(LeaseConflict::IdMissing));
    world.put("a", b"blobs are not protected by it");
    delete(leased.id).unwrap();
    assert_eq!(refused(world.store.container(&container("runs"))), Refusal::ContainerNotFound);
}

#[test]
fn a_dropped_container_leaves_nothing() {
    let world = World::new();
    world.create("other");
    for n in 0..20 {
        world.put_tagged(&format!("b{n}"), &[("status", "done")]);
    }
    world.put("large", &crate::world::content(200_000, 1));
    world.put("large", b"small");
    world.stage("staged", "QQ==", &crate::world::content(50_000, 2)).unwrap();
    world.run(world.store.snapshot_blob(&blob("b1"), None, Conditions::default())).unwrap();
    world.run(world.store.delete_container(&container("runs"), NONE)).unwrap();
    world.create("runs");
    assert!(world.list(&ListBlobs::default()).entries.is_empty());
    world.settle();
    let rows = [BLOBS, CONTENT, TAGS, LOG].map(|space| world.rows(space));
    assert_eq!((rows, world.chunks()), ([0; 4], 0));
    assert_eq!(names(&world, &list(true)), ["other", "runs"]);
}

#[test]
fn a_container_is_restored_with_its_blobs_until_its_retention_is_over() {
    let world = World::new();
    world.settings(|settings| settings.container_delete_retention = Some(Days::new(7).unwrap()));
    world.put("a", b"stays");
    world.run(world.store.delete_container(&container("runs"), NONE)).unwrap();
    assert_eq!(names(&world, &list(false)), [""; 0]);
    let page = world.store.list_containers(&account(), &list(true)).unwrap();
    let version = page.containers[0].deleted.unwrap().version;
    let restore = |name: &str| {
        let (deleted, name) = (container("runs").name, container(name).name);
        world.run(world.store.restore_container(&account(), &deleted, version, &name))
    };
    world.settle();
    restore("runs").unwrap();
    assert_eq!(world.read("a"), b"stays");
    assert_eq!(refused(restore("other")), Refusal::ContainerNotFound);
    world.run(world.store.delete_container(&container("runs"), NONE)).unwrap();
    world.advance(7 * 86_400);
    world.settle();
    assert_eq!(names(&world, &list(true)), [""; 0]);
    assert_eq!((world.rows(BLOBS), world.rows(CONTENT)), (0, 0));
}

#[test]
fn a_blob_under_a_legal_hold_keeps_its_container() {
    let world = World::new();
    world.put("a", b"");
    world.run(world.store.set_legal_hold(&blob("a"), Selector::Current, true)).unwrap();
    let delete = || world.run(world.store.delete_container(&container("runs"), NONE));
    assert_eq!(refused(delete()), Refusal::ContainerProtected);
    world.run(world.store.set_legal_hold(&blob("a"), Selector::Current, false)).unwrap();
    delete().unwrap();
}

#[test]
fn lists_have_pages_and_prefixes() {
    let world = World::new();
    for name in ["alpha", "beta", "beta2", "gamma", "$blobchangefeed"] {
        world.create(name);
    }
    assert_eq!(names(&world, &list(false)), ["alpha", "beta", "beta2", "gamma", "runs"]);
    let system = ListContainers { with_system: true, ..list(false) };
    assert_eq!(names(&world, &system)[0], "$blobchangefeed");
    let request = ListContainers { prefix: "beta".to_owned(), count_max: 1, ..list(false) };
    let first = world.store.list_containers(&account(), &request).unwrap();
    let second = ListContainers { marker: first.next.clone(), ..request.clone() };
    assert_eq!(
        (names(&world, &request), names(&world, &second)),
        (vec!["beta".into()], vec!["beta2".into()])
    );
    assert_eq!(world.store.list_containers(&account(), &second).unwrap().next, None);
    let wrong = ListContainers { marker: Some("!".to_owned()), ..request };
    assert_eq!(refused(world.store.list_containers(&account(), &wrong)), Refusal::InvalidInput("marker"));
}
