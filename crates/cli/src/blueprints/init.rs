//! `orrery init`: writes a blueprint to begin with.

use crate::terminal;
use clap::Args;
use orrery_blueprint::starter;
use serde_json::json;
use std::io::Write;

#[derive(Args)]
pub struct InitFlags {
    /// The blueprint's name; the file is NAME.yaml
    name: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb; a file that is there stays.
pub fn init(flags: &InitFlags) -> Result<(), String> {
    let name = flags.name.as_str();
    let is_plain = name.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '-' | '_'));
    if name.is_empty() || !is_plain {
        return Err(format!("'{name}' is no name of a blueprint; use letters, digits, '-' and '_'"));
    }
    let path = format!("{name}.yaml");
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
    let mut file = file.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => format!("{path} is there already; choose another name"),
        _ => format!("{path} cannot be written: {error}"),
    })?;
    file.write_all(starter(name).as_bytes()).map_err(|error| format!("{path} cannot be written: {error}"))?;
    match flags.json {
        true => terminal::print_json(&json!({ "file": path })),
        false => terminal::print(&format!(
            "{path} is a blueprint to begin with; apply it with: orrery apply {path}\n"
        )),
    }
}
