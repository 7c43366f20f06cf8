//! Metadata: names and values that users attach to a queue, a blob container or a blob. Case is kept, and makes no difference between names.

use crate::limits;

#[derive(Clone, Debug, Default)]
pub struct Metadata(Vec<(String, String)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMetadata {
    #[error("The key for one of the metadata key-value pairs is empty.")]
    EmptyName,
    /// A name that is no identifier, or a value that is not printable ASCII.
    #[error("The metadata specified is invalid. It has characters that are not permitted.")]
    Characters,
    #[error("The size of the specified metadata exceeds the maximum size permitted.")]
    TooLarge,
}

impl Metadata {
    /// The values of a name that comes twice are joined by a comma, as those of headers are.
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Result<Self, InvalidMetadata> {
        let (mut found, mut bytes) = (Self::default(), 0);
        for (name, value) in pairs {
            check(&name, &value)?;
            bytes += name.len() + value.len();
            if bytes > limits::METADATA_BYTES_MAX {
                return Err(InvalidMetadata::TooLarge);
            }
            match found.0.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
                Some((_, known)) => *known = format!("{known},{value}"),
                None => found.0.push((name, value)),
            }
        }
        Ok(found)
    }

    /// In the order in which they were given.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// The same names with the same values, in any order.
impl PartialEq for Metadata {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.iter().all(|(name, value)| other.get(name) == Some(value))
    }
}

impl Eq for Metadata {}

fn check(name: &str, value: &str) -> Result<(), InvalidMetadata> {
    let Some(first) = name.bytes().next() else { return Err(InvalidMetadata::EmptyName) };
    let is_identifier =
        !first.is_ascii_digit() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_printable = value.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'));
    if is_identifier && is_printable { Ok(()) } else { Err(InvalidMetadata::Characters) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(pairs: &[(&str, &str)]) -> Result<Metadata, InvalidMetadata> {
        Metadata::new(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn names_are_identifiers_and_values_are_printable() {
        let check = |name: &str, value: &str, expected: Option<InvalidMetadata>| {
            assert_eq!(metadata(&[(name, value)]).err(), expected, "{name}: {value}");
        };
        check("Owner_2", "a b; c=\"d\"", None);
        check("_", "", None);
        check("", "a", Some(InvalidMetadata::EmptyName));
        check("2nd", "a", Some(InvalidMetadata::Characters));
        check("a-b", "a", Some(InvalidMetadata::Characters));
        check("é", "a", Some(InvalidMetadata::Characters));
        check("a", "é", Some(InvalidMetadata::Characters));
        check("a", "b\nc", Some(InvalidMetadata::Characters));
        check("a", &"b".repeat(8191), None);
        check("a", &"b".repeat(8192), Some(InvalidMetadata::TooLarge));
    }

    #[test]
    fn case_and_order_make_no_difference() {
        assert_eq!(metadata(&[("A", "1"), ("b", "2")]), metadata(&[("B", "2"), ("a", "1")]));
        assert_ne!(metadata(&[("a", "x")]), metadata(&[("a", "X")]));
        assert_ne!(metadata(&[("a", "x")]), metadata(&[("a", "x"), ("b", "")]));
    }

    #[test]
    fn the_values_of_a_name_that_comes_twice_are_joined() {
        let joined = metadata(&[("Tag", "1"), ("tag", "2")]).expect("two values");
        assert_eq!(joined.iter().collect::<Vec<_>>(), [("Tag", "1,2")]);
    }
}
