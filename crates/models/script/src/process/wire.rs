//! Frames over a socket: a four-byte little-endian length, then the payload.

use std::io::ErrorKind;
use std::io::Read as _;
use std::io::Write as _;
use std::os::unix::net::UnixStream;

/// Bytes per read; most frames are shorter.
const READ_BYTES: usize = 16 * 1024;
const HEAD_BYTES: usize = 4;

/// Why a frame could not be sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelError {
    /// The caller stopped waiting.
    Late,
    /// The other process ended.
    Closed,
    /// The frame is too long, or not a message.
    Malformed,
}

pub struct Channel {
    stream: UnixStream,
    frame_bytes_max: usize,
    /// Bytes read beyond the last frame.
    behind: Vec<u8>,
}

impl Channel {
    pub fn new(stream: UnixStream, frame_bytes_max: usize) -> Self {
        Self { stream, frame_bytes_max, behind: Vec::new() }
    }

    /// Sends a frame. `waits` decides whether to continue whenever the socket's timeout passes.
    pub fn send(&mut self, payload: &[u8], mut waits: impl FnMut() -> bool) -> Result<(), ChannelError> {
        let length = u32::try_from(payload.len()).map_err(|_| ChannelError::Malformed)?;
        let mut frame = Vec::with_capacity(HEAD_BYTES + payload.len());
        frame.extend_from_slice(&length.to_le_bytes());
        frame.extend_from_slice(payload);
        let mut rest = &frame[..];
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(0) => return Err(ChannelError::Closed),
                Ok(written) => rest = &rest[written..],
                Err(error) => check(&error, &mut waits)?,
            }
        }
        Ok(())
    }

    /// Reads the next frame into `payload`.
    pub fn receive(
        &mut self,
        payload: &mut Vec<u8>,
        mut waits: impl FnMut() -> bool,
    ) -> Result<(), ChannelError> {
        payload.clear();
        payload.append(&mut self.behind);
        let mut read = payload.len();
        payload.resize(read.max(READ_BYTES), 0);
        let end = loop {
            if let Some(head) = payload[..read].first_chunk::<HEAD_BYTES>() {
                let length = u32::from_le_bytes(*head) as usize;
                if length > self.frame_bytes_max {
                    return Err(ChannelError::Malformed);
                }
                let end = HEAD_BYTES + length;
                if read >= end {
                    break end;
                }
                payload.resize(payload.len().max(end), 0);
            }
            match self.stream.read(&mut payload[read..]) {
                Ok(0) => return Err(ChannelError::Closed),
                Ok(more) => read += more,
                Err(error) => check(&error, &mut waits)?,
            }
        };
        self.behind.extend_from_slice(&payload[end..read]);
        payload.truncate(end);
        payload.drain(..HEAD_BYTES);
        Ok(())
    }
}

fn check(error: &std::io::Error, waits: &mut impl FnMut() -> bool) -> Result<(), ChannelError> {
    match error.kind() {
        ErrorKind::Interrupted => Ok(()),
        ErrorKind::WouldBlock | ErrorKind::TimedOut if waits() => Ok(()),
        ErrorKind::WouldBlock | ErrorKind::TimedOut => Err(ChannelError::Late),
        _ => Err(ChannelError::Closed),
    }
}

// Message values as bytes: eight-byte little-endian numbers; strings with a length prefix.

/// The bytes are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

#[derive(Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub fn tag(&mut self, tag: u8) -> &mut Self {
        self.0.push(tag);
        self
    }

    pub fn number(&mut self, number: u64) -> &mut Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub fn text(&mut self, text: &str) -> &mut Self {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    pub fn optional(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            None => self.tag(0),
            Some(text) => self.tag(1).text(text),
        }
    }

    pub fn optional_number(&mut self, number: Option<u64>) -> &mut Self {
        match number {
            None => self.tag(0),
            Some(number) => self.tag(1).number(number),
        }
    }
}

pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed) }
    }

    pub fn tag(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.0.split_first().ok_or(Malformed)?;
        self.0 = rest;
        Ok(*first)
    }

    pub fn number(&mut self) -> Result<u64, Malformed> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*bytes))
    }

    pub fn size(&mut self) -> Result<usize, Malformed> {
        usize::try_from(self.number()?).map_err(|_| Malformed)
    }

    pub fn text(&mut self) -> Result<&'a str, Malformed> {
        let length = self.size()?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        std::str::from_utf8(bytes).map_err(|_| Malformed)
    }

    pub fn optional(&mut self) -> Result<Option<&'a str>, Malformed> {
        match self.tag()? {
            0 => Ok(None),
            1 => self.text().map(Some),
            _ => Err(Malformed),
        }
    }

    pub fn optional_number(&mut self) -> Result<Option<u64>, Malformed> {
        match self.tag()? {
            0 => Ok(None),
            1 => self.number().map(Some),
            _ => Err(Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(frame_bytes_max: usize) -> (Channel, Channel) {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        (Channel::new(ours, frame_bytes_max), Channel::new(theirs, frame_bytes_max))
    }

    #[test]
    fn frames_of_every_size_arrive_whole() {
        let (mut ours, mut theirs) = pair(1 << 20);
        for size in [0, 1, READ_BYTES - HEAD_BYTES, READ_BYTES, READ_BYTES + 1, 1 << 20] {
            let sent: Vec<u8> = (0..size).map(|at| at as u8).collect();
            std::thread::scope(|scope| {
                scope.spawn(|| ours.send(&sent, || false).expect("sent"));
                let mut found = Vec::new();
                theirs.receive(&mut found, || false).expect("received");
                assert_eq!(found, sent);
            });
        }
    }

    #[test]
    fn a_frame_that_is_too_long_is_refused_before_it_is_read() {
        let (mut ours, mut theirs) = pair(10);
        ours.send(&[0; 11], || false).expect("sent");
        assert_eq!(theirs.receive(&mut Vec::new(), || false), Err(ChannelError::Malformed));
    }

    #[test]
    fn frames_that_come_at_once_are_read_one_by_one() {
        let (mut ours, mut theirs) = pair(10);
        for number in 0..5 {
            ours.send(&vec![number; usize::from(number)], || false).expect("sent");
        }
        let mut found = Vec::new();
        for number in 0..5 {
            theirs.receive(&mut found, || false).expect("received");
            assert_eq!(found, vec![number; usize::from(number)]);
        }
    }

    #[test]
    fn a_wait_may_time_out_or_lose_its_peer() {
        let (mut ours, theirs) = pair(10);
        let timeout = Some(std::time::Duration::from_millis(1));
        ours.stream.set_read_timeout(timeout).expect("a timeout");
        let mut asked = 0;
        let waits = || {
            asked += 1;
            asked < 3
        };
        assert_eq!(ours.receive(&mut Vec::new(), waits), Err(ChannelError::Late));
        assert_eq!(asked, 3);
        drop(theirs);
        assert_eq!(ours.receive(&mut Vec::new(), || true), Err(ChannelError::Closed));
    }
}
