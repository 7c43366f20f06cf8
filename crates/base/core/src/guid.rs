//! 128 bits in the form of a GUID.
//!
//! Every response contains three, so they are written digit by digit: the formatting machinery takes ten
//! times as long.

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

    /// Sets the version bits of a random GUID.
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
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_digits_are_those_of_the_number(bits: u128) {
            let digits = Guid::new(bits).as_str().replace('-', "");
            prop_assert_eq!(digits, format!("{bits:032x}"));
        }
    }

    #[test]
    fn a_random_guid_is_version_four() {
        assert_eq!(
            Guid::new(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef).as_str(),
            "01234567-89ab-cdef-0123-456789abcdef"
        );
        assert_eq!(Guid::random(0).as_str(), "00000000-0000-4000-8000-000000000000");
        assert_eq!(Guid::random(u128::MAX).as_str(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }
}
