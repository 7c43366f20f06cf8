//! Runs `cases/definition/*.case`.
//!
//! A case is lines of a keyword and its text, ended by an empty line; a line that starts with a space goes on
//! with the text before it. Steps are `create <json>` and `replace <json>` (of what the step before made), and
//! each is followed by what comes of it: `ok <json>`, the whole definition as shown, members in order;
//! `has <json>`, some of its members; or `error <status> <fragment of the message>`. `#` starts a comment.
//!
//! Every definition must also survive a round trip: parsing its JSON gives the same definition.
//!
//! `BLESS=1 cargo test -p orrery-catalog --test definition_cases` rewrites the text of every `ok`.

use orrery_catalog::definition::{ContainerDefinition, DefinitionError};
use orrery_testing_golden::{Line, case_files, lines};
use serde_json::{Map, Value};
use std::fs;
use std::path::Path;

/// The state after some lines of a file.
struct Run {
    /// The definition that a `replace` starts from.
    current: Option<ContainerDefinition>,
    /// The result of the last step, until an expectation has checked it.
    outcome: Option<Result<ContainerDefinition, DefinitionError>>,
    /// New text for the expectations, by position in the file.
    blessed: Vec<(usize, usize, String)>,
    bless: bool,
    steps: usize,
}

#[test]
fn every_case_holds() {
    let bless = std::env::var_os("BLESS").is_some();
    let (mut steps, mut failures) = (0, Vec::new());
    for file in case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/definition"), "case") {
        let text = fs::read_to_string(&file).expect("a case file is readable");
        let (checked, blessed) = run_file(&file, &text, bless, &mut failures);
        steps += checked;
        if blessed != text {
            fs::write(&file, blessed).expect("a case file is writable");
        }
    }
    assert!(failures.is_empty(), "{} of {steps} steps failed:\n{}", failures.len(), failures.join("\n"));
    assert!(steps >= 60, "only {steps} steps were found; are the case files there?");
}

/// Checks the file's steps; returns their number and the file's text with its expected outputs rewritten.
fn run_file(file: &Path, text: &str, bless: bool, failures: &mut Vec<String>) -> (usize, String) {
    let mut run = Run { current: None, outcome: None, blessed: Vec::new(), bless, steps: 0 };
    for line in lines(text) {
        if let Err(why) = run.line(&line) {
            failures.push(format!("{}:{}: {why}", file.display(), line.from + 1));
        }
    }
    if run.outcome.is_some() {
        failures.push(format!("{}: the last step has no expectation", file.display()));
    }
    let mut shown: Vec<String> = text.lines().map(str::to_owned).collect();
    for (from, to, new) in run.blessed.into_iter().rev() {
        shown.splice(from..to, [new]);
    }
    (run.steps, shown.join("\n") + "\n")
}

impl Run {
    fn line(&mut self, line: &Line) -> Result<(), String> {
        match line.keyword.as_str() {
            "create" => self.step(ContainerDefinition::parse(object(&line.text)?)),
            "replace" => {
                let current = self.current.as_ref().ok_or("there is nothing to replace")?;
                self.step(current.replaced_by(object(&line.text)?))
            }
            "ok" => self.is(line),
            "has" => self.has(&line.text),
            "error" => self.refuses(&line.text),
            other => Err(format!("'{other}' is not a keyword")),
        }
    }

    fn step(&mut self, outcome: Result<ContainerDefinition, DefinitionError>) -> Result<(), String> {
        match self.outcome.replace(outcome) {
            None => Ok(()),
            Some(_) => Err("the step before this one has no expectation".to_owned()),
        }
    }

    fn is(&mut self, line: &Line) -> Result<(), String> {
        let shown = Value::Object(self.made()?).to_string();
        if self.bless {
            self.blessed.push((line.from, line.to, format!("ok      {shown}")));
            return Ok(());
        }
        let expected = Value::Object(object(&line.text)?).to_string();
        if shown == expected { Ok(()) } else { Err(format!("expected {expected}\n  got {shown}")) }
    }

    fn has(&mut self, text: &str) -> Result<(), String> {
        let shown = self.made()?;
        for (name, expected) in object(text)? {
            let got = shown.get(&name).map(Value::to_string).unwrap_or_else(|| "nothing".to_owned());
            let expected = expected.to_string();
            if got != expected {
                return Err(format!("expected {name} {expected}\n  got {got}"));
            }
        }
        Ok(())
    }

    fn refuses(&mut self, text: &str) -> Result<(), String> {
        let (status, fragment) = text.split_once(' ').ok_or("an error is a status and a fragment")?;
        self.steps += 1;
        let error = match self.outcome.take().ok_or("there is no step before this")? {
            Err(error) => error,
            Ok(made) => return Err(format!("expected an error, got {}", Value::Object(made.to_json()))),
        };
        let got = format!("{} {error}", status_of(&error));
        let holds = got.starts_with(status) && got.contains(fragment.trim());
        if holds { Ok(()) } else { Err(format!("expected {text}\n  got {got}")) }
    }

    /// The definition of the step, which must survive a round trip.
    fn made(&mut self) -> Result<Map<String, Value>, String> {
        self.steps += 1;
        let outcome = self.outcome.take().ok_or("there is no step before this")?;
        let made =
            outcome.map_err(|error| format!("expected a definition, got {} {error}", status_of(&error)))?;
        let again = ContainerDefinition::read(made.to_json()).map_err(|error| format!("again: {error}"))?;
        let [shown, shown_again] = [&made, &again].map(|made| Value::Object(made.to_json()).to_string());
        if made != again || shown != shown_again {
            return Err(format!("a round trip changes {shown}\n  into {shown_again}"));
        }
        self.current = Some(made);
        Ok(again.to_json())
    }
}

fn status_of(error: &DefinitionError) -> u16 {
    match error {
        DefinitionError::InvalidName(_) | DefinitionError::Invalid(_) => 400,
        DefinitionError::Forbidden(_) => 403,
    }
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("not a JSON object: {error}"))
}
