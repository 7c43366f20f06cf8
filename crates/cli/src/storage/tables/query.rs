//! `orrery table query`: the entities that a filter wants, page by page.

use super::TableFlags;
use super::explain::Explained;
use super::print::{self, Columns};
use crate::storage::flags::ask;
use crate::storage::refused::{About, refused};
use crate::terminal::{self, Screen};
use clap::Args;
use orrery_client::storage::tables::{EntityQuery, FoundEntity};

#[derive(Args)]
pub struct QueryFlags {
    /// The table
    table: String,
    /// Which entities, such as "PartitionKey eq 'ann' and total gt 10"; all of them if it is left out
    #[arg(long)]
    filter: Option<String>,
    /// Show these properties alone, as a,b,c
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    select: Vec<String>,
    /// Stop after so many entities
    #[arg(long, value_name = "ENTITIES", value_parser = clap::value_parser!(u64).range(1..))]
    top: Option<u64>,
    /// Show how the query would be answered, instead of asking: what is read, and what is left out of it afterwards
    #[arg(long)]
    explain: bool,
    /// In a table, also show Timestamp and ETag
    #[arg(long)]
    system: bool,
}

/// Entities of a page, as many as the service gives.
const PAGE_ENTITIES_MAX: u64 = 1000;

impl QueryFlags {
    pub fn run(&self, flags: &TableFlags) -> Result<(), String> {
        if self.explain {
            let explained = Explained::of(self.filter.as_deref())?;
            return match flags.json {
                true => terminal::print_json(&explained.to_json()),
                false => terminal::print(&explained.draw()),
            };
        }
        if flags.json {
            return self.print_json(flags);
        }
        let mut found = Vec::new();
        self.each_page(flags, |page| {
            found.extend(page);
            Ok(())
        })?;
        let columns = if self.system { Columns::All } else { Columns::WithoutSystem };
        terminal::print(&print::table(&found, columns, &Screen::of_stdout()))?;
        let noun = if found.len() == 1 { "entity" } else { "entities" };
        eprintln!("{} {noun}", found.len());
        Ok(())
    }

    /// An array, an entity on each line, as the pages come.
    fn print_json(&self, flags: &TableFlags) -> Result<(), String> {
        let mut is_first = true;
        self.each_page(flags, |page| {
            let mut text = String::new();
            for entity in &page {
                text += if std::mem::take(&mut is_first) { "[\n" } else { ",\n" };
                text += &print::json(entity);
            }
            terminal::print(&text)
        })?;
        terminal::print(if is_first { "[]\n" } else { "\n]\n" })
    }

    fn each_page(
        &self,
        flags: &TableFlags,
        mut take: impl FnMut(Vec<FoundEntity>) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut left = self.top.unwrap_or(u64::MAX);
        let mut query = EntityQuery {
            filter: self.filter.clone(),
            select: self.select.clone(),
            ..EntityQuery::default()
        };
        ask(async {
            let tables = flags.tables().await?;
            while left > 0 {
                query.top = self.top.map(|_| left.min(PAGE_ENTITIES_MAX) as usize);
                let page = tables.query(&self.table, &query).await;
                let mut page = page.map_err(refused(About::Table(&self.table)))?;
                page.entities.truncate(usize::try_from(left).unwrap_or(usize::MAX));
                left -= page.entities.len() as u64;
                take(page.entities)?;
                query.from = page.next;
                if query.from.is_none() {
                    break;
                }
            }
            Ok(())
        })
    }
}
