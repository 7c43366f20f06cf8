//! Runs `cases/**/*.case`.
//!
//! A case is lines of a keyword and its text; a line that starts with a space goes on with the text before
//! it, `#` starts a comment.
//!
//! ```text
//! docs   {"id":"a"} {"id":"b"}      the collection, until the next `docs`
//! param  @name 5                    for the next query; without a value it is undefined
//! query  SELECT VALUE c.id FROM c   and what comes of it (`⏎` is a line break):
//! plan   Project c.id ─ Scan c
//! rows   "a" "b"                    in order
//! error  SC1001 part of the message
//! is     1 + 1 => 2                 an expression without documents
//! bad    1 + => SC1001 near
//! ```
//!
//! Every query runs with the rules on and off, and with pages of one row, of three, and whole: the rows must
//! be the same. The clock stands at 2024-05-06T07:08:09.123Z.

#[path = "support/memory.rs"]
mod memory;

use memory::{Memory, answer};
use orrery_query::plan::Rules;
use orrery_query::{QueryError, prepare};
use orrery_testing_golden::{case_files, lines};
use orrery_value::{Value, raw};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_case_holds() {
    let (mut checked, mut failures) = (0, Vec::new());
    for file in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")) {
        let text = fs::read_to_string(&file).expect("a case file is readable");
        let mut run = Run::default();
        for line in lines(&text) {
            if let Err(why) = run.line(&line.keyword, &line.text) {
                failures.push(format!("{}:{}: {why}", file.display(), line.from + 1));
            }
        }
        checked += run.checked;
    }
    assert!(failures.is_empty(), "{} of {checked} failed:\n{}", failures.len(), failures.join("\n"));
    assert!(checked >= 1000, "only {checked} cases were found");
}

/// The cases of a folder and of those inside it, but for the one that has a runner of its own.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of cases is there");
    let mut folders: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry is readable").path()).collect();
    folders.retain(|path| path.is_dir() && !path.ends_with("distributed"));
    folders.sort();
    case_files(folder, "case").into_iter().chain(folders.iter().flat_map(|folder| files(folder))).collect()
}

#[derive(Default)]
struct Run {
    documents: Vec<Value>,
    parameters: Vec<(String, Value)>,
    query: Option<(String, Vec<(String, Value)>)>,
    checked: usize,
}

impl Run {
    fn line(&mut self, keyword: &str, text: &str) -> Result<(), String> {
        match keyword {
            "docs" => self.documents = values(text)?,
            "param" => {
                let (name, value) = text.split_once(' ').unwrap_or((text, ""));
                let value = values(value)?.pop().unwrap_or_default();
                self.parameters.push((name.to_owned(), value));
            }
            "query" => self.query = Some((text.replace('⏎', "\n"), std::mem::take(&mut self.parameters))),
            "rows" => {
                let (query, parameters) = self.query.clone().ok_or("no query before these rows")?;
                self.rows(&query, &parameters, &values(text)?)?;
            }
            "plan" => {
                let (query, parameters) = self.query.clone().ok_or("no query before this plan")?;
                let plan = prepare(&query, &parameters, Rules::On).map_err(|error| error.to_string())?.plan;
                equal("plan", &plan.to_string(), text)?;
            }
            "error" => {
                let (query, parameters) = self.query.clone().ok_or("no query before this error")?;
                self.refused(&query, &parameters, text)?;
            }
            "is" => {
                let (expression, expected) = text.rsplit_once("=>").ok_or("no => in it")?;
                let expected = if expected.trim() == "undefined" { vec![] } else { values(expected)? };
                self.documents.clear();
                let parameters = std::mem::take(&mut self.parameters);
                self.rows(&format!("SELECT VALUE {}", expression.trim()), &parameters, &expected)?;
            }
            "bad" => {
                let (expression, expected) = text.rsplit_once("=>").ok_or("no => in it")?;
                let parameters = std::mem::take(&mut self.parameters);
                self.refused(&format!("SELECT VALUE {}", expression.trim()), &parameters, expected.trim())?;
            }
            other => return Err(format!("what is '{other}'?")),
        }
        Ok(())
    }

    fn rows(
        &mut self,
        query: &str,
        parameters: &[(String, Value)],
        expected: &[Value],
    ) -> Result<(), String> {
        self.checked += 1;
        let collection = Memory::new(&self.documents);
        for rules in [Rules::On, Rules::Off] {
            let plan = prepare(query, parameters, rules).map_err(|error| format!("{query}: {error}"))?.plan;
            for items in [usize::MAX, 3, 1] {
                let rows = answer(&plan, &collection, items).map_err(|error| format!("{query}: {error}"))?;
                let what = format!("{query} (rules {rules:?}, pages of {items})");
                equal(&what, &show(&rows), &show(expected))
                    .or_else(|why| if rows == expected { Ok(()) } else { Err(why) })?;
            }
        }
        Ok(())
    }

    fn refused(&mut self, query: &str, parameters: &[(String, Value)], expected: &str) -> Result<(), String> {
        self.checked += 1;
        let (code, fragment) = expected.split_once(' ').unwrap_or((expected, ""));
        let collection = Memory::new(&self.documents);
        let outcome = prepare(query, parameters, Rules::On)
            .and_then(|prepared| answer(&prepared.plan, &collection, usize::MAX));
        let error = match outcome {
            Ok(rows) => return Err(format!("{query} was not refused but gave {}", show(&rows))),
            Err(error) => error,
        };
        let found = match &error {
            QueryError::Text(complaint) => complaint.code,
            QueryError::Refused(_) => "REFUSED",
            QueryError::TooLong(_) => "TOOLONG",
            QueryError::Busy(_) => "BUSY",
            QueryError::Storage(_) => "STORAGE",
        };
        if found == code && error.to_string().contains(fragment) {
            return Ok(());
        }
        Err(format!("{query} was refused with {found} {error}"))
    }
}

fn show(rows: &[Value]) -> String {
    rows.iter().map(Value::to_json).collect::<Vec<_>>().join(" ")
}

fn equal(what: &str, found: &str, expected: &str) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what}\n    gave     {found}\n    expected {expected}"))
    }
}

/// JSON values separated by white space.
fn values(text: &str) -> Result<Vec<Value>, String> {
    let mut values = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let wrapped = format!("[{rest}]");
        let first = raw::elements(&wrapped).next().map_or(0, str::len);
        let value = Value::parse(&rest[..first]).map_err(|error| format!("'{rest}' is no JSON: {error}"))?;
        values.push(value);
        rest = rest[first..].trim_start();
    }
    Ok(values)
}
