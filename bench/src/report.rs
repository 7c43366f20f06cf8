//! The numbers, each beside its target: as they come on the terminal, and as a page at the end.

use crate::Settings;
use crate::cell::{Cell, Operation, Size};
use crate::machine::Machine;
use crate::query::Question;
use crate::sample::{Median, Outcome};
use crate::subjects::postgres_settings;
use orrery_testing_client::dist_binary;
use std::fmt::Write as _;

/// One subject's result of a workload.
#[derive(Clone, Debug)]
pub struct Row {
    pub subject: &'static str,
    pub outcome: Outcome,
}

/// A number we set out to reach.
#[derive(Clone, Debug)]
pub struct Target {
    name: String,
    bound: Bound,
    unit: &'static str,
    measured: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    AtLeast(f64),
    AtMost(f64),
}

impl Target {
    pub fn at_least(name: &str, bound: f64, unit: &'static str) -> Self {
        Self { name: name.to_owned(), bound: Bound::AtLeast(bound), unit, measured: None }
    }

    pub fn at_most(name: &str, bound: f64, unit: &'static str) -> Self {
        Self { name: name.to_owned(), bound: Bound::AtMost(bound), unit, measured: None }
    }

    pub fn measured(self, measured: Option<f64>) -> Self {
        Self { measured, ..self }
    }

    pub fn verdict(&self) -> &'static str {
        match (self.bound, self.measured) {
            (_, None) => "not measured",
            (Bound::AtLeast(bound), Some(found)) if found >= bound => "met",
            (Bound::AtMost(bound), Some(found)) if found <= bound => "met",
            _ => "MISSED",
        }
    }

    fn line(&self) -> String {
        format!("{:54} {:12} {:12} {}", self.name, self.wanted(), self.found(), self.verdict())
    }

    fn wanted(&self) -> String {
        match self.bound {
            Bound::AtLeast(bound) => format!(">= {bound} {}", self.unit),
            Bound::AtMost(bound) => format!("<= {bound} {}", self.unit),
        }
    }

    fn found(&self) -> String {
        self.measured.map_or("-".to_owned(), |found| format!("{found:.2} {}", self.unit))
    }
}

/// What stands above the rows of a workload at the seeds' scale.
#[derive(Clone, Debug)]
pub struct Heading {
    pub name: String,
    pub about: String,
    /// The question in both languages, if it is one.
    pub asked: Vec<String>,
}

pub struct Report {
    pub machine: Machine,
    settings: Settings,
    cells: Vec<(Cell, Vec<Row>)>,
    queries: Vec<(Question, Vec<Row>)>,
    seeds: Vec<(Heading, Vec<Row>)>,
    storage: Vec<(Heading, Vec<Row>)>,
    notes: Vec<(String, String)>,
    left_out: Vec<String>,
    targets: Vec<Target>,
}

impl Report {
    pub fn new(settings: &Settings) -> Self {
        Self {
            machine: Machine::here(),
            settings: settings.clone(),
            cells: Vec::new(),
            queries: Vec::new(),
            seeds: Vec::new(),
            storage: Vec::new(),
            notes: Vec::new(),
            left_out: Vec::new(),
            targets: Vec::new(),
        }
    }

    /// Takes a workload's rows, prints them, and sets those that have a target beside it.
    pub fn add_cell(&mut self, cell: Cell, rows: Vec<Row>) {
        print_rows(&cell.to_string(), &rows);
        self.targets.extend(cell_targets(cell, &rows));
        self.cells.push((cell, rows));
    }

    /// Takes the rows of a query, as [`add_cell`](Self::add_cell) does those of a workload.
    pub fn add_query(&mut self, question: Question, rows: Vec<Row>) {
        print_rows(question.name(), &rows);
        self.targets.extend(query_targets(question, &rows));
        self.queries.push((question, rows));
    }

    /// Takes the rows of a workload at the seeds' scale, and what they were to reach.
    pub fn add_seed(&mut self, heading: Heading, rows: Vec<Row>, targets: Vec<Target>) {
        self.show(&heading, &rows, targets);
        self.seeds.push((heading, rows));
    }

    /// Takes the rows of a workload on tables or queues, and what they were to reach.
    pub fn add_storage(&mut self, heading: Heading, rows: Vec<Row>, targets: Vec<Target>) {
        self.show(&heading, &rows, targets);
        self.storage.push((heading, rows));
    }

    fn show(&mut self, heading: &Heading, rows: &[Row], targets: Vec<Target>) {
        print_rows(&format!("{}: {}", heading.name, heading.about), rows);
        for target in &targets {
            println!("  {}", target.line());
        }
        self.targets.extend(targets);
    }

    /// Adds a sentence to a measurement's section.
    pub fn say(&mut self, section: &str, text: &str) {
        println!("{section}: {text}");
        self.notes.push((section.to_owned(), text.to_owned()));
    }

    /// Says what could not be measured and why.
    pub fn leave_out(&mut self, why: &str) {
        println!("left out: {why}");
        self.left_out.push(why.to_owned());
    }

    pub fn target(&mut self, target: Target) {
        self.targets.push(target);
    }

    pub fn targets_text(&self) -> String {
        self.targets.iter().map(|target| format!("{}\n", target.line())).collect()
    }

    /// The page that `--write` leaves.
    pub fn markdown(&self) -> String {
        let mut page = String::from("# Results of the benchmark\n\n");
        page.push_str(&self.preamble());
        page.push_str("\n## Targets\n\n| what | wanted | measured | |\n|---|---|---|---|\n");
        for target in &self.targets {
            let (wanted, found, verdict) = (target.wanted(), target.found(), target.verdict());
            let _ = writeln!(page, "| {} | {wanted} | {found} | {verdict} |", target.name);
        }
        page.push_str("\n## Workloads\n\nRates are operations a second, the median of the rounds with the slowest and fastest; times are of the median round. The ratio is the server's rate to the row's.\n");
        for (cell, rows) in &self.cells {
            page.push_str(&table(&cell.to_string(), rows));
        }
        if !self.queries.is_empty() {
            page.push_str(&self.queries_text());
        }
        if !self.seeds.is_empty() {
            page.push_str(&self.seeds_text());
        }
        if !self.storage.is_empty() {
            page.push_str("\n## Tables and queues\n\n");
            page.push_str(crate::storage::ABOUT);
            page.push('\n');
            for (Heading { name, about, .. }, rows) in &self.storage {
                page.push_str(&table(&format!("{name}: {about}"), rows));
            }
        }
        page.push_str("\n## One number each\n\n");
        for (section, text) in &self.notes {
            let _ = writeln!(page, "- {section}: {text}");
        }
        if !self.left_out.is_empty() {
            page.push_str("\n## Left out\n\n");
            self.left_out.iter().for_each(|why| page.push_str(&format!("- {why}\n")));
        }
        page
    }

    fn queries_text(&self) -> String {
        let mut text = format!(
            "\n## Queries\n\nEach looks at all {} items of 1 KB, without an index that would help. Rates are items \
             looked at a second; times are of a whole answer. Both subjects run on one core, one at a time, and the \
             client on another; PostgreSQL has the items as `jsonb` in shared buffers, and no parallel workers.\n",
            self.settings.query_items
        );
        for (question, rows) in &self.queries {
            text.push_str(&table(question.name(), rows));
            let _ = write!(text, "\n    {}\n    {}\n", question.cosmos(), question.postgres());
        }
        text
    }

    fn seeds_text(&self) -> String {
        let mut text = String::from(
            "\n## At the seeds' scale\n\nThe server and PostgreSQL hold the same items, with the indexing policy of the seed \
             and with the indexes that the statement needs, and gave the same answers before they were measured. The server \
             sends whole items as JSON, and so does PostgreSQL (`doc::text`). One connection unless said otherwise; client, server \
             and PostgreSQL share all cores.\n",
        );
        for (Heading { name, about, asked }, rows) in &self.seeds {
            text.push_str(&table(&format!("{name}: {about}"), rows));
            if !asked.is_empty() {
                text.push('\n');
            }
            asked.iter().for_each(|question| text.push_str(&format!("    {question}\n")));
        }
        text
    }

    fn preamble(&self) -> String {
        let Settings { rounds, warm_up, span, quick, .. } = &self.settings;
        let flags = if *quick { " --quick" } else { "" };
        let server = dist_binary().map_or("none".to_owned(), |binary| within_the_project(&binary));
        let only = self.settings.only.as_ref().map_or(String::new(), |only| format!(" --only {only}"));
        format!(
            "Made by `cargo run --profile dist -p orrery-bench --{flags}{only} --write`.\n\n\
             - {}\n\
             - {rounds} rounds of {span:?} per workload and subject, interleaved, after {warm_up:?} of warm-up\n\
             - one client thread on the same machine; requests built and signed ahead; every status checked\n\
             - items: 9 members of which one is long text; sets of {} (1 KB) and {} (50 KB) items, 4096 partitions\n\
             - server: {server}, `--durability synced`, defaults otherwise; data in {}\n\
             - PostgreSQL: {}; unix socket, prepared statements, a connection per worker\n\
             - engine: item row, partition row and log entry, for an indexed item its place and entries too, synced commits; \"threads\": one thread per connection and a \
             committer; \"groups\": one thread that commits groups of that many\n",
            self.machine,
            Size::Kb1.set_items(),
            Size::Kb50.set_items(),
            self.settings.folder.display(),
            postgres_settings(),
        )
    }
}

/// A subject's rate.
pub fn rate(rows: &[Row], subject: &str) -> Option<f64> {
    rows.iter().find(|row| row.subject == subject)?.outcome.rate()
}

/// What 95 of 100 of a subject's operations stayed below.
pub fn p95_millis(rows: &[Row], subject: &str) -> Option<f64> {
    rows.iter().find(|row| row.subject == subject)?.outcome.p95_millis()
}

/// The server's rate as a part of another subject's.
pub fn part_of(rows: &[Row], subject: &str) -> Option<f64> {
    Some(rate(rows, "orrery")? / rate(rows, subject)?)
}

fn cell_targets(cell: Cell, rows: &[Row]) -> Vec<Target> {
    if cell.connections != 64 {
        return Vec::new();
    }
    let target = |name: &str, bound: f64, subject: &str| {
        Target::at_least(name, bound, "x").measured(part_of(rows, subject))
    };
    match (cell.operation, cell.size) {
        (Operation::Read, Size::Kb1) => vec![target("point read 1 KB, of bare hyper", 0.5, "bare hyper")],
        (Operation::Read, Size::Kb50) => vec![target("point read 50 KB, of bare hyper", 0.6, "bare hyper")],
        (Operation::Create, Size::Kb1) => vec![
            target("durable create 1 KB, of the engine", 0.6, "engine, threads"),
            target("durable create 1 KB, of PostgreSQL", 1.0, "PostgreSQL"),
        ],
        _ => Vec::new(),
    }
}

fn query_targets(question: Question, rows: &[Row]) -> Vec<Target> {
    let target = |name: &str| Target::at_least(name, 1.0, "x").measured(part_of(rows, "PostgreSQL"));
    match question {
        Question::Filter => vec![target("filter scan of 1 KB items, of PostgreSQL's on one core")],
        _ => Vec::new(),
    }
}

fn print_rows(title: &str, rows: &[Row]) {
    println!("{title}");
    for row in rows {
        println!("  {:16} {}", row.subject, plain(&row.outcome));
    }
}

fn plain(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Failed(why) => format!("FAILED: {why}"),
        Outcome::Measured(Median { rate, rate_min, rate_max, micros_p50, micros_p95, micros_p99 }) => {
            format!(
                "{rate:9.0}/s  ({rate_min:.0} to {rate_max:.0})  p50 {micros_p50} µs  p95 {micros_p95} µs  p99 {micros_p99} µs"
            )
        }
    }
}

fn table(title: &str, rows: &[Row]) -> String {
    let mut table =
        format!("\n### {title}\n\n| subject | rate | from .. to | p50 µs | p95 µs | p99 µs | ratio |\n");
    table.push_str("|---|--:|--:|--:|--:|--:|--:|\n");
    for row in rows {
        let ratio = part_of(rows, row.subject).map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
        let line = match &row.outcome {
            Outcome::Failed(why) => format!("| {} | FAILED: {why} | | | | | |\n", row.subject),
            Outcome::Measured(Median { rate, rate_min, rate_max, micros_p50, micros_p95, micros_p99 }) => {
                format!(
                    "| {} | {rate:.0} | {rate_min:.0} .. {rate_max:.0} | {micros_p50} | {micros_p95} | {micros_p99} | {ratio} |\n",
                    row.subject
                )
            }
        };
        table.push_str(&line);
    }
    table
}

/// A path as the project sees it: pages that are kept name no folder of one machine.
fn within_the_project(binary: &std::path::Path) -> String {
    let shown = binary.display().to_string();
    shown.find("target/").map_or(shown.clone(), |at| shown[at..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(subject: &'static str, rate: f64) -> Row {
        let median = Median {
            rate,
            rate_min: rate,
            rate_max: rate,
            micros_p50: 1,
            micros_p95: 1500,
            micros_p99: 2000,
        };
        Row { subject, outcome: Outcome::Measured(median) }
    }

    fn verdicts(rows: &[Row]) -> Vec<&'static str> {
        let cell = Cell::new(Operation::Create, Size::Kb1, 64);
        cell_targets(cell, rows).iter().map(Target::verdict).collect()
    }

    #[test]
    fn a_target_is_met_at_its_bound_and_missed_below() {
        let rows = |orrery| [row("orrery", orrery), row("engine, threads", 100.0), row("PostgreSQL", 60.0)];
        assert_eq!(verdicts(&rows(60.0)), ["met", "met"]);
        assert_eq!(verdicts(&rows(59.0)), ["MISSED", "MISSED"]);
        assert_eq!(Target::at_most("start", 200.0, "ms").measured(Some(201.0)).verdict(), "MISSED");
        assert_eq!(Target::at_most("start", 200.0, "ms").measured(Some(200.0)).verdict(), "met");
    }

    #[test]
    fn what_failed_or_is_missing_is_not_measured() {
        let failed = Row { subject: "orrery", outcome: Outcome::Failed("1 errors".to_owned()) };
        assert_eq!(verdicts(&[failed, row("engine, threads", 1.0)]), ["not measured", "not measured"]);
    }

    #[test]
    fn a_table_has_as_many_cells_in_every_line_as_in_its_head() {
        let failed = Row { subject: "PostgreSQL", outcome: Outcome::Failed("1 errors".to_owned()) };
        let table = table("seeds-dispatch", &[row("orrery", 10.0), failed]);
        let cells: Vec<usize> = table
            .lines()
            .filter(|line| line.starts_with('|'))
            .map(|line| line.matches('|').count())
            .collect();
        assert_eq!(cells, [8; 4], "{table}");
    }

    #[test]
    fn a_p95_is_in_milliseconds_and_of_the_subject_asked_for() {
        assert_eq!(p95_millis(&[row("PostgreSQL", 1.0)], "PostgreSQL"), Some(1.5));
        assert_eq!(p95_millis(&[row("PostgreSQL", 1.0)], "orrery"), None);
    }
}
