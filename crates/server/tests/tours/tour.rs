//! A tour's table of steps, and the same steps in a server's log.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// The heading above the table.
const TABLE: &str = "## The files";
/// The aim of each tour: more is too much to read for one request.
const FILES_MAX: usize = 25;

/// A function, and the file it is in, as a path from the root of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    function: String,
    file: String,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` in {}", self.function, self.file)
    }
}

impl Step {
    /// Of a line such as `2026-11-15T06:00:00.000Z TRACE locate in crates/api/cosmos/src/route.rs`.
    fn logged(line: &str) -> Option<Self> {
        let (_, step) = line.split_once(" TRACE ")?;
        let (function, file) = step.trim().split_once(" in ")?;
        Some(Self { function: function.to_owned(), file: file.to_owned() })
    }
}

/// The steps in a log, oldest first.
pub fn logged(log: &str) -> Vec<Step> {
    log.lines().filter_map(Step::logged).collect()
}

pub struct Tour {
    name: &'static str,
    /// In the order of the table; a file that only holds types has none.
    steps: Vec<Step>,
    files: BTreeSet<String>,
}

impl Tour {
    /// The tour in `docs/tour/life-of-a-<name>.md`.
    pub fn read(name: &'static str) -> Self {
        let text = std::fs::read_to_string(root().join(format!("docs/tour/life-of-a-{name}.md"))).unwrap();
        let (_, table) = text.split_once(TABLE).expect("a tour has a table of its files");
        let rows = table.lines().filter(|line| line.starts_with("| [")).map(row);
        let mut tour = Self { name, steps: Vec::new(), files: BTreeSet::new() };
        for (file, functions) in rows {
            tour.steps.extend(functions.into_iter().map(|function| Step { function, file: file.clone() }));
            tour.files.insert(file);
        }
        tour
    }

    pub fn all() -> [Self; 3] {
        ["write", "query", "notification"].map(Self::read)
    }

    pub fn assert_short(&self) {
        assert!(!self.files.is_empty(), "the table of {} has no rows", self.name);
        assert!(self.files.len() <= FILES_MAX, "{} goes through {} files", self.name, self.files.len());
    }

    /// Other steps may come between: some are taken several times, and a server also works for itself.
    pub fn assert_walked(&self, taken: &[Step]) {
        let mut ahead = taken.iter();
        for step in &self.steps {
            let is_taken = ahead.any(|taken| taken == step);
            assert!(is_taken, "{}: {step} is not taken in its place; these are:\n{}", self.name, list(taken));
        }
    }
}

/// The file of a row and its functions: `` | [queue.rs](../../crates/…/queue.rs) | `Queue::push` | … | ``.
fn row(line: &str) -> (String, Vec<String>) {
    let (_, link) = line.split_once("](../../").expect("the first cell links a file");
    let (file, rest) = link.split_once(')').expect("a link ends");
    let functions = rest.split('|').nth(1).expect("the second cell has the functions");
    let functions = functions.split('`').skip(1).step_by(2);
    let own_name = |path: &str| path.rsplit("::").next().unwrap_or(path).to_owned();
    (file.to_owned(), functions.map(own_name).collect())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn list(steps: &[Step]) -> String {
    steps.iter().map(|step| format!("  {step}\n")).collect()
}

/// Each of these is in a tour.
pub fn assert_told(taken: &[Step]) {
    let told: BTreeSet<Step> = Tour::all().into_iter().flat_map(|tour| tour.steps).collect();
    let untold: BTreeSet<Step> = taken.iter().filter(|step| !told.contains(step)).cloned().collect();
    assert!(untold.is_empty(), "marked as steps of a tour, and in none:\n{}", list(&Vec::from_iter(untold)));
}
