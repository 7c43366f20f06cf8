//! Runs `cases/schema/*.case`.
//!
//! `schema <json>` sets one schema for the items that follow, `schemas <json>` several told apart by a member, and
//! `refused <fragment>` after either says that it is not taken and why. `item <json>` is followed by what is said of it:
//! `ok`, or one `wrong <pointer> <reason>` for each violation in order, where the pointer `-` is the item as a whole and the
//! reason is a beginning; `more <count>` stands for those that are not told.

use crate::support::schemas_of;
use orrery_catalog::schema::{Schemas, Violations};
use orrery_testing_golden::{Line, case_files, lines};
use std::fs;
use std::path::Path;
use std::sync::Arc;

#[derive(Default)]
struct Run {
    schemas: Option<Result<Arc<Schemas>, String>>,
    /// The violations of the last item, and how many have been checked.
    said: Option<(Violations, usize)>,
    steps: usize,
}

#[test]
fn every_case_holds() {
    let (mut steps, mut failures) = (0, Vec::new());
    for file in case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/schema"), "case") {
        let text = fs::read_to_string(&file).expect("a case file is readable");
        let mut run = Run::default();
        for line in lines(&text) {
            if let Err(why) = run.line(&line) {
                failures.push(format!("{}:{}: {why}", file.display(), line.from + 1));
            }
        }
        if let Err(why) = run.settled() {
            failures.push(format!("{}: at the end: {why}", file.display()));
        }
        steps += run.steps;
    }
    assert!(failures.is_empty(), "{} of {steps} steps failed:\n{}", failures.len(), failures.join("\n"));
    assert!(steps >= 100, "only {steps} steps were found; are the case files there?");
}

impl Run {
    fn line(&mut self, Line { keyword, text, .. }: &Line) -> Result<(), String> {
        match keyword.as_str() {
            "schema" | "schemas" => {
                self.settled()?;
                let body = format!(r#"{{"validation":"enforce","{keyword}":{text}}}"#);
                self.schemas = Some(schemas_of(&body));
            }
            "refused" => {
                self.steps += 1;
                let said = match self.schemas.take() {
                    Some(Err(said)) => said,
                    _ => return Err("the schema was taken".to_owned()),
                };
                if !said.contains(text.as_str()) {
                    return Err(format!("refused with: {said}"));
                }
            }
            "item" => {
                self.settled()?;
                let schemas = match &self.schemas {
                    Some(Ok(schemas)) => schemas,
                    Some(Err(why)) => return Err(why.clone()),
                    None => return Err("there is no schema".to_owned()),
                };
                self.steps += 1;
                self.said = Some((schemas.check(text), 0));
            }
            "ok" => match self.said.take() {
                Some((said, _)) if said.is_empty() => {}
                Some((said, _)) => return Err(format!("said: {said}")),
                None => return Err("there is no item".to_owned()),
            },
            "wrong" => {
                let Some((said, seen)) = &mut self.said else { return Err("there is no item".to_owned()) };
                let Some(violation) = said.first.get(*seen) else { return Err(format!("only said: {said}")) };
                *seen += 1;
                let (pointer, reason) = text.split_once(' ').unwrap_or((text, ""));
                let pointer = if pointer == "-" { "" } else { pointer };
                if violation.pointer != pointer || !violation.reason.starts_with(reason.trim()) {
                    return Err(format!("said: {violation}"));
                }
            }
            "more" => {
                let Some((said, seen)) = &mut self.said else { return Err("there is no item".to_owned()) };
                let more = said.count - said.first.len() as u64;
                *seen = said.count as usize;
                if more.to_string() != *text {
                    return Err(format!("there are {more} more"));
                }
            }
            other => return Err(format!("unknown keyword '{other}'")),
        }
        Ok(())
    }

    /// Every violation has been checked.
    fn settled(&mut self) -> Result<(), String> {
        if let Some(Err(why)) = &self.schemas {
            return Err(format!("the schema is not taken: {why}"));
        }
        match self.said.take() {
            Some((said, 0)) => Err(format!("nothing is expected of: {said}")),
            Some((said, seen)) if seen as u64 != said.count => Err(format!("also said: {said}")),
            _ => Ok(()),
        }
    }
}
