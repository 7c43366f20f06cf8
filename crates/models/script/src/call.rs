//! The call of a script: its kind, its context, its result, and its errors.

use crate::runtime::{Elapsed, Limits};

/// The kind of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call<'a> {
    /// A stored procedure, with its arguments as the text of a JSON array.
    Procedure { arguments: &'a str },
    /// A pre-trigger: it may change the document to be written. A delete has none.
    Before { on: On, document: Option<&'a str> },
    /// A post-trigger: it sees the document as written.
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

/// The context of a script.
pub struct ScriptContext<'a> {
    /// The script's own name, for stack traces.
    pub name: &'a str,
    /// `dbs/<rid>/colls/<rid>/`
    pub self_link: &'a str,
    /// `dbs/<name>/colls/<name>`
    pub alt_link: &'a str,
    /// The request's headers, as the text of a JSON object.
    pub values: &'a str,
    /// The time in milliseconds since 1970, constant during the run.
    pub now_ms: u64,
    /// The seed of the script's random numbers.
    pub seed: u64,
    pub limits: Limits,
    pub elapsed: Elapsed,
}

/// The result of a script that completed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The body that the script set, of the response or, in a pre-trigger, of the request, as JSON
    /// text.
    pub body: Option<String>,
    pub log: String,
}

/// The error of a script that failed, and its log until then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    pub error: ScriptError,
    pub log: String,
}

// Script errors.

/// Why a script failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// Its source is not a function.
    #[error("Encountered exception while compiling Javascript. Exception = {message}{}", place(stack))]
    Compile { message: String, stack: String },
    /// It threw an uncaught exception; `number` is the error's own.
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

// The host interface: operations on the documents of one partition.

/// Executes a script's operations in its transaction.
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
        /// As many as fit a page, if the script specifies no number.
        items_max: Option<usize>,
        continuation: Option<&'a str>,
    },
}

/// A document of the partition, identified by its link.
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

/// The result of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// A document, or an array of a query's rows, as JSON text; empty after a delete.
    pub json: Option<String>,
    /// The query's continuation.
    pub continuation: Option<String>,
    /// Bytes that the operation replaced or deleted, besides the text that the script wrote. They count
    /// when the next operation is accepted or refused.
    pub held_bytes: usize,
}

/// A failed operation: a protocol status and a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub number: u32,
    pub message: String,
}
