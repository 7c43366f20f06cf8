//! A cursor over a binary buffer, with an end that reading cannot pass.

use super::BinaryError;

#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    /// The whole buffer: references count from its start.
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    /// The end of the container being read; never past the buffer.
    pub(super) end: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, end: bytes.len() }
    }

    pub(super) fn peek(&self) -> Result<u8, BinaryError> {
        let byte = self.bytes.get(self.at).filter(|_| self.at < self.end);
        byte.copied().ok_or(BinaryError::Truncated { at: self.at })
    }

    pub(super) fn u8(&mut self) -> Result<u8, BinaryError> {
        let byte = self.peek()?;
        self.at += 1;
        Ok(byte)
    }

    pub(super) fn expect(&mut self, expected: u8) -> Result<(), BinaryError> {
        let at = self.at;
        match self.u8()? {
            byte if byte == expected => Ok(()),
            marker => Err(BinaryError::Marker { at, marker }),
        }
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], BinaryError> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.end);
        let part = end.and_then(|end| self.bytes.get(self.at..end));
        let part = part.ok_or(BinaryError::Truncated { at: self.at })?;
        self.at += count;
        Ok(part)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], BinaryError> {
        let at = self.at;
        self.take(N)?.first_chunk().copied().ok_or(BinaryError::Truncated { at })
    }

    /// A length, count or offset of up to four bytes.
    pub(super) fn length(&mut self, width: usize) -> Result<usize, BinaryError> {
        let bytes = self.take(width)?;
        Ok(bytes.iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte)))
    }
}
