//! The id of a message: a GUID of version 8 that has the message's ordinal in it, and random bits.

use orrery_core::Guid;
use std::fmt;

/// The ordinal says where the message is; the salt tells an id that was given from one that was made up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageId {
    ordinal: u64,
    salt: u64,
}

const SALT_BITS: u32 = 58;
const VERSION: u128 = 0x8 << 76;
const VERSION_MASK: u128 = 0xf << 76;
const VARIANT: u128 = 0x2 << 62;
const VARIANT_MASK: u128 = 0x3 << 62;

impl MessageId {
    /// Of `random`, as many bits are used as an id has room for.
    pub fn new(ordinal: u64, random: u64) -> Self {
        Self { ordinal, salt: random >> (u64::BITS - SALT_BITS) }
    }

    pub(crate) fn from_parts(ordinal: u64, salt: u64) -> Self {
        Self { ordinal, salt }
    }

    pub(crate) fn ordinal(self) -> u64 {
        self.ordinal
    }

    pub(crate) fn salt(self) -> u64 {
        self.salt
    }

    /// `None`: no message ever had this id.
    pub fn parse(text: &str) -> Option<Self> {
        let bits = parse_guid(text)?;
        if bits & VERSION_MASK != VERSION || bits & VARIANT_MASK != VARIANT {
            return None;
        }
        let field = |shift: u32, width: u32| (bits >> shift) as u64 & ((1 << width) - 1);
        let ordinal = field(80, 48) << 16 | field(64, 12) << 4 | field(SALT_BITS, 4);
        Some(Self { ordinal, salt: field(0, SALT_BITS) })
    }

    fn bits(self) -> u128 {
        let ordinal = u128::from(self.ordinal);
        let (high, middle, low) = (ordinal >> 16, ordinal >> 4 & 0xfff, ordinal & 0xf);
        high << 80 | VERSION | middle << 64 | VARIANT | low << SALT_BITS | u128::from(self.salt)
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Guid::new(self.bits()).as_str())
    }
}

fn parse_guid(text: &str) -> Option<u128> {
    const HYPHENS: [usize; 4] = [8, 13, 18, 23];
    const LENGTH: usize = 36;
    if text.len() != LENGTH {
        return None;
    }
    text.bytes().enumerate().try_fold(0u128, |bits, (at, byte)| match (HYPHENS.contains(&at), byte) {
        (true, b'-') => Some(bits),
        (true, _) => None,
        (false, digit) => Some(bits << 4 | u128::from(char::from(digit).to_digit(16)?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_id_is_a_guid_of_version_eight() {
        let check = |ordinal, random, text: &str| {
            assert_eq!(MessageId::new(ordinal, random).to_string(), text);
        };
        check(0, 0, "00000000-0000-8000-8000-000000000000");
        check(0x0123_4567_89ab_cdef, 0, "01234567-89ab-8cde-bc00-000000000000");
        check(u64::MAX, u64::MAX, "ffffffff-ffff-8fff-bfff-ffffffffffff");
    }

    #[test]
    fn what_is_no_id_of_ours_is_none() {
        for text in [
            "",
            "01234567-89ab-4cde-bc00-000000000000",
            "01234567-89ab-8cde-0c00-000000000000",
            "01234567089ab-8cde-bc00-000000000000",
            "0123456789ab8cdebc00000000000000",
            "{1234567-89ab-8cde-bc00-00000000000}",
            "01234567-89ab-8cde-bc00-00000000000é",
        ] {
            assert_eq!(MessageId::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn parse_undoes_display(ordinal: u64, random: u64) {
            let id = MessageId::new(ordinal, random);
            prop_assert_eq!(MessageId::parse(&id.to_string()), Some(id));
            prop_assert_eq!(MessageId::parse(&id.to_string().to_uppercase()), Some(id));
        }

        #[test]
        fn no_text_makes_parse_fail_otherwise(text in "[-0-9a-f{}é]{30,40}") {
            let _ = MessageId::parse(&text);
        }
    }
}
