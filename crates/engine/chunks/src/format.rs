//! The bytes of a chunk file ([the format](../../../../docs/formats/chunks.md)).
//!
//! ```text
//! file    head (32)   chunk   chunk   …
//! head    magic "orrychnk" (8)   version (4)   zero (4)   file id (8)   checksum of these 24 bytes (8)
//! chunk   content   checksums: 8 bytes for each frame of 64 KiB of the content, the last one shorter
//! ```
//!
//! Numbers are big-endian. There is nothing between the bytes that says where a chunk begins: the rows do, so what no row refers
//! to has no meaning, whatever a crash left there.
//!
//! A checksum is XXH3-64 seeded by the chunk's id and the frame's number. So a frame is only right in its own place of its own chunk,
//! and moving a chunk copies its bytes as they are.

use crate::{ChunkId, FileId};
use std::ops::Range;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

pub(crate) const VERSION: u32 = 1;
pub(crate) const HEAD_BYTES: usize = 32;
pub(crate) const FRAME_BYTES: u32 = 64 * 1024;
pub(crate) const CHECKSUM_BYTES: u32 = 8;

const MAGIC: &[u8; 8] = b"orrychnk";
/// Frames of the largest chunk, rounded up to leave room; part of the seed.
const FRAMES_PER_CHUNK: u64 = 1024;

pub(crate) fn head(file: FileId) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..8].copy_from_slice(MAGIC);
    head[8..12].copy_from_slice(&VERSION.to_be_bytes());
    head[16..24].copy_from_slice(&file.0.to_be_bytes());
    let checksum = xxh3_64(&head[..24]);
    head[24..].copy_from_slice(&checksum.to_be_bytes());
    head
}

/// Checksum of the frame with this number of a chunk.
pub(crate) fn checksum(chunk: ChunkId, frame: u32, content: &[u8]) -> u64 {
    let seed = chunk.0.wrapping_mul(FRAMES_PER_CHUNK).wrapping_add(u64::from(frame));
    xxh3_64_with_seed(content, seed)
}

/// Appends the checksums of the frames in `content`, of which the first has the number `first`.
pub(crate) fn write_checksums(to: &mut Vec<u8>, chunk: ChunkId, first: u32, content: &[u8]) {
    let frames = (first..).zip(content.chunks(FRAME_BYTES as usize));
    to.extend(frames.flat_map(|(frame, content)| checksum(chunk, frame, content).to_be_bytes()));
}

/// Frames of a chunk of this length.
pub(crate) fn frames(length: u32) -> u32 {
    length.div_ceil(FRAME_BYTES)
}

/// Bytes of a chunk of this length with its checksums.
pub(crate) fn stored_bytes(length: u32) -> u64 {
    u64::from(length) + u64::from(frames(length) * CHECKSUM_BYTES)
}

/// The frames that have these bytes of a chunk's content; none if there are no bytes.
pub(crate) fn frames_of(range: &Range<u32>) -> Range<u32> {
    if range.is_empty() { 0..0 } else { range.start / FRAME_BYTES..frames(range.end) }
}

/// The content of these frames of a chunk of this length.
pub(crate) fn content_of(frames: &Range<u32>, length: u32) -> Range<u32> {
    frames.start * FRAME_BYTES..(frames.end * FRAME_BYTES).min(length)
}

/// The first frame, of those in `content` from the one with number `first` on, that its checksum does not fit.
pub(crate) fn damaged(chunk: ChunkId, first: u32, content: &[u8], checksums: &[u8]) -> Option<u32> {
    let frames = (first..).zip(content.chunks(FRAME_BYTES as usize));
    let checksums = checksums.chunks(CHECKSUM_BYTES as usize);
    let is_whole =
        |frame: u32, content: &[u8], stored: &[u8]| checksum(chunk, frame, content).to_be_bytes() == stored;
    frames
        .zip(checksums)
        .find(|((frame, content), stored)| !is_whole(*frame, content, stored))
        .map(|((frame, _), _)| frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;

    #[test]
    fn the_stored_bytes_are_these() {
        let head = head(FileId(1));
        assert_eq!(&head[..24], b"orrychnk\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01");
        assert_eq!(head[24..], 0x6315_6f0e_a1c4_ca5du64.to_be_bytes());
    }

    #[test]
    fn frames_and_what_is_in_them() {
        const K64: u32 = FRAME_BYTES;
        assert_eq!([1, K64, K64 + 1].map(frames), [1, 1, 2]);
        assert_eq!(stored_bytes(K64 + 1), u64::from(K64) + 17);
        for (range, expected) in
            [(0..1, 0..1), (0..K64, 0..1), (K64 - 1..K64 + 1, 0..2), (K64..K64 + 1, 1..2), (5..5, 0..0)]
        {
            assert_eq!(frames_of(&range), expected, "{range:?}");
        }
        assert_eq!(content_of(&(1..2), K64 + 10), K64..K64 + 10);
        assert!(u64::from(frames(limits::CHUNK_BYTES_MAX)) <= FRAMES_PER_CHUNK);
    }

    #[test]
    fn a_frame_is_right_only_in_its_place() {
        let (content, id) = (vec![9; FRAME_BYTES as usize + 3], ChunkId(77));
        let checksums: Vec<u8> =
            [(0, &content[..FRAME_BYTES as usize]), (1, &content[FRAME_BYTES as usize..])]
                .iter()
                .flat_map(|(frame, content)| checksum(id, *frame, content).to_be_bytes())
                .collect();
        assert_eq!(damaged(id, 0, &content, &checksums), None);
        assert_eq!(damaged(ChunkId(78), 0, &content, &checksums), Some(0));
        assert_eq!(damaged(id, 1, &content[FRAME_BYTES as usize..], &checksums[8..]), None);
        assert_eq!(damaged(id, 0, &content[FRAME_BYTES as usize..], &checksums[8..]), Some(0));
    }
}
