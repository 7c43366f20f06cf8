//! The kinds of children, and what the protocol calls each.

use orrery_core::limits;

/// The numbers are part of the stored keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    User = 1,
    Permission = 2,
    StoredProcedure = 3,
    Trigger = 4,
    UserDefinedFunction = 5,
    ClientEncryptionKey = 6,
}

impl Kind {
    pub const ALL: [Self; 6] = [
        Self::User,
        Self::Permission,
        Self::StoredProcedure,
        Self::Trigger,
        Self::UserDefinedFunction,
        Self::ClientEncryptionKey,
    ];
    /// What a container owns.
    pub const SCRIPTS: [Self; 3] = [Self::StoredProcedure, Self::Trigger, Self::UserDefinedFunction];

    /// The segment of a path.
    pub fn segment(self) -> &'static str {
        match self {
            Self::User => "users",
            Self::Permission => "permissions",
            Self::StoredProcedure => "sprocs",
            Self::Trigger => "triggers",
            Self::UserDefinedFunction => "udfs",
            Self::ClientEncryptionKey => "clientencryptionkeys",
        }
    }

    /// The member of a feed that holds them.
    pub fn feed(self) -> &'static str {
        match self {
            Self::User => "Users",
            Self::Permission => "Permissions",
            Self::StoredProcedure => "StoredProcedures",
            Self::Trigger => "Triggers",
            Self::UserDefinedFunction => "UserDefinedFunctions",
            Self::ClientEncryptionKey => "ClientEncryptionKeys",
        }
    }

    /// One of them, in a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Permission => "permission",
            Self::StoredProcedure => "stored procedure",
            Self::Trigger => "trigger",
            Self::UserDefinedFunction => "user-defined function",
            Self::ClientEncryptionKey => "client encryption key",
        }
    }

    /// How many of them one owner may have.
    pub fn count_max(self) -> u64 {
        match self {
            Self::User => limits::USERS_MAX,
            Self::Permission => limits::PERMISSIONS_MAX,
            Self::StoredProcedure => limits::STORED_PROCEDURES_MAX,
            Self::Trigger => limits::TRIGGERS_MAX,
            Self::UserDefinedFunction => limits::USER_DEFINED_FUNCTIONS_MAX,
            Self::ClientEncryptionKey => limits::CLIENT_KEYS_MAX,
        }
    }

    pub(crate) fn number(self) -> u8 {
        self as u8
    }
}
