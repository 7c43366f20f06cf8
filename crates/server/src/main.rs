//! The binary `orrery`: reads flags, environment and configuration, wires the layers together, runs.
//!
//! `serve` is the main job; whatever keeps it from starting is one sentence on standard error and exit code 2.
//! `query` asks a server that runs, or explains a query without one; `advise` looks at how one is used;
//! `apply` makes one as a blueprint says, and `init` writes a blueprint to begin with;
//! `schema` says what items look like; `top`, `alerts` and `cost` say how it is doing and what it would cost;
//! `migrate` copies containers of one to another layout while they are used; `bench` measures one;
//! `notify` sends notifications and looks after them; `doctor` says what is wrong with a server;
//! `keys`, `role` and `token` say who may use it; `check` goes through the folder of one that is stopped;
//! `completions` and `man` describe the command line itself.
//! `script-worker` is hidden: the server starts it to run scripts in.

mod banner;
mod blueprints;
mod built_in_services;
mod caller;
mod command;
mod config;
mod front_page;
mod identity;
mod limits;
mod logging;
mod notify;
mod open_files;
mod otlp_push;
mod ports;
mod ports_file;
mod script_worker;
mod serve;
mod services;
mod stores;

use orrery_cli::{client, terminal};
use std::process::ExitCode;

/// Allocation is a tenth of a write's cost with the system's allocator, and a third of that with this one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match command::run() {
        Ok(code) => code,
        Err(sentence) => {
            terminal::complain(&sentence);
            ExitCode::from(2)
        }
    }
}
