//! `orrery notify`: the verbs for a server, and `sim` and `fake-push`, which need none.

use crate::fake_push::{FakePushFlags, fake_push};
use crate::sim::{SimFlags, sim};
use clap::{Args, Subcommand};
use orrery_cli::notify::{AskFlags, NotifyVerb};
use std::process::ExitCode;

#[derive(Args)]
pub struct NotifyFlags {
    #[command(flatten)]
    ask: AskFlags,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    #[command(flatten)]
    Ask(NotifyVerb),
    /// Replay a day against a policy and say what would happen; no server needed
    Sim(SimFlags),
    /// Run local FCM and APNs endpoints that speak the real protocols
    FakePush(FakePushFlags),
}

/// Runs the verb; the error is a sentence for a person.
pub fn notify(flags: &NotifyFlags) -> Result<ExitCode, String> {
    match &flags.verb {
        Verb::Ask(verb) => orrery_cli::notify::notify(&flags.ask, verb),
        Verb::Sim(sim_flags) => sim(sim_flags, flags.ask.json),
        Verb::FakePush(fake_push_flags) => fake_push(fake_push_flags, flags.ask.json),
    }
}
