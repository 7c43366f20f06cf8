//! The executor and the naive evaluator give the same rows for the same random queries.
//!
//! `ORRERY_CASES` says how many cases to try, `ORRERY_SEED` where to begin; a failure prints its seed, and is
//! shown with as few documents as still fail.

#[path = "support/memory.rs"]
mod memory;
#[path = "support/merging.rs"]
mod merging;
mod naive;

use memory::Memory;
use merging::Client;
use naive::compare_rows::disagreement;
use naive::engine::{WAYS, engine};
use naive::expressions::Input;
use naive::generate::{Case, case};
use naive::{normalize, run};
use orrery_query::bind::Settings;
use orrery_query::parse::{Query, parse};
use orrery_query::plan::distributed::{DistributeOptions, distribute};
use orrery_value::Value;
use std::ops::Range;

const CASES: u64 = 20_000;

#[test]
fn the_executor_agrees_with_the_naive_evaluator() {
    let first = number("ORRERY_SEED").unwrap_or(0);
    let seeds = first..first + number("ORRERY_CASES").unwrap_or(CASES);
    if let Some(seed) = first_wrong(&seeds) {
        panic!("{}", report(seed, &fewer_documents(case(seed))));
    }
}

#[test]
fn the_parser_reads_the_intended_tree() {
    for seed in 0..3_000 {
        let case = case(seed);
        let read = read(&case).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{}", case.text));
        let (read, meant) = (normalize::query(&read), normalize::query(&case.query));
        assert!(read == meant, "seed {seed}\n{}\nread  {read:?}\nmeant {meant:?}", case.text);
    }
}

#[test]
fn most_random_queries_give_rows() {
    let (mut with_rows, mut all) = (0, 0);
    for seed in 0..3_000 {
        let case = case(seed);
        let rows = run::run(&case.query, &case.parameters, &case.documents);
        let rows = rows.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{}", case.text));
        all += usize::from(!case.documents.is_empty());
        with_rows += usize::from(!rows.is_empty());
    }
    assert!(with_rows * 2 > all, "only {with_rows} of {all} queries give rows");
}

/// A client that merges the ranges of a container gets what the query gives over all documents.
#[test]
fn merged_ranges_agree_with_the_naive_evaluator() {
    let mut merged = 0;
    for seed in 0..4_000 {
        let mut case = case(seed);
        name_documents(&mut case);
        let Ok(plan) = distribute(&case.query, &case.parameters, &DistributeOptions::default()) else {
            continue;
        };
        // Without FROM one range is asked, whatever there are.
        let count = if case.query.from.is_empty() { 1 } else { seed as usize % 4 + 1 };
        let ranges = ranges(&case.documents, count);
        let client = Client { ranges: &ranges, parameters: &case.parameters, settings: &Settings::default() };
        let input = Input { documents: &case.documents, parameters: &case.parameters };
        let expected =
            run::answer(&case.query, &input, &Vec::new()).unwrap_or_else(|error| panic!("{error}"));
        let rows =
            client.run(&case.text, &plan).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{}", case.text));
        if let Some(why) = disagreement(&expected, &rows) {
            panic!("seed {seed}: {why}\n{}\ngave {}\n{}", case.text, show(&rows), show(&case.documents));
        }
        merged += 1;
    }
    assert!(merged > 2_000, "only {merged} queries have a plan");
}

/// Documents as a store has them: each with a resource id.
fn name_documents(case: &mut Case) {
    for (number, document) in case.documents.iter_mut().enumerate() {
        if let Value::Object(members) = document {
            members.push(("_rid".to_owned(), Value::from(format!("rid{number:04}").as_str())));
        }
    }
}

/// The documents in so many ranges, by turns.
fn ranges(documents: &[Value], count: usize) -> Vec<Memory> {
    let range = |at: usize| documents.iter().skip(at).step_by(count).cloned().collect::<Vec<_>>();
    (0..count).map(|at| Memory::new(&range(at))).collect()
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number of cases"))
}

/// The least seed whose case fails, sought by all cores.
fn first_wrong(seeds: &Range<u64>) -> Option<u64> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let search = |offset| {
        let mut own = seeds.clone().skip(offset).step_by(threads);
        own.find(|seed| wrong(&case(*seed)).is_some())
    };
    std::thread::scope(|scope| {
        let searches: Vec<_> = (0..threads).map(|offset| scope.spawn(move || search(offset))).collect();
        searches.into_iter().filter_map(|it| it.join().expect("a panic of the engine is caught")).min()
    })
}

/// What is wrong with the executor's answer to a case, if anything is.
fn wrong(case: &Case) -> Option<String> {
    check(case).err()
}

fn check(case: &Case) -> Result<(), String> {
    let input = Input { documents: &case.documents, parameters: &case.parameters };
    let answer = run::answer(&read(case)?, &input, &Vec::new())?;
    let mut first: Option<Vec<Value>> = None;
    for way in WAYS {
        let rows = engine(&case.text, &case.parameters, &case.documents, way);
        let rows = rows.map_err(|error| format!("{way:?}: {error}"))?;
        if let Some(why) = disagreement(&answer, &rows) {
            return Err(format!("{way:?}: {why}\ngave {}", show(&rows)));
        }
        match &first {
            Some(first) if *first != rows => {
                return Err(format!(
                    "{way:?} gives another order\ngave {}\nthen {}",
                    show(first),
                    show(&rows)
                ));
            }
            Some(_) => {}
            None => first = Some(rows),
        }
    }
    Ok(())
}

fn read(case: &Case) -> Result<Query, String> {
    parse(&case.text).map_err(|complaint| complaint.to_string())
}

/// Leaves out one document after the other for as long as the case still fails.
fn fewer_documents(mut case: Case) -> Case {
    let mut at = 0;
    while at < case.documents.len() {
        let left_out = case.documents.remove(at);
        if wrong(&case).is_none() {
            case.documents.insert(at, left_out);
            at += 1;
        }
    }
    case
}

fn report(seed: u64, case: &Case) -> String {
    let parameters: Vec<String> =
        case.parameters.iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
    let expected = run::run(&case.query, &case.parameters, &case.documents);
    format!(
        "seed {seed} (ORRERY_SEED={seed} ORRERY_CASES=1)\nquery {}\nparameters {}\ndocuments {}\nexpected {}\n{}",
        case.text,
        parameters.join(", "),
        show(&case.documents),
        expected.map_or_else(|error| error, |rows| show(&rows)),
        wrong(case).unwrap_or_default(),
    )
}

fn show(rows: &[Value]) -> String {
    rows.iter().map(Value::to_json).collect::<Vec<_>>().join("\n     ")
}
