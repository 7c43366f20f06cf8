//! `orrery completions` and `orrery man`: made from the definition of the command line, so they have every flag.

use crate::terminal;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct CompletionsFlags {
    /// The shell that completes
    shell: Shell,
}

#[derive(Args)]
pub struct ManFlags {
    /// Write a page for every verb into this folder, instead of printing the first
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Prints the script that a shell reads.
pub fn completions<C: CommandFactory>(flags: &CompletionsFlags) -> Result<(), String> {
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut C::command(), "orrery", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))
}

/// Prints the page of the program, or writes the pages of all verbs.
pub fn man<C: CommandFactory>(flags: &ManFlags) -> Result<(), String> {
    let mut command = C::command().disable_help_subcommand(true);
    command.build();
    match &flags.out {
        None => terminal::print(&String::from_utf8_lossy(&page(&command)?)),
        Some(folder) => write_all(folder, &command),
    }
}

fn page(command: &clap::Command) -> Result<Vec<u8>, String> {
    let mut page = Vec::new();
    let rendered = Man::new(command.clone()).render(&mut page);
    rendered.map_err(|error| format!("the manual cannot be written: {error}"))?;
    Ok(page)
}

/// `orrery.1`, `orrery-notify.1`, `orrery-notify-send.1` and so on.
fn write_all(folder: &Path, command: &clap::Command) -> Result<(), String> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let path = folder.join(format!("{name}.1"));
    let unwritten = |error: std::io::Error| format!("{} cannot be written: {error}", path.display());
    std::fs::create_dir_all(folder).map_err(unwritten)?;
    let mut file = std::fs::File::create(&path).map_err(unwritten)?;
    file.write_all(&page(command)?).map_err(unwritten)?;
    command.get_subcommands().filter(|verb| !verb.is_hide_set()).try_for_each(|verb| write_all(folder, verb))
}
