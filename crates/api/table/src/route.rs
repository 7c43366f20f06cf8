//! From a path to what it names. Paths are decoded once, as a whole, before they are read.

use crate::key_predicate::{self, Predicate};
use orrery_api_common::percent::decode_segment;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// The service itself: `/`
    Service,
    /// All tables: `/Tables`
    Tables,
    /// One of them as an entry of that list: `/Tables('x')`
    Entry { table: String },
    /// The entities of a table: `/x` or `/x()`
    Entities { table: String },
    /// `/x(PartitionKey='p',RowKey='r')`
    Entity { table: String, partition_key: String, row_key: String },
    /// `/$batch`
    Batch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoResource {
    #[error("The requested URI does not represent any resource on the server.")]
    Path,
    #[error(transparent)]
    Predicate(#[from] key_predicate::InvalidPredicate),
}

/// What a path names. It is percent-encoded, and begins after the account.
pub fn locate(path: &str) -> Result<Resource, NoResource> {
    let decoded = decode_segment(path).map_err(|_| NoResource::Path)?;
    let path = decoded.strip_prefix('/').unwrap_or(&decoded);
    let path = path.strip_suffix('/').unwrap_or(path);
    let (name, predicate) = match path.split_once('(') {
        None => (path, Predicate::All),
        Some((name, rest)) => (name, key_predicate::parse(rest.strip_suffix(')').ok_or(NoResource::Path)?)?),
    };
    if name.contains('/') {
        return Err(NoResource::Path);
    }
    named(name, predicate, path.len() > name.len())
}

fn named(name: &str, predicate: Predicate, has_parentheses: bool) -> Result<Resource, NoResource> {
    let is_tables = name.eq_ignore_ascii_case("tables");
    match predicate {
        Predicate::All if name.is_empty() && !has_parentheses => Ok(Resource::Service),
        Predicate::All if name.eq_ignore_ascii_case("$batch") && !has_parentheses => Ok(Resource::Batch),
        Predicate::All if is_tables => Ok(Resource::Tables),
        Predicate::Name(table) if is_tables => Ok(Resource::Entry { table }),
        Predicate::All if !name.is_empty() => Ok(Resource::Entities { table: name.to_owned() }),
        Predicate::Key { partition_key, row_key } if !name.is_empty() && !is_tables => {
            Ok(Resource::Entity { table: name.to_owned(), partition_key, row_key })
        }
        _ => Err(NoResource::Path),
    }
}

/// The path of a URL inside a batch, after the account. The URL may be absolute, with any host, or a path alone; in a path
/// of two segments the first is the account.
pub fn inner_path(target: &str) -> &str {
    let path = match target.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => target,
    };
    let path = path.split('?').next().unwrap_or_default();
    let rest = path.strip_prefix('/').unwrap_or(path);
    // A key may hold a slash: what comes after the parenthesis is not an end of the first segment.
    let names = rest.find(['(']).map_or(rest, |at| &rest[..at]);
    match names.find('/') {
        Some(at) => &rest[at..],
        None => path,
    }
}

#[cfg(test)]
mod tests {
    //! Runs `cases/routes`: `path` and what it `names`, or the `error`; `inner` and the path in it.

    use super::*;
    use orrery_testing_golden::{case_files, lines};
    use std::path::Path;

    fn told(path: &str) -> String {
        match locate(path) {
            Ok(Resource::Service) => "names the service".to_owned(),
            Ok(Resource::Tables) => "names all tables".to_owned(),
            Ok(Resource::Entry { table }) => format!("names the table {table}"),
            Ok(Resource::Entities { table }) => format!("names entities of {table}"),
            Ok(Resource::Entity { table, partition_key, row_key }) => {
                format!("names entity of {table} '{partition_key}' '{row_key}'")
            }
            Ok(Resource::Batch) => "names batch".to_owned(),
            Err(error) => format!("error {error}"),
        }
    }

    #[test]
    fn every_case_holds() {
        let (mut told_last, mut checked) = (String::new(), 0);
        for file in case_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/routes"), "case") {
            let text = std::fs::read_to_string(&file).expect("a case file is readable");
            for line in lines(&text) {
                match line.keyword.as_str() {
                    "path" if line.text.starts_with("is ") => {
                        assert_eq!(told_last, line.text, "{}:{}", file.display(), line.from + 1);
                        checked += 1;
                    }
                    "path" => told_last = told(&line.text),
                    "inner" => told_last = format!("is {}", inner_path(&line.text)),
                    _ => {
                        let expected = format!("{} {}", line.keyword, line.text);
                        assert_eq!(told_last, expected, "{}:{}", file.display(), line.from + 1);
                        checked += 1;
                    }
                }
            }
        }
        assert!(checked >= 34, "only {checked} cases were found");
    }
}
