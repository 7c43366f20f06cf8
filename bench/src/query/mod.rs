//! Queries that read every item, beside PostgreSQL's sequential scan of the same items.
//!
//! ```text
//!   core 0     the server, then PostgreSQL, then the server …     one of them works, the other waits
//!   core 1     the client: one connection, all pages of an answer
//! ```
//!
//! Both hold the same text in one container and one table, without an index that would help, and all in memory.
//! Before anything is measured their answers are compared, so that both do the same work. A rate is of items
//! looked at, not of rows found.

mod answer;
mod on_orrery;
mod on_postgres;
mod question;
mod set;

pub use question::Question;

use crate::Settings;
use crate::error::Error;
use crate::machine;
use crate::report::{Report, Row};
use crate::rounds::{Run, in_turns};
use crate::sample::Sample;
use crate::subjects::{CACHE_AS_POSTGRES, OTHER_BUILD};
use answer::{Answer, difference};
use on_orrery::OnOrrery;
use on_postgres::OnPostgres;
use orrery_testing_client::{Options, dist_binary};
use std::time::Duration;

const SERVER_CORE: &str = "0";
const CLIENT_CORE: &str = "1";

pub fn run(settings: &Settings, report: &mut Report) -> Result<(), Error> {
    let questions: Vec<Question> =
        Question::ALL.into_iter().filter(|question| settings.wants(question.name())).collect();
    if questions.is_empty() {
        return Ok(());
    }
    let cores = report.machine.cores;
    if cores < 2 {
        report.leave_out("query: this machine has one core, and the client needs one of its own");
        return Ok(());
    }
    machine::pin_self(CLIENT_CORE)?;
    let outcome = ask_all(&questions, settings, report);
    machine::pin_self(&format!("0-{}", cores - 1))?;
    outcome.or_else(|error| {
        report.leave_out(&format!("query: {error}"));
        Ok(())
    })
}

fn ask_all(questions: &[Question], settings: &Settings, report: &mut Report) -> Result<(), Error> {
    let arguments = CACHE_AS_POSTGRES.map(Into::into).to_vec();
    let options = Options { arguments, cores: Some(SERVER_CORE.to_owned()), ..Options::new(dist_binary()?) };
    let mut subjects: Vec<Box<dyn Asked>> =
        vec![Box::new(OnOrrery::start(&settings.folder, "orrery", &options, settings.query_items)?)];
    if let Some(binary) = &settings.beside {
        let options = Options { binary: binary.clone(), ..options };
        subjects.push(Box::new(OnOrrery::start(
            &settings.folder,
            OTHER_BUILD,
            &options,
            settings.query_items,
        )?));
    }
    match OnPostgres::start(&settings.folder, SERVER_CORE, settings.query_items) {
        Ok(postgres) => subjects.push(Box::new(postgres)),
        Err(error) => report.leave_out(&format!("query: {error}")),
    }
    for question in questions {
        let rows = measure(&subjects, *question, settings)?;
        report.add_query(*question, rows);
    }
    Ok(())
}

/// Someone who holds the items and answers questions about them.
trait Asked {
    fn name(&self) -> &'static str;

    /// The whole answer.
    fn answer(&self, question: Question) -> Result<Answer, Error>;

    /// Asks again and again for a while; every answer must have that many rows.
    fn run(&self, question: Question, rows: usize, span: Duration) -> Result<Sample, Error>;
}

fn measure(subjects: &[Box<dyn Asked>], question: Question, settings: &Settings) -> Result<Vec<Row>, Error> {
    let answers = subjects.iter().map(|subject| subject.answer(question)).collect::<Result<Vec<_>, _>>()?;
    if let Some((ours, others)) = answers.split_first()
        && let Some(difference) = others.iter().find_map(|other| difference(ours, other))
    {
        return Err(Error::Unexpected(format!("{}: the answers differ: {difference}", question.name())));
    }
    let rows = answers.first().map_or(0, Vec::len);
    let runs =
        subjects.iter().map(|subject| -> Run<'_> { Box::new(move |span| subject.run(question, rows, span)) });
    let outcomes = in_turns(runs.collect(), settings).into_iter();
    let outcomes = outcomes.map(|outcome| outcome.times(settings.query_items as f64));
    Ok(subjects
        .iter()
        .zip(outcomes)
        .map(|(subject, outcome)| Row { subject: subject.name(), outcome })
        .collect())
}
