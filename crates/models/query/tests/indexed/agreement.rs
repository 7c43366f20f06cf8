//! Random queries, random documents, random indexes: every way gives the rows that a scan gives.
//!
//! `ORRERY_CASES` says how many cases to try, `ORRERY_SEED` where to begin.

use super::collection::{Indexed, Policy};
use super::memory::{Still, answer};
use super::naive::compare_rows::disagreement;
use super::naive::expressions::Input;
use super::naive::generate::{Case, case};
use super::naive::random::Random;
use super::naive::run;
use super::queries::{documents, extremes, lists, policy, question, tamed};
use orrery_query::access::{Access, AccessPreference, TieOrder};
use orrery_query::execute::{Limits, explain};
use orrery_query::parse::parse;
use orrery_query::plan::{Plan, Rules};
use orrery_query::prepare;
use orrery_value::Value;
use std::collections::BTreeMap;

const CASES: u64 = 4_000;
/// Of one kind of question.
const CASES_OF_A_KIND: u64 = 1_500;
/// More than any of these queries has.
const WAYS_MAX: usize = 24;

type Taken = BTreeMap<&'static str, u32>;

#[test]
fn every_access_path_gives_the_rows_of_a_scan() {
    let mut taken = Taken::new();
    for_each_seed(CASES, |seed| {
        let mut random = Random::new(seed);
        let (documents, policy, text) = (documents(&mut random), policy(&mut random), question(&mut random));
        let query = parse(&text).unwrap_or_else(|complaint| panic!("{text}: {complaint}"));
        check(&Case { documents, parameters: Vec::new(), query, text }, policy, random, &mut taken)
    });
    if std::env::var("ORRERY_CASES").is_err() {
        let access_paths = [
            "nothing",
            "postings",
            "covered postings",
            "sorted",
            "sorted among",
            "along",
            "covered along",
            "ends",
            "sorted distinct",
        ];
        assert_taken(&access_paths, &taken);
    }
}

fn assert_taken(access_paths: &[&str], taken: &Taken) {
    for way in access_paths {
        let count = taken.get(way).copied().unwrap_or(0);
        assert!(count > 20, "{way} was taken {count} times of {taken:?}");
    }
}

#[test]
fn min_and_max_are_those_of_a_scan() {
    let mut taken = Taken::new();
    for_each_seed(CASES_OF_A_KIND, |seed| {
        let mut random = Random::new(seed ^ 0x0e4d5);
        let (documents, mut policy) = (documents(&mut random), policy(&mut random));
        let (text, composite) = extremes(&mut random);
        if composite.len() > 1 && random.chance(80) {
            policy.composites.push(composite);
        }
        let query = parse(&text).unwrap_or_else(|complaint| panic!("{text}: {complaint}"));
        check(&Case { documents, parameters: Vec::new(), query, text }, policy, random, &mut taken)
    });
    if std::env::var("ORRERY_CASES").is_err() {
        let access_paths = ["ends", "ends of several spans", "ends behind a prefix", "ends, counted"];
        assert_taken(&access_paths, &taken);
    }
}

#[test]
fn merged_lists_keep_the_order_of_a_scan() {
    let mut taken = Taken::new();
    for_each_seed(CASES_OF_A_KIND, |seed| {
        let mut random = Random::new(seed ^ 0x11575);
        let (documents, mut policy) = (documents(&mut random), policy(&mut random));
        let (text, composite) = lists(&mut random);
        if composite.len() > 1 {
            policy.composites.push(composite);
        }
        let query = parse(&text).unwrap_or_else(|complaint| panic!("{text}: {complaint}"));
        check(&Case { documents, parameters: Vec::new(), query, text }, policy, random, &mut taken)
    });
    if std::env::var("ORRERY_CASES").is_err() {
        assert_taken(&["merged"], &taken);
    }
}

/// Fewer of these can use an index, and they are stranger.
#[test]
fn queries_of_every_form_agree_with_a_scan() {
    for_each_seed(CASES, |seed| {
        let mut case = case(seed);
        case.documents = case.documents.iter().map(tamed).collect();
        let mut random = Random::new(seed ^ 0x5eed);
        let policy = policy(&mut random);
        check(&case, policy, random, &mut Taken::new())
    });
}

fn for_each_seed(cases: u64, mut check: impl FnMut(u64) -> Result<(), String>) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    let first: u64 = number("ORRERY_SEED").unwrap_or(0);
    for seed in first..first + number("ORRERY_CASES").unwrap_or(cases) {
        if let Err(why) = check(seed) {
            panic!("seed {seed} (ORRERY_SEED={seed} ORRERY_CASES=1)\n{why}");
        }
    }
}

fn check(case: &Case, policy: Policy, mut random: Random, taken: &mut Taken) -> Result<(), String> {
    let collection = Indexed::new(case.documents.clone(), Some(policy.clone()));
    let plan = prepare(&case.text, &case.parameters, Rules::On).map_err(|error| error.to_string())?.plan;
    let scanned = answer(&Plan { prefer: AccessPreference::Scan, ..plan.clone() }, &collection, usize::MAX);
    let mut before = None;
    for number in 0..WAYS_MAX {
        let prefer = if number == 0 { AccessPreference::Cheapest } else { AccessPreference::Nth(number) };
        let plan = Plan { prefer, ..plan.clone() };
        let limits = Limits { items: random.pick(&[1, 3, 1000]), bytes: usize::MAX };
        let way = explain(&plan, &collection, &Still, limits).map_err(|error| error.to_string())?;
        if number > 1 && before.as_ref() == Some(&way) {
            break;
        }
        *taken.entry(kind(&way)).or_default() += 1;
        for items in [usize::MAX, 3, 1] {
            let rows = answer(&plan, &collection, items);
            compare(case, &plan, &scanned, &rows).map_err(|why| {
                let told = format!("way {number}: {way}\npages of {items}\n{policy:?}");
                format!("{why}\n{told}\n{}\nscan {scanned:?}\ngave {rows:?}", show(case))
            })?;
        }
        before = Some(way);
    }
    Ok(())
}

fn show(case: &Case) -> String {
    let documents: Vec<String> = case.documents.iter().map(Value::to_json).collect();
    format!("{}\nparameters {:?}\n{}", case.text, case.parameters, documents.join("\n"))
}

fn kind(way: &Access) -> &'static str {
    match way {
        Access::Nothing => "nothing",
        Access::Scan | Access::OrdinalScan => "scan",
        Access::Postings { covered: None, .. } => "postings",
        Access::Postings { covered: Some(_), .. } => "covered postings",
        Access::IndexScan(along) if along.merged => "merged",
        Access::IndexScan(along)
            if along.sorted.as_ref().is_some_and(|sorted| sorted.ties == TieOrder::Irrelevant) =>
        {
            "sorted distinct"
        }
        Access::IndexScan(along) if along.sorted.is_some() && along.restrict_to.is_some() => "sorted among",
        Access::IndexScan(along) if along.sorted.is_some() => "sorted",
        Access::IndexScan(along) if along.covered.is_some() => "covered along",
        Access::IndexScan(_) => "along",
        Access::IndexMinMax { documents: Some(_), .. } => "ends, counted",
        Access::IndexMinMax { ends, .. } if ends.scan.spans.len() > 1 => "ends of several spans",
        Access::IndexMinMax { ends, .. } if ends.part > 0 => "ends behind a prefix",
        Access::IndexMinMax { .. } => "ends",
    }
}

type Rows = Result<Vec<Value>, orrery_query::QueryError>;

fn compare(case: &Case, plan: &Plan, scanned: &Rows, rows: &Rows) -> Result<(), String> {
    let (Ok(scanned), Ok(rows)) = (scanned, rows) else {
        // A document that fails may be left out, and then nothing does.
        return if scanned.is_err() { Ok(()) } else { Err("only the scan gives rows".to_owned()) };
    };
    let block = &plan.query.block;
    if rows == scanned {
        return Ok(());
    }
    if block.grouping.is_some() && rows.len() == scanned.len() {
        let is_near = rows.iter().zip(scanned).all(|(a, b)| near(a, b));
        return if is_near { Ok(()) } else { Err("other groups".to_owned()) };
    }
    if !block.is_streaming() {
        return Err("other rows, or in another order".to_owned());
    }
    let input = Input { documents: &case.documents, parameters: &case.parameters };
    let expected = run::answer(&case.query, &input, &Vec::new())?;
    disagreement(&expected, rows).map_or(Ok(()), Err)
}

/// Sums in another order may differ in the last digits.
fn near(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64(), b.as_f64());
            (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && near(&a.1, &b.1))
        }
        _ => a == b,
    }
}
