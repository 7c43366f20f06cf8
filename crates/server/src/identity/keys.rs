//! `orrery keys`: the keys of a running server, shown, or one of them replaced while it runs.

use super::ask::ask;
use crate::account_keys::KeyKind;
use crate::client::ServerFlags;
use clap::{Args, Subcommand};
use http::Method;
use std::io::Write as _;

#[derive(Args)]
pub struct KeysFlags {
    #[command(flatten)]
    server: ServerFlags,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Show the four keys
    Ls,
    /// Make a new key of this kind; the old one ends at once, and the others stay
    Regenerate { kind: KeyKind },
}

pub fn keys(flags: &KeysFlags) -> Result<(), String> {
    let answer = match &flags.verb {
        Verb::Ls => ask(&flags.server, Method::GET, "/v1/keys", None)?,
        Verb::Regenerate { kind } => {
            let path = format!("/v1/keys/{}/regenerate", kind.name());
            ask(&flags.server, Method::POST, &path, None)?
        }
    };
    let mut out = std::io::stdout().lock();
    for kind in KeyKind::ALL {
        if let Some(key) = answer[kind.name()].as_str() {
            writeln!(out, "{:<20}{key}", kind.name())
                .map_err(|error| format!("the keys cannot be printed: {error}"))?;
        }
    }
    Ok(())
}
