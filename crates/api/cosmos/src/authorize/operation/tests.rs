//! Every route with every verb, as the service documents it. A new route needs a number in `number`, which does not
//! compile without it, and then a line in the table, which a test requires.

use super::Operation::{self, *};
use crate::request::Post;
use crate::route::{Route, locate};
use http::Method;
use orrery_documents::roles::Action;

const GET: Method = Method::GET;
const PUT: Method = Method::PUT;
const DELETE: Method = Method::DELETE;
const PATCH: Method = Method::PATCH;

fn of(path: &str, method: &Method, post: Post) -> Operation {
    let uri = path.parse().expect("a uri");
    Operation::of(&locate(&uri).expect("a route").route, method, post, false)
}

/// The operations of GET, of POST as a query, a create and an upsert, and of PUT, PATCH and DELETE.
const TABLE: [(&str, [Operation; 7]); 26] = [
    ("/", [ReadAccount, Manage, Manage, Manage, Manage, Manage, Manage]),
    ("/dbs", [ReadMetadata, ReadMetadata, Manage, Manage, Manage, Manage, Manage]),
    ("/dbs/d", [ReadMetadata, Manage, Manage, Manage, Manage, Manage, Manage]),
    ("/dbs/d/colls", [ReadMetadata, ReadMetadata, Manage, Manage, Manage, Manage, Manage]),
    ("/dbs/d/colls/c", [ReadMetadata, Manage, Manage, Manage, Manage, Manage, Manage]),
    ("/dbs/d/colls/c/pkranges", [ReadMetadata, Manage, Manage, Manage, Manage, Manage, Manage]),
    ("/dbs/d/colls/c/docs", [ListItems, QueryItems, CreateItem, UpsertItem, Manage, Manage, Manage]),
    ("/dbs/d/colls/c/docs/i", [ReadItem, Manage, Manage, Manage, ReplaceItem, PatchItem, DeleteItem]),
    ("/offers", [ReadManaged, ReadManaged, Manage, Manage, Manage, Manage, Manage]),
    ("/offers/o", [ReadManaged, Manage, Manage, Manage, Manage, Manage, Manage]),
    ("/dbs/d/users", [ReadManaged, ReadManaged, Manage, Manage, Manage, Manage, Manage]),
    ("/dbs/d/users/u", [ReadManaged, Manage, Manage, Manage, Manage, Manage, Manage]),
    (
        "/dbs/d/users/u/permissions",
        [ReadPermissions, ReadPermissions, Manage, Manage, Manage, Manage, Manage],
    ),
    ("/dbs/d/users/u/permissions/p", [ReadPermissions, Manage, Manage, Manage, Manage, Manage, Manage]),
    ("/dbs/d/clientencryptionkeys", [ReadMetadata, ReadMetadata, Manage, Manage, Manage, Manage, Manage]),
    ("/dbs/d/clientencryptionkeys/k", [ReadMetadata, Manage, Manage, Manage, Manage, Manage, Manage]),
    ("/dbs/d/colls/c/sprocs", SCRIPTS),
    ("/dbs/d/colls/c/triggers", SCRIPTS),
    ("/dbs/d/colls/c/udfs", SCRIPTS),
    (
        "/dbs/d/colls/c/sprocs/s",
        [
            ReadScripts,
            ExecuteScript,
            ExecuteScript,
            ExecuteScript,
            ManageScripts,
            ManageScripts,
            ManageScripts,
        ],
    ),
    ("/dbs/d/colls/c/triggers/t", SCRIPT),
    ("/dbs/d/colls/c/udfs/f", SCRIPT),
    ("/dbs/d/colls/c/conflicts", [ReadConflicts, ReadConflicts, Manage, Manage, Manage, Manage, Manage]),
    ("/dbs/d/colls/c/conflicts/x", [ReadConflicts, Manage, Manage, Manage, Manage, Manage, DeleteConflict]),
    (
        "/dbs/d/colls/c/operations/partitionkeydelete",
        [Manage, DeletePartition, DeletePartition, DeletePartition, Manage, Manage, Manage],
    ),
    ("/dbs/d/colls/c/operations/other", [Manage; 7]),
];

const SCRIPTS: [Operation; 7] =
    [ReadScripts, ReadScripts, ManageScripts, ManageScripts, ManageScripts, ManageScripts, ManageScripts];
const SCRIPT: [Operation; 7] =
    [ReadScripts, ManageScripts, ManageScripts, ManageScripts, ManageScripts, ManageScripts, ManageScripts];

#[test]
fn every_route_and_verb_needs_what_the_table_says() {
    let asked = [
        (GET, Post::Create),
        (Method::POST, Post::Query),
        (Method::POST, Post::Create),
        (Method::POST, Post::Upsert),
        (PUT, Post::Create),
        (PATCH, Post::Create),
        (DELETE, Post::Create),
    ];
    for (path, expected) in TABLE {
        for ((method, post), expected) in asked.iter().zip(expected) {
            assert_eq!(of(path, method, *post), expected, "{method} {post:?} {path}");
        }
        assert!(of(path, &Method::OPTIONS, Post::Create).needs_a_writing_key(), "{path}");
    }
    assert_eq!(of("/dbs/d/colls/c/docs", &Method::POST, Post::Batch), Batch);
    assert_eq!(of("/dbs/d/colls/c/docs", &Method::POST, Post::QueryPlan), PlanQuery);
    let uri = "/dbs/d/colls/c/docs".parse().expect("a uri");
    let route = locate(&uri).expect("a route").route;
    assert_eq!(Operation::of(&route, &GET, Post::Create, true), ReadChanges);
}

#[test]
fn every_change_needs_a_read_write_key() {
    for (path, operations) in TABLE {
        let [get, ..] = operations;
        let is_permission = path.contains("permissions");
        if get != Manage {
            assert_eq!(get.needs_a_writing_key(), is_permission, "GET {path}");
        }
        for changing in &operations[2..] {
            assert!(changing.needs_a_writing_key(), "{changing:?} {path}");
        }
    }
}

#[test]
fn every_action_that_a_role_can_have_is_needed_by_something() {
    let operations = TABLE.iter().flat_map(|(_, operations)| operations).chain(&[Batch, ReadChanges]);
    let needed: Vec<Action> = operations.flat_map(|operation| operation.actions()).copied().collect();
    for action in Action::ALL {
        assert!(needed.contains(&action), "nothing needs {}", action.name());
    }
    for key_only in [Manage, ReadManaged, ReadPermissions, ReadScripts, ManageScripts] {
        assert_eq!(key_only.actions(), [], "no role gives {key_only:?}");
    }
}

const ROUTES: usize = 16;

fn number(route: &Route<'_>) -> usize {
    match route {
        Route::Account => 0,
        Route::Databases => 1,
        Route::Database { .. } => 2,
        Route::Containers { .. } => 3,
        Route::Container { .. } => 4,
        Route::Items { .. } => 5,
        Route::Item { .. } => 6,
        Route::Ranges { .. } => 7,
        Route::Offers => 8,
        Route::Offer { .. } => 9,
        Route::Subresources { .. } => 10,
        Route::Subresource { .. } => 11,
        Route::Conflicts { .. } => 12,
        Route::Conflict { .. } => 13,
        Route::PartitionKeyDelete { .. } => 14,
        Route::Other { .. } => 15,
    }
}

#[test]
fn every_route_is_in_the_table() {
    let numbers = TABLE.iter().map(|(path, _)| {
        let uri = path.parse().expect("a uri");
        number(&locate(&uri).expect("a route").route)
    });
    let found: std::collections::BTreeSet<usize> = numbers.collect();
    assert!(found.into_iter().eq(0..ROUTES), "a route has no line");
}
