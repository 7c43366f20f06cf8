//! `orrery export`: all items of a container, as JSON lines, a JSON array or CSV.
//!
//! A file is written under another name and renamed when it is complete, so an interrupted export is never taken
//! for a complete one. CSV needs its columns first, so the items go to a temporary file and are read from there
//! again.

use super::container::{self, Container, PAGE_ITEMS};
use super::location::Location;
use super::records::{self, FileFormat, csv as csv_rows};
use super::verbs::counted;
use crate::client::{self, AccountFlags};
use crate::query::SYSTEM_PROPERTIES;
use crate::terminal::{self, ProgressLine, bar};
use clap::Args;
use orrery_value::raw;
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Args)]
pub struct ExportFlags {
    /// The container: database/container
    path: String,
    /// The file to write; standard output if it is left out
    file: Option<PathBuf>,
    /// How to write it: jsonl, json or csv [default: by the file's name, else jsonl]
    #[arg(long)]
    format: Option<FileFormat>,
    /// Keep the members that the server adds: _rid, _self, _etag, _attachments, _ts
    #[arg(long)]
    system: bool,
    /// Print JSON about what was written; needs a file
    #[arg(long, requires = "file")]
    json: bool,
    #[command(flatten)]
    account: AccountFlags,
}

pub fn export(flags: &ExportFlags) -> Result<(), String> {
    let location = Location::parse(&flags.path)?;
    location.container()?;
    let by_name = || flags.file.as_deref().and_then(FileFormat::of);
    let format = flags.format.or_else(by_name).unwrap_or(FileFormat::Jsonl);
    if format == FileFormat::Parquet {
        return Err("an export is written as jsonl, json or csv".to_owned());
    }
    let count = match &flags.file {
        None => run(flags, &location, format, &mut BufWriter::new(std::io::stdout().lock()))?,
        Some(path) => to_file(path, |out| run(flags, &location, format, out))?,
    };
    if flags.json {
        return terminal::print_json(&json!({"items": count}));
    }
    eprintln!("{} of {location}", counted(count, "item"));
    Ok(())
}

fn to_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<u64, String>) -> Result<u64, String> {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    let part = PathBuf::from(name);
    let failed = |error: std::io::Error| format!("{} cannot be written: {error}", part.display());
    let file = File::create(&part).map_err(failed)?;
    let mut out = BufWriter::new(file);
    let count = write(&mut out)?;
    out.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)?;
    std::fs::rename(&part, path).map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
    Ok(count)
}

fn run(
    flags: &ExportFlags,
    location: &Location,
    format: FileFormat,
    out: &mut dyn Write,
) -> Result<u64, String> {
    if format == FileFormat::Csv {
        return as_csv(flags, location, out);
    }
    let mut count = 0;
    let is_array = format == FileFormat::Json;
    each_item(flags, location, |item| {
        let before = match (is_array, count) {
            (false, _) => "",
            (true, 0) => "[\n",
            (true, _) => ",\n",
        };
        count += 1;
        write!(out, "{before}{item}").and_then(|()| if is_array { Ok(()) } else { writeln!(out) })
    })?;
    let end = match (is_array, count) {
        (false, _) => "",
        (true, 0) => "[]\n",
        (true, _) => "\n]\n",
    };
    out.write_all(end.as_bytes()).and_then(|()| out.flush()).map_err(unwritten)?;
    Ok(count)
}

/// The columns are the members of all items, in the order of their first occurrence.
fn as_csv(flags: &ExportFlags, location: &Location, out: &mut dyn Write) -> Result<u64, String> {
    let spool = Spool::create()?;
    let (mut columns, mut count) = (vec!["id".to_owned()], 0u64);
    let mut lines = BufWriter::new(spool.file()?);
    each_item(flags, location, |item| {
        count += 1;
        for (name, _) in raw::members(item) {
            let name = raw::unescape(name);
            if !columns.iter().any(|column| *column == name) {
                columns.push(name.into_owned());
            }
        }
        writeln!(lines, "{item}")
    })?;
    drop(lines.into_inner().map_err(|error| unwritten(error.into_error()))?);
    let mut writer = csv::Writer::from_writer(out);
    let refused = |error: csv::Error| format!("the export cannot be written: {error}");
    writer.write_record(&columns).map_err(refused)?;
    for item in records::open(&spool.path, FileFormat::Jsonl)?.0 {
        let item = item.map_err(|_| "the temporary file was changed by somebody".to_owned())?;
        writer
            .write_record(csv_rows::row(&columns, &item).iter().map(|cell| cell.as_bytes()))
            .map_err(refused)?;
    }
    writer.flush().map_err(unwritten)?;
    Ok(count)
}

/// Calls `write` for every item, as one line of JSON.
fn each_item(
    flags: &ExportFlags,
    location: &Location,
    mut write: impl FnMut(&str) -> std::io::Result<()>,
) -> Result<(), String> {
    let (database, name) = location.container()?;
    client::block_on(async {
        let remote = container::connect(&flags.account).await?;
        let container = Container::open(&remote, database, name).await?;
        let mut progress =
            if flags.file.is_some() { ProgressLine::of_stderr() } else { ProgressLine::hidden() };
        let total = if progress.is_shown() { container.count().await? } else { 0 };
        let started = Instant::now();
        let (mut count, mut continuation) = (0u64, None);
        loop {
            let (items, next) = container.page(continuation.take(), PAGE_ITEMS).await?;
            for item in &items {
                write(&one_line(item, flags.system)).map_err(unwritten)?;
            }
            count += items.len() as u64;
            progress.draw(|| bar(count, total, started.elapsed()));
            continuation = next;
            if continuation.is_none() {
                break;
            }
        }
        progress.clear();
        Ok(())
    })?
}

/// Members as they were stored, without blanks between them.
fn one_line(item: &str, keeps_system: bool) -> String {
    let is_kept = |name: &str| keeps_system || !SYSTEM_PROPERTIES.contains(&name);
    let members = raw::members(item).filter(|(name, _)| is_kept(name));
    let members: Vec<String> =
        members.map(|(name, value)| format!("\"{name}\":{}", crate::query::compact(value))).collect();
    format!("{{{}}}", members.join(","))
}

fn unwritten(error: std::io::Error) -> String {
    format!("the export cannot be written: {error}")
}

/// A temporary file, removed on drop.
struct Spool {
    path: PathBuf,
}

impl Spool {
    fn create() -> Result<Self, String> {
        let name = format!("orrery-export-{}", std::process::id());
        Ok(Self { path: std::env::temp_dir().join(name) })
    }

    fn file(&self) -> Result<File, String> {
        File::create_new(&self.path)
            .map_err(|error| format!("{} cannot be written: {error}", self.path.display()))
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // If that fails, the system cleans its temporary folder eventually.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_one_line_without_what_the_server_added() {
        let item = "{\n \"id\": \"a b\",\n \"n\": 1.50, \"_etag\": \"x\", \"_ts\": 1}";
        assert_eq!(one_line(item, false), "{\"id\":\"a b\",\"n\":1.50}");
        assert_eq!(one_line(item, true), "{\"id\":\"a b\",\"n\":1.50,\"_etag\":\"x\",\"_ts\":1}");
    }
}
