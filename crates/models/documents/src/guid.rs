//! 128 bits in the shape of a GUID.
//!
//! Every answer has three of them, so they are written digit by digit: the formatting machinery takes ten times as long.

/// The text of a GUID, without quotes or braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guid([u8; 36]);

const HEX: &[u8; 16] = b"0123456789abcdef";

impl Guid {
    pub fn new(bits: u128) -> Self {
        let mut text = [b'-'; 36];
        let mut at = 0;
        for (index, byte) in bits.to_be_bytes().into_iter().enumerate() {
            at += usize::from(matches!(index, 4 | 6 | 8 | 10));
            text[at] = HEX[usize::from(byte >> 4)];
            text[at + 1] = HEX[usize::from(byte & 15)];
            at += 2;
        }
        Self(text)
    }

    /// Of version 4: random, and saying so.
    pub fn random(bits: u128) -> Self {
        Self::new(bits & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62))
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("hexadecimal digits and hyphens are text")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::{ETag, Env, Timestamp};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_tag_is_the_same_text_in_quotes(bits: u128) {
            prop_assert_eq!(format!("\"{}\"", Guid::new(bits).as_str()), ETag::from_u128(bits).to_string());
        }

        #[test]
        fn a_random_one_is_what_the_world_makes_up(seed: u64) {
            let world = || Env::seeded(Timestamp::default(), seed);
            let made = Guid::random(world().random_u128());
            prop_assert_eq!(made.as_str(), world().guid());
        }
    }
}
