//! Operations on messages.

use crate::call::Call;
use crate::errors::Failure;
use crate::header::{POP_RECEIPT, TIME_NEXT_VISIBLE};
use crate::limits::MESSAGE_BODY_BYTES_MAX;
use crate::operation::{OnMessage, OnMessages};
use crate::parameters::{number, pop_receipt, required_number};
use crate::{decode, encode, reply};
use bytes::Bytes;
use http::{Response, StatusCode};
use orrery_api_common::{Body, BodyError};
use orrery_api_storage::{StorageError, StorageRequest};
use orrery_queue_store::limits::MESSAGE_TEXT_BYTES_MAX;
use orrery_queue_store::{
    Error, MessageCount, MessageId, NewMessage, QueueId, QueueStore, TimeToLive, Update, VisibilityTimeout,
};

const VISIBILITY_TIMEOUT: &str = "visibilitytimeout";

pub async fn run(
    store: &QueueStore,
    call: &mut Call,
    id: &QueueId,
    does: OnMessages,
) -> Result<Response<Body>, Failure> {
    match does {
        OnMessages::Put => put(store, call, id).await,
        OnMessages::Get => {
            let wanted = wanted(&call.request)?;
            let hidden = number(&call.request, VISIBILITY_TIMEOUT, VisibilityTimeout::for_get)?;
            let hidden = hidden.unwrap_or(VisibilityTimeout::default_for_get());
            let messages = store.get(id, wanted, hidden).await?;
            Ok(reply::xml(StatusCode::OK, encode::received(&messages)))
        }
        OnMessages::Peek => {
            let messages = store.peek(id, wanted(&call.request)?).await?;
            Ok(reply::xml(StatusCode::OK, encode::peeked(&messages)))
        }
        OnMessages::Clear => {
            store.clear(id).await?;
            Ok(reply::empty(StatusCode::NO_CONTENT))
        }
    }
}

pub async fn run_on_one(
    store: &QueueStore,
    call: &mut Call,
    id: &QueueId,
    message: &str,
    does: OnMessage,
) -> Result<Response<Body>, Failure> {
    store.queue(id)?;
    let receipt = pop_receipt(&call.request)?;
    // An id that no message ever had is told like one whose message is gone.
    let message = MessageId::parse(message).ok_or(Error::MessageNotFound);
    match does {
        OnMessage::Update => {
            let visibility = required_number(&call.request, VISIBILITY_TIMEOUT, VisibilityTimeout::for_put)?;
            let body = body_of(call).await?;
            // Without a body the text stays.
            let text = (!body.is_empty()).then(|| decode::message_text(&body)).transpose()?;
            let updated = store.update(id, Update { id: message?, receipt, visibility, text }).await;
            let updated = updated.map_err(|error| beyond_expiry(error, visibility))?;
            let mut response = reply::empty(StatusCode::NO_CONTENT);
            reply::insert(&mut response, POP_RECEIPT, &updated.receipt.to_string());
            reply::insert(&mut response, TIME_NEXT_VISIBLE, &encode::date(updated.next_visible));
            Ok(response)
        }
        OnMessage::Delete => {
            store.delete(id, message?, receipt).await?;
            Ok(reply::empty(StatusCode::NO_CONTENT))
        }
    }
}

async fn put(store: &QueueStore, call: &mut Call, id: &QueueId) -> Result<Response<Body>, Failure> {
    let request = &call.request;
    let visibility = number(request, VISIBILITY_TIMEOUT, VisibilityTimeout::for_put)?.unwrap_or_default();
    let time_to_live = number(request, "messagettl", TimeToLive::parse)?.unwrap_or_default();
    if let TimeToLive::Seconds(seconds) = time_to_live
        && !time_to_live.outlasts(visibility)
    {
        return Err(too_long(visibility, seconds - 1));
    }
    let text = decode::message_text(&body_of(call).await?)?;
    let accepted = store.put(id, NewMessage { text, visibility, time_to_live }).await?;
    Ok(reply::xml(StatusCode::CREATED, encode::accepted(&accepted)))
}

fn wanted(request: &StorageRequest) -> Result<MessageCount, Failure> {
    Ok(number(request, "numofmessages", MessageCount::parse)?.unwrap_or(MessageCount::ONE))
}

/// A body that is much too large is refused as its text would be.
async fn body_of(call: &mut Call) -> Result<Bytes, Failure> {
    call.body(MESSAGE_BODY_BYTES_MAX).await.map_err(|error| match error {
        BodyError::TooLarge { .. } => StorageError::body_too_large(MESSAGE_TEXT_BYTES_MAX).into(),
        other => other.into(),
    })
}

fn beyond_expiry(error: Error, visibility: VisibilityTimeout) -> Failure {
    match error {
        Error::VisibilityAfterExpiry { seconds_left } => too_long(visibility, seconds_left),
        other => other.into(),
    }
}

/// The message would expire before it is visible.
fn too_long(visibility: VisibilityTimeout, seconds_max: u64) -> Failure {
    let (text, max) = (visibility.seconds().to_string(), i64::try_from(seconds_max).unwrap_or(i64::MAX));
    StorageError::out_of_range_query(VISIBILITY_TIMEOUT, &text, 0, max).into()
}
