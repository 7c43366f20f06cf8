//! `orrery top`, `orrery alerts` and `orrery cost`: what a running server says of itself, for a person or as JSON.

mod alerts;
mod cost;
mod table;
mod top;

pub use alerts::{AlertsFlags, alerts};
pub use cost::{CostFlags, cost};
pub use top::{TopFlags, top};

use crate::client::{Address, Connection};
use bytes::Bytes;
use clap::Args;
use http::Request;
use http_body_util::Full;
use serde::de::DeserializeOwned;
use std::io::Write as _;

#[derive(Args)]
pub struct ServicesFlags {
    /// The server's services port, which answers to its own machine only
    #[arg(long, env = "ORRERY_SERVICES_URL", default_value = "http://127.0.0.1:8080")]
    services_url: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

async fn fetch<T: DeserializeOwned>(flags: &ServicesFlags, path: &str) -> Result<T, String> {
    let address = Address::parse("--services-url", &flags.services_url)?;
    let request = Request::get(path).header("host", address.authority()).body(Full::new(Bytes::new()));
    let request = request.map_err(|error| format!("the request cannot be written: {error}"))?;
    let opened = Connection::open(&address).await.map_err(|error| error.replace("--url", "--services-url"));
    let answer = opened?.exchange(request).await?;
    if !answer.status.is_success() {
        return Err(answer.refusal());
    }
    serde_json::from_slice(&answer.body)
        .map_err(|error| format!("the server's answer is not understood: {error}"))
}

/// Nobody may be reading it.
fn print(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

fn print_json(value: &impl serde::Serialize) -> Result<(), String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    print(&format!("{text}\n"));
    Ok(())
}
