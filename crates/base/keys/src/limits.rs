//! The limits of keys.

/// An effective partition key. The longest is version 1 of a long string: a hash of up to 10 bytes and 102 of
/// the value; the end of a range may have one more.
pub const EPK_BYTES_MAX: usize = 128;
