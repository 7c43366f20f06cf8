//! MurmurHash3, in the two variants used for partition keys. The seed is always zero.
//!
//! Both process the input in blocks, mix each into the state, then the incomplete last block, then the
//! length, and finally let every bit of the state affect every other.

/// The 32-bit variant for 32-bit machines.
pub(crate) fn x86_32(data: &[u8]) -> u32 {
    let (blocks, rest) = data.as_chunks::<4>();
    let mut hash = blocks.iter().fold(0u32, |hash, block| {
        let mixed = hash ^ scramble_32(u32::from_le_bytes(*block));
        mixed.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    hash ^= scramble_32(word(rest) as u32);
    hash ^= data.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

fn scramble_32(block: u32) -> u32 {
    block.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

/// The 128-bit variant for 64-bit machines, as its two halves.
pub(crate) fn x64_128(data: &[u8]) -> (u64, u64) {
    let (blocks, rest) = data.as_chunks::<16>();
    let (mut first, mut second) = (0u64, 0u64);
    for block in blocks {
        let (low, high) = block.split_at(8);
        first ^= scramble_first(word(low));
        first = first.rotate_left(27).wrapping_add(second).wrapping_mul(5).wrapping_add(0x52dc_e729);
        second ^= scramble_second(word(high));
        second = second.rotate_left(31).wrapping_add(first).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let (low, high) = rest.split_at(rest.len().min(8));
    first ^= scramble_first(word(low)) ^ data.len() as u64;
    second ^= scramble_second(word(high)) ^ data.len() as u64;
    finish_128(first, second)
}

fn finish_128(first: u64, second: u64) -> (u64, u64) {
    let first = first.wrapping_add(second);
    let second = second.wrapping_add(first);
    let (first, second) = (avalanche_64(first), avalanche_64(second));
    let first = first.wrapping_add(second);
    (first, second.wrapping_add(first))
}

const FIRST: u64 = 0x87c3_7b91_1142_53d5;
const SECOND: u64 = 0x4cf5_ad43_2745_937f;

fn scramble_first(block: u64) -> u64 {
    block.wrapping_mul(FIRST).rotate_left(31).wrapping_mul(SECOND)
}

fn scramble_second(block: u64) -> u64 {
    block.wrapping_mul(SECOND).rotate_left(33).wrapping_mul(FIRST)
}

fn avalanche_64(half: u64) -> u64 {
    let half = (half ^ half >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let half = (half ^ half >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    half ^ half >> 33
}

/// Up to eight bytes as a little-endian number, padded with zeros.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_match_published_values() {
        assert_eq!(x86_32(b""), 0);
        assert_eq!(x86_32(b"hello"), 0x248b_fa47);
        assert_eq!(x86_32(b"hello, world"), 0x149b_bb7f);
        assert_eq!(x86_32(b"The quick brown fox jumps over the lazy dog"), 0x2e4f_f723);
        assert_eq!(x64_128(b""), (0, 0));
        assert_eq!(x64_128(b"hello"), (0xcbd8_a7b3_41bd_9b02, 0x5b1e_906a_48ae_1d19));
        assert_eq!(
            x64_128(b"The quick brown fox jumps over the lazy dog"),
            (0xe34b_bc7b_bc07_1b6c, 0x7a43_3ca9_c49a_9347)
        );
    }
}
