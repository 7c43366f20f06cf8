//! The call of a script: its kind, its context, its result, and its errors.

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
pub struct ScriptContext<'a> {
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

// What can be wrong with a script.

/// Why a script came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// Its text is not a function.
    #[error("Encountered exception while compiling Javascript. Exception = {message}{}", place(stack))]
    Compile { message: String, stack: String },
    /// It threw, and nobody caught it; `number` is the one that the error carries.
    #[error(
        "Encountered exception while executing function. Exception = {message}{}",
        traced(message, stack)
    )]
    Thrown { message: String, stack: String, number: Option<u32> },
    #[error(
        "The requested operation exceeded maximum alloted time: the script ran longer than {millis_max} ms."
    )]
    TooLong { millis_max: u64 },
    #[error("The script used more memory than {mb} MB; keep less at once.", mb = bytes_max / 1024 / 1024)]
    OutOfMemory { bytes_max: usize },
    #[error("The script's response is {bytes} bytes; the largest is {bytes_max} bytes.")]
    OutputTooLarge { bytes: usize, bytes_max: usize },
    /// The runtime itself failed.
    #[error("The script could not be run: {0}.")]
    Broken(String),
}

fn place(stack: &str) -> String {
    if stack.is_empty() { String::new() } else { format!("\r\n{stack}") }
}

fn traced(message: &str, stack: &str) -> String {
    if stack.is_empty() { String::new() } else { format!("\r\nStack trace: {message}\n{stack}") }
}

// What a script asks of the world: operations on the documents of one partition.

/// Does what a script asks for, in its transaction.
pub trait Host {
    fn perform(&mut self, operation: Operation<'_>) -> Result<Answer, Refusal>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    Create {
        body: &'a str,
        options: WriteOptions<'a>,
    },
    Upsert {
        body: &'a str,
        options: WriteOptions<'a>,
    },
    Read {
        document: Document<'a>,
    },
    Replace {
        document: Document<'a>,
        body: &'a str,
        options: WriteOptions<'a>,
    },
    Delete {
        document: Document<'a>,
        options: WriteOptions<'a>,
    },
    Query {
        /// `{"query", "parameters"}` as JSON text.
        question: &'a str,
        /// As many as fit a page, if it names none.
        items_max: Option<usize>,
        continuation: Option<&'a str>,
    },
}

/// A document of the partition, as a link names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Document<'a> {
    Id(&'a str),
    Rid(&'a str),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions<'a> {
    pub etag: Option<&'a str>,
    /// `default`, `include` or `exclude`.
    pub index_action: Option<&'a str>,
}

/// What an operation came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// A document, or an array of a query's rows, as JSON text; nothing after a delete.
    pub json: Option<String>,
    /// Where the query goes on.
    pub continuation: Option<String>,
    /// What the operation replaced or deleted, beside the text that the script wrote. It counts
    /// when the next operation is taken or not.
    pub held_bytes: usize,
}

/// An operation that was not done: a status, as the protocol numbers them, and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub number: u32,
    pub message: String,
}
