//! The bytes of a range of content, read part by part.
//!
//! Where the parts are is looked up some at a time, in one snapshot. Chunks stay where they are while the pin is held.

use crate::error::Error;
use crate::limits;
use bytes::Bytes;
use orrery_blobs::content::{self, Content, ContentPart, PartBytes};
use orrery_blobs::operations::ByteRange;
use orrery_chunks::{Location, Pin};
use orrery_kv::{Error as EngineError, Snapshot};
use std::collections::VecDeque;
use std::sync::Arc;

pub(crate) struct ContentParts {
    pin: Arc<Pin>,
    content: Content,
    /// Kept until all parts are looked up.
    snapshot: Option<Arc<Snapshot>>,
    found: VecDeque<Part>,
    /// The next byte that is read, and the next whose part is looked up.
    at: u64,
    looked_up: u64,
    end: u64,
}

struct Part {
    start: u64,
    length: u64,
    bytes: Source,
}

enum Source {
    Inline(Bytes),
    Chunk { location: Location, offset: u32 },
}

/// What there is at a position.
enum Step {
    Bytes(Bytes),
    Read { location: Location, start: u32, end: u32 },
}

static ZEROS: [u8; limits::READ_ZEROS_BYTES] = [0; limits::READ_ZEROS_BYTES];

impl ContentParts {
    /// `pin` was taken before `snapshot`.
    pub fn open(
        snapshot: Arc<Snapshot>,
        pin: Pin,
        content: Content,
        range: ByteRange,
    ) -> Result<Self, EngineError> {
        let mut parts = Self {
            pin: Arc::new(pin),
            content,
            snapshot: Some(snapshot),
            found: VecDeque::new(),
            at: range.start,
            looked_up: range.start,
            end: range.end,
        };
        parts.look_up()?;
        Ok(parts)
    }

    /// Looks up where the next parts are.
    fn look_up(&mut self) -> Result<(), EngineError> {
        let Some(snapshot) = self.snapshot.take() else { return Ok(()) };
        let mut parts = content::parts(&*snapshot, self.content, self.looked_up, self.end);
        for part in parts.by_ref().take(limits::READ_PARTS_AT_ONCE) {
            let part = part?;
            self.looked_up = part.start + part.length;
            self.found.push_back(Part::locate(&snapshot, part)?);
        }
        let has_more = parts.next().is_some();
        drop(parts);
        self.snapshot = has_more.then_some(snapshot);
        Ok(())
    }

    pub async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        if self.at >= self.end {
            return None;
        }
        let read = match self.step() {
            Err(error) => Err(error.into()),
            Ok(Step::Bytes(bytes)) => Ok(bytes),
            Ok(Step::Read { location, start, end }) => {
                let pin = self.pin.clone();
                let read = tokio::task::spawn_blocking(move || pin.read(&location, start..end));
                match read.await {
                    Ok(read) => read.map_err(|error| Error::Engine(error.into())),
                    Err(_) => Err(Error::Stopping),
                }
            }
        };
        match &read {
            Ok(bytes) => self.at += bytes.len() as u64,
            // Nothing more is given after an error.
            Err(_) => self.at = self.end,
        }
        Some(read)
    }

    fn step(&mut self) -> Result<Step, EngineError> {
        while self.found.front().is_some_and(|part| part.start + part.length <= self.at) {
            self.found.pop_front();
        }
        if self.found.is_empty() {
            self.look_up()?;
        }
        let next = self.found.front().filter(|part| part.start <= self.at);
        let Some(part) = next else {
            // Nothing was ever written here.
            let end = self.found.front().map_or(self.end, |part| part.start);
            let length = (end - self.at).min(ZEROS.len() as u64) as usize;
            return Ok(Step::Bytes(Bytes::from_static(&ZEROS[..length])));
        };
        let skipped = self.at - part.start;
        let length = (part.length - skipped).min(limits::READ_BYTES_AT_ONCE);
        Ok(match &part.bytes {
            Source::Inline(bytes) => Step::Bytes(bytes.slice(skipped as usize..)),
            Source::Chunk { location, offset } => {
                let start = offset + skipped as u32;
                Step::Read { location: *location, start, end: start + length as u32 }
            }
        })
    }
}

impl Part {
    fn locate(snapshot: &Snapshot, part: ContentPart) -> Result<Self, EngineError> {
        let bytes = match part.bytes {
            PartBytes::Inline(bytes) => Source::Inline(bytes),
            PartBytes::Chunk { id, offset } => {
                let location = orrery_chunks::locate(snapshot, id)?;
                let location =
                    location.ok_or_else(|| EngineError::Corrupt(format!("the chunk {id} is missing")))?;
                Source::Chunk { location, offset }
            }
        };
        Ok(Self { start: part.start, length: part.length, bytes })
    }
}
