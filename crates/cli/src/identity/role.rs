//! `orrery role`: who may do what with bearer tokens.

use crate::client::{ServerFlags, block_on, segment};
use crate::terminal;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};

#[derive(Args)]
pub struct RoleFlags {
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
    /// Show the roles, and to whom they are assigned
    Ls,
    /// Define a role, or change the one with this id
    Define {
        /// The role's name
        name: String,
        /// A data action, such as Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items/read; `*` stands for
        /// anything; may be repeated
        #[arg(long = "action", value_name = "ACTION", required = true)]
        actions: Vec<String>,
        /// The role's id [default: a new one]
        #[arg(long)]
        id: Option<String>,
    },
    /// Give somebody a role
    Assign {
        /// The object id (`oid`) of whom
        #[arg(long)]
        principal: String,
        /// reader, contributor, or the id or name of one that was defined
        #[arg(long)]
        role: String,
        /// Over what: /, /dbs/D or /dbs/D/colls/C
        #[arg(long, default_value = "/")]
        scope: String,
        /// The assignment's id [default: a new one]
        #[arg(long)]
        id: Option<String>,
    },
    /// Remove an assignment, or a role that is not assigned, by its id
    Remove {
        /// The id of the assignment or the role
        id: String,
    },
}

pub fn role(flags: &RoleFlags) -> Result<(), String> {
    let send = |method, path: &str, body: Option<&Value>| -> Result<Value, String> {
        let body = body.map(Value::to_string).unwrap_or_default();
        block_on(flags.server.ask(method, path, body))?
    };
    let answer = match &flags.verb {
        Verb::Ls => send(Method::GET, "/v1/roles", None)?,
        Verb::Define { name, actions, id } => {
            let body = json!({ "id": id, "roleName": name, "dataActions": actions });
            send(Method::POST, "/v1/roles/definitions", Some(&body))?
        }
        Verb::Assign { principal, role, scope, id } => {
            let body =
                json!({ "id": id, "principalId": principal, "roleDefinitionId": role, "scope": scope });
            send(Method::POST, "/v1/roles/assignments", Some(&body))?
        }
        Verb::Remove { id } => {
            let path = format!("/v1/roles/{}", segment(id));
            send(Method::DELETE, &path, None)?
        }
    };
    match flags.json {
        true => terminal::print_json(&answer),
        false => terminal::print(&shown(&answer)),
    }
}

fn shown(answer: &Value) -> String {
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let list = |name: &str| answer[name].as_array().cloned().unwrap_or_default();
    let mut out = String::new();
    for role in list("definitions") {
        out.push_str(&format!(
            "role {}  {} ({})\n",
            text(&role, "id"),
            text(&role, "roleName"),
            text(&role, "type")
        ));
        for action in role["dataActions"].as_array().into_iter().flatten() {
            out.push_str(&format!("  {}\n", action.as_str().unwrap_or_default()));
        }
    }
    for given in list("assignments") {
        out.push_str(&format!(
            "assignment {}  {} is {} on {}\n",
            text(&given, "id"),
            text(&given, "principalId"),
            text(&given, "roleDefinitionId"),
            text(&given, "scope"),
        ));
    }
    out
}
