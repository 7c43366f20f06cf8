//! What the built-in plans make of items: `cases/*.case`.
//!
//! ```text
//! plan     the plan that is used from here on
//! item     an item of a container of the source, and `part`s that belong to it
//! to       what it becomes: container, partition, item; nothing else may come of it
//! refused  or a part of the sentence that refuses it
//! left     or that no rule takes it
//! child    or the parent that it names: container, partition, id
//! ```
//!
//! What comes of an item is transformed back too, and must be the item.

use orrery_migration::{ItemKey, Plan, Role, Rule, built_in, canonical};
use orrery_testing_golden::{Line, case_files, lines};
use orrery_value::Value;
use std::path::Path;

#[test]
fn items_become_what_the_cases_say() {
    let files = case_files(Path::new("cases"), "case");
    assert!(files.len() >= 3);
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        let name = file.display().to_string();
        let lines = lines(&text);
        let starts: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].keyword == "item").collect();
        let mut plan = None;
        for line in lines.iter().take(starts[0]) {
            assert_eq!(line.keyword, "plan", "{name}");
            plan = Some(built_in(&line.text).expect("a built-in plan").expect("a plan"));
        }
        let plan = plan.expect("a plan");
        for (at, start) in starts.iter().enumerate() {
            let end = starts.get(at + 1).copied().unwrap_or(lines.len());
            check(&plan, &lines[*start..end], &format!("{name}:{}", lines[*start].from + 1));
        }
    }
}

fn check(plan: &Plan, case: &[Line], place: &str) {
    let (container, json) = case[0].text.split_once(' ').expect(place);
    let item = value(json, place);
    let of = |keyword: &str| {
        case.iter().filter(|line| line.keyword == keyword).map(|line| line.text.clone()).collect::<Vec<_>>()
    };
    let parts: Vec<Value> = of("part").iter().map(|json| value(json, place)).collect();
    let rule = match plan.role(container, &item) {
        Role::Left => return assert_eq!(of("left").len(), 1, "{place}: no rule takes it"),
        Role::Child(rule) => {
            let parent = rule.parent_of(&item, plan.source.container(&rule.from).expect(place)).expect(place);
            let key = ItemKey::new(&rule.from, &parent.partition, &parent.id);
            return assert_eq!(of("child"), [key.to_string()], "{place}");
        }
        Role::Root(rule) => rule,
    };
    match rule.apply(&item, &parts) {
        Err(refusal) => {
            let expected = of("refused");
            assert!(expected.len() == 1 && refusal.0.contains(&expected[0]), "{place}: {refusal}");
        }
        Ok(made) => {
            let placed = plan.placed(rule, made.clone());
            let found: Vec<String> = placed
                .iter()
                .map(|(key, item)| format!("{} {} {}", key.container, key.partition, canonical(item)))
                .collect();
            let expected: Vec<String> = of("to").iter().map(|line| normal(line, place)).collect();
            assert_eq!(found, expected, "{place}");
            returns(plan, rule, &item, &parts, (&made.root, &made.children), place);
        }
    }
}

fn returns(plan: &Plan, rule: &Rule, item: &Value, parts: &[Value], made: (&Value, &[Value]), place: &str) {
    let reversed = plan.reversed().expect(place);
    let at = plan.rules.iter().position(|known| known == rule).expect(place);
    let back = reversed.rules[at].apply(made.0, made.1).expect(place);
    assert_eq!(canonical(&back.root), canonical(item), "{place}: back again");
    let sorted = |items: &[Value]| {
        let mut texts: Vec<String> = items.iter().map(canonical).collect();
        texts.sort();
        texts
    };
    assert_eq!(sorted(&back.children), sorted(parts), "{place}: its parts, back again");
}

fn normal(line: &str, place: &str) -> String {
    let mut parts = line.splitn(3, ' ');
    let (container, partition) = (parts.next().expect(place), parts.next().expect(place));
    format!("{container} {partition} {}", canonical(&value(parts.next().expect(place), place)))
}

fn value(json: &str, place: &str) -> Value {
    Value::parse(json).unwrap_or_else(|error| panic!("{place}: {error}"))
}
