//! One chunk of a body whose length is not known ahead, as servers that write as they go send it.

use crate::reply::Malformed;
use std::ops::Range;

/// Digits of a size: chunks of 64 MB are longer than any reply taken.
const SIZE_DIGITS_MAX: usize = 7;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// Where in the frame its bytes are; none in the last chunk.
    pub data: Range<usize>,
    pub frame_bytes: usize,
}

impl Chunk {
    /// The chunk that begins here; `None` while it is not all there.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let Some(digits) = bytes.windows(2).take(SIZE_DIGITS_MAX + 1).position(|two| two == b"\r\n") else {
            return if bytes.len() > SIZE_DIGITS_MAX + 1 { Err(NO_SIZE) } else { Ok(None) };
        };
        let text = std::str::from_utf8(&bytes[..digits]).map_err(|_| NO_SIZE)?;
        let size = usize::from_str_radix(text, 16).map_err(|_| NO_SIZE)?;
        let data = digits + 2..digits + 2 + size;
        match bytes.get(data.end..data.end + 2) {
            None => Ok(None),
            Some(b"\r\n") => Ok(Some(Self { frame_bytes: data.end + 2, data })),
            Some(_) => Err(Malformed("a chunk does not end where its size says")),
        }
    }
}

const NO_SIZE: Malformed = Malformed("a chunk has no size");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_there_when_its_frame_is() {
        let whole = b"1a\r\nabcdefghijklmnopqrstuvwxyz\r\n";
        for cut in 0..whole.len() {
            assert_eq!(Chunk::parse(&whole[..cut]), Ok(None), "{cut}");
        }
        assert_eq!(Chunk::parse(whole), Ok(Some(Chunk { data: 4..30, frame_bytes: 32 })));
        assert_eq!(Chunk::parse(b"0\r\n\r\n"), Ok(Some(Chunk { data: 3..3, frame_bytes: 5 })));
    }

    #[test]
    fn what_is_no_chunk_is_refused() {
        for bytes in [&b"xyz\r\n\r\n"[..], b"\r\n", b"123456789", b"1\r\nabcd", b"-1\r\n\r\n"] {
            assert!(Chunk::parse(bytes).is_err(), "{bytes:?}");
        }
    }
}
