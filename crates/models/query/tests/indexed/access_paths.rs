//! Runs `tests/indexed/cases/*.case`: which way is taken, and what is told of indexes.
//!
//! ```text
//! paths       /id /n /tags/[]           the indexes over single paths, until the next `paths`
//! composites  /k ASC, /n DESC; /a, /b   and over several
//! spatial     /place
//! documents   10000                     how many there are
//! page        100                       rows of a page
//! query       SELECT …                  and what comes of it:
//! way         index /n = 5
//! utilized    /n                        single paths and (composites), with the purpose if it is not to filter
//! potential   (/k ASC, /n DESC) to order
//! ```
//!
//! `n` is a different number in each document, `m` and `k` are one of a hundred and of ten, `half` is a number in
//! half of them, `tags` has two texts, `place` is a point.

use super::collection::{Indexed, Policy, composite, path};
use super::memory::Still;
use orrery_query::access::{CompositeDisplay, IndexOf, IndexUse, PathDisplay, Purpose};
use orrery_query::execute::{Limits, Page, page};
use orrery_query::plan::Rules;
use orrery_query::prepare;
use orrery_testing_golden::{case_files, lines};
use orrery_value::Value;
use std::fs;
use std::path::Path;

#[test]
fn every_access_path_is_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/indexed/cases");
    let (mut checked, mut failures) = (0, Vec::new());
    for file in case_files(&folder, "case") {
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
    assert!(checked >= 60, "only {checked} cases were found");
}

#[derive(Default)]
struct Run {
    policy: Policy,
    count: i64,
    items: usize,
    page: Option<Page>,
    collection: Option<Indexed>,
    checked: usize,
}

impl Run {
    fn line(&mut self, keyword: &str, text: &str) -> Result<(), String> {
        let page = self.page.as_ref().ok_or("no query before this");
        let expect = |found: String| {
            if found == text {
                Ok(())
            } else {
                Err(format!("{keyword}\n    is       {found}\n    expected {text}"))
            }
        };
        match keyword {
            "paths" => self.policy.paths = text.split_whitespace().map(path).collect(),
            "composites" => {
                let composites = text.split("; ").filter(|part| !part.is_empty());
                self.policy.composites = composites.map(composite).collect();
            }
            "spatial" => self.policy.spatial = text.split_whitespace().map(path).collect(),
            "documents" => self.count = text.parse().map_err(|_| "how many?")?,
            "page" => self.items = text.parse().map_err(|_| "how many?")?,
            "query" => return self.query(text),
            "way" => expect(page?.index_usage.access.to_string())?,
            "utilized" => expect(uses(&page?.index_usage.utilized))?,
            "potential" => expect(uses(&page?.index_usage.potential))?,
            other => return Err(format!("what is '{other}'?")),
        }
        match keyword {
            "way" | "utilized" | "potential" => self.checked += 1,
            "documents" => self.collection = None,
            _ => {}
        }
        Ok(())
    }

    fn query(&mut self, text: &str) -> Result<(), String> {
        let collection =
            self.collection.get_or_insert_with(|| Indexed::new((0..self.count).map(document), None));
        collection.set_policy(Some(self.policy.clone()));
        let plan = prepare(text, &[], Rules::On).map_err(|error| error.to_string())?.plan;
        let limits = Limits { items: self.items, bytes: usize::MAX };
        let page = page(&plan, collection, &Still, None, None, limits).map_err(|error| error.to_string())?;
        self.page = Some(page);
        Ok(())
    }
}

fn document(n: i64) -> Value {
    let (m, k) = (n % 100, n / 100 % 10);
    let half = if n % 2 == 0 { format!(r#","half":{n}"#) } else { String::new() };
    let place = format!(r#"{{"type":"Point","coordinates":[{m},{k}]}}"#);
    let text = format!(
        r#"{{"id":"d{n}","n":{n},"m":{m},"k":{k},"s":"s{m}","tags":["t{m}","u{k}"],"place":{place}{half}}}"#
    );
    Value::parse(&text).expect("a document")
}

fn uses(uses: &[IndexUse]) -> String {
    let shown = uses.iter().map(|one| {
        let index = match &one.index {
            IndexOf::Path(path) => PathDisplay(path).to_string(),
            IndexOf::Composite(parts) => format!("({})", CompositeDisplay(parts)),
        };
        match one.purpose {
            Purpose::Filter => index,
            Purpose::Order => format!("{index} to order"),
            Purpose::Shape => format!("{index} as a shape"),
        }
    });
    shown.collect::<Vec<_>>().join("; ")
}
