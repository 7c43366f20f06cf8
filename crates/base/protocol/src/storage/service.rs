//! The three services of a storage account.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    Blob,
    Queue,
    Table,
}

impl Service {
    pub const ALL: [Self; 3] = [Self::Blob, Self::Queue, Self::Table];

    /// What it is called in the names of hosts, and in what is signed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Blob => "blob",
            Self::Queue => "queue",
            Self::Table => "table",
        }
    }

    /// Where clients look for the account of emulators.
    pub fn development_port(self) -> u16 {
        match self {
            Self::Blob => 10_000,
            Self::Queue => 10_001,
            Self::Table => 10_002,
        }
    }
}
