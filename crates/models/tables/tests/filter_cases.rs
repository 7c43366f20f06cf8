//! Runs `cases/filter/`.
//!
//! ```text
//! parse/    filter <text>, then tree <S-expression>: literals with their types
//! errors/   filter <text>, then error <code> at <character> <message>
//! plan/     filter <text>, then plan <access>: <ranges> [| <residual filter>]
//! meaning/  entity <its properties>, then any number of true <filter> and false <filter>
//! ```
//!
//! An entity is written as the filter that names all its properties, `eq` and `and`. `BLESS=1 cargo test -p orrery-tables
//! --test filter_cases` rewrites every `tree`, `error` and `plan`.

#[path = "filter/entity.rs"]
mod entity;
#[path = "filter/tree.rs"]
mod tree;

use orrery_tables::plan::QueryPlan;
use orrery_tables::{Filter, FilterError, KeyBounds};
use orrery_testing_golden::{Line, case_files, lines};
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<PathBuf> {
    case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), "case")
}

/// Checks each `filter` line against the line behind it; says how many there were.
fn run(folder: &str, keyword: &str, outcome: impl Fn(&str) -> Result<String, String>) -> usize {
    let bless = std::env::var_os("BLESS").is_some();
    let (mut cases, mut failures) = (0, Vec::new());
    for file in files(folder) {
        let text = fs::read_to_string(&file).expect("a case file is readable");
        let mut shown: Vec<String> = text.lines().map(str::to_owned).collect();
        let lines = lines(&text);
        // From the end, so that a rewritten case does not move those that are still to come.
        for at in (0..lines.len()).rev().filter(|at| lines[*at].keyword == "filter") {
            cases += 1;
            let input = &lines[at];
            let fail = |why: String| format!("{}:{}: {why}", file.display(), input.from + 1);
            let expected = lines.get(at + 1).filter(|line| line.keyword == keyword);
            match (outcome(&input.text), expected) {
                (Err(why), _) => failures.push(fail(why)),
                (Ok(got), Some(line)) if bless => {
                    drop(shown.splice(line.from..line.to, [told(keyword, &got)]))
                }
                (Ok(got), None) if bless => shown.insert(input.to, told(keyword, &got)),
                (Ok(_), None) => failures.push(fail("it has no expectation".to_owned())),
                (Ok(got), Some(line)) if got != line.text => {
                    failures.push(fail(format!("expected {}\n  got      {got}", line.text)));
                }
                _ => {}
            }
        }
        failures.extend(unknown(&file, &lines, &["filter", keyword]));
        if bless {
            fs::write(&file, shown.join("\n") + "\n").expect("a case file is writable");
        }
    }
    assert!(failures.is_empty(), "{} of {cases} cases failed:\n{}", failures.len(), failures.join("\n"));
    cases
}

fn told(keyword: &str, outcome: &str) -> String {
    format!("{keyword:<7} {outcome}")
}

fn unknown(file: &Path, lines: &[Line], known: &[&str]) -> Vec<String> {
    let unknown = lines.iter().filter(|line| !known.contains(&line.keyword.as_str()));
    unknown.map(|line| format!("{}:{}: '{}'", file.display(), line.from + 1, line.keyword)).collect()
}

#[test]
fn filters_parse_as_they_should() {
    let outcome = |text: &str| {
        let filter = Filter::parse(text).map_err(|error| error.to_string())?;
        let (shown, printed) = (tree::show(&filter), filter.to_string());
        let again = Filter::parse(&printed).map_err(|error| format!("{error} in its print {printed}"))?;
        if tree::show(&again) != shown {
            return Err(format!(
                "{shown}\n  prints as {printed}\n  and that reads as {}",
                tree::show(&again)
            ));
        }
        Ok(shown)
    };
    let cases = run("cases/filter/parse", "tree", outcome);
    assert!(cases >= 90, "only {cases} cases");
}

#[test]
fn wrong_filters_are_refused_where_they_are_wrong() {
    let outcome = |text: &str| match Filter::parse(text) {
        Ok(filter) => Err(format!("it is read as {}", tree::show(&filter))),
        Err(error) => Ok(format!("{} at {} {error}", code(&error), error.position())),
    };
    let cases = run("cases/filter/errors", "error", outcome);
    assert!(cases >= 60, "only {cases} cases");
}

fn code(error: &FilterError) -> &'static str {
    match error {
        FilterError::NotImplemented { .. } => "NotImplemented",
        _ => "InvalidInput",
    }
}

#[test]
fn filters_read_the_ranges_they_should() {
    let outcome = |text: &str| {
        let filter = Filter::parse(text).map_err(|error| error.to_string())?;
        let plan = QueryPlan::new(Some(&filter), &KeyBounds::default());
        let ranges: Vec<String> = plan.ranges().iter().map(ToString::to_string).collect();
        let residual = plan.residual().map(|residual| format!(" | {residual}")).unwrap_or_default();
        let ranges = ranges.join("; ");
        Ok(format!("{}: {ranges}{residual}", plan.access().name()).trim_end().to_owned())
    };
    let cases = run("cases/filter/plan", "plan", outcome);
    assert!(cases >= 70, "only {cases} cases");
}

#[test]
fn filters_mean_what_they_should() {
    let (mut cases, mut failures) = (0, Vec::new());
    for file in files("cases/filter/meaning") {
        let text = fs::read_to_string(&file).expect("a case file is readable");
        let lines = lines(&text);
        let mut entity = None;
        for line in &lines {
            let place = format!("{}:{}", file.display(), line.from + 1);
            if line.keyword == "entity" {
                entity = Some(entity::read(&line.text).unwrap_or_else(|why| panic!("{place}: {why}")));
                continue;
            }
            cases += 1;
            let entity = entity.as_ref().unwrap_or_else(|| panic!("{place}: there is no entity before"));
            let filter = Filter::parse(&line.text).unwrap_or_else(|error| panic!("{place}: {error}"));
            let expected = line.keyword == "true";
            if filter.matches(entity) != expected {
                failures.push(format!("{place}: it is {}", !expected));
            }
        }
        failures.extend(unknown(&file, &lines, &["entity", "true", "false"]));
    }
    assert!(failures.is_empty(), "{} of {cases} cases failed:\n{}", failures.len(), failures.join("\n"));
    assert!(cases >= 120, "only {cases} cases");
}
