//! Requests to the services port of a running server, signed with an account key.

use crate::client::{Account, AccountFlags, Address, Connection, block_on};
use bytes::Bytes;
use clap::Args;
use http::Method;
use http_body_util::Full;
use orrery_core::Env;
use serde_json::Value;

#[derive(Args)]
pub struct AdministratorFlags {
    #[command(flatten)]
    account: AccountFlags,
    /// The server's services port, which answers to its own machine only [default: port 8080 beside --url]
    #[arg(long, env = "ORRERY_SERVICES_URL")]
    services_url: Option<String>,
}

const SERVICES_PORT: u16 = 8080;

/// The answer to one request about `kind`.
pub fn ask(
    flags: &AdministratorFlags,
    method: Method,
    kind: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, String> {
    let account = Account::parse(&flags.account)?;
    let services = match &flags.services_url {
        Some(url) => Address::parse("--services-url", url)?,
        None => Address { port: SERVICES_PORT, ..account.address.clone() },
    };
    let now = Env::system().map_err(|error| error.to_string())?.now();
    let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
    let request = account.request(method, kind, path.trim_matches('/'), path, now).body(Full::new(body));
    let request = request.map_err(|error| format!("the request cannot be written: {error}"))?;
    block_on(async {
        let opened = Connection::open(&services).await;
        let mut connection = opened.map_err(|error| format!("{error}, or --services-url"))?;
        let answer = connection.exchange(request).await?;
        if !answer.status.is_success() {
            return Err(answer.refusal());
        }
        serde_json::from_slice(&answer.body).map_err(|_| "the server's answer is not understood".to_owned())
    })?
}
