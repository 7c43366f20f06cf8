//! Bodies: of requests, read whole within limits of size and time; of responses, in two pieces or as a protocol likes.
//!
//! A body that arrives in one piece is not copied. One that is too large is refused, after what the client is still
//! sending was discarded up to a limit: closing the connection of a client that is writing loses the response, and the
//! client sees a reset instead of the reason. The received parts of bodies draw from one memory [budget](BodyBudget).

use crate::budget::{BodyBudget, BodyHold};
use crate::limits::BODY_DISCARD_BYTES_MAX;
use bytes::buf::Chain;
use bytes::{Buf, Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as HttpBody, Incoming};
use orrery_core::limits::BODY_SECONDS_MAX;
use std::time::Duration;
use tokio::time::timeout;

/// The body of a protocol's response: two consecutive pieces, so that a stored item is sent without a copy, followed by
/// its system members.
pub type Body = Full<Chain<Bytes, Bytes>>;

/// A body that a listener sends: [`Body`], or another type that can also be one, such as an open-ended stream.
pub trait Answer:
    HttpBody<Data: Send, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + From<Body> + Send + 'static
{
}

impl<B> Answer for B
where
    B: HttpBody + From<Body> + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
}

/// A body in one piece.
pub fn body(whole: impl Into<Bytes>) -> Body {
    body_of_two(whole.into(), Bytes::new())
}

pub fn body_of_two(first: Bytes, second: Bytes) -> Body {
    Body::new(first.chain(second))
}

#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("the request body is larger than {bytes_max} bytes")]
    TooLarge { bytes_max: usize },
    #[error("the request body did not arrive within {BODY_SECONDS_MAX} seconds")]
    TooSlow,
    #[error("the request body ended early: {0}")]
    Broken(hyper::Error),
    #[error(
        "the memory for request bodies is used up by others; try again, or start the server with a larger --memory-mb"
    )]
    NoRoom,
}

/// The whole body, if it has at most `bytes_max` bytes.
pub async fn read_body(body: Incoming, bytes_max: usize) -> Result<Bytes, BodyError> {
    read_body_held(body, bytes_max).await.map(|(bytes, _)| bytes)
}

/// Variant that also returns the body's memory reservation, to be kept until the response.
pub async fn read_body_held(body: Incoming, bytes_max: usize) -> Result<(Bytes, BodyHold), BodyError> {
    let mut hold = BodyHold::default();
    let read = read_whole(body, bytes_max, BodyBudget::of_process(), &mut hold);
    match timeout(body_time_max(), read).await {
        Ok(Ok(Read::Whole(bytes))) => Ok((bytes, hold)),
        Ok(Ok(Read::TooLarge)) => Err(BodyError::TooLarge { bytes_max }),
        Ok(Ok(Read::NoRoom)) => Err(BodyError::NoRoom),
        Ok(Err(error)) => Err(BodyError::Broken(error)),
        Err(_) => Err(BodyError::TooSlow),
    }
}

/// The body of a request, which is read at most once. Holds its memory reservation until it is dropped with the
/// request.
#[derive(Default)]
pub struct RequestBody {
    unread: Option<Incoming>,
    hold: BodyHold,
}

impl RequestBody {
    pub fn new(body: Incoming) -> Self {
        Self { unread: Some(body), hold: BodyHold::default() }
    }

    /// The whole body, if it has at most `bytes_max` bytes; nothing the second time.
    pub async fn read(&mut self, bytes_max: usize) -> Result<Bytes, BodyError> {
        let Some(body) = self.unread.take() else { return Ok(Bytes::new()) };
        let (bytes, hold) = read_body_held(body, bytes_max).await?;
        self.hold = hold;
        Ok(bytes)
    }

    /// The body itself, unless it was read: for content that is not held in memory.
    pub fn take(&mut self) -> Option<Incoming> {
        self.unread.take()
    }

    /// Discards an unread body, so that the client gets the response.
    pub async fn discard(self) {
        if let Some(body) = self.unread {
            discard_body(body).await;
        }
    }
}

/// The result of reading a body.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    Whole(Bytes),
    TooLarge,
    NoRoom,
}

/// Discards the body of a request that is answered without it, so that the client gets the response.
pub async fn discard_body(body: Incoming) {
    // If it is late, broken or too large, the connection will be closed; nothing else remains to be done.
    let _ = timeout(body_time_max(), discard(body)).await;
}

fn body_time_max() -> Duration {
    Duration::from_secs(BODY_SECONDS_MAX)
}

async fn read_whole<B>(
    mut body: B,
    bytes_max: usize,
    budget: &BodyBudget,
    hold: &mut BodyHold,
) -> Result<Read, B::Error>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    if is_larger(body.size_hint().lower(), bytes_max) {
        return refuse(body, hold, Read::TooLarge).await;
    }
    let first = next_piece(&mut body).await?.unwrap_or_default();
    if first.len() > bytes_max {
        return refuse(body, hold, Read::TooLarge).await;
    }
    if budget.grow(hold, first.len()).await.is_err() {
        return refuse(body, hold, Read::NoRoom).await;
    }
    if body.is_end_stream() {
        return Ok(Read::Whole(first));
    }
    match next_piece(&mut body).await? {
        None => Ok(Read::Whole(first)),
        Some(second) => join(first, second, body, bytes_max, budget, hold).await,
    }
}

/// Memory is reserved as pieces arrive, regardless of the announced length.
async fn join<B>(
    first: Bytes,
    second: Bytes,
    mut body: B,
    bytes_max: usize,
    budget: &BodyBudget,
    hold: &mut BodyHold,
) -> Result<Read, B::Error>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    let mut whole = BytesMut::from(first);
    let mut next = Some(second);
    while let Some(piece) = next {
        let length = whole.len().saturating_add(piece.len());
        if length > bytes_max {
            return refuse(body, hold, Read::TooLarge).await;
        }
        if budget.grow(hold, length).await.is_err() {
            return refuse(body, hold, Read::NoRoom).await;
        }
        whole.extend_from_slice(&piece);
        next = next_piece(&mut body).await?;
    }
    Ok(Read::Whole(whole.freeze()))
}

/// Releases the body's memory and discards the rest of it, so that the client gets the reason.
async fn refuse<B>(body: B, hold: &mut BodyHold, why: Read) -> Result<Read, B::Error>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    *hold = BodyHold::default();
    discard(body).await.map(|()| why)
}

/// The next non-empty piece of data; trailers are skipped.
async fn next_piece<B>(body: &mut B) -> Result<Option<Bytes>, B::Error>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    while let Some(frame) = body.frame().await {
        match frame?.into_data() {
            Ok(data) if !data.is_empty() => return Ok(Some(data)),
            _ => continue,
        }
    }
    Ok(None)
}

async fn discard<B>(mut body: B) -> Result<(), B::Error>
where
    B: HttpBody<Data = Bytes> + Unpin,
{
    let mut left = BODY_DISCARD_BYTES_MAX;
    while !is_larger(body.size_hint().lower(), left) {
        match next_piece(&mut body).await? {
            Some(piece) if piece.len() <= left => left -= piece.len(),
            _ => return Ok(()),
        }
    }
    Ok(())
}

fn is_larger(length: u64, bytes_max: usize) -> bool {
    usize::try_from(length).map_or(true, |length| length > bytes_max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderMap;
    use hyper::body::{Frame, SizeHint};
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    /// A body of given frames that counts the frames taken, and may announce its length.
    struct Frames {
        frames: VecDeque<Frame<Bytes>>,
        announced: u64,
        taken: usize,
    }

    impl HttpBody for &mut Frames {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            self.taken += 1;
            Poll::Ready(self.frames.pop_front().map(Ok))
        }

        fn size_hint(&self) -> SizeHint {
            let mut hint = SizeHint::default();
            hint.set_lower(self.announced);
            hint
        }
    }

    fn frames(pieces: &[&'static str]) -> Frames {
        let frames = pieces.iter().map(|piece| Frame::data(Bytes::from_static(piece.as_bytes()))).collect();
        Frames { frames, announced: 0, taken: 0 }
    }

    async fn read(body: &mut Frames, bytes_max: usize) -> Option<Bytes> {
        match read_within(body, bytes_max, &BodyBudget::new(1 << 20)).await.0 {
            Read::Whole(bytes) => Some(bytes),
            Read::TooLarge => None,
            Read::NoRoom => panic!("there is room"),
        }
    }

    async fn read_within(body: &mut Frames, bytes_max: usize, budget: &BodyBudget) -> (Read, BodyHold) {
        let mut hold = BodyHold::default();
        match read_whole(body, bytes_max, budget, &mut hold).await {
            Ok(read) => (read, hold),
            Err(never) => match never {},
        }
    }

    const PIECE_BYTES: usize = 64 * 1024;

    fn large(pieces: usize) -> Frames {
        static PIECE: [u8; PIECE_BYTES] = [7; PIECE_BYTES];
        let frames = (0..pieces).map(|_| Frame::data(Bytes::from_static(&PIECE))).collect();
        Frames { frames, announced: 0, taken: 0 }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_takes_what_has_arrived_and_gives_it_back() {
        let budget = BodyBudget::new(4 * PIECE_BYTES);
        // Announces more than it sends, like one that stops halfway.
        let mut announced = Frames { announced: 3 * PIECE_BYTES as u64, ..large(1) };
        let (read, hold) = read_within(&mut announced, 10 * PIECE_BYTES, &budget).await;
        assert!(matches!(read, Read::Whole(_)), "{read:?}");
        assert_eq!(budget.bytes_used(), PIECE_BYTES);
        let (read, other) = read_within(&mut large(4), 10 * PIECE_BYTES, &budget).await;
        assert_eq!(read, Read::NoRoom);
        assert_eq!(budget.bytes_used(), PIECE_BYTES, "what was refused holds nothing");
        drop((hold, other));
        let (read, hold) = read_within(&mut large(4), 10 * PIECE_BYTES, &budget).await;
        assert!(matches!(read, Read::Whole(bytes) if bytes.len() == 4 * PIECE_BYTES));
        assert_eq!(budget.bytes_used(), 4 * PIECE_BYTES);
        drop(hold);
        assert_eq!(budget.bytes_used(), 0);
    }

    #[tokio::test]
    async fn a_body_is_its_pieces_in_order() {
        for (pieces, expected) in [(&["ab", "", "c", "def"][..], "abcdef"), (&["abc"], "abc"), (&[], "")] {
            assert_eq!(read(&mut frames(pieces), 6).await.as_deref(), Some(expected.as_bytes()));
        }
    }

    #[tokio::test]
    async fn a_body_of_one_piece_is_not_copied() {
        static PIECE: &str = "in one piece";
        let bytes = read(&mut frames(&[PIECE]), 100).await.expect("within the limit");
        assert_eq!(bytes.as_ptr(), PIECE.as_ptr());
    }

    #[tokio::test]
    async fn trailers_are_not_part_of_the_body() {
        let mut body = frames(&["ab"]);
        body.frames.push_back(Frame::trailers(HeaderMap::new()));
        assert_eq!(read(&mut body, 2).await.as_deref(), Some(&b"ab"[..]));
    }

    #[tokio::test]
    async fn one_byte_too_many_is_too_large_wherever_it_is() {
        for pieces in [&["abcd"][..], &["abc", "d"], &["a", "bc", "d"], &["a", "b", "cd", "e"]] {
            let mut body = frames(pieces);
            assert_eq!(read(&mut body, 3).await, None, "{pieces:?}");
            assert!(body.frames.is_empty(), "the rest was thrown away");
        }
    }

    #[tokio::test]
    async fn an_announced_length_beyond_all_limits_is_refused_unread() {
        let mut body = Frames { announced: u64::MAX, ..frames(&["a", "b"]) };
        assert_eq!(read(&mut body, 10).await, None);
        assert_eq!(body.taken, 0);
    }

    #[tokio::test]
    async fn an_endless_body_is_given_up() {
        static PIECE: [u8; 64 * 1024] = [7; 64 * 1024];
        let endless = (0..10_000).map(|_| Frame::data(Bytes::from_static(&PIECE))).collect();
        let mut body = Frames { frames: endless, announced: 0, taken: 0 };
        assert_eq!(read(&mut body, 10).await, None);
        assert!(body.taken <= BODY_DISCARD_BYTES_MAX / PIECE.len() + 2, "{}", body.taken);
    }
}
