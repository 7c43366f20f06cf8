//! `orrery keys`: the keys of a running server, shown, or one of them replaced while it runs.

use crate::client::{ServerFlags, block_on};
use crate::terminal;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use http::Method;
use orrery_protocol::KeyKind;
use serde_json::Value;

#[derive(Args)]
pub struct KeysFlags {
    #[command(flatten)]
    server: ServerFlags,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Show the four keys
    Ls,
    /// Make a new key of this kind; the old one ends at once, and the others stay
    Regenerate {
        /// Which key
        #[arg(value_parser = kind())]
        kind: KeyKind,
    },
}

fn kind() -> impl TypedValueParser<Value = KeyKind> {
    let names = KeyKind::ALL.map(|kind| PossibleValue::new(kind.name()).help(kind.about()));
    PossibleValuesParser::new(names).try_map(|name| KeyKind::find(&name).ok_or("there is no such key"))
}

pub fn keys(flags: &KeysFlags) -> Result<(), String> {
    let answer: Value = match &flags.verb {
        Verb::Ls => block_on(flags.server.ask(Method::GET, "/v1/keys", ""))??,
        Verb::Regenerate { kind } => {
            let path = format!("/v1/keys/{}/regenerate", kind.name());
            block_on(flags.server.ask(Method::POST, &path, ""))??
        }
    };
    if flags.json {
        return terminal::print_json(&answer);
    }
    let line = |kind: KeyKind| Some(format!("{:<20}{}\n", kind.name(), answer[kind.name()].as_str()?));
    terminal::print(&KeyKind::ALL.into_iter().filter_map(line).collect::<String>())
}
