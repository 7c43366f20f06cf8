//! Names of storage accounts and of what they hold, checked once where they come in.

use crate::limits;

/// Why a name is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidResourceName {
    #[error("The specified resource name length is not within the permissible limits.")]
    Length,
    #[error("The specified resource name contains invalid characters.")]
    Characters,
    /// A name that the service keeps for itself.
    #[error("The specified resource name is reserved.")]
    Reserved,
}

/// A storage account: 3 to 24 lower-case letters and digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountName(String);

/// A table: a letter, then 2 to 62 letters and digits. Case is kept, and makes no difference.
#[derive(Clone, Debug)]
pub struct TableName(String);

/// A queue: 3 to 63 lower-case letters, digits and single hyphens, with a letter or digit at both ends.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueName(String);

/// A blob container: named as a queue is, or one of those that the service itself names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobContainerName(String);

impl AccountName {
    pub fn parse(raw: &str) -> Result<Self, InvalidResourceName> {
        check_length(raw, limits::ACCOUNT_NAME_CHARS_MIN, limits::ACCOUNT_NAME_CHARS_MAX)?;
        check_characters(raw.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()))?;
        Ok(Self(raw.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TableName {
    pub fn parse(raw: &str) -> Result<Self, InvalidResourceName> {
        check_length(raw, limits::RESOURCE_NAME_CHARS_MIN, limits::RESOURCE_NAME_CHARS_MAX)?;
        check_characters(raw.bytes().all(|byte| byte.is_ascii_alphanumeric()))?;
        check_characters(raw.starts_with(|first: char| first.is_ascii_alphabetic()))?;
        if raw.eq_ignore_ascii_case("tables") {
            return Err(InvalidResourceName::Reserved);
        }
        Ok(Self(raw.to_owned()))
    }

    /// As it was written when the table was created.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What tables are found and ordered by.
    pub fn folded(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

impl PartialEq for TableName {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for TableName {}

impl QueueName {
    pub fn parse(raw: &str) -> Result<Self, InvalidResourceName> {
        check_dashed(raw)?;
        Ok(Self(raw.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl BlobContainerName {
    /// The container of blobs without one in their path.
    pub const ROOT: &str = "$root";
    /// The container of the static website.
    pub const WEB: &str = "$web";
    /// The container that the change feed is written to.
    pub const CHANGE_FEED: &str = "$blobchangefeed";
    const LOGS: &str = "$logs";

    pub fn parse(raw: &str) -> Result<Self, InvalidResourceName> {
        if ![Self::ROOT, Self::WEB, Self::CHANGE_FEED, Self::LOGS].contains(&raw) {
            check_dashed(raw)?;
        }
        Ok(Self(raw.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the service keeps it for itself: lists show it only to those who ask.
    pub fn is_system(&self) -> bool {
        [Self::CHANGE_FEED, Self::LOGS].contains(&self.as_str())
    }
}

/// The rule of queues, which blob containers share.
fn check_dashed(raw: &str) -> Result<(), InvalidResourceName> {
    check_length(raw, limits::RESOURCE_NAME_CHARS_MIN, limits::RESOURCE_NAME_CHARS_MAX)?;
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    check_characters(raw.bytes().all(|byte| is_word(byte) || byte == b'-'))?;
    check_characters(!raw.starts_with('-') && !raw.ends_with('-') && !raw.contains("--"))
}

fn check_length(raw: &str, min: usize, max: usize) -> Result<(), InvalidResourceName> {
    let chars = raw.chars().count();
    if (min..=max).contains(&chars) { Ok(()) } else { Err(InvalidResourceName::Length) }
}

fn check_characters(are_allowed: bool) -> Result<(), InvalidResourceName> {
    if are_allowed { Ok(()) } else { Err(InvalidResourceName::Characters) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use InvalidResourceName::{Characters, Length, Reserved};

    #[test]
    fn an_account_has_lower_case_letters_and_digits() {
        let check = |raw: &str, expected: Option<InvalidResourceName>| {
            assert_eq!(AccountName::parse(raw).err(), expected, "{raw}");
        };
        check("devstoreaccount1", None);
        check("ab", Some(Length));
        check(&"a".repeat(25), Some(Length));
        check("Account", Some(Characters));
        check("my-account", Some(Characters));
        check("kontoé1", Some(Characters));
    }

    #[test]
    fn a_table_begins_with_a_letter_and_is_not_called_tables() {
        let check = |raw: &str, expected: Option<InvalidResourceName>| {
            assert_eq!(TableName::parse(raw).err(), expected, "{raw}");
        };
        check("Runs2", None);
        check("a2", Some(Length));
        check(&"a".repeat(63), None);
        check(&"a".repeat(64), Some(Length));
        check("2runs", Some(Characters));
        check("my-table", Some(Characters));
        check("Tables", Some(Reserved));
    }

    #[test]
    fn tables_are_the_same_whatever_the_case() {
        let [one, other] = ["Runs", "rUNS"].map(|raw| TableName::parse(raw).expect("a name"));
        assert_eq!(one, other);
        assert_eq!(one.folded(), "runs");
    }

    #[test]
    fn a_queue_has_single_hyphens_inside() {
        let check = |raw: &str, expected: Option<InvalidResourceName>| {
            assert_eq!(QueueName::parse(raw).err(), expected, "{raw}");
        };
        check("turns-ingest-00", None);
        check("a1", Some(Length));
        check("Turns", Some(Characters));
        check("-turns", Some(Characters));
        check("turns-", Some(Characters));
        check("turns--ingest", Some(Characters));
        check("turns_ingest", Some(Characters));
    }

    #[test]
    fn the_service_names_some_containers_itself() {
        let check = |raw: &str, expected: Result<bool, InvalidResourceName>| {
            assert_eq!(BlobContainerName::parse(raw).map(|name| name.is_system()), expected, "{raw}");
        };
        check("$root", Ok(false));
        check("$web", Ok(false));
        check("$logs", Ok(true));
        check("$blobchangefeed", Ok(true));
        check("$other", Err(Characters));
        check("agent-defs", Ok(false));
        check("Agents", Err(Characters));
        check("a", Err(Length));
    }
}
