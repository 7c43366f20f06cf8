//! A response body: whole, or a stream of pieces.

use bytes::{Buf as _, Bytes};
use http_body_util::Full;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use orrery_api_common::Body;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

pub enum ServiceBody {
    Whole(Body),
    /// Ends when its sender is dropped.
    Pieces(mpsc::Receiver<Bytes>),
}

impl ServiceBody {
    pub fn whole(text: impl Into<Bytes>) -> Self {
        Self::Whole(orrery_api_common::body(text.into()))
    }
}

impl From<Body> for ServiceBody {
    fn from(body: Body) -> Self {
        Self::Whole(body)
    }
}

impl HttpBody for ServiceBody {
    type Data = <Body as HttpBody>::Data;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Infallible>>> {
        match &mut *self {
            Self::Whole(body) => Pin::new(body).poll_frame(context),
            Self::Pieces(pieces) => {
                let frame = |piece: Bytes| Ok(Frame::data(piece.chain(Bytes::new())));
                pieces.poll_recv(context).map(|piece| piece.map(frame))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(body) => body.is_end_stream(),
            Self::Pieces(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(body) => Full::size_hint(body),
            Self::Pieces(_) => SizeHint::default(),
        }
    }
}
