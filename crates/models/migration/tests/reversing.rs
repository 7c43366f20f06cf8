//! Reversing any plan: reversing twice gives the plan, and the result of an item is transformed back into the
//! item.

use orrery_migration::{Condition, Path, Plan, Role, Rule, Shape, Split, Step, canonical};
use orrery_value::Value;
use proptest::prelude::*;

fn path(text: &str) -> Path {
    Path::parse(text).expect(text)
}

fn places() -> impl Strategy<Value = Path> {
    prop::sample::select(vec!["/a", "/b", "/c", "/d/e", "/d/f", "/g"]).prop_map(path)
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        (0..3_i64).prop_map(Value::from),
        Just(Value::Object(Vec::new())),
        "[xy]".prop_map(Value::from)
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let rename = (places(), places())
        .prop_filter("places of their own", |(from, to)| !from.overlaps(to))
        .prop_map(|(from, to)| Step::Rename { from, to });
    let set = (places(), values()).prop_map(|(path, value)| Step::Set { path, value });
    let remove = (places(), values()).prop_map(|(path, value)| Step::Remove { path, value });
    prop::collection::vec(prop_oneof![rename, set, remove], 0..4)
}

fn exist() -> impl Strategy<Value = Condition> {
    (places(), any::<bool>()).prop_map(|(path, wanted)| Condition::Exists { path, wanted })
}

fn conditions() -> impl Strategy<Value = Vec<Condition>> {
    let equal = (places(), values()).prop_map(|(path, value)| Condition::Equals { path, value });
    prop::collection::vec(prop_oneof![equal, exist()], 0..3)
}

fn shapes() -> impl Strategy<Value = Shape> {
    let split = |steps| Split {
        array: path("/list"),
        container: "parts".to_owned(),
        id: "p_{id}_{index}".to_owned(),
        carry: vec![(path("/of"), path("/id")), (path("/key"), path("/k"))],
        index: path("/at"),
        keep_id: path("/kept"),
        steps,
    };
    prop_oneof![
        Just(Shape::Whole),
        steps().prop_map(move |steps| Shape::Split(split(steps))),
        steps().prop_map(move |steps| Shape::Join(split(steps))),
    ]
}

fn plan_of(takes: Vec<Condition>, gives: Vec<Condition>, steps: Vec<Step>, shape: Shape) -> Plan {
    const FRAME: &str = "
name: p
source: {database: d, containers: {from: {partitionKey: /k}, parts: {partitionKey: /of}}}
target: {database: e, containers: {to: {partitionKey: /k}, parts: {partitionKey: /of}}}
rules: [{from: from, to: to}]
";
    let rule = Rule { from: "from".to_owned(), to: "to".to_owned(), takes, gives, steps, shape };
    Plan { rules: vec![rule], ..Plan::parse("p", FRAME).expect("a plan") }
}

fn items() -> impl Strategy<Value = Value> {
    let members = prop::collection::btree_map(prop::sample::select(vec!["a", "b", "c", "g"]), values(), 0..4);
    let inner = prop::collection::btree_map(prop::sample::select(vec!["e", "f"]), values(), 0..3);
    (members, prop::option::of(inner)).prop_map(|(members, inner)| {
        let owned = |(name, value): (&str, Value)| (name.to_owned(), value);
        let mut item: Vec<(String, Value)> = members.into_iter().map(owned).collect();
        item.extend(inner.map(|d| ("d".to_owned(), Value::Object(d.into_iter().map(owned).collect()))));
        item.push(("id".to_owned(), Value::from("i")));
        item.push(("k".to_owned(), Value::from("k")));
        Value::Object(item)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn reversing_twice_gives_the_plan(
        takes in conditions(), gives in conditions(), steps in steps(), shape in shapes(),
    ) {
        let plan = plan_of(takes, gives, steps, shape);
        let reversed = plan.reversed().expect("one rule can be reversed");
        prop_assert_eq!(reversed.reversed().expect("and again"), plan);
    }

    #[test]
    fn reversing_restores_an_item_or_it_was_refused(
        takes in prop::collection::vec(exist(), 0..3), gives in prop::collection::vec(exist(), 0..2),
        steps in steps(), item in items(),
    ) {
        let plan = plan_of(takes, gives, steps, Shape::Whole);
        let Role::Root(rule) = plan.role("from", &item) else { return Ok(()) };
        let Ok(made) = rule.apply(&item, &[]) else { return Ok(()) };
        prop_assert!(plan.can_give("to", &made.root), "what is given is known to be");
        let reversed = plan.reversed().expect("one rule can be reversed");
        let Role::Root(back) = reversed.role("to", &made.root) else { panic!("it is taken back") };
        let back = back.apply(&made.root, &[]).expect("and comes back");
        prop_assert_eq!(canonical(&back.root), canonical(&item));
    }
}

fn item(text: &str) -> Value {
    Value::parse(text).expect(text)
}

/// A target item whose source form no rule accepts is refused, because it would be lost there.
#[test]
fn an_existence_condition_survives_reversal() {
    for (wanted, gone, fragment) in [
        (false, r#"{"id":"i","k":"k","a":1}"#, "it would have the member /a"),
        (true, r#"{"id":"i","k":"k"}"#, "it would have no member /a"),
    ] {
        let takes = vec![Condition::Exists { path: path("/a"), wanted }];
        let back = plan_of(takes, Vec::new(), Vec::new(), Shape::Whole).reversed().expect("a plan");
        let refused = back.rules[0].apply(&item(gone), &[]).expect_err(gone);
        assert!(refused.0.contains(fragment), "{refused}");
        assert!(!back.can_give("from", &item(gone)));
    }
}

#[test]
fn removing_a_missing_member_is_refused() {
    let remove = vec![Step::Remove { path: path("/a"), value: Value::from(1_i64) }];
    let plan = plan_of(Vec::new(), Vec::new(), remove, Shape::Whole);
    let refused = plan.rules[0].apply(&item(r#"{"id":"i","k":"k"}"#), &[]).expect_err("nothing to remove");
    assert!(refused.0.contains("the member /a is not there and should be 1"), "{refused}");
}

/// Members added by `ensure` are the only additions that survive the way back, and they identify the plan's
/// own items.
#[test]
fn ensured_members_identify_items_when_reversing() {
    let text = "
name: p
source: {database: d, containers: {a: {partitionKey: /k}, b: {partitionKey: /k}}}
target: {database: d, containers: {c: {partitionKey: /k}}}
rules:
  - {from: a, to: c, steps: [{rename: {from: /x, to: /y}}, {ensure: {path: /kind, value: a}}]}
  - {from: b, to: c, steps: [{ensure: {path: /kind, value: b}}]}
";
    let plan = Plan::parse("p", text).expect("a plan");
    let made = plan.rules[0].apply(&item(r#"{"id":"i","x":1}"#), &[]).expect("it is taken");
    assert_eq!(canonical(&made.root), r#"{"id":"i","kind":"a","y":1}"#);
    let back = plan.reversed().expect("kinds tell them apart");
    let Role::Root(rule) = back.role("c", &made.root) else { panic!("it is taken back") };
    assert_eq!(rule.to, "a");
    assert_eq!(back.role("c", &item(r#"{"id":"i","kind":"z"}"#)), Role::Left);
    assert!(!plan.can_give("c", &item(r#"{"id":"i","kind":"z"}"#)));
    assert_eq!(back.reversed().expect("a plan"), plan);

    let early = text.replace(
        "[{ensure: {path: /kind, value: b}}]",
        "[{ensure: {path: /q, value: 1}}, {rename: {from: /q, to: /r}}]",
    );
    let error = Plan::parse("p", &early).expect_err("ensure is not last").0;
    assert!(error.contains("so put it last"), "{error}");
}
