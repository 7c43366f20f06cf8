//! A GUID. Case makes no difference, and is not kept: the service writes lower-case letters.

use std::fmt;

/// In the order of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid(u128);

impl Guid {
    pub const fn from_u128(bits: u128) -> Self {
        Self(bits)
    }

    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// Groups of 8, 4, 4, 4 and 12 hexadecimal digits, with hyphens between them.
    pub fn parse(text: &str) -> Option<Self> {
        let is_hyphen_at = |at: usize| matches!(at, 8 | 13 | 18 | 23);
        let bytes = text.as_bytes();
        if bytes.len() != 36 {
            return None;
        }
        let mut bits = 0;
        for (at, byte) in bytes.iter().enumerate() {
            match (*byte, is_hyphen_at(at)) {
                (b'-', true) => {}
                (_, true) => return None,
                (digit, false) => bits = bits << 4 | u128::from(char::from(digit).to_digit(16)?),
            }
        }
        Some(Self(bits))
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(orrery_core::Guid::new(self.0).as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parse_undoes_display(bits: u128) {
            let guid = Guid(bits);
            prop_assert_eq!(Guid::parse(&guid.to_string()), Some(guid));
            prop_assert_eq!(Guid::parse(&guid.to_string().to_uppercase()), Some(guid));
        }

        #[test]
        fn guids_sort_as_their_texts(one: u128, other: u128) {
            let (one, other) = (Guid(one), Guid(other));
            prop_assert_eq!(one.cmp(&other), one.to_string().cmp(&other.to_string()));
        }
    }

    #[test]
    fn other_forms_are_no_guids() {
        for text in ["", "{c9da6455-213d-42c9-9a79-3e9149a57833}", "c9da6455213d42c99a793e9149a57833"] {
            assert_eq!(Guid::parse(text), None, "{text}");
        }
        assert_eq!(Guid::parse("c9da6455-213d-42c9-9a79-3e9149a5783g"), None);
        assert_eq!(Guid::parse("c9da64550213d-42c9-9a79-3e9149a57833"), None);
    }
}
