//! `orrery account`: the storage accounts of a running server, each with two keys.

use super::flags::Addresses;
use crate::client::{ServerFlags, block_on, segment};
use crate::terminal::{self, Screen, Table};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};

#[derive(Args)]
pub struct AccountVerbFlags {
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
    /// Add an account with two new keys, and print its connection string
    Add {
        /// 3 to 24 lower-case letters and digits
        name: String,
    },
    /// List the accounts
    Ls {
        /// With their keys, for whoever has one of the server's own (--key)
        #[arg(long)]
        keys: bool,
    },
    /// Make a new key in the place of one; the old one ends at once, and the other stays
    Rotate {
        /// Which account
        name: String,
        /// Which key
        #[arg(value_parser = PossibleValuesParser::new(["key1", "key2"]))]
        which: String,
    },
    /// Remove an account; from then on nothing opens it, and its data is there again for an account of this name
    Rm {
        /// Which account
        name: String,
    },
}

pub fn account(flags: &AccountVerbFlags) -> Result<(), String> {
    match &flags.verb {
        Verb::Add { name } => flags.add(name),
        Verb::Ls { keys } => flags.list(*keys),
        Verb::Rotate { name, which } => flags.rotate(name, which),
        Verb::Rm { name } => flags.remove(name),
    }
}

impl AccountVerbFlags {
    fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, String> {
        let body = body.map(Value::to_string).unwrap_or_default();
        block_on(self.server.ask(method, path, body))?
    }

    fn add(&self, name: &str) -> Result<(), String> {
        // Whoever cannot be told where it is would not see the keys either.
        let addresses = block_on(Addresses::of(&self.server))??;
        let added = self.send(Method::POST, "/v1/accounts", Some(&json!({ "name": name })))?;
        self.print_connection(
            &addresses,
            added,
            "key1",
            &format!("the account '{name}' is there; its connection string:"),
        )
    }

    fn list(&self, with_keys: bool) -> Result<(), String> {
        let answer = self.send(Method::GET, "/v1/accounts", None)?;
        let mut accounts = answer["accounts"].as_array().cloned().unwrap_or_default();
        if with_keys {
            for account in &mut accounts {
                let path = format!("/v1/accounts/{}/keys", segment(text(account, "name")));
                *account = self.send(Method::GET, &path, None)?;
            }
        }
        if self.json {
            return terminal::print_json(&accounts);
        }
        let columns = if with_keys { &["name", "key1", "key2"][..] } else { &["name"] };
        let row = |account: &Value| columns.iter().map(|name| text(account, name).to_owned()).collect();
        let table = (0..columns.len()).fold(Table::new(columns).ruled(), Table::whole);
        let table = table.rows(accounts.iter().map(row));
        terminal::print(&table.draw(&Screen::of_stdout()))
    }

    fn rotate(&self, name: &str, which: &str) -> Result<(), String> {
        let path = format!("/v1/accounts/{}/keys/{which}/regenerate", segment(name));
        let addresses = block_on(Addresses::of(&self.server))??;
        let changed = self.send(Method::POST, &path, None)?;
        self.print_connection(
            &addresses,
            changed,
            which,
            &format!("{which} of '{name}' is a new one; with it:"),
        )
    }

    /// The answer and the connection string with one of its keys; what happened goes to standard error.
    fn print_connection(
        &self,
        addresses: &Addresses,
        mut answer: Value,
        key: &str,
        happened: &str,
    ) -> Result<(), String> {
        let connection = addresses.connection_string(text(&answer, "name"), text(&answer, key)).to_string();
        if self.json {
            answer["connectionString"] = connection.into();
            return terminal::print_json(&answer);
        }
        eprintln!("{happened}");
        terminal::print(&format!("{connection}\n"))
    }

    fn remove(&self, name: &str) -> Result<(), String> {
        self.send(Method::DELETE, &format!("/v1/accounts/{}", segment(name)), None)?;
        if self.json {
            return terminal::print_json(&json!({ "removed": name }));
        }
        eprintln!("the account '{name}' is removed; its data stays, for an account of this name");
        Ok(())
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}
