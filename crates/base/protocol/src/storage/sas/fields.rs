//! The parameters of a shared access signature (wire guide §3.1), each as the text that is signed.
//!
//! Nothing is reformatted: a date or a list of permissions is signed as it was written, so it is kept so.

use crate::storage::query::{Query, encode};

macro_rules! fields {
    ($($(#[$doc:meta])* $name:ident)*) => {
        #[derive(Clone, Default, PartialEq, Eq)]
        pub struct Fields {
            $($(#[$doc])* pub $name: Option<String>,)*
        }

        impl Fields {
            /// The names of all parameters that a signature may have.
            pub const NAMES: &[&str] = &[$(stringify!($name)),*];

            /// What a query has of them.
            pub fn read(query: &Query) -> Self {
                Self { $($name: query.literal(stringify!($name)).map(Into::into),)* }
            }

            fn each(&self) -> impl Iterator<Item = (&'static str, &str)> {
                let all = [$((stringify!($name), self.$name.as_deref())),*];
                all.into_iter().filter_map(|(name, value)| Some((name, value?)))
            }
        }
    };
}

fields! {
    /// Version.
    sv
    /// Services: letters of `bqtf`.
    ss
    /// Kinds of resources: letters of `sco`.
    srt
    /// The table, in any case.
    tn
    /// Kind of resource: `c`, `b`, `bs`, `bv` or `d`.
    sr
    /// Stored access policy.
    si
    /// Start and end.
    st
    se
    /// Permissions.
    sp
    /// An address, or two with a hyphen between them.
    sip
    /// Protocols: `https`, or `https,http`.
    spr
    /// Encryption scope.
    ses
    /// Depth of a directory.
    sdd
    /// The first and the last partition key and row key of a table that it is for.
    spk
    srk
    epk
    erk
    /// Headers of answers: cache control, content disposition, content encoding, content language, content type.
    rscc
    rscd
    rsce
    rscl
    rsct
    /// User delegation: whose key (object, tenant), from when, until when, for which service and version.
    skoid
    sktid
    skt
    ske
    sks
    skv
    /// The only one who may use it (tenant, object).
    skdutid
    sduoid
    /// For whom it was made, with and without a look at their own permissions; the id for logs.
    saoid
    suoid
    scid
    /// Names of headers and of parameters that are signed with it.
    srh
    srq
    /// The signature itself.
    sig
}

impl Fields {
    /// The first field that has a line feed or another control character.
    pub(super) fn with_control_character(&self) -> Option<&'static str> {
        self.each().find(|(_, value)| value.chars().any(char::is_control)).map(|(name, _)| name)
    }

    /// As the query of a URL, without the question mark.
    pub fn to_query(&self) -> String {
        let pairs: Vec<String> =
            self.each().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        pairs.join("&")
    }
}

/// Without the signature, which opens what it is for.
impl std::fmt::Debug for Fields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.each().filter(|(name, _)| *name != "sig")).finish()
    }
}
