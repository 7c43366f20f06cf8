//! Laws of plans: splitting and joining restores any item, and repeating a step changes nothing.

use orrery_migration::{Plan, Role, built_in, canonical, content_hash};
use orrery_value::Value;
use proptest::prelude::*;

fn plan(name: &str) -> Plan {
    built_in(name).expect(name).expect(name)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(|it| Value::from(i64::from(it))),
        (-1e9..1e9).prop_map(|it: f64| Value::from(it)),
        "[a-zé\"]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array), object(name(), inner)]
    })
}

/// Names that the plans use, in both layouts, and others.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "timestamp",
        "createdAt",
        "agent_context",
        "agentContext",
        "sequence",
        "workflowId",
        "checkpoint_id",
        "step",
        "state",
        "type",
        "pattern",
        "agents",
        "metadata",
        "created_by",
        "createdBy",
        "checkpoints",
        "documentId",
        "x",
    ])
    .prop_map(str::to_owned)
}

fn object(
    name: impl Strategy<Value = String>,
    value: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Value> {
    prop::collection::btree_map(name, value, 0..6)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

fn workflow() -> impl Strategy<Value = Value> {
    let elements = prop::collection::vec(object(name(), value()), 0..5).prop_map(Value::Array);
    (object(name(), value()), prop::option::of(elements), "[a-z]{1,4}", "[a-z]{1,4}").prop_map(
        |(item, elements, id, workflow)| {
            let Value::Object(mut members) = item else { return Value::Null };
            if let Some(elements) = elements {
                members.retain(|(name, _)| name != "checkpoints");
                members.push(("checkpoints".to_owned(), elements));
            }
            members.push(("id".to_owned(), Value::from(id)));
            members.push(("workflow_id".to_owned(), Value::from(workflow)));
            Value::Object(members)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn join_undoes_split_or_the_item_is_refused(item in workflow()) {
        let (split, join) = (plan("ascension-to-studio"), plan("studio-to-ascension"));
        let Role::Root(rule) = split.role("workflow-states", &item) else { panic!("a rule takes it") };
        let Ok(made) = rule.apply(&item, &[]) else { return Ok(()) };
        prop_assert_eq!(&rule.apply(&item, &[]), &Ok(made.clone()));
        let mut parts = made.children.clone();
        parts.reverse();
        let back = join.rules[0].apply(&made.root, &parts).expect("what was split can be joined");
        prop_assert_eq!(canonical(&back.root), canonical(&item));
        // Splitting again gives the same parts with the same ids.
        prop_assert_eq!(rule.apply(&back.root, &[]).map(|again| again.children.len()), Ok(made.children.len()));
        let hashes = |items: &[Value]| items.iter().map(content_hash).collect::<Vec<_>>();
        prop_assert_eq!(rule.apply(&back.root, &[]).map(|again| hashes(&again.children)), Ok(hashes(&made.children)));
    }

    #[test]
    fn one_container_to_five_and_back_restores_it(
        item in object(name(), value()),
        collection in prop::sample::select(vec!["archives", "messages", "chunks", "threads", "summaries"]),
    ) {
        let (split, join) = (plan("copilot-split"), plan("copilot-join"));
        let Value::Object(mut members) = item else { panic!("an object") };
        members.push(("id".to_owned(), Value::from("i")));
        members.push(("collection".to_owned(), Value::from(collection)));
        let item = Value::Object(members);
        let Role::Root(rule) = split.role("documents", &item) else { panic!("a rule takes it") };
        prop_assert_eq!(&rule.to, collection);
        let made = rule.apply(&item, &[]).expect("it is not changed");
        let Role::Root(back) = join.role(collection, &made.root) else { panic!("a rule takes it back") };
        prop_assert_eq!(canonical(&back.apply(&made.root, &[]).expect("it is not changed").root), canonical(&item));
    }
}

#[test]
fn most_workflows_are_not_refused() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let (mut runner, plan) = (TestRunner::deterministic(), plan("ascension-to-studio"));
    let taken = (0..500).filter(|_| {
        let item = workflow().new_tree(&mut runner).expect("a workflow").current();
        plan.rules[0].apply(&item, &[]).is_ok_and(|made| !made.children.is_empty())
    });
    assert!(taken.count() > 5, "the law above would say little");
}
