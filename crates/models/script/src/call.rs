//! What a script is run for, where, and what comes of it.

use crate::error::ScriptError;
use crate::runtime::{Elapsed, Limits};

/// What a script is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call<'a> {
    /// A stored procedure, with its arguments as the text of a JSON array.
    Procedure { arguments: &'a str },
    /// A pre-trigger: it may change the document that is about to be written. A delete has none.
    Before { on: On, document: Option<&'a str> },
    /// A post-trigger: it sees the document as it was written.
    After { on: On, document: Option<&'a str>, written: Option<&'a str> },
}

/// The write that a trigger belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Create,
    Upsert,
    Replace,
    Delete,
}

impl On {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Create => "Create",
            Self::Upsert => "Upsert",
            Self::Replace => "Replace",
            Self::Delete => "Delete",
        }
    }
}

/// Where and when a script runs.
pub struct Setting<'a> {
    /// The script's own name, for stack traces.
    pub name: &'a str,
    /// `dbs/<rid>/colls/<rid>/`
    pub self_link: &'a str,
    /// `dbs/<name>/colls/<name>`
    pub alt_link: &'a str,
    /// The request's headers, as the text of a JSON object.
    pub values: &'a str,
    /// What the clock shows, in milliseconds since 1970, from beginning to end.
    pub now_ms: u64,
    /// Where the script's random numbers come from.
    pub seed: u64,
    pub limits: Limits,
    pub elapsed: Elapsed,
}

/// A script that came to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// What the script set the response's body to, a pre-trigger the request's, as JSON text.
    pub body: Option<String>,
    pub log: String,
}

/// A script that did not, and what it had said until then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    pub error: ScriptError,
    pub log: String,
}
