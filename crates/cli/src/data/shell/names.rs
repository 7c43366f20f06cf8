//! Completion: verbs, keywords, functions, and the names in the account and the container.

use super::statement::{VERBS, is_complete};
use crate::client::Remote;
use crate::data::container::{self, Container};
use crate::data::location::Location;
use orrery_query::functions;
use orrery_value::raw;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Items that are looked at for the names of members.
const SAMPLE_ITEMS: usize = 20;

const KEYWORDS: [&str; 24] = [
    "FROM", "WHERE", "ORDER BY", "GROUP BY", "VALUE", "DISTINCT", "TOP", "OFFSET", "LIMIT", "JOIN", "IN",
    "AND", "OR", "NOT", "BETWEEN", "LIKE", "ESCAPE", "EXISTS", "ARRAY", "ASC", "DESC", "NULL", "TRUE",
    "FALSE",
];

#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Databases, containers or items: what a path may go on with.
    places: Vec<String>,
    /// Members of items, as `c.name`.
    members: Vec<String>,
}

impl Names {
    /// Unreadable names are not offered; the statement that needs them reports the error.
    pub async fn read(remote: &Arc<Remote>, at: &Location) -> Self {
        match at {
            Location::Account | Location::Database { .. } => {
                let found = container::names(remote, at).await.unwrap_or_default();
                let places = found.iter().filter_map(|one| one["id"].as_str()).map(str::to_owned);
                Self { places: places.collect(), members: Vec::new() }
            }
            Location::Container { database, container } => {
                let items = sample(remote, database, container).await.unwrap_or_default();
                Self::of_items(&items)
            }
            Location::Item { .. } => Self::default(),
        }
    }

    fn of_items(items: &[String]) -> Self {
        let id = |item: &String| {
            raw::member(item, "id").map(|id| raw::unescape(id.trim().trim_matches('"')).into_owned())
        };
        let members: BTreeSet<String> = items
            .iter()
            .flat_map(|item| raw::members(item).map(|(name, _)| format!("c.{}", raw::unescape(name))))
            .collect();
        Self { places: items.iter().filter_map(id).collect(), members: members.into_iter().collect() }
    }

    /// The completions of the word that ends at `position`, and the start of the word.
    fn candidates(&self, line: &str, position: usize) -> (usize, Vec<String>) {
        let before = &line[..position];
        let begins = before.rfind([' ', '(', ',', '=', '/', '\n']).map_or(0, |at| at + 1);
        let word = &before[begins..];
        let first = line.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
        let offered: Vec<String> = if !before.contains(' ') {
            VERBS.map(str::to_owned).to_vec()
        } else if first == "select" {
            let functions = functions::all().map(|function| format!("{}(", function.name));
            let keywords = KEYWORDS.iter().map(|keyword| (*keyword).to_owned());
            self.members.iter().cloned().chain(keywords).chain(functions).collect()
        } else {
            self.places.clone()
        };
        let is_meant = |offer: &String| {
            offer.len() >= word.len()
                && offer.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
        };
        (begins, offered.into_iter().filter(is_meant).collect())
    }
}

async fn sample(remote: &Arc<Remote>, database: &str, name: &str) -> Result<Vec<String>, String> {
    let container = Container::open(remote, database, name).await?;
    container.page(None, SAMPLE_ITEMS).await.map(|(items, _)| items)
}

impl Completer for Names {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (begins, offered) = self.candidates(line, position);
        let pair = |text: String| Pair { display: text.clone(), replacement: text };
        Ok((begins, offered.into_iter().map(pair).collect()))
    }
}

impl Validator for Names {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_complete(context.input()) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {}

impl Helper for Names {}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let items = ["{\"id\":\"saturn\",\"moons\":274}".to_owned(), "{\"id\":\"mars\"}".to_owned()];
        Names::of_items(&items)
    }

    fn offered(line: &str) -> Vec<String> {
        names().candidates(line, line.len()).1
    }

    #[test]
    fn a_word_is_completed_by_what_fits_its_place() {
        assert_eq!(offered("SE"), ["SELECT"]);
        assert_eq!(offered("get sa"), ["saturn"]);
        assert_eq!(offered("SELECT c.mo"), ["c.moons"]);
        assert!(offered("SELECT * FROM c wher").contains(&"WHERE".to_owned()));
        assert!(offered("SELECT VALUE startsw").iter().any(|name| name.eq_ignore_ascii_case("STARTSWITH(")));
        assert_eq!(offered("rm zz"), Vec::<String>::new());
    }

    #[test]
    fn the_word_begins_after_the_last_separator() {
        assert_eq!(names().candidates("SELECT COUNT(c.m", 16).0, 13);
    }
}
