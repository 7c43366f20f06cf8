//! What a get costs when many messages wait: of a thousand, of a hundred thousand, of a million, half of them invisible.
//!
//! One connection gets a message, and only that is timed; then it is deleted and another put, so that the backlog stays as
//! long, and what was removed lies before what waits. The server is filled without syncing and started anew.

use super::Subject as _;
use super::azurite;
use super::courier::gets;
use super::on_http::OnHttp;
use super::on_postgres::OnPostgres;
use crate::Settings;
use crate::error::Error;
use crate::machine::settle;
use crate::report::{Heading, Report, Row, Target};
use crate::rounds::{Run, in_turns};
use crate::sample::{Outcome, Sample};
use crate::subjects::OTHER_BUILD;
use orrery_testing_client::dist_binary;
use std::path::Path;
use std::time::{Duration, Instant};

const NAME: &str = "queue-backlog";
const OF_SMALLEST: f64 = 1.3;
/// For how long every second message is invisible.
const INVISIBLE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long one of Azurite's queues may take to be filled.
const AZURITE_FILL_SECONDS_MAX: f64 = 120.0;

/// A queue and how many messages wait in it.
#[derive(Clone, Copy, Debug)]
struct Backlog {
    name: &'static str,
    queue: &'static str,
    messages: u64,
}

/// Someone with queues of these lengths.
enum Subject {
    Http(OnHttp),
    Postgres(OnPostgres),
}

impl Subject {
    fn name(&self) -> &'static str {
        match self {
            Self::Http(subject) => subject.name(),
            Self::Postgres(subject) => subject.name(),
        }
    }

    fn run(&self, backlog: Backlog, span: Duration) -> Result<Sample, Error> {
        match self {
            Self::Http(subject) => subject
                .runtime()
                .block_on(async { Ok(gets(&mut subject.courier(backlog.queue).await?, span).await) }),
            Self::Postgres(subject) => subject
                .postgres()
                .runtime()
                .block_on(async { Ok(gets(&mut subject.courier(backlog.queue).await?, span).await) }),
        }
    }

    fn settle(&self) -> Result<(), Error> {
        match self {
            Self::Http(subject) => subject.processes().into_iter().try_for_each(settle),
            Self::Postgres(subject) => settle(subject.postgres().process_id()),
        }
    }
}

/// Somebody, and how many of the queues are filled.
type Filled = (Subject, usize);

pub fn run(settings: &Settings, report: &mut Report) -> Result<(), Error> {
    if !settings.wants(NAME) {
        return Ok(());
    }
    let backlogs = backlogs(settings.tenth());
    let filled = start(settings, &backlogs, report);
    filled.iter().try_for_each(|(subject, _)| subject.settle())?;
    // All lengths in turn, as it is these that are compared.
    let of_length = |at: usize| filled.iter().filter(move |(_, lengths)| at < *lengths);
    let pairs: Vec<(usize, &Subject)> =
        (0..backlogs.len()).flat_map(|at| of_length(at).map(move |(subject, _)| (at, subject))).collect();
    let runs = pairs.iter().map(|&(at, subject)| -> Run<'_> {
        let backlog = backlogs[at];
        Box::new(move |span| subject.run(backlog, span))
    });
    let outcomes = in_turns(runs.collect(), settings);
    let mut smallest = None;
    for (at, backlog) in backlogs.into_iter().enumerate() {
        let of_this = pairs.iter().zip(&outcomes).filter(|((of, _), _)| *of == at);
        let row = |((_, subject), outcome): (&(usize, &Subject), &Outcome)| Row {
            subject: subject.name(),
            outcome: outcome.clone(),
        };
        let rows: Vec<Row> = of_this.map(row).collect();
        let targets = targets(backlog, &rows, &mut smallest);
        let about = format!("a get of {} messages, half of them invisible, 1 connection", backlog.messages);
        let heading = Heading { name: backlog.name.to_owned(), about, asked: Vec::new() };
        report.add_storage(heading, rows, targets);
    }
    Ok(())
}

/// The server's gets, the middle one, beside that of the shortest queue, which comes first.
fn targets(backlog: Backlog, rows: &[Row], smallest: &mut Option<f64>) -> Vec<Target> {
    let orrery = rows.iter().find(|row| row.subject == "orrery");
    let took = orrery.and_then(|row| row.outcome.micros_p50());
    let Some(smallest) = smallest else {
        *smallest = took;
        return Vec::new();
    };
    let name = format!("get of {} messages, of the shortest queue's", backlog.messages);
    let times = took.map(|took| took / smallest.max(1.0));
    vec![Target::at_most(&name, OF_SMALLEST, "x").measured(times)]
}

fn backlogs(tenth: u64) -> [Backlog; 3] {
    let of = |name, queue, messages| Backlog { name, queue, messages };
    [
        of("queue-backlog-1k", "backlog1k", 1_000),
        of("queue-backlog-100k", "backlog100k", 100_000 / tenth),
        of("queue-backlog-1m", "backlog1m", 1_000_000 / tenth),
    ]
}

fn start(settings: &Settings, backlogs: &[Backlog], report: &mut Report) -> Vec<Filled> {
    let folder = &settings.folder;
    let mut started: Vec<(&str, Result<Filled, Error>)> = Vec::new();
    let ours = dist_binary().map_err(Error::from);
    started.push(("orrery", ours.and_then(|binary| orrery("orrery", folder, &binary, backlogs))));
    if let Some(binary) = &settings.beside {
        started.push((OTHER_BUILD, orrery(OTHER_BUILD, folder, binary, backlogs)));
    }
    started.push(("Azurite", azurite(folder, backlogs, report)));
    started.push(("PostgreSQL", postgres(folder, backlogs)));
    let mut filled = Vec::new();
    for (name, subject) in started {
        match subject {
            Ok(subject) => filled.push(subject),
            Err(error) => report.leave_out(&format!("{NAME}, {name}: {error}")),
        }
    }
    filled
}

fn orrery(name: &'static str, folder: &Path, binary: &Path, backlogs: &[Backlog]) -> Result<Filled, Error> {
    let relaxed = OnHttp::relaxed_orrery(name, folder, binary)?;
    backlogs.iter().try_for_each(|backlog| fill_http(&relaxed, *backlog))?;
    Ok((Subject::Http(relaxed.synced()?), backlogs.len()))
}

fn postgres(folder: &Path, backlogs: &[Backlog]) -> Result<Filled, Error> {
    let postgres = OnPostgres::empty(folder)?;
    for Backlog { queue, messages, .. } in backlogs {
        postgres.create_queue(queue)?;
        postgres.put_all(queue, *messages, Some(INVISIBLE))?;
    }
    Ok((Subject::Postgres(postgres), backlogs.len()))
}

/// The queues that can be filled in a while, judged by how long the one before took.
fn azurite(folder: &Path, backlogs: &[Backlog], report: &mut Report) -> Result<Filled, Error> {
    let azurite = azurite::start(folder)?;
    let (mut filled, mut seconds_each) = (0, 0.0);
    for backlog in backlogs {
        let expected = backlog.messages as f64 * seconds_each;
        if expected > AZURITE_FILL_SECONDS_MAX {
            report.leave_out(&format!(
                "{}, Azurite: {} messages would take {expected:.0} s to be put",
                backlog.name, backlog.messages
            ));
            break;
        }
        let began = Instant::now();
        fill_http(&azurite, *backlog)?;
        seconds_each = began.elapsed().as_secs_f64() / backlog.messages as f64;
        filled += 1;
    }
    Ok((Subject::Http(azurite), filled))
}

fn fill_http(subject: &OnHttp, backlog: Backlog) -> Result<(), Error> {
    subject.create_queue(backlog.queue)?;
    subject.put_all(backlog.queue, backlog.messages, Some(INVISIBLE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Median;

    fn rows(micros_p50: u32) -> Vec<Row> {
        let (rate, micros_p95, micros_p99) = (1.0, micros_p50, micros_p50);
        let median = Median { rate, rate_min: rate, rate_max: rate, micros_p50, micros_p95, micros_p99 };
        vec![Row { subject: "orrery", outcome: Outcome::Measured(median) }]
    }

    #[test]
    fn the_shortest_queue_is_what_the_others_are_measured_by() {
        let ([shortest, longer, longest], mut smallest) = (backlogs(10), None);
        assert_eq!([longer, longest].map(|backlog| backlog.messages), [10_000, 100_000]);
        assert!(targets(shortest, &rows(100), &mut smallest).is_empty());
        assert_eq!(targets(longer, &rows(130), &mut smallest)[0].verdict(), "met");
        assert_eq!(targets(longest, &rows(131), &mut smallest)[0].verdict(), "MISSED");
        assert_eq!(targets(longest, &[], &mut smallest)[0].verdict(), "not measured");
    }
}
