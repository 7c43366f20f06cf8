//! Conflict resolution between the writes of several regions.
//!
//! Responses always carry all three members, because one client cannot read the policy without them.

use super::members::{DefinitionError, Parsed, invalid};
use super::members::{Members, spelled};
use super::path::PropertyPath;
use serde_json::{Map, Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConflictResolution {
    /// The write with the largest number at the path.
    LastWriterWins { path: PropertyPath },
    /// A stored procedure, or a reader of the conflict feed.
    Custom { procedure: Option<String> },
}

const DEFAULT_PATH: &str = "/_ts";

pub(super) fn parse(raw: Value) -> Parsed<ConflictResolution> {
    let mut members = Members::of("conflictResolutionPolicy", raw)?;
    let named = members.string("mode")?.unwrap_or_else(|| "LastWriterWins".to_owned());
    let path = members.string("conflictResolutionPath")?.filter(|text| !text.is_empty());
    let procedure = members.string("conflictResolutionProcedure")?.filter(|text| !text.is_empty());
    let (name, custom) =
        spelled(&named, &[("LastWriterWins", false), ("Custom", true)]).ok_or_else(|| {
            invalid(format!(
                "The conflict resolution mode '{named}' is invalid. Choose 'LastWriterWins' or 'Custom'."
            ))
        })?;
    let (resolution, path_text) = match (custom, path, procedure.clone()) {
        (false, path, None) => last_writer_wins(path)?,
        (true, None, procedure) => (ConflictResolution::Custom { procedure }, String::new()),
        _ => {
            return Err(invalid(
                "The conflictResolutionPolicy mixes two modes: 'LastWriterWins' takes only a \
             conflictResolutionPath, 'Custom' only a conflictResolutionProcedure.",
            ));
        }
    };
    let mut shown = Map::new();
    shown.insert("mode".to_owned(), json!(name));
    shown.insert("conflictResolutionPath".to_owned(), json!(path_text));
    shown.insert("conflictResolutionProcedure".to_owned(), json!(procedure.unwrap_or_default()));
    Ok((resolution, members.followed_by_rest(shown)))
}

fn last_writer_wins(path: Option<String>) -> Result<(ConflictResolution, String), DefinitionError> {
    let text = path.unwrap_or_else(|| DEFAULT_PATH.to_owned());
    let path = PropertyPath::parse(&text).map_err(|error| {
        invalid(format!("The conflict resolution {error}. Give the path of one property."))
    })?;
    Ok((ConflictResolution::LastWriterWins { path }, text))
}
