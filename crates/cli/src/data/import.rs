//! `orrery import`: writes the records of a file as items, in bulk, and resumes an interrupted run.
//!
//! ```text
//! records ──▶ chunks of up to 100 ──▶ 8 requests under way ──▶ outcomes ──▶ checkpoint after the longest answered prefix
//! ```

use super::checkpoint::Checkpoint;
use super::container::{self, Container, Operation, Outcome};
use super::location::Location;
use super::records::{self, FileFormat, Position, ReadError, Record, Records};
use super::verbs::counted;
use crate::client::{self, AccountFlags};
use crate::limits;
use crate::terminal::{self, ProgressLine, share_bar};
use clap::{Args, ValueEnum};
use orrery_core::limits::BATCH_OPERATIONS_MAX;
use orrery_value::{Value, raw};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

#[derive(Args)]
pub struct ImportFlags {
    /// The file, or - for standard input
    file: PathBuf,
    /// The container: database/container
    path: String,
    /// How the file is written [default: by its name]
    #[arg(long)]
    format: Option<FileFormat>,
    /// Make the database and the container if they are not there, with this partition key path; several, separated by
    /// commas, for a hierarchical key
    #[arg(long, value_name = "PATH")]
    create: Option<String>,
    /// Take the id from this member
    #[arg(long, value_name = "MEMBER", conflicts_with = "make_ids")]
    id: Option<String>,
    /// Make an id for each record that has none, from the file's name and the record's number
    #[arg(long)]
    make_ids: bool,
    /// What to do with an item that is there already
    #[arg(long, value_enum, default_value = "replace")]
    existing: Existing,
    /// Begin with the first record even if an earlier run came further, and note nothing for a later one
    #[arg(long)]
    no_resume: bool,
    /// Requests under way at a time
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=64))]
    requests: u16,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    account: AccountFlags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Existing {
    /// The record replaces it
    Replace,
    /// It stays as it is
    Skip,
}

impl Existing {
    fn operation(self) -> Operation {
        match self {
            Self::Replace => Operation::Upsert,
            Self::Skip => Operation::Create,
        }
    }
}

const CHUNK_BYTES_MAX: usize = 1 << 20;
const CHECKPOINT_EVERY: Duration = Duration::from_millis(500);
/// Sentences about records that were not taken; the rest is only counted.
const REJECTIONS_SHOWN_MAX: u64 = 10;

pub fn import(flags: &ImportFlags) -> Result<ExitCode, String> {
    let location = Location::parse(&flags.path)?;
    location.container()?;
    let source = Source::open(flags)?;
    let done = client::block_on(run(flags, &location, source))??;
    report(flags, &location, &done)?;
    Ok(if done.rejected == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Where records come from, and the file that can be gone on with.
struct Source {
    records: Records,
    position: Option<Position>,
    resumable: Option<PathBuf>,
    name: String,
}

impl Source {
    fn open(flags: &ImportFlags) -> Result<Self, String> {
        let file = &flags.file;
        let unnamed = || "say how the input is written: --format jsonl, json, csv or parquet".to_owned();
        let format = flags.format.or_else(|| FileFormat::of(file)).ok_or_else(unnamed)?;
        if file == Path::new("-") {
            let records = records::from_reader(BufReader::new(std::io::stdin()), format)?;
            return Ok(Self { records, position: None, resumable: None, name: "-".to_owned() });
        }
        let (records, position) = records::open(file, format)?;
        let resumable = (!flags.no_resume).then(|| file.clone());
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { records, position: Some(position), resumable, name })
    }
}

async fn run(flags: &ImportFlags, location: &Location, source: Source) -> Result<Checkpoint, String> {
    let (database, name) = location.container()?;
    let remote = container::connect_for_long(&flags.account).await?;
    if let Some(path) = &flags.create {
        container::create(&remote, database, name, path).await?;
    }
    let container = Arc::new(Container::open(&remote, database, name).await?);
    let progress = match &source.resumable {
        Some(file) => Checkpoint::of(file, &format!("{} {location}", flags.account.url))?.resumed(file),
        None => Checkpoint::default(),
    };
    if progress.records_done > 0 {
        eprintln!("an earlier run came to record {}; going on after it", progress.records_done);
    }
    let chunks = Chunks::new(source.records, IdRule::of(flags, &source.name), progress.records_done);
    let mut import = Import {
        container,
        operation: flags.existing.operation(),
        requests_max: usize::from(flags.requests),
        position: source.position,
        resumable: source.resumable,
        progress,
        answered: BTreeMap::new(),
        line: ProgressLine::of_stderr(),
        shown: 0,
    };
    let outcome = import.all(chunks).await;
    import.line.clear();
    match (&import.resumable, &outcome) {
        (None, _) => {}
        (Some(file), Ok(())) => Checkpoint::remove(file),
        (Some(file), Err(_)) => import.progress.save(file)?,
    }
    let hint = |sentence| match &import.resumable {
        Some(_) => format!(
            "{sentence}\n{} records are in; the same command goes on from there",
            import.progress.records_done
        ),
        None => sentence,
    };
    outcome.map_err(hint)?;
    Ok(import.progress)
}

struct Import {
    container: Arc<Container>,
    operation: Operation,
    requests_max: usize,
    position: Option<Position>,
    resumable: Option<PathBuf>,
    progress: Checkpoint,
    /// Chunks that were answered before one in front of them.
    answered: BTreeMap<u64, Answered>,
    line: ProgressLine,
    /// Rejections that were printed.
    shown: u64,
}

impl Import {
    async fn all(&mut self, mut chunks: Chunks) -> Result<(), String> {
        let (started, items_before) = (Instant::now(), self.progress.written);
        let mut saved = started;
        let mut under_way = JoinSet::new();
        let mut read_error = None;
        loop {
            while under_way.len() < self.requests_max && read_error.is_none() {
                match chunks.next() {
                    Ok(None) => break,
                    Ok(Some(chunk)) => {
                        under_way.spawn(write(self.container.clone(), self.operation, chunk));
                    }
                    // What was read before the fault is still written.
                    Err(sentence) => read_error = Some(sentence),
                }
            }
            let Some(ended) = under_way.join_next().await else { break };
            let ended = ended.map_err(|error| format!("a request broke off: {error}"))??;
            self.take(ended);
            if saved.elapsed() > CHECKPOINT_EVERY {
                saved = Instant::now();
                self.save()?;
            }
            self.draw(self.progress.written - items_before, started.elapsed());
        }
        read_error.map_or(Ok(()), Err)
    }

    /// Counts what was answered, as far as there is no gap.
    fn take(&mut self, answered: Answered) {
        for (number, why) in &answered.rejected {
            if self.shown < REJECTIONS_SHOWN_MAX {
                self.line.clear();
                eprintln!("record {number} is not taken: {why}");
            }
            self.shown += 1;
        }
        self.answered.insert(answered.first_record, answered);
        while let Some(next) = self.answered.remove(&self.progress.records_done) {
            self.progress.records_done += next.records;
            self.progress.written += next.written;
            self.progress.skipped += next.skipped;
            self.progress.rejected += next.rejected.len() as u64;
        }
    }

    fn save(&self) -> Result<(), String> {
        self.resumable.as_ref().map_or(Ok(()), |file| self.progress.save(file))
    }

    fn draw(&mut self, items: u64, elapsed: Duration) {
        if let Some(position) = &self.position {
            self.line.draw(|| share_bar(position.share(), items, elapsed));
        }
    }
}

/// Consecutive records. Those that were refused before they were sent are only counted.
struct Chunk {
    first_record: u64,
    records: u64,
    items: Vec<(u64, String)>,
    rejected: Vec<(u64, String)>,
}

struct Answered {
    first_record: u64,
    records: u64,
    written: u64,
    skipped: u64,
    rejected: Vec<(u64, String)>,
}

/// Writes a chunk. What the server cannot take at the moment is sent again.
async fn write(container: Arc<Container>, operation: Operation, chunk: Chunk) -> Result<Answered, String> {
    let Chunk { first_record, records, mut items, rejected } = chunk;
    let mut answered = Answered { first_record, records, written: 0, skipped: 0, rejected };
    for _ in 0..limits::IMPORT_TRIES_MAX {
        if items.is_empty() {
            return Ok(answered);
        }
        let texts: Vec<&str> = items.iter().map(|(_, text)| text.as_str()).collect();
        let outcomes = container.write_many(operation, &texts).await?;
        let wait = outcomes.iter().filter_map(|outcome| outcome.retry_after_ms).max().unwrap_or(10);
        let mut left = Vec::new();
        for ((number, text), outcome) in items.into_iter().zip(outcomes) {
            match outcome {
                Outcome { status: 200 | 201, .. } => answered.written += 1,
                Outcome { status: 409, .. } if operation == Operation::Create => answered.skipped += 1,
                outcome if outcome.passes() => left.push((number, text)),
                outcome => answered.rejected.push((number, outcome.sentence())),
            }
        }
        items = left;
        if !items.is_empty() {
            tokio::time::sleep(Duration::from_millis(wait.max(1))).await;
        }
    }
    Err(format!(
        "the server did not take record {} after many tries",
        items.first().map_or(0, |(number, _)| *number)
    ))
}

/// Groups records into chunks, with their ids in place. Records are numbered from 1 for people, from 0 in checkpoints.
struct Chunks {
    records: Records,
    ids: IdRule,
    next: u64,
    /// Records that an earlier run has written.
    skip: u64,
    /// A record that did not fit into the chunk before.
    held: Option<Record>,
}

impl Chunks {
    fn new(records: Records, ids: IdRule, skip: u64) -> Self {
        Self { records, ids, next: 0, skip, held: None }
    }

    fn next(&mut self) -> Result<Option<Chunk>, String> {
        while self.next < self.skip {
            match self.records.next() {
                None => return Ok(None),
                Some(Err(ReadError::File(why))) => return Err(why),
                Some(_) => self.next += 1,
            }
        }
        let mut chunk =
            Chunk { first_record: self.next, records: 0, items: Vec::new(), rejected: Vec::new() };
        let mut bytes = 0;
        while (chunk.records as usize) < BATCH_OPERATIONS_MAX {
            let Some(record) = self.held.take().or_else(|| self.records.next()) else { break };
            let length = record.as_ref().map_or(0, String::len);
            if chunk.records > 0 && bytes + length > CHUNK_BYTES_MAX {
                self.held = Some(record);
                break;
            }
            bytes += length;
            self.next += 1;
            chunk.records += 1;
            match record.and_then(|text| self.ids.apply(text, self.next).map_err(ReadError::Record)) {
                Ok(item) => chunk.items.push((self.next, item)),
                Err(ReadError::Record(why)) => chunk.rejected.push((self.next, why)),
                Err(ReadError::File(why)) => return Err(why),
            }
        }
        Ok((chunk.records > 0).then_some(chunk))
    }
}

/// Where an item's id comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum IdRule {
    Own,
    Member(String),
    /// The same for the same file and number, so that a second run writes the same items.
    Made {
        source: String,
    },
}

impl IdRule {
    fn of(flags: &ImportFlags, source: &str) -> Self {
        match &flags.id {
            Some(member) => Self::Member(member.clone()),
            None if flags.make_ids => Self::Made { source: source.to_owned() },
            None => Self::Own,
        }
    }

    fn apply(&self, item: String, number: u64) -> Result<String, String> {
        let own = raw::member(&item, "id").map(str::trim);
        let id = match (self, own) {
            (Self::Own | Self::Made { .. }, Some(id)) if id.starts_with('"') => return Ok(item),
            (Self::Own, Some(_)) => return Err("its id is not text; --id id takes it as text".to_owned()),
            (Self::Own, None) => {
                return Err(
                    "it has no id; --id MEMBER takes one from a member, --make-ids makes one".to_owned()
                );
            }
            (Self::Made { source }, _) => made_id(source, number),
            (Self::Member(name), _) => {
                let value = raw::member(&item, name).map(str::trim);
                let value = value.ok_or_else(|| format!("it has no member '{name}' to take its id from"))?;
                match Value::read(value) {
                    Value::String(id) => id,
                    Value::Number(_) | Value::Bool(_) => value.to_owned(),
                    _ => return Err(format!("its member '{name}' is not text or a number")),
                }
            }
        };
        Ok(with_id(&item, &id))
    }
}

/// The same item with this id in the place of its own, or in front.
fn with_id(item: &str, id: &str) -> String {
    let others = raw::members(item).filter(|(name, _)| raw::unescape(name) != "id");
    let others: String = others.map(|(name, value)| format!(",\"{name}\":{}", value.trim())).collect();
    format!("{{\"id\":{}{others}}}", Value::from(id).to_json())
}

/// 128 bits of a hash, in hexadecimal digits.
fn made_id(source: &str, number: u64) -> String {
    let hash = xxhash_rust::xxh3::xxh3_128(format!("{source}\n{number}").as_bytes());
    format!("{hash:032x}")
}

fn report(flags: &ImportFlags, location: &Location, done: &Checkpoint) -> Result<(), String> {
    if flags.json {
        let (written, skipped, rejected) = (done.written, done.skipped, done.rejected);
        return terminal::print_json(&json!({"written": written, "skipped": skipped, "rejected": rejected}));
    }
    eprint!("{} written to {location}", counted(done.written, "item"));
    for (count, what) in [(done.skipped, "there already"), (done.rejected, "not taken")] {
        if count > 0 {
            eprint!(", {count} {what}");
        }
    }
    eprintln!();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_records_own_a_members_or_made() {
        let own = |item: &str| IdRule::Own.apply(item.to_owned(), 1);
        assert_eq!(own("{\"id\":\"a\"}"), Ok("{\"id\":\"a\"}".to_owned()));
        assert!(own("{\"id\":7}").is_err_and(|sentence| sentence.contains("--id id")));
        assert!(own("{}").is_err_and(|sentence| sentence.contains("--make-ids")));
        let of = |item: &str| IdRule::Member("n".to_owned()).apply(item.to_owned(), 1);
        assert_eq!(of("{\"n\": 1.50, \"id\": 3}"), Ok("{\"id\":\"1.50\",\"n\":1.50}".to_owned()));
        assert!(of("{\"n\":{}}").is_err() && of("{}").is_err());
        let made = IdRule::Made { source: "a.csv".to_owned() };
        assert_eq!(made.apply("{}".to_owned(), 5), made.apply("{}".to_owned(), 5));
        assert_ne!(made.apply("{}".to_owned(), 5), made.apply("{}".to_owned(), 6));
        assert_eq!(made.apply("{\"id\":\"x\"}".to_owned(), 5), Ok("{\"id\":\"x\"}".to_owned()));
    }

    fn lines(count: usize) -> Records {
        let text: String = (0..count).map(|at| format!("{{\"id\":\"{at}\"}}\n")).collect();
        records::from_reader(std::io::Cursor::new(text), FileFormat::Jsonl).expect("records")
    }

    #[test]
    fn a_large_record_has_a_chunk_of_its_own() {
        let large = format!("{{\"id\":\"large\",\"t\":\"{}\"}}", "x".repeat(CHUNK_BYTES_MAX));
        let text = format!("{{\"id\":\"a\"}}\n{large}\n{{\"id\":\"b\"}}\n");
        let records = records::from_reader(std::io::Cursor::new(text), FileFormat::Jsonl).expect("records");
        let mut chunks = Chunks::new(records, IdRule::Own, 0);
        let mut counts = Vec::new();
        while let Some(chunk) = chunks.next().expect("readable") {
            counts.push((chunk.first_record, chunk.records));
        }
        assert_eq!(counts, [(0, 1), (1, 1), (2, 1)]);
    }

    #[test]
    fn chunks_go_on_after_what_was_written_before() {
        let mut chunks = Chunks::new(lines(250), IdRule::Own, 130);
        let first = chunks.next().expect("readable").expect("a chunk");
        assert_eq!((first.first_record, first.records, first.items[0].0), (130, 100, 131));
        assert_eq!(first.items[0].1, "{\"id\":\"130\"}");
        let second = chunks.next().expect("readable").expect("a chunk");
        assert_eq!((second.first_record, second.records), (230, 20));
        assert!(chunks.next().expect("readable").is_none());
    }
}
