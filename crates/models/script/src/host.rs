//! What a script asks of the world: operations on the documents of one partition.

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
