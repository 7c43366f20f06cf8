//! Invalid plans, and their errors.

use orrery_migration::Plan;

const GOOD: &str = "
name: p
source: {database: d, containers: {a: {partitionKey: /k}}}
target: {database: d, containers: {b: {partitionKey: [/x, /y]}, c: {partitionKey: /of}}}
rules:
  - from: a
    to: b
    split: {array: /list, container: c, id: 'i_{id}_{index}', carry: {/of: /id, /px: /x, /py: /y}, index: /at}
";

#[test]
fn a_valid_plan_is_accepted_with_full_keys() {
    let plan = Plan::parse("p.yaml", GOOD).unwrap();
    let key = &plan.target.container("b").unwrap().definition["partitionKey"];
    assert_eq!(key.to_string(), r#"{"paths":["/x","/y"],"kind":"MultiHash","version":2}"#);
    assert_eq!(plan.reversed().unwrap().reversed().unwrap().name, "p");
}

#[test]
fn errors_name_the_file() {
    for (from, to, fragment) in [
        ("name: p", "nme: p", "unknown field `nme`"),
        ("from: a", "from: z", "names the container 'z', which the source does not have"),
        ("container: c", "container: z", "which the target does not have"),
        ("{index}", "", "must have {index} in it"),
        ("/px: /x, ", "", "must repeat /x"),
        ("/of: /id", "/off: /id", "the partition key /of of 'c'"),
        ("{partitionKey: /k}", "{}", "needs a partitionKey"),
        ("[/x, /y]", "[/x, 7]", "'b' needs a partitionKey"),
        (
            "{partitionKey: /k}",
            "{partitionKey: {paths: [/k, null], kind: MultiHash}}",
            "'a' needs a partitionKey",
        ),
        ("/list", "list", "'list' is not a path"),
        ("to: b", "to: b\n    steps: [{rename: {from: /a, to: /a/b}}]", "lie in each other"),
        ("rules:", "rules:\n  - {from: a, to: b}", "takes all items of 'a'"),
        ("name: p", "name: a/b", "name of a plan"),
        ("to: b", "to: a", "which the target does not have"),
    ] {
        assert!(GOOD.contains(from), "{from}");
        let error = Plan::parse("p.yaml", &GOOD.replacen(from, to, 1)).expect_err(to).0;
        assert!(error.starts_with("p.yaml: ") && error.contains(fragment), "{error}");
    }
}

#[test]
fn a_container_is_not_read_and_written_at_once() {
    let text = "
name: p
source: {database: d, containers: {a: {partitionKey: /k}}}
target: {database: d, containers: {a: {partitionKey: /k}}}
rules: [{from: a, to: a}]
";
    let error = Plan::parse("p", text).unwrap_err().0;
    assert!(error.contains("'a' of 'd' would be read and written at once"), "{error}");
    assert!(Plan::parse("p", &text.replacen("database: d", "database: e", 1)).is_ok());
}

#[test]
fn a_plan_is_identified_by_its_content() {
    let print = |text: &str| Plan::parse("p", text).unwrap().fingerprint;
    assert_eq!(print(GOOD), print(&GOOD.replace("name: p", "# a comment\nname:   p")));
    assert_ne!(print(GOOD), print(&GOOD.replace("/at", "/place")));
    let plan = Plan::parse("p", GOOD).unwrap();
    assert_ne!(plan.reversed().unwrap().fingerprint, plan.fingerprint);
}

#[test]
fn two_rules_into_one_container_cannot_be_reversed() {
    let text = "
name: p
source: {database: d, containers: {a: {partitionKey: /k}, b: {partitionKey: /k}}}
target: {database: d, containers: {c: {partitionKey: /k}}}
rules: [{from: a, to: c}, {from: b, to: c}]
";
    let error = Plan::parse("p", text).unwrap().reversed().unwrap_err().0;
    assert!(error.contains("cannot be reversed") && error.contains("'c'"), "{error}");
}
