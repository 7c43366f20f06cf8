//! `orrery table`: tables and their entities.
//!
//! ```text
//! put        entities of an argument, a file or standard input, written one by one or together
//! query      the entities that a filter wants, page by page
//! explain    how a query is answered, without asking anybody
//! print      entities for people and for programs
//! ```

mod explain;
mod print;
mod put;
mod query;

use super::flags::{StorageFlags, ask};
use super::refused::{About, refused};
use crate::data::is_confirmed;
use crate::terminal::{self, Screen};
use clap::{Args, Subcommand};
use orrery_client::storage::tables::{EntityWrite, TableListQuery, Tables};
use orrery_protocol::storage::Service;
use put::PutFlags;
use query::QueryFlags;
use serde_json::json;

#[derive(Args)]
pub struct TableFlags {
    #[command(flatten)]
    storage: StorageFlags,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// List the tables
    Ls,
    /// Make a table
    Create {
        /// The table: 3 to 63 letters and digits, the first of them a letter
        table: String,
    },
    /// Show an entity
    Get {
        /// The table
        table: String,
        /// The entity's PartitionKey
        partition_key: String,
        /// The entity's RowKey
        row_key: String,
        /// Show these properties alone, as a,b,c
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        select: Vec<String>,
    },
    /// Write entities; one that is there is replaced
    Put(PutFlags),
    /// Show the entities that a filter wants, or how they would be found
    Query(QueryFlags),
    /// Remove an entity, or a whole table with --yes
    Rm {
        /// The table
        table: String,
        /// The entity's PartitionKey; the whole table is removed if it is left out
        #[arg(requires = "row_key")]
        partition_key: Option<String>,
        /// The entity's RowKey
        row_key: Option<String>,
        /// Remove the entity only if this is still its ETag
        #[arg(long, value_name = "ETAG", requires = "row_key")]
        if_match: Option<String>,
        /// Remove a whole table without asking
        #[arg(long)]
        yes: bool,
    },
}

pub fn table(flags: &TableFlags) -> Result<(), String> {
    match &flags.verb {
        Verb::Ls => flags.list(),
        Verb::Create { table } => flags.create(table),
        Verb::Get { table, partition_key, row_key, select } => {
            flags.get(table, partition_key, row_key, select)
        }
        Verb::Put(put) => put.run(flags),
        Verb::Query(query) => query.run(flags),
        Verb::Rm { table, partition_key: Some(partition_key), row_key: Some(row_key), if_match, .. } => {
            flags.remove_entity(table, partition_key, row_key, if_match.as_deref())
        }
        Verb::Rm { table, yes, .. } => flags.remove_table(table, *yes),
    }
}

impl TableFlags {
    async fn tables(&self) -> Result<Tables, String> {
        self.storage.endpoint(Service::Table).await.map(Tables::new)
    }

    fn list(&self) -> Result<(), String> {
        let names = ask(async {
            let (tables, mut query) = (self.tables().await?, TableListQuery::default());
            let mut names = Vec::new();
            loop {
                let page = tables.list(&query).await.map_err(refused(About::Account))?;
                names.extend(page.tables);
                match page.next {
                    Some(next) => query.from = Some(next),
                    None => return Ok(names),
                }
            }
        })?;
        if self.json {
            let rows: Vec<_> = names.iter().map(|name| json!({ "table": name })).collect();
            return terminal::print_json(&rows);
        }
        let rows = names.into_iter().map(|name| vec![name]);
        let table = terminal::Table::new(&["table"]).ruled().whole(0).rows(rows);
        terminal::print(&table.draw(&Screen::of_stdout()))
    }

    fn create(&self, table: &str) -> Result<(), String> {
        let about = About::Table(table);
        ask(async { self.tables().await?.create(table).await.map_err(refused(about)) })?;
        if self.json {
            return terminal::print_json(&json!({ "created": table }));
        }
        eprintln!("the table {table} is there");
        Ok(())
    }

    fn get(&self, table: &str, partition_key: &str, row_key: &str, select: &[String]) -> Result<(), String> {
        let about = About::Entity { table, partition_key, row_key };
        let found = ask(async {
            let tables = self.tables().await?;
            tables.get(table, partition_key, row_key, select).await.map_err(refused(about))
        })?;
        if self.json {
            return terminal::print(&(print::json(&found) + "\n"));
        }
        terminal::print(&print::properties(&found, &Screen::of_stdout()))
    }

    fn remove_entity(
        &self,
        table: &str,
        partition_key: &str,
        row_key: &str,
        if_match: Option<&str>,
    ) -> Result<(), String> {
        let about = About::Entity { table, partition_key, row_key };
        let delete = EntityWrite::Delete {
            partition_key: partition_key.to_owned(),
            row_key: row_key.to_owned(),
            if_match: if_match.unwrap_or("*").to_owned(),
        };
        ask(async { self.tables().await?.write(table, &delete).await.map_err(refused(about)) })?;
        if self.json {
            let removed = json!({ "table": table, "PartitionKey": partition_key, "RowKey": row_key });
            return terminal::print_json(&json!({ "removed": removed }));
        }
        eprintln!("the entity '{partition_key}' '{row_key}' of {table} is removed");
        Ok(())
    }

    fn remove_table(&self, table: &str, yes: bool) -> Result<(), String> {
        if !yes && !is_confirmed(&format!("the table {table}"))? {
            return Err("nothing was removed".to_owned());
        }
        let about = About::Table(table);
        ask(async { self.tables().await?.delete(table).await.map_err(refused(about)) })?;
        if self.json {
            return terminal::print_json(&json!({ "removed": table }));
        }
        eprintln!("the table {table} is removed");
        Ok(())
    }
}
