//! `orrery top`, `orrery alerts` and `orrery cost`: what a running server says of itself, for a person or as JSON.

mod alerts;
mod cost;
mod cost_storage;
mod top;
mod top_storage;

pub use alerts::{AlertsFlags, alerts};
pub use cost::{CostFlags, cost};
pub use top::{TopFlags, top};

use crate::client::ServerFlags;
use clap::Args;
use http::Method;
use serde::de::DeserializeOwned;

#[derive(Args)]
pub struct TellFlags {
    #[command(flatten)]
    server: ServerFlags,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

async fn fetch<T: DeserializeOwned>(flags: &TellFlags, path: &str) -> Result<T, String> {
    flags.server.ask(Method::GET, path, "").await
}
