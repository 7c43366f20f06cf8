//! Requests to the services port of a running server, signed with an account key.

use crate::client::{Account, AccountFlags, Services, ServicesFlags, block_on};
use bytes::Bytes;
use clap::Args;
use http::Method;
use orrery_core::Env;
use serde_json::Value;

#[derive(Args)]
pub struct AdministratorFlags {
    #[command(flatten)]
    account: AccountFlags,
    #[command(flatten)]
    services: ServicesFlags,
}

/// The answer to one request about `kind`.
pub fn ask(
    flags: &AdministratorFlags,
    method: Method,
    kind: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, String> {
    let account = Account::parse(&flags.account)?;
    let services = flags.services.beside(&account.address)?;
    let now = Env::system().map_err(|error| error.to_string())?.now();
    let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
    let request = account.signed(method, kind, path.trim_matches('/'), path, now);
    block_on(async { Services::open(services).await?.ask(request, body).await })?
}
