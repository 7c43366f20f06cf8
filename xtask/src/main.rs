//! `cargo xtask`: what a developer runs.
//!
//! `tidy` reads the tree and says what is out of place; `ci` runs all that CI runs. Nothing here is part of
//! the server, and nothing here depends on its crates, so it still builds when they do not.

mod checks;
mod ci;
mod code;
mod finding;
mod manifest;
mod packages;
mod paths;
mod tidy;
mod tree;

use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <command>

  tidy   check layer arrows, file headers, dead files, leftovers, dependencies, links and the names beside them
  ci     fmt --check, tidy, clippy -D warnings, tests, doctests";

fn main() -> ExitCode {
    let command = std::env::args().nth(1);
    let outcome = match command.as_deref() {
        Some("tidy") => root().and_then(|root| tidy::run(&root)),
        Some("ci") => root().and_then(|root| ci::run(&root)),
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Some(other) => Err(format!("`{other}` is not a command\n\n{USAGE}")),
        None => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository: the folder above this package, which cargo names when it runs us.
fn root() -> Result<PathBuf, String> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    package
        .as_deref()
        .and_then(|folder| folder.parent())
        .map(|root| root.to_path_buf())
        .ok_or_else(|| "run this as `cargo xtask`, so that cargo says where the repository is".to_owned())
}
