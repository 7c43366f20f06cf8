//! `orrery ls`, `get`, `put` and `rm`: look at what is stored, and change single items.

use super::container::{self, Container, ItemAddress, PAGE_ITEMS};
use super::location::Location;
use super::records::{self, FileFormat, ReadError};
use crate::client::{self, AccountFlags, Call, Remote, allowed};
use crate::{query, terminal};
use clap::Args;
use http::Method;
use orrery_value::raw;
use serde_json::{Value as Json, json};
use std::fmt::Display;
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Args)]
pub struct LsFlags {
    /// What to list: nothing for databases, a database for its containers, database/container for its items
    #[arg(default_value = "", hide_default_value = true)]
    path: String,
    /// Stop after so many items
    #[arg(long, value_name = "ITEMS", default_value_t = 100)]
    max: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    account: AccountFlags,
}

#[derive(Args)]
pub struct GetFlags {
    /// What to show: a database, database/container, or database/container/item
    path: String,
    /// The item's partition, if several have an item of this id; an array for a hierarchical key
    #[arg(long, value_name = "JSON")]
    partition_key: Option<String>,
    /// Print JSON, which is what it prints anyway
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    account: AccountFlags,
}

#[derive(Args)]
pub struct PutFlags {
    /// The container: database/container
    path: String,
    /// A JSON object, or a file with one or with one on each line; standard input if it is left out
    item: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    account: AccountFlags,
}

#[derive(Args)]
pub struct RmFlags {
    /// What to remove: database/container/item, or a whole container or database with --yes
    path: String,
    /// The item's partition, if several have an item of this id; an array for a hierarchical key
    #[arg(long, value_name = "JSON")]
    partition_key: Option<String>,
    /// Remove a whole container or database without asking
    #[arg(long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    account: AccountFlags,
}

pub fn ls(flags: &LsFlags) -> Result<(), String> {
    let location = Location::parse(&flags.path)?;
    let text = client::block_on(async {
        let remote = container::connect(&flags.account).await?;
        list(&remote, &location, flags.max, flags.json).await
    })??;
    terminal::print(&text)
}

/// The listing of a place, as a table or as JSON.
pub async fn list(
    remote: &Arc<Remote>,
    location: &Location,
    items_max: usize,
    as_json: bool,
) -> Result<String, String> {
    let rows: Vec<Json> = match location {
        Location::Account => {
            let names = container::names(remote, location).await?;
            names.iter().map(|database| json!({"database": database["id"]})).collect()
        }
        Location::Database { database } => {
            let found = container::names(remote, location).await?;
            let mut rows = Vec::with_capacity(found.len());
            for definition in &found {
                rows.push(describe(remote, database, definition).await?);
            }
            rows
        }
        Location::Container { database, container } => {
            let container = Container::open(remote, database, container).await?;
            items(&container, items_max).await?
        }
        Location::Item { .. } => return Err(format!("'{location}' is an item; show it with orrery get")),
    };
    if as_json {
        return serde_json::to_string_pretty(&rows)
            .map(|text| text + "\n")
            .map_err(|error| error.to_string());
    }
    let texts: Vec<String> = rows.iter().map(Json::to_string).collect();
    query::table(&texts).map_err(|error| error.to_string())
}

async fn describe(remote: &Arc<Remote>, database: &str, definition: &Json) -> Result<Json, String> {
    let name = definition["id"].as_str().unwrap_or_default();
    let count = Container::open(remote, database, name).await?.count().await?;
    let paths = definition["partitionKey"]["paths"].as_array().into_iter().flatten();
    let paths: Vec<&str> = paths.filter_map(Json::as_str).collect();
    Ok(json!({"container": name, "partitionKey": paths.join(", "), "items": count}))
}

async fn items(container: &Container, items_max: usize) -> Result<Vec<Json>, String> {
    let (mut rows, mut continuation) = (Vec::new(), None);
    while rows.len() < items_max {
        let page = PAGE_ITEMS.min(items_max - rows.len());
        let (found, next) = container.page(continuation.take(), page).await?;
        rows.extend(found.iter().map(|item| {
            let key: Json = serde_json::from_str(&container.partition_key_of(item)).unwrap_or_default();
            let text = |name: &str| raw::member(item, name).and_then(|value| serde_json::from_str(value).ok());
            let (id, modified): (Option<Json>, Option<i64>) =
                (text("id"), raw::member(item, "_ts").and_then(|value| value.trim().parse().ok()));
            let modified = modified.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
            json!({"id": id, "partitionKey": key, "bytes": item.len(), "modified": modified.map(|at| at.to_string())})
        }));
        continuation = next;
        if continuation.is_none() {
            break;
        }
    }
    rows.truncate(items_max);
    Ok(rows)
}

pub fn get(flags: &GetFlags) -> Result<(), String> {
    let location = Location::parse(&flags.path)?;
    let key = flags.partition_key.as_deref().map(query::partition_key).transpose()?;
    let text = client::block_on(async {
        let remote = container::connect(&flags.account).await?;
        show(&remote, &location, key.as_deref()).await
    })??;
    terminal::print(&text)
}

/// A resource as indented JSON.
pub async fn show(remote: &Arc<Remote>, location: &Location, key: Option<&str>) -> Result<String, String> {
    let shown: Json = match location {
        Location::Account => return Err("say what to show: database/container/item".to_owned()),
        Location::Database { database } => found(remote, &["dbs", database], location).await?,
        Location::Container { database, container } => {
            found(remote, &["dbs", database, "colls", container], location).await?
        }
        Location::Item { database, container, id } => {
            let container = Container::open(remote, database, container).await?;
            serde_json::from_slice(&container.find(id, key).await?).map_err(|error| error.to_string())?
        }
    };
    serde_json::to_string_pretty(&shown).map(|text| text + "\n").map_err(|error| error.to_string())
}

async fn found(remote: &Arc<Remote>, path: &[&str], location: &Location) -> Result<Json, String> {
    let answer = remote.call(&Call::get(path)).await?;
    if answer.status == 404 {
        return Err(format!("there is no {location}; orrery ls lists what is there"));
    }
    answer.json()
}

pub fn put(flags: &PutFlags) -> Result<(), String> {
    let location = Location::parse(&flags.path)?;
    let (database, name) = location.container()?;
    let items = given_items(flags.item.as_deref(), "an item is written as '{\"id\":…}'")?;
    client::block_on(async {
        let remote = container::connect(&flags.account).await?;
        let container = Container::open(&remote, database, name).await?;
        for item in &items {
            container.upsert(item).await?;
        }
        Ok::<(), String>(())
    })??;
    if flags.json {
        return terminal::print_json(&json!({"written": items.len()}));
    }
    eprintln!("{} written to {location}", counted(items.len() as u64, "item"));
    Ok(())
}

/// The argument itself if it is JSON, else the file of that name; standard input if there is none. `example` says how one is
/// written, to whoever gave neither.
pub fn given_items(given: Option<&str>, example: &str) -> Result<Vec<String>, String> {
    match given {
        Some(text) if text.trim_start().starts_with('{') => items_of(text.as_bytes()),
        Some("-") | None => {
            let mut text = Vec::new();
            let read = std::io::stdin().lock().read_until(0, &mut text);
            read.map_err(|error| format!("standard input cannot be read: {error}"))?;
            items_of(&text)
        }
        Some(path) => {
            let path = PathBuf::from(path);
            let text = std::fs::read(&path)
                .map_err(|error| format!("{} cannot be read: {error}; {example}", path.display()))?;
            items_of(&text)
        }
    }
}

/// One object over several lines, an array of them, or one on each line.
fn items_of(text: &[u8]) -> Result<Vec<String>, String> {
    let trimmed = text.trim_ascii();
    if orrery_value::scan_object(trimmed).is_ok() {
        return Ok(vec![String::from_utf8_lossy(trimmed).into_owned()]);
    }
    let format = if trimmed.starts_with(b"[") { FileFormat::Json } else { FileFormat::Jsonl };
    let records = records::from_reader(std::io::Cursor::new(trimmed.to_vec()), format)?;
    let items: Result<Vec<String>, ReadError> = records.collect();
    match items {
        Ok(items) if items.is_empty() => Err("there is no item to write".to_owned()),
        Ok(items) => Ok(items),
        Err(ReadError::Record(why) | ReadError::File(why)) => Err(format!("the input is not items: {why}")),
    }
}

pub fn rm(flags: &RmFlags) -> Result<(), String> {
    let location = Location::parse(&flags.path)?;
    let key = flags.partition_key.as_deref().map(query::partition_key).transpose()?;
    if matches!(location, Location::Account) {
        return Err("say what to remove: database/container/item".to_owned());
    }
    if !matches!(location, Location::Item { .. }) && !flags.yes && !is_confirmed(&location)? {
        return Err("nothing was removed".to_owned());
    }
    client::block_on(async {
        let remote = container::connect(&flags.account).await?;
        remove(&remote, &location, key.as_deref()).await
    })??;
    if flags.json {
        return terminal::print_json(&json!({"removed": location.to_string()}));
    }
    eprintln!("{location} removed");
    Ok(())
}

pub async fn remove(remote: &Arc<Remote>, location: &Location, key: Option<&str>) -> Result<(), String> {
    match location {
        Location::Account => Err("say what to remove: database/container/item".to_owned()),
        Location::Database { database } => drop_all(remote, &["dbs", database], location).await,
        Location::Container { database, container } => {
            drop_all(remote, &["dbs", database, "colls", container], location).await
        }
        Location::Item { database, container, id } => {
            let container = Container::open(remote, database, container).await?;
            let partition_key = match key {
                Some(key) => key.to_owned(),
                None => {
                    let item = container.find(id, None).await?;
                    container.partition_key_of(&String::from_utf8_lossy(&item))
                }
            };
            container.delete(&ItemAddress { id: id.clone(), partition_key }).await
        }
    }
}

async fn drop_all(remote: &Arc<Remote>, path: &[&str], location: &Location) -> Result<(), String> {
    let answer = remote.call(&Call::new(Method::DELETE, path)).await?;
    if answer.status == 404 {
        return Err(format!("there is no {location}"));
    }
    allowed(answer, &[204]).map(drop)
}

/// Asks on a terminal; elsewhere nobody is there to answer.
pub fn is_confirmed(what: &impl Display) -> Result<bool, String> {
    if !std::io::stdin().is_terminal() {
        return Err(format!("this removes all of {what}; add --yes if that is meant"));
    }
    eprint!("Remove all of {what}? [y/N] ");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(|error| error.to_string())?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// `1 item`, `2 items`
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_as_one_object_as_an_array_or_on_lines() {
        let items = |text: &str| items_of(text.as_bytes());
        assert_eq!(items("{\n \"id\": \"a\"\n}").map(|items| items.len()), Ok(1));
        assert_eq!(items("[{\"id\":\"a\"},{\"id\":\"b\"}]").map(|items| items.len()), Ok(2));
        assert_eq!(items("{\"id\":\"a\"}\n{\"id\":\"b\"}\n").map(|items| items.len()), Ok(2));
        for (text, fragment) in [("", "no item"), ("7", "not items"), ("{\"id\":", "not items")] {
            assert!(items(text).is_err_and(|sentence| sentence.contains(fragment)), "{text}");
        }
    }
}
