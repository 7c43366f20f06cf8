//! What an operation needs to be allowed, said by the protocol that knows the operation.

/// Groups of letters, one of which must be granted whole: `&["c", "w"]` is one of both, `&["au"]` is both. Empty: no
/// signature of this kind opens the operation. `&[""]`: any opens it.
pub type Letters = &'static [&'static str];

#[derive(Clone, Debug)]
pub struct Need<'a> {
    /// The kind of resource that an account SAS must be for.
    pub level: Level,
    pub resource: Resource<'a>,
    /// What an account SAS must allow.
    pub account: Letters,
    /// What a service SAS or a user delegation SAS of the resource must allow.
    pub service: Letters,
    /// What a role must allow.
    pub action: Action,
    /// It changes something, so it may not be done on the replica. Also what is sent as a GET, as receiving messages is.
    pub is_write: bool,
}

/// The letters of `srt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Service,
    /// A container, a queue or a table.
    Container,
    /// A blob, a message or an entity.
    Object,
}

/// What the operation works on, by its decoded names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource<'a> {
    Account,
    Queue(&'a str),
    Table(&'a str),
    Container(&'a str),
    Blob {
        container: &'a str,
        name: &'a str,
        /// The text of `snapshot` or `versionid`.
        moment: Option<Moment<'a>>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment<'a> {
    Snapshot(&'a str),
    Version(&'a str),
}

/// What roles are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Properties and statistics of the service.
    ReadService,
    WriteService,
    /// The list of containers, queues or tables, and the properties and metadata of one.
    ReadResource,
    /// Creates one, or changes its properties or metadata.
    WriteResource,
    DeleteResource,
    /// Stored access policies, and public access.
    ReadPolicies,
    WritePolicies,
    /// Blobs, entities, messages by peeking.
    ReadData,
    /// Puts a message, inserts an entity or a blob.
    AddData,
    /// Changes what is there.
    WriteData,
    DeleteData,
    /// Receives messages, and deletes them.
    ProcessMessages,
    /// A key for user delegation signatures.
    DelegationKey,
}

impl Resource<'_> {
    /// The container, queue or table: what stored access policies belong to.
    pub fn container(&self) -> Option<&str> {
        match self {
            Self::Account => None,
            Self::Queue(name) | Self::Table(name) | Self::Container(name) => Some(name),
            Self::Blob { container, .. } => Some(container),
        }
    }
}
