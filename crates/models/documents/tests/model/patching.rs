//! Patches of stored items: what goes along with the text, what is refused, and conditions.

use crate::audit::audit;
use crate::world::{Change as Logged, World, said, target};
use orrery_catalog::Container;
use orrery_core::ETag;
use orrery_documents::item::{self, Change, Directive, ItemError, ItemRow, Preconditions, TagMatch};
use orrery_documents::patch::PatchRequest;
use orrery_query::QueryError;
use orrery_query::execute::Host;
use orrery_value::Value;

pub const ALWAYS: Preconditions = Preconditions { if_match: None, if_none_match: None };

/// A world in which no time passes.
pub struct Still(pub u64);

impl Host for Still {
    fn now_ms(&self) -> u64 {
        self.0
    }

    fn random(&self) -> f64 {
        0.5
    }

    fn elapsed_ms(&self) -> u64 {
        0
    }

    fn udf(&self, name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Err(QueryError::Refused(format!("no {name}")))
    }
}

pub fn change(container: &Container, patch: &str) -> Result<Change, ItemError> {
    Change::new(container, PatchRequest::parse(patch)?, Directive::Default)
}

impl World {
    /// Patches the item `a` of the partition 1.
    fn patch(
        &mut self,
        container: &Container,
        patch: &str,
        when: Preconditions,
    ) -> Result<ItemRow, ItemError> {
        let (change, stamp, a) = (change(container, patch)?, self.stamp(), target(container, "1", "a"));
        let host = Still(self.now().millis());
        let done = self.txn(|txn| item::patch(txn, container, &a, &change, when, stamp, &host))?;
        Ok(done.item)
    }
}

fn world(members: &str, item: &str) -> (World, Container) {
    let mut world = World::new();
    let container = world.container(members);
    world.create(&container, item).unwrap();
    (world, container)
}

#[test]
fn a_patch_is_a_new_version_of_the_same_item() {
    let (mut world, container) = world("", r#"{"id":"a","pk":1,"z":1,"b":2}"#);
    let a = target(&container, "1", "a");
    let before = world.read(&container, &a).unwrap();
    let patched = world.patch(&container, r#"[{"op":"incr","path":"/z","value":1}]"#, ALWAYS).unwrap();
    let after = world.read(&container, &a).unwrap();
    assert_eq!(after.text(), r#"{"id":"a","pk":1,"z":2,"b":2}"#);
    assert_eq!((patched.text(), patched.etag()), (after.text(), after.etag()));
    assert_eq!(after.ordinal(), before.ordinal());
    assert_ne!(after.etag(), before.etag());
    assert_eq!(world.log(&container).last().unwrap().0, Logged::Replace);
    audit(&*world.snapshot(), world.db.tip().lsn);
}

#[test]
fn time_to_live_unique_keys_and_entries_follow_the_text() {
    let members = r#""defaultTtl":-1,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email"]}]}"#;
    let (mut world, container) = world(members, r#"{"id":"a","pk":1,"email":"x","tags":["t"]}"#);
    world.create(&container, r#"{"id":"b","pk":1,"email":"y"}"#).unwrap();
    let taken = world.patch(&container, r#"[{"op":"set","path":"/email","value":"y"}]"#, ALWAYS);
    assert_eq!(said(&taken), "NotUnique");
    audit(&*world.snapshot(), world.db.tip().lsn);
    let patch = r#"[{"op":"set","path":"/email","value":"z"},{"op":"set","path":"/ttl","value":5},
                    {"op":"add","path":"/tags/-","value":"u"}]"#;
    world.patch(&container, patch, ALWAYS).unwrap();
    let tally = audit(&*world.snapshot(), world.db.tip().lsn);
    assert_eq!((tally.items, tally.unique, tally.expiring), (2, 2, 1));
    assert_eq!(said(&world.create(&container, r#"{"id":"c","pk":1,"email":"x"}"#)), "ok", "x is free again");
    world.at(5);
    assert_eq!(said(&world.patch(&container, patch, ALWAYS)), "Missing", "it has expired");
}

#[test]
fn what_cannot_be_changed_is_named() {
    let members = r#""partitionKey":{"paths":["/deep/pk"]}"#;
    let (mut world, container) = world(members, r#"{"id":"a","deep":{"pk":1,"n":1}}"#);
    let mut refused = |patch: &str, fragment: &str| {
        let error = world.patch(&container, patch, ALWAYS).unwrap_err().to_string();
        assert!(error.contains(fragment), "{patch}: {error}");
    };
    let id = "the id of an item";
    refused(r#"[{"op":"set","path":"/n","value":1},{"op":"set","path":"/id","value":"b"}]"#, id);
    refused(r#"[{"op":"set","path":"/n","value":1},{"op":"remove","path":"/id"}]"#, "Operation(2)");
    refused(r#"[{"op":"move","from":"/id","path":"/b"}]"#, id);
    refused(r#"[{"op":"move","from":"/deep","path":"/id"}]"#, id);
    let key = "the partition key of an item cannot be patched";
    refused(r#"[{"op":"set","path":"/deep/pk","value":1}]"#, key);
    refused(r#"[{"op":"incr","path":"/deep/pk","value":1}]"#, key);
    refused(r#"[{"op":"move","from":"/deep/pk","path":"/b"}]"#, key);
    for name in ["_rid", "_self", "_etag", "_attachments", "_ts", "_lsn"] {
        let patch = format!(r#"[{{"op":"set","path":"/{name}","value":1}}]"#);
        refused(&patch, &format!("'{name}' is written by the service"));
        refused(&format!(r#"[{{"op":"move","from":"/{name}","path":"/x"}}]"#), "written by the service");
    }
    refused(
        r#"[{"op":"set","path":"/deep","value":{"pk":2}}]"#,
        "partition key of an item cannot be changed",
    );
    refused(r#"[{"op":"remove","path":"/deep"}]"#, "partition key of an item cannot be changed");
    refused(r#"[{"op":"set","path":"/ttl","value":0}]"#, "The patched item cannot be stored: The input ttl");
    assert_eq!(
        world.read(&container, &target(&container, "1", "a")).unwrap().text(),
        r#"{"id":"a","deep":{"pk":1,"n":1}}"#
    );
    let same =
        world.patch(&container, r#"[{"op":"set","path":"/deep","value":{"pk":1.0}}]"#, ALWAYS).unwrap();
    assert_eq!(same.text(), r#"{"id":"a","deep":{"pk":1.0}}"#, "the key has the same value");
    let own = world.patch(&container, r#"[{"op":"set","path":"/_mine","value":1}]"#, ALWAYS).unwrap();
    assert_eq!(own.text(), r#"{"id":"a","deep":{"pk":1.0},"_mine":1}"#);
}

#[test]
fn a_result_that_is_too_large_or_too_deep_is_refused() {
    let (mut world, container) = world("", r#"{"id":"a","pk":1,"l":[]}"#);
    let half = "x".repeat(1024 * 1024);
    let grow = format!(r#"[{{"op":"add","path":"/l/-","value":"{half}"}}]"#);
    world.patch(&container, &grow, ALWAYS).unwrap();
    assert!(matches!(world.patch(&container, &grow, ALWAYS), Err(ItemError::Patched(_))));
    let deep = format!("{}1{}", "[".repeat(127), "]".repeat(127));
    let patch = format!(r#"[{{"op":"set","path":"/l","value":{deep}}}]"#);
    world.patch(&container, &patch, ALWAYS).unwrap();
    let patch = format!(r#"[{{"op":"set","path":"/l","value":[{deep}]}}]"#);
    assert!(matches!(world.patch(&container, &patch, ALWAYS), Err(ItemError::Patched(_))));
}

#[test]
fn half_a_surrogate_pair_is_stored_as_in_any_item() {
    let (mut world, container) = world("", r#"{"id":"a","pk":1}"#);
    let patched = world.patch(&container, r#"[{"op":"set","path":"/s","value":"\ud800"}]"#, ALWAYS).unwrap();
    assert_eq!(patched.text(), r#"{"id":"a","pk":1,"s":"\ufffd"}"#);
}

#[test]
fn tags_are_compared_before_anything_else() {
    let (mut world, container) = world("", r#"{"id":"a","pk":1,"n":1}"#);
    let tag = world.read(&container, &target(&container, "1", "a")).unwrap().etag();
    let when = |tag| Preconditions { if_match: Some(TagMatch::Tag(Some(tag))), ..ALWAYS };
    let patch = r#"[{"op":"incr","path":"/n","value":1}]"#;
    assert_eq!(said(&world.patch(&container, patch, when(ETag::from_u128(77)))), "Changed");
    assert_eq!(said(&world.patch(&container, patch, when(tag))), "ok");
    assert_eq!(said(&world.patch(&container, patch, when(tag))), "Changed");
}

#[test]
fn a_condition_is_asked_of_the_item_as_it_is() {
    let (mut world, container) = world(
        r#""computedProperties":[{"name":"twice","query":"SELECT VALUE c.n * 2 FROM c"}]"#,
        r#"{"id":"a","pk":1,"n":1,"tags":["x","y"],"o":{"p":null}}"#,
    );
    world.create(&container, r#"{"id":"b","pk":1,"n":9}"#).unwrap();
    let mut check = |condition: &str, expected: &str| {
        let operations = r#"[{"op":"set","path":"/m","value":1}]"#;
        let patch = serde_json::json!({"condition": condition});
        let patch = patch.to_string().replacen('{', &format!(r#"{{"operations":{operations},"#), 1);
        let outcome = world.patch(&container, &patch, ALWAYS).map(drop);
        let outcome = outcome.map_err(|error| match error {
            ItemError::Condition(QueryError::Text(complaint)) => {
                format!("{} at {}", complaint.code, complaint.at.start)
            }
            ItemError::Condition(error) => error.to_string(),
            other => format!("{other:?}"),
        });
        let outcome = outcome.map_or_else(|error| error, |()| "ok".to_owned());
        assert!(outcome.contains(expected), "{condition}: {outcome}");
    };
    check("from c where c.n = 1", "ok");
    check("FROM c WHERE c.n > 0 AND c.o.p = null", "ok");
    check("from item where item.id = 'a'", "ok");
    check("from c where c.twice = 2 and c._ts > 0", "ok");
    check("from c where ARRAY_CONTAINS(c.tags, 'y')", "ok");
    check("from c where EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 'x')", "ok");
    check("  from c", "ok");
    check("from c where c.n = 2", "ConditionFails");
    check("from c where c.missing = 2", "ConditionFails");
    check("from c where c.n", "ConditionFails");
    check("from c where c.id = 'b'", "ConditionFails");
    check("from t in c.tags where t = 'y'", "ok");
    check("from t in c.tags where t = 'z'", "ConditionFails");
    check("from c where c.n = ", "SC1002 at 19");
    check("from c where x.n = 1", "SC2001 at 13");
    check("where c.n = 1", "has the form FROM c WHERE");
    check("select * from c", "has the form FROM c WHERE");
    check("fromc where c.n = 1", "SC");
    check("from c where c.n = 1 order by c.n", "without any other clause");
    check("from c where c.n = 1 group by c.n", "without any other clause");
    check("from c where c.n = 1 offset 0 limit 1", "without any other clause");
    check("from c join t in c.tags where t = 'x'", "without any other clause");
    check("from c where udf.f(c.n)", "no f");
    check(&format!("from c where c.n = '{}'", "x".repeat(600_000)), "too long");
}
