//! `orrery schema`: what the items of a container must look like.

use crate::client::{ServerFlags, block_on, segment};
use crate::terminal;
use bytes::Bytes;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use http::Method;
use orrery_documents::catalog::limits;
use serde_json::Value;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct SchemaFlags {
    #[command(flatten)]
    server: ServerFlags,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Args)]
struct ContainerFlags {
    /// The database
    #[arg(long)]
    database: String,
    /// The container
    #[arg(long)]
    container: String,
}

#[derive(Subcommand)]
enum Verb {
    /// Set it from a file, or from standard input: {"validation": "enforce", "schema": {…}}
    Set {
        #[command(flatten)]
        of: ContainerFlags,
        /// The file [default: standard input]
        file: Option<PathBuf>,
        /// What becomes of items that do not match, whatever the file says; a file without `validation` is the schema itself
        #[arg(long, value_parser = PossibleValuesParser::new(["off", "warn", "enforce"]))]
        validation: Option<String>,
    },
    /// Show it, with how items have fared under it
    Show {
        #[command(flatten)]
        of: ContainerFlags,
    },
    /// Remove it; items are not looked at any more
    Rm {
        #[command(flatten)]
        of: ContainerFlags,
    },
}

pub fn schema(flags: &SchemaFlags) -> Result<(), String> {
    let (answer, sentence) = match &flags.verb {
        Verb::Set { of, file, validation } => {
            let body = body(&read(file.as_deref())?, validation.as_deref())?;
            let answer = ask(flags, Method::PUT, of, body)?;
            let validation = answer["validation"].as_str().unwrap_or_default();
            let sentence = format!("the schema of {} is set: {validation}\n", path(of));
            (answer, sentence)
        }
        Verb::Show { of } => {
            let answer = ask(flags, Method::GET, of, Bytes::new())?;
            let shown = format!("{answer:#}\n");
            (answer, shown)
        }
        Verb::Rm { of } => {
            let answer = ask(flags, Method::DELETE, of, Bytes::new())?;
            (answer, format!("the schema of {} is removed\n", path(of)))
        }
    };
    match flags.json {
        true => terminal::print_json(&answer),
        false => terminal::print(&sentence),
    }
}

fn path(of: &ContainerFlags) -> String {
    format!("dbs/{}/colls/{}", of.database, of.container)
}

fn read(file: Option<&Path>) -> Result<Vec<u8>, String> {
    let name = file.map_or("standard input".to_owned(), |file| file.display().to_string());
    let unread = |error: std::io::Error| format!("{name} cannot be read: {error}");
    let mut text = Vec::new();
    let room = limits::SCHEMA_BYTES_MAX as u64 + 1;
    match file {
        Some(file) => File::open(file).map_err(unread)?.take(room).read_to_end(&mut text),
        None => std::io::stdin().lock().take(room).read_to_end(&mut text),
    }
    .map_err(unread)?;
    if text.len() > limits::SCHEMA_BYTES_MAX {
        return Err(format!("{name} has more than {} bytes", limits::SCHEMA_BYTES_MAX));
    }
    Ok(text)
}

/// What is sent: the file as it is, or with another word on violations.
fn body(text: &[u8], validation: Option<&str>) -> Result<Bytes, String> {
    let Some(validation) = validation else { return Ok(Bytes::copy_from_slice(text)) };
    let given: Value =
        serde_json::from_slice(text).map_err(|error| format!("the schema is not JSON: {error}"))?;
    let is_whole = given.get("schema").is_some() || given.get("schemas").is_some();
    let mut body = if is_whole { given } else { serde_json::json!({ "schema": given }) };
    body["validation"] = validation.into();
    Ok(Bytes::from(body.to_string()))
}

fn ask(flags: &SchemaFlags, method: Method, of: &ContainerFlags, body: Bytes) -> Result<Value, String> {
    let path = format!("/v1/schemas/{}/{}", segment(&of.database), segment(&of.container));
    block_on(flags.server.ask(method, &path, body))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_schema_is_wrapped_and_a_whole_one_changed() {
        let sent = |text: &str, validation| body(text.as_bytes(), validation).unwrap();
        assert_eq!(sent("as it is", None), "as it is");
        assert_eq!(
            sent(r#"{"type":"object"}"#, Some("warn")),
            r#"{"schema":{"type":"object"},"validation":"warn"}"#
        );
        assert_eq!(
            sent(r#"{"validation":"off","schema":{}}"#, Some("warn")),
            r#"{"validation":"warn","schema":{}}"#
        );
        assert!(body(b"{", Some("warn")).is_err());
    }
}
