//! Runs `cases/parse/*.tree`.
//!
//! A case is a line `query <sql>` or, for an expression alone, `expr <sql>`, followed by what comes of it:
//! `tree <S-expression>` (see `common/tree.rs`) or `error <code> at <start>..<end> <message>`, where the place
//! is bytes of the text given. A line that starts with a space goes on with the text before it, and `⏎` in a
//! query is a line break; `#` starts a comment.
//!
//! Every tree must also survive being printed: what it prints as reads back as the same tree.
//!
//! `BLESS=1 cargo test -p orrery-query --test parse_cases` rewrites every `tree` and `error`.

#[path = "common/tree.rs"]
mod tree;

use orrery_query::Complaint;
use orrery_query::parse::{Query, Select, parse, print};
use orrery_testing_golden::{Line, case_files, lines};
use std::fs;
use std::path::Path;

/// What stands before an expression to make it a query.
const BEFORE: &str = "SELECT VALUE ";

#[test]
fn every_case_holds() {
    let bless = std::env::var_os("BLESS").is_some();
    let (mut cases, mut failures) = (0, Vec::new());
    for file in case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/parse"), "tree") {
        let text = fs::read_to_string(&file).expect("a case file is readable");
        let (checked, blessed) = run_file(&file, &text, bless, &mut failures);
        cases += checked;
        if bless && blessed != text {
            fs::write(&file, blessed).expect("a case file is writable");
        }
    }
    assert!(failures.is_empty(), "{} of {cases} cases failed:\n{}", failures.len(), failures.join("\n"));
    assert!(cases >= 150, "only {cases} cases were found; are the case files there?");
}

/// Checks the file's cases; gives their number and the file's text with its expected outcomes rewritten.
fn run_file(file: &Path, text: &str, bless: bool, failures: &mut Vec<String>) -> (usize, String) {
    let mut shown: Vec<String> = text.lines().map(str::to_owned).collect();
    let lines = lines(text);
    let mut cases = 0;
    // From the end, so that a rewritten case does not move those that are still to come.
    for at in (0..lines.len()).rev() {
        let input = &lines[at];
        if !matches!(input.keyword.as_str(), "query" | "expr") {
            continue;
        }
        cases += 1;
        let fail = |why: String| format!("{}:{}: {why}", file.display(), input.from + 1);
        let expected = lines.get(at + 1).filter(|line| matches!(line.keyword.as_str(), "tree" | "error"));
        match (outcome(input), expected) {
            (Err(why), _) => failures.push(fail(why)),
            (Ok(got), Some(line)) if bless => drop(shown.splice(line.from..line.to, [got])),
            (Ok(got), None) if bless => shown.insert(input.to, got),
            (Ok(_), None) => failures.push(fail("it has no expectation".to_owned())),
            (Ok(got), Some(line)) => {
                let expected = format!("{:<7} {}", line.keyword, line.text);
                if got != expected {
                    failures.push(fail(format!("expected {expected}\n  got      {got}")));
                }
            }
        }
    }
    let known = ["query", "expr", "tree", "error"];
    let unknown = lines.iter().filter(|line| !known.contains(&line.keyword.as_str()));
    failures.extend(unknown.map(|line| format!("{}:{}: '{}'", file.display(), line.from + 1, line.keyword)));
    (cases, shown.join("\n") + "\n")
}

/// The line that a case has to be followed by.
fn outcome(input: &Line) -> Result<String, String> {
    let text = input.text.replace('⏎', "\n");
    if input.keyword == "query" {
        return match parse(&text) {
            Ok(query) => Ok(format!("tree    {}", survived(&query)?)),
            Err(complaint) => Ok(failed(&complaint, 0)),
        };
    }
    match parse(&format!("{BEFORE}{text}")) {
        Ok(query) => {
            survived(&query)?;
            match &query {
                Query { select: Select::Value(value), .. } => Ok(format!("tree    {}", tree::expr(value))),
                _ => Err("it is more than an expression".to_owned()),
            }
        }
        Err(complaint) => Ok(failed(&complaint, BEFORE.len())),
    }
}

fn failed(complaint: &Complaint, before: usize) -> String {
    let (start, end) = (complaint.at.start as usize - before, complaint.at.end as usize - before);
    format!("error   {} at {start}..{end} {}", complaint.code, complaint.message)
}

/// The tree, which must be the same after a round trip.
fn survived(query: &Query) -> Result<String, String> {
    let (shown, printed) = (tree::show(query), print(query));
    let again = parse(&printed).map_err(|complaint| format!("{complaint} in its print {printed}"))?;
    let shown_again = tree::show(&again);
    if shown != shown_again || printed != print(&again) || printed.contains('\n') {
        return Err(format!("{shown}\n  prints as {printed}\n  and that reads as {shown_again}"));
    }
    Ok(shown)
}
