//! Content on its way in: bytes as they arrive, hashed, and kept in memory only until they are a part of a chunk.
//!
//! Small content stays in memory and comes to lie in the ordered store. As soon as there is more, a thread that may block hashes
//! and writes a batch while the next one arrives, so two batches are in memory and no more.

use crate::crc64::Crc64;
use crate::error::Error;
use crate::limits;
use crate::store::BlobStore;
use bytes::{Bytes, BytesMut};
use md5::{Digest, Md5};
use orrery_blobs::Refusal;
use orrery_blobs::content::Upload;
use orrery_chunks::{Chunks, Synced, Writer};
use orrery_kv::Error as EngineError;
use tokio::task::JoinHandle;

/// Takes the bytes of one put, block, append or write of pages, in order. Dropped before it is finished, nothing stays.
pub struct ContentWriter {
    chunks: Chunks,
    bytes_max: u64,
    length: u64,
    /// What is not with the sink yet.
    batch: Vec<Bytes>,
    batch_bytes: usize,
    sink: Sink,
}

enum Sink {
    /// Everything so far is in the batch.
    Small,
    Working(JoinHandle<Result<Box<Stream>, Error>>),
    /// A batch could not be written.
    Failed,
}

/// Hashes and writes.
struct Stream {
    md5: Md5,
    crc64: Crc64,
    writer: Writer,
}

/// What the caller says the content hashes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpectedHashes {
    pub md5: Option<[u8; 16]>,
    pub crc64: Option<u64>,
}

/// Content that is stored and belongs to nothing yet. Dropped before a write has taken it, nothing stays.
pub struct Uploaded {
    content: Stored,
    length: u64,
    md5: [u8; 16],
    crc64: u64,
}

enum Stored {
    Inline(Bytes),
    Chunks(Synced),
}

impl BlobStore {
    /// A writer of at most so many bytes.
    pub fn upload(&self, bytes_max: u64) -> ContentWriter {
        ContentWriter {
            chunks: self.0.chunks.clone(),
            bytes_max,
            length: 0,
            batch: Vec::new(),
            batch_bytes: 0,
            sink: Sink::Small,
        }
    }
}

impl ContentWriter {
    /// Takes more bytes; waits when the disk is behind. Fails with `BodyTooLarge` as soon as there are too many.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), Error> {
        self.length += bytes.len() as u64;
        if self.length > self.bytes_max {
            return Err(Refusal::BodyTooLarge.into());
        }
        if bytes.is_empty() {
            return Ok(());
        }
        self.batch_bytes += bytes.len();
        self.batch.push(bytes);
        let is_full = match self.sink {
            Sink::Small => self.batch_bytes > limits::INLINE_BYTES_MAX,
            _ => self.batch_bytes >= limits::UPLOAD_BATCH_BYTES,
        };
        if is_full { self.flush().await } else { Ok(()) }
    }

    /// Bytes so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Gives the batch to a thread, when it is done with the one before.
    async fn flush(&mut self) -> Result<(), Error> {
        let mut stream = self.stream().await?;
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        self.sink = Sink::Working(tokio::task::spawn_blocking(move || {
            for bytes in &batch {
                stream.write(bytes)?;
            }
            Ok(stream)
        }));
        Ok(())
    }

    async fn stream(&mut self) -> Result<Box<Stream>, Error> {
        match std::mem::replace(&mut self.sink, Sink::Failed) {
            Sink::Small => Ok(Box::new(Stream::new(self.chunks.writer()))),
            Sink::Working(task) => task.await.unwrap_or(Err(Error::Stopping)),
            Sink::Failed => Err(Error::Stopping),
        }
    }

    /// All bytes are there, and on the disk.
    pub async fn finish(mut self, expected: ExpectedHashes) -> Result<Uploaded, Error> {
        if matches!(self.sink, Sink::Small) {
            return self.finish_small(expected);
        }
        let mut stream = self.stream().await?;
        let batch = std::mem::take(&mut self.batch);
        let length = self.length;
        let task = tokio::task::spawn_blocking(move || {
            for bytes in &batch {
                stream.write(bytes)?;
            }
            let Stream { md5, crc64, writer } = *stream;
            let (md5, crc64) = (md5.finalize().into(), crc64.finish());
            expected.check(md5, crc64)?;
            let synced = writer.finish().and_then(|appended| appended.sync()).map_err(EngineError::from)?;
            Ok(Uploaded { content: Stored::Chunks(synced), length, md5, crc64 })
        });
        task.await.unwrap_or(Err(Error::Stopping))
    }

    fn finish_small(mut self, expected: ExpectedHashes) -> Result<Uploaded, Error> {
        let bytes = match self.batch.len() {
            1 => self.batch.remove(0),
            _ => self
                .batch
                .iter()
                .fold(BytesMut::new(), |mut all, bytes| {
                    all.extend_from_slice(bytes);
                    all
                })
                .freeze(),
        };
        Uploaded::small(bytes, expected)
    }
}

impl Stream {
    fn new(writer: Writer) -> Self {
        Self { md5: Md5::new(), crc64: Crc64::default(), writer }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), EngineError> {
        self.md5.update(bytes);
        self.crc64.update(bytes);
        Ok(self.writer.write(bytes)?)
    }
}

impl ExpectedHashes {
    fn check(self, md5: [u8; 16], crc64: u64) -> Result<(), Refusal> {
        if self.md5.is_some_and(|expected| expected != md5) {
            return Err(Refusal::Md5Mismatch);
        }
        if self.crc64.is_some_and(|expected| expected != crc64) {
            return Err(Refusal::Crc64Mismatch);
        }
        Ok(())
    }
}

impl Uploaded {
    fn small(bytes: Bytes, expected: ExpectedHashes) -> Result<Self, Error> {
        let (md5, crc64) = (Md5::digest(&bytes).into(), Crc64::of(&bytes));
        expected.check(md5, crc64)?;
        Ok(Self { length: bytes.len() as u64, content: Stored::Inline(bytes), md5, crc64 })
    }

    pub fn length(&self) -> u64 {
        self.length
    }

    pub fn md5(&self) -> [u8; 16] {
        self.md5
    }

    pub fn crc64(&self) -> u64 {
        self.crc64
    }

    pub(crate) fn content(&self) -> Upload<'_> {
        match &self.content {
            Stored::Inline(bytes) => Upload::Inline(bytes),
            Stored::Chunks(synced) => Upload::Chunks(synced),
        }
    }

    /// In chunks, if it is larger than this: what many rows would be copied of.
    pub(crate) async fn in_chunks_above(self, bytes_max: usize, chunks: &Chunks) -> Result<Self, Error> {
        let bytes = match self.content {
            Stored::Inline(bytes) if bytes.len() > bytes_max => bytes,
            content => return Ok(Self { content, ..self }),
        };
        let mut writer = chunks.writer_of(bytes.len() as u64);
        let task = tokio::task::spawn_blocking(move || {
            writer.write(&bytes)?;
            writer.finish()?.sync()
        });
        let synced = task.await.map_err(|_| Error::Stopping)?.map_err(EngineError::from)?;
        Ok(Self { content: Stored::Chunks(synced), ..self })
    }
}
