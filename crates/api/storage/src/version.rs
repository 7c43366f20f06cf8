//! The version of the protocol that a request asks for: a date (wire guide §4.1).
//!
//! Any date is taken, also one that is younger than this build: versions decide only what the wire guide says. Dates of this form
//! sort as texts do.

use orrery_protocol::storage::is_date;

/// A date such as `2026-10-06`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version([u8; 10]);

impl Version {
    /// For requests that name none.
    pub const DEFAULT: Self = Self::of("2025-11-05");

    pub fn parse(text: &str) -> Option<Self> {
        is_date(text).then(|| text.as_bytes().try_into().ok()).flatten().map(Self)
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a version is made of text")
    }

    /// Of a constant.
    pub const fn of(text: &str) -> Self {
        let mut bytes = [0; 10];
        bytes.copy_from_slice(text.as_bytes());
        Self(bytes)
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::fmt::Debug for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_date_is_a_version_and_nothing_else() {
        for text in ["2026-10-06", "2009-09-19", "2099-12-31"] {
            assert_eq!(Version::parse(text).map(|version| version.to_string()).as_deref(), Some(text));
        }
        for text in ["", "latest", "2026-10", "2026-13-01", "2026-10-06 ", "2026-10-06T00:00Z", "20261006"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }

    #[test]
    fn later_versions_are_greater() {
        assert!(Version::of("2019-12-12") < Version::DEFAULT);
        assert!(Version::of("2026-10-06") > Version::DEFAULT);
    }
}
