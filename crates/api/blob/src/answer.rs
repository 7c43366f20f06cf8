//! The body of an answer: a document in one piece, or content as the store reads it.

use bytes::{Buf, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use orrery_api_common::Body;
use orrery_blob_store::{BlobReader, Error};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Content that cannot be read whole ends early, which a client sees by its length; no wrong byte is sent.
pub struct Answer(State);

type Reading = Pin<Box<dyn Future<Output = (BlobReader, Option<Result<Bytes, Error>>)> + Send>>;

enum State {
    Whole(Bytes),
    /// Content that is still to come, with its length.
    Reading(Reading, u64),
    Done,
}

impl Answer {
    pub fn empty() -> Self {
        Self(State::Done)
    }

    pub fn whole(bytes: Bytes) -> Self {
        if bytes.is_empty() { Self::empty() } else { Self(State::Whole(bytes)) }
    }

    /// The bytes of a document; none of content, which no part of a batch has.
    pub fn into_whole(self) -> Bytes {
        match self.0 {
            State::Whole(bytes) => bytes,
            State::Reading(..) | State::Done => Bytes::new(),
        }
    }

    pub fn content(reader: BlobReader) -> Self {
        match reader.range().length() {
            0 => Self::empty(),
            length => Self(State::Reading(next(reader), length)),
        }
    }
}

fn next(mut reader: BlobReader) -> Reading {
    Box::pin(async move {
        let piece = reader.next().await;
        (reader, piece)
    })
}

impl From<Body> for Answer {
    fn from(body: Body) -> Self {
        // A body of this kind is there already, in two pieces.
        let mut whole = Vec::new();
        let mut body = body;
        let waker = std::task::Waker::noop();
        while let Poll::Ready(Some(Ok(frame))) =
            Pin::new(&mut body).poll_frame(&mut Context::from_waker(waker))
        {
            if let Ok(mut data) = frame.into_data() {
                while data.has_remaining() {
                    let piece = data.chunk();
                    whole.extend_from_slice(piece);
                    let length = piece.len();
                    data.advance(length);
                }
            }
        }
        Self::whole(whole.into())
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match std::mem::replace(&mut self.0, State::Done) {
            State::Done => Poll::Ready(None),
            State::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            State::Reading(mut reading, left) => {
                let Poll::Ready((reader, piece)) = reading.as_mut().poll(context) else {
                    self.0 = State::Reading(reading, left);
                    return Poll::Pending;
                };
                Poll::Ready(self.take(reader, piece, left))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, State::Done)
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            State::Done => SizeHint::with_exact(0),
            State::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            State::Reading(_, left) => SizeHint::with_exact(*left),
        }
    }
}

impl Answer {
    fn take(
        &mut self,
        reader: BlobReader,
        piece: Option<Result<Bytes, Error>>,
        left: u64,
    ) -> Option<Result<Frame<Bytes>, io::Error>> {
        let bytes = match piece? {
            Ok(bytes) => bytes,
            Err(error) => {
                tracing::error!(%error, "content could not be read; the answer ends early");
                return Some(Err(io::Error::other(error)));
            }
        };
        let left = left.saturating_sub(bytes.len() as u64);
        if left > 0 {
            self.0 = State::Reading(next(reader), left);
        }
        Some(Ok(Frame::data(bytes)))
    }
}
