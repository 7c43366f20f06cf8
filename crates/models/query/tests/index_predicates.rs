//! What filters imply: cases by hand, and that no document that passes is ever without its need.
//!
//! A case of `tests/index_predicates/cases/*.case` is a line `filter <condition>` (of `SELECT * FROM c`) or `query <sql>`, and
//! before it perhaps `param @name <json>` (without a value, undefined) for this one; then `need <text>`.

#[path = "index_predicates/filters.rs"]
mod filters;
#[path = "naive/generate/mod.rs"]
mod generate;
#[path = "naive/random.rs"]
mod random;
#[path = "index_predicates/satisfy.rs"]
mod satisfy;
#[path = "index_predicates/spatial.rs"]
mod spatial;
#[path = "naive/write.rs"]
mod write;

use orrery_query::access::{IndexPredicate, index_predicate};
use orrery_query::bind::bound::{Block, SourceOf};
use orrery_query::plan::Rules;
use orrery_query::prepare;
use orrery_testing_golden::{case_files, lines};
use orrery_value::Value;
use random::Random;
use satisfy::{Filter, satisfies};
use std::fs;
use std::path::Path;

#[test]
fn every_case_holds() {
    let (mut checked, mut failures) = (0, Vec::new());
    for file in
        case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/index_predicates/cases"), "case")
    {
        let text = fs::read_to_string(&file).expect("a case file is readable");
        assert!(text.starts_with("# "), "{} does not say what it shows", file.display());
        let mut run = Run::default();
        for line in lines(&text) {
            if let Err(why) = run.line(&line.keyword, &line.text) {
                failures.push(format!("{}:{}: {why}", file.display(), line.from + 1));
            }
        }
        checked += run.checked;
    }
    assert!(failures.is_empty(), "{} of {checked} failed:\n{}", failures.len(), failures.join("\n"));
    assert!(checked >= 150, "only {checked} cases were found");
}

#[derive(Default)]
struct Run {
    parameters: Vec<(String, Value)>,
    query: Option<String>,
    checked: usize,
}

impl Run {
    fn line(&mut self, keyword: &str, text: &str) -> Result<(), String> {
        match keyword {
            "param" => {
                let (name, value) = text.split_once(' ').unwrap_or((text, ""));
                let value = if value.is_empty() { Ok(Value::Undefined) } else { Value::parse(value.trim()) };
                self.parameters.push((name.to_owned(), value.map_err(|error| error.to_string())?));
            }
            "filter" => self.query = Some(format!("SELECT * FROM c WHERE {text}")),
            "query" => self.query = Some(text.to_owned()),
            "need" => {
                self.checked += 1;
                let query = self.query.take().ok_or("no query before this need")?;
                let parameters = std::mem::take(&mut self.parameters);
                let plan = prepare(&query, &parameters, Rules::On).map_err(|error| error.to_string())?.plan;
                let found = index_predicate(&plan.query.block).to_string();
                if found != text {
                    return Err(format!("{query}\n    gave     {found}\n    expected {text}"));
                }
            }
            other => return Err(format!("what is '{other}'?")),
        }
        Ok(())
    }
}

/// Of random queries over random documents: how often a need was met by one that passes, and how often a need
/// left one out.
#[derive(Default)]
struct Tally {
    met: usize,
    left_out: usize,
}

impl Tally {
    fn check(&mut self, text: &str, parameters: &[(String, Value)], documents: &[Value]) {
        for rules in [Rules::On, Rules::Off] {
            let plan = prepare(text, parameters, rules).unwrap_or_else(|why| panic!("{why}\n{text}")).plan;
            let Some(block) = innermost(&plan.query.block) else { continue };
            let (need, filter) = (index_predicate(block), Filter::of(block, plan.query.slots));
            for document in documents {
                let (passes, satisfies) = (filter.passes(document), satisfies(&need, document));
                let shown = || format!("{text}\n{parameters:?}\n{need}\n{}", document.to_json());
                assert!(satisfies || !passes, "a document would be lost\n{}", shown());
                self.met += usize::from(passes && need != IndexPredicate::True);
                self.left_out += usize::from(!satisfies);
            }
        }
    }
}

/// The block that reads the collection.
fn innermost(block: &Block) -> Option<&Block> {
    match &block.from.first()?.of {
        SourceOf::Collection => Some(block),
        SourceOf::Rows(inner) | SourceOf::EachOfRows(inner) => innermost(inner),
        SourceOf::Value(_) | SourceOf::Each(_) => None,
    }
}

#[test]
fn matches_of_random_queries_satisfy_the_predicate() {
    let mut tally = Tally::default();
    for seed in 0..10_000 {
        let case = generate::case(seed);
        tally.check(&case.text, &case.parameters, &case.documents);
    }
    assert!(tally.met > 5_000 && tally.left_out > 5_000, "{} met, {} left out", tally.met, tally.left_out);
}

#[test]
fn matches_of_indexable_filters_satisfy_the_predicate() {
    let mut tally = Tally::default();
    for seed in 0..10_000 {
        let documents = generate::case(seed).documents;
        tally.check(&filters::query(&mut Random::new(seed)), &[], &documents);
    }
    assert!(tally.met > 8_000 && tally.left_out > 50_000, "{} met, {} left out", tally.met, tally.left_out);
}

#[test]
fn matches_of_spatial_filters_intersect_the_rectangle() {
    let mut tally = Tally::default();
    for seed in 0..4_000 {
        let mut random = Random::new(seed);
        let shape = spatial::shape(&mut random);
        let documents: Vec<Value> = (0..6).map(|_| spatial::document(&shape, &mut random)).collect();
        let parameters = [("@shape".to_owned(), shape)];
        tally.check(&spatial::query(&mut random), &parameters, &documents);
    }
    assert!(tally.met > 2_000 && tally.left_out > 2_000, "{} met, {} left out", tally.met, tally.left_out);
}

#[test]
fn a_filter_of_any_length_has_a_bounded_predicate() {
    let list = |count: usize| (0..count).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    let check = |filter: &str, expected: &str| {
        let text = format!("SELECT * FROM c WHERE {filter}");
        let shown = index_predicate(&prepare(&text, &[], Rules::On).unwrap().plan.query.block).to_string();
        assert_eq!(shown.chars().take(60).collect::<String>(), expected);
    };
    check(&format!("c.a IN ({})", list(16_000)), "/a is defined");
    check(&format!("c.a IN ({}) AND c.b = 1", list(1_001)), "/a is defined and /b = 1");
    check(&format!("ARRAY_CONTAINS([{}], c.a)", list(5_000)), "/a is defined");
    let or = (0..1_001).map(|i| format!("c.a = {i}")).collect::<Vec<_>>().join(" OR ");
    check(&or, "anything");
    check(&format!("c.b > 1 AND ({or})"), "/b > 1");
    let deep =
        (0..60).fold("c.a = 1".to_owned(), |inner, i| format!("(c.x = {i} OR (c.y = {i} AND {inner}))"));
    check(&deep, "/x = 59 or (/y = 59 and (/x = 58 or (/y = 58 and (/x = 57 or");
}
