//! Names of properties: C# identifiers, and case makes a difference.

pub const PARTITION_KEY: &str = "PartitionKey";
pub const ROW_KEY: &str = "RowKey";
pub const TIMESTAMP: &str = "Timestamp";

/// Whether it is an identifier, however long.
pub fn is_property_name(name: &str) -> bool {
    let mut characters = name.chars();
    characters.next().is_some_and(starts_name) && characters.all(continues_name)
}

pub(crate) fn starts_name(character: char) -> bool {
    character == '_' || character.is_alphabetic()
}

pub(crate) fn continues_name(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

/// What the service sets itself.
pub(crate) fn is_system(name: &str) -> bool {
    matches!(name, PARTITION_KEY | ROW_KEY | TIMESTAMP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_an_identifier() {
        for good in ["a", "_", "A9_z", "größe", "名前", "timestamp"] {
            assert!(is_property_name(good), "{good}");
        }
        for bad in ["", "9a", "a-b", "a b", "a.b", "odata.type", "a'", "$x"] {
            assert!(!is_property_name(bad), "{bad}");
        }
    }
}
