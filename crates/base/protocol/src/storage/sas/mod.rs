//! Shared access signatures: which kind one is, what was signed, and how to make one.
//!
//! ```text
//! fields       its parameters, as the texts that are signed
//! layout       what is signed, by kind and version
//! make         tokens, for clients
//! ```

mod fields;
pub mod layout;
mod make;

pub use fields::Fields;
pub use layout::SignedRequest;

use super::{Query, is_date};
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
    #[error("sv is not a version, which is a date")]
    Version,
    #[error("{0} has a character that no signature has")]
    Character(&'static str),
}

impl Sas {
    /// The one in a query; None if there is none, because nothing is signed.
    pub fn read(query: &Query) -> Option<Result<Self, InvalidSas>> {
        query.has("sig").then(|| Self::of(Fields::read(query)))
    }

    fn of(fields: Fields) -> Result<Self, InvalidSas> {
        // What is signed are lines: one that came in a field would stand where another belongs.
        if let Some(name) = fields.with_control_character() {
            return Err(InvalidSas::Character(name));
        }
        let is_missing = |field: &Option<String>| field.as_deref().unwrap_or_default().is_empty();
        if is_missing(&fields.sv) {
            return Err(InvalidSas::Missing("sv"));
        }
        if !fields.sv.as_deref().is_some_and(is_date) {
            return Err(InvalidSas::Version);
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

#[cfg(test)]
mod tests {
    use super::*;

    const SIG: &str = "VqcxPfrn027TZ7iv25g%2B4dFSTTnyz6z4YLTo%2BNYMFy0%3D";

    fn read(query: &str) -> Option<Result<Kind, InvalidSas>> {
        let query = Query::parse(&query.replace("SIG", SIG)).expect("text");
        Sas::read(&query).map(|sas| sas.map(|sas| sas.kind))
    }

    #[test]
    fn the_kind_follows_from_the_parameters() {
        assert_eq!(read("sv=2026-10-06&sp=r&sr=c"), None);
        assert_eq!(read("sv=2026-10-06&sp=r&ss=q&srt=sco&sig=SIG"), Some(Ok(Kind::Account)));
        assert_eq!(read("sv=2026-10-06&sp=r&sr=c&sig=SIG"), Some(Ok(Kind::Service)));
        assert_eq!(read("sv=2026-10-06&sp=r&sr=c&sktid=t&srt=s&sig=SIG"), Some(Ok(Kind::Delegation)));
    }

    #[test]
    fn what_is_no_signature_is_refused() {
        assert_eq!(read("sp=r&sig=SIG"), Some(Err(InvalidSas::Missing("sv"))));
        assert_eq!(read("sv=latest&sig=SIG"), Some(Err(InvalidSas::Version)));
        assert_eq!(read("sv=2026-10-06&sig="), Some(Err(InvalidSas::Signature)));
        assert_eq!(read("sv=2026-10-06&sp=r%0A&sig=SIG"), Some(Err(InvalidSas::Character("sp"))));
        assert_eq!(read("sv=2026-10-06&sig=QUJD"), Some(Err(InvalidSas::Signature)));
    }

    #[test]
    fn a_plus_in_a_signature_is_not_a_space() {
        let raw = SIG.replace("%2B", "+");
        let query = Query::parse(&format!("sv=2026-10-06&sig={raw}")).expect("text");
        assert!(Sas::read(&query).is_some_and(|sas| sas.is_ok()));
    }

    #[test]
    fn a_signature_is_never_printed() {
        let query = Query::parse(&format!("sv=2026-10-06&sp=r&sig={SIG}")).expect("text");
        let printed = format!("{:?}", Sas::read(&query));
        assert!(printed.contains("2026-10-06") && !printed.contains("VqcxPf"), "{printed}");
    }
}
