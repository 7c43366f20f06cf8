//! Shared access signatures: which kind one is, what was signed, and how to make one.
//!
//! ```text
//! fields       its parameters, as the texts that are signed
//! ```

mod fields;

pub use fields::Fields;

use super::Query;
use crate::Signature;

/// A signature that came with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sas {
    pub kind: Kind,
    pub fields: Fields,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of the whole account, with its key.
    Account,
    /// Of one resource, with the account's key.
    Service,
    /// Of one resource, with a key that a user was given.
    Delegation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSas {
    #[error("{0} is mandatory. Cannot be empty")]
    Missing(&'static str),
    #[error("sig is not a signature")]
    Signature,
}

impl Sas {
    /// The one in a query; None if there is none, because nothing is signed.
    pub fn read(query: &Query) -> Option<Result<Self, InvalidSas>> {
        query.has("sig").then(|| Self::of(Fields::read(query)))
    }

    fn of(fields: Fields) -> Result<Self, InvalidSas> {
        let is_missing = |field: &Option<String>| field.as_deref().unwrap_or_default().is_empty();
        if is_missing(&fields.sv) {
            return Err(InvalidSas::Missing("sv"));
        }
        fields.sig.as_deref().and_then(Signature::parse).ok_or(InvalidSas::Signature)?;
        let kind = match () {
            () if fields.sktid.is_some() => Kind::Delegation,
            () if fields.srt.is_some() => Kind::Account,
            () => Kind::Service,
        };
        Ok(Self { kind, fields })
    }

    pub fn signature(&self) -> Signature {
        self.fields
            .sig
            .as_deref()
            .and_then(Signature::parse)
            .expect("it was checked when the signature was read")
    }

    pub fn version(&self) -> &str {
        self.fields.sv.as_deref().unwrap_or_default()
    }
}
