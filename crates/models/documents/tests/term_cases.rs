//! Runs `cases/terms/*.case`.
//!
//! A `policy <json>` holds until the next one. An `item <json>` is followed by `terms` and each of its terms on a line
//! of its own: the path or composite index that it is of, and what the item has there. They are in the order of their
//! lines. Every item is written at the second 1700000000.
//!
//! `BLESS=1 cargo test -p orrery-documents --test term_cases` rewrites the terms.

use orrery_catalog::definition::ContainerDefinition;
use orrery_core::Timestamp;
use orrery_documents::index::{Composite, IndexRules, path_number, spatial_number, terms};
use orrery_keys::{Direction, IndexValue, KeyReader};
use orrery_query::access::{Path as Steps, PathDisplay, Step};
use orrery_testing_golden::{Line, case_files, lines};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

#[test]
fn every_case_holds() {
    let bless = std::env::var_os("BLESS").is_some();
    let (mut items, mut failures) = (0, Vec::new());
    for file in case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/terms"), "case") {
        let text = fs::read_to_string(&file).expect("a case file is readable");
        let mut run = Run { rules: IndexRules::default(), item: String::new(), found: Vec::new() };
        lines(&text).iter().for_each(|line| run.line(line));
        items += run.found.len();
        let wrong = run.found.iter().filter(|found| !found.is_as_expected);
        failures.extend(wrong.map(|found| format!("{}:{}: {}", file.display(), found.from + 1, found.shown)));
        if bless {
            fs::write(&file, run.blessed(&text)).expect("a case file is writable");
        }
    }
    assert!(bless || failures.is_empty(), "{} of {items} failed:\n{}", failures.len(), failures.join("\n"));
    assert!(items >= 20, "only {items} items were found; are the case files there?");
}

/// What a file is after some of its lines.
struct Run {
    rules: IndexRules,
    item: String,
    found: Vec<Found>,
}

/// The terms of an item, as the file should show them at these lines.
struct Found {
    from: usize,
    to: usize,
    shown: String,
    is_as_expected: bool,
}

impl Run {
    fn line(&mut self, line: &Line) {
        match line.keyword.as_str() {
            "policy" => self.rules = rules_of(&line.text),
            "item" => self.item = line.text.clone(),
            "terms" => self.terms(line),
            other => panic!("'{other}' is not a keyword"),
        }
    }

    fn terms(&mut self, line: &Line) {
        let terms = shown(&self.rules, &self.item);
        let terms: Vec<String> = terms.iter().map(|term| format!("  {term}")).collect();
        let is_as_expected = terms.concat() == line.text;
        let shown = [vec!["terms".to_owned()], terms].concat().join("\n");
        self.found.push(Found { from: line.from, to: line.to, shown, is_as_expected });
    }

    fn blessed(self, text: &str) -> String {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for found in self.found.into_iter().rev() {
            lines.splice(found.from..found.to, [found.shown]);
        }
        lines.join("\n") + "\n"
    }
}

fn rules_of(policy: &str) -> IndexRules {
    let policy: Value = serde_json::from_str(policy).expect("a policy is JSON");
    let body = json!({"id": "c", "partitionKey": {"paths": ["/pk"]}, "indexingPolicy": policy});
    let body = body.as_object().expect("it was written as an object").clone();
    IndexRules::new(ContainerDefinition::parse(body).expect("the policy is valid").indexing())
}

fn shown(rules: &IndexRules, item: &str) -> Vec<String> {
    let names = names(rules, &serde_json::from_str(item).expect("an item is JSON"));
    let terms = terms(rules, item, Timestamp::from_seconds(1_700_000_000));
    let mut shown: Vec<String> = terms.iter().map(|term| show(&names, term)).collect();
    shown.sort();
    shown
}

/// What a number stands for: its name, and what follows it in a term.
type Names = HashMap<u64, (String, Rest)>;

enum Rest {
    Values(Vec<Direction>),
    Cell,
}

fn names(rules: &IndexRules, item: &Value) -> Names {
    let mut paths = vec![Steps::from([Step::Member("_ts".into())])];
    gather(item, &mut Vec::new(), &mut paths);
    let values = |path: &Steps| {
        (path_number(path), (PathDisplay(path).to_string(), Rest::Values(vec![Direction::Ascending])))
    };
    let cells = |path: &Steps| (spatial_number(path), (format!("{} shape", PathDisplay(path)), Rest::Cell));
    let composites = rules.composites().iter().map(composite);
    paths.iter().map(values).chain(paths.iter().map(cells)).chain(composites).collect()
}

fn composite(composite: &Composite) -> (u64, (String, Rest)) {
    let parts = composite.parts();
    let label = |(path, descends): &(Steps, bool)| {
        format!("{}{}", PathDisplay(path), if *descends { " down" } else { "" })
    };
    let direction =
        |(_, descends): &(Steps, bool)| if *descends { Direction::Descending } else { Direction::Ascending };
    let labels: Vec<String> = parts.iter().map(label).collect();
    (
        composite.number(),
        (format!("({})", labels.join(", ")), Rest::Values(parts.iter().map(direction).collect())),
    )
}

/// Every path that leads somewhere in a value.
fn gather(value: &Value, path: &mut Vec<Step>, paths: &mut Vec<Steps>) {
    let mut below = |step: Step, inside: &Value| {
        path.push(step);
        paths.push(Steps::from(&path[..]));
        gather(inside, path, paths);
        path.pop();
    };
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, inside)| below(Step::Member(name.clone()), inside));
        }
        Value::Array(elements) => elements.iter().for_each(|inside| below(Step::Each, inside)),
        _ => {}
    }
}

fn show(names: &Names, term: &[u8]) -> String {
    let mut reader = KeyReader::new(term);
    let number = reader.u64().expect("a term begins with a number");
    let (name, rest) = names.get(&number).unwrap_or_else(|| panic!("nothing has the number of {term:02x?}"));
    let values: Vec<String> = match rest {
        Rest::Values(directions) => {
            directions.iter().map(|direction| value(&mut reader, *direction)).collect()
        }
        Rest::Cell => reader.u64().map(|_| Vec::new()).expect("a cell follows"),
    };
    reader.finish().expect("nothing else follows");
    format!("{name} {}", values.join(", ")).trim_end().to_owned()
}

fn value(reader: &mut KeyReader<'_>, direction: Direction) -> String {
    let mut known = *reader;
    match reader.index_value(direction).expect("an index value follows") {
        IndexValue::Exactly(value) if value.is_undefined() => "undefined".to_owned(),
        IndexValue::Exactly(value) => value.to_json(),
        IndexValue::NotAll => {
            let kind =
                known.u8().expect("it was read") ^ if direction == Direction::Ascending { 0 } else { 0xff };
            let kinds = [(0x14, "<number>"), (0x15, "<string>"), (0x16, "<array>"), (0x17, "<object>")];
            kinds.iter().find(|(tag, _)| *tag == kind).map_or("?", |(_, shown)| shown).to_owned()
        }
    }
}
