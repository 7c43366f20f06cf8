//! `orrery token`: a bearer token for development, as Entra would give one.

use crate::limits;
use clap::Args;
use orrery_api_common::bearer::{COSMOS, Grant, Mint};
use orrery_api_common::secrets;
use orrery_cli::terminal;
use orrery_core::Env;
use orrery_documents::roles::Scope;
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args)]
pub struct TokenFlags {
    /// The data folder of the server
    #[arg(long, env = "ORRERY_DATA", default_value = "orrery-data")]
    data: PathBuf,
    /// A role that the token carries: reader, contributor, or one that was defined; may be repeated
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<String>,
    /// What the roles cover: /, /dbs/D or /dbs/D/colls/C
    #[arg(long, default_value = "/")]
    scope: String,
    /// Whose token it is; roles that are assigned to this one count too
    #[arg(long, default_value = "00000000-0000-0000-0000-00000000de7e")]
    principal: String,
    /// Whom it is for
    #[arg(long, default_value = COSMOS)]
    audience: String,
    /// How long it works, in seconds
    #[arg(long, default_value_t = 3600)]
    seconds: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the token and nothing else.
pub fn token(flags: &TokenFlags) -> Result<(), String> {
    if Scope::parse(&flags.scope).is_none() {
        return Err(format!("--scope '{}' is not like /, /dbs/D or /dbs/D/colls/C", flags.scope));
    }
    if flags.seconds == 0 || flags.seconds > limits::BEARER_MINTED_SECONDS_MAX {
        return Err(format!("--seconds must be from 1 to {}", limits::BEARER_MINTED_SECONDS_MAX));
    }
    if !flags.data.join("FORMAT").is_file() {
        let folder = flags.data.display();
        return Err(format!("{folder} is not an orrery data folder; start the server once, or give --data"));
    }
    let key = secrets::development_key(&flags.data)?;
    let grant = |role: &String| Grant { role: role.clone(), scope: flags.scope.clone() };
    let mint = Mint {
        principal: flags.principal.clone(),
        audience: flags.audience.clone(),
        grants: flags.roles.iter().map(grant).collect(),
        lifetime: Duration::from_secs(flags.seconds),
    };
    let now = Env::system().map_err(|error| error.to_string())?.now();
    let token = key.mint(&mint, now)?;
    match flags.json {
        true => terminal::print_json(&json!({ "token": token, "expiresInSeconds": flags.seconds })),
        false => terminal::print(&format!("{token}\n")),
    }
}
