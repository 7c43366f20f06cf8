//! Every requirement of the designs is on its page once, and what the page says is shown exists.
//!
//! A row has an id, what is asked for, a state, and what shows it. A name of three words or more in code marks is a
//! test and stands somewhere after `fn` or `def`; a path that ends in `.rs` is a file. What works or has a shape names
//! a test, what was measured names a file. That the test shows it is for people to judge.

use std::collections::{BTreeMap, HashSet};

use crate::finding::Finding;
use crate::tree::Tree;

const PAGE: &str = "docs/seeds.md";
/// Where there are blueprints, there is the page.
const BLUEPRINTS: &str = "blueprints";
/// The designs, and how many requirements each has; they are numbered from one without a gap.
const DESIGNS: [(&str, usize); 4] = [("S0", 121), ("S1", 98), ("S2", 92), ("S3", 70)];
const STATES: [&str; 6] = ["works", "shape", "measured", "differs", "to come", "context"];

struct Row<'a> {
    line: usize,
    id: &'a str,
    state: &'a str,
    shown: &'a str,
}

pub fn check(tree: &Tree) -> Vec<Finding> {
    if !tree.has(BLUEPRINTS) {
        return Vec::new();
    }
    let Some(page) = tree.text(PAGE) else {
        return vec![Finding::new(PAGE, 1, "the page of the designs' requirements is missing")];
    };
    let rows: Vec<Row<'_>> = page.lines().enumerate().filter_map(|(at, line)| row(at + 1, line)).collect();
    let mut found = listed_once(&rows);
    found.extend(rows.iter().filter_map(|row| says_too_little(row)));
    found.extend(names_nothing(tree, page));
    found
}

/// A row of a requirement; other tables have other first cells.
fn row(line: usize, text: &str) -> Option<Row<'_>> {
    let cells: Vec<&str> = text.strip_prefix('|')?.split('|').map(str::trim).collect();
    let &[id, _, state, shown, ""] = &cells[..] else { return None };
    let is_requirement = id.split_once('-').is_some_and(|(design, _)| {
        design.len() == 2 && design.starts_with('S') && design.ends_with(|last: char| last.is_ascii_digit())
    });
    is_requirement.then_some(Row { line, id, state, shown })
}

fn listed_once(rows: &[Row<'_>]) -> Vec<Finding> {
    let mut lines: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    rows.iter().for_each(|row| lines.entry(row.id).or_default().push(row.line));
    let mut found = Vec::new();
    for (design, count) in DESIGNS {
        for id in (1..=count).map(|number| format!("{design}-{number:02}")) {
            match lines.remove(id.as_str()).as_deref() {
                None => found.push(Finding::new(PAGE, 1, format!("the requirement {id} is missing"))),
                Some([_, again, ..]) => {
                    found.push(Finding::new(PAGE, *again, format!("the requirement {id} is there twice")));
                }
                Some(_) => {}
            }
        }
    }
    let unknown = lines.iter().flat_map(|(id, lines)| lines.iter().map(move |line| (id, *line)));
    found.extend(
        unknown.map(|(id, line)| Finding::new(PAGE, line, format!("no design has the requirement {id}"))),
    );
    found
}

fn says_too_little(row: &Row<'_>) -> Option<Finding> {
    let marked = || marked(row.shown);
    let sentence = match row.state {
        state if !STATES.contains(&state) => {
            format!("the state {state:?} of {} is none of: {}", row.id, STATES.join(", "))
        }
        "works" | "shape" if !marked().any(is_test) => format!("{} names no test that shows it", row.id),
        "measured" if !marked().any(is_file) => format!("{} names no file that measures it", row.id),
        _ if row.shown.is_empty() => format!("{} does not say why, or what brings it", row.id),
        _ => return None,
    };
    Some(Finding::new(PAGE, row.line, sentence))
}

/// Tests and files that are named and not there.
fn names_nothing(tree: &Tree, page: &str) -> Vec<Finding> {
    let functions = functions(tree);
    let tables = page.lines().enumerate().filter(|(_, line)| line.starts_with('|'));
    let names = tables.flat_map(|(at, line)| marked(line).map(move |name| (at + 1, name)));
    let gone = names.filter(|(_, name)| {
        (is_test(name) && !functions.contains(name)) || (is_file(name) && !tree.has(name))
    });
    gone.map(|(line, name)| Finding::new(PAGE, line, format!("there is no `{name}`"))).collect()
}

fn functions(tree: &Tree) -> HashSet<&str> {
    let sources = tree.texts("rs").chain(tree.texts("py"));
    sources.flat_map(|(_, text)| ["fn ", "def "].into_iter().flat_map(|word| defined(text, word))).collect()
}

/// The names that stand between a word and a bracket.
fn defined<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = &'t str> {
    let after = text.match_indices(word).map(move |(at, _)| &text[at + word.len()..]);
    after.filter_map(|rest| {
        let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric())?;
        rest[end..].starts_with(['(', '<']).then_some(&rest[..end])
    })
}

/// What stands in code marks.
fn marked(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn is_test(name: &str) -> bool {
    let is_name = name.bytes().all(|byte| byte == b'_' || byte.is_ascii_lowercase() || byte.is_ascii_digit());
    is_name && name.split('_').filter(|word| !word.is_empty()).count() >= 3
}

fn is_file(name: &str) -> bool {
    name.contains('/') && name.ends_with(".rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page with every requirement, the first of which is replaced by these lines.
    fn found(first: &str) -> Vec<String> {
        let ids =
            DESIGNS.iter().flat_map(|(design, count)| (1..=*count).map(move |n| format!("{design}-{n:02}")));
        let rest: Vec<String> = ids.skip(1).map(|id| format!("| {id} | x | to come | later |")).collect();
        let page = format!("{first}\n{}\n", rest.join("\n"));
        let tree = Tree::of(&[
            ("blueprints/a.yaml", ""),
            ("docs/seeds.md", &page),
            ("a/b.rs", "#[test]\nfn it_is_so() {}\n"),
            ("c.py", "async def test_it_is(cosmos):\n"),
        ]);
        check(&tree).into_iter().map(|finding| finding.sentence).collect()
    }

    fn check_row(row: &str, expected: &[&str]) {
        assert_eq!(found(row), expected, "{row}");
    }

    #[test]
    fn what_is_shown_by_something_is_in_order() {
        check_row("| S0-01 | x | works | `it_is_so`, `test_it_is` and `/*` or `one_word` |", &[]);
        check_row("| S0-01 | x | shape | `test_it_is`; later |", &[]);
        check_row("| S0-01 | x | measured | `a/b.rs` |", &[]);
        check_row("| S0-01 | x | context | nothing |", &[]);
    }

    #[test]
    fn what_is_named_must_be_there() {
        check_row("| S0-01 | x | works | `it_was_so` |", &["there is no `it_was_so`"]);
        check_row("| S0-01 | x | measured | `a/gone.rs` |", &["there is no `a/gone.rs`"]);
        check_row(
            "| C-01 | decided | `it_was_so` |\n| S0-01 | x | to come | later |",
            &["there is no `it_was_so`"],
        );
    }

    #[test]
    fn a_state_says_what_shows_it() {
        check_row("| S0-01 | x | works | yes |", &["S0-01 names no test that shows it"]);
        check_row("| S0-01 | x | measured | fast |", &["S0-01 names no file that measures it"]);
        check_row("| S0-01 | x | to come | |", &["S0-01 does not say why, or what brings it"]);
        check_row(
            "| S0-01 | x | done | yes |",
            &["the state \"done\" of S0-01 is none of: works, shape, measured, differs, to come, context"],
        );
    }

    #[test]
    fn each_requirement_is_there_once() {
        check_row("", &["the requirement S0-01 is missing"]);
        let twice = "| S0-01 | x | to come | later |\n".repeat(2);
        check_row(&twice, &["the requirement S0-01 is there twice"]);
        let unknown = "| S0-01 | x | to come | later |\n| S0-122 | x | to come | later |";
        check_row(unknown, &["no design has the requirement S0-122"]);
    }

    #[test]
    fn the_page_belongs_to_the_blueprints() {
        assert_eq!(check(&Tree::of(&[("a.rs", "")])), []);
        assert_eq!(check(&Tree::of(&[("blueprints/a.yaml", "")])).len(), 1);
    }
}
