//! Errors in Azure's form: status, code, sub-status, sentence.
//!
//! Every error of the layers below is converted in exactly one place, by an exhaustive match.

use crate::header;
use crate::limits;
use crate::reply::ToValue as _;
use http::{HeaderName, HeaderValue, StatusCode};
use orrery_api_common::BodyError;
use orrery_api_common::problem::{Kind, Problem};
use orrery_core::{InvalidName, Lsn};
use orrery_document_store::limits::QUERY_BUSY_RETRY_MILLIS;
use orrery_document_store::{
    BrokeOff, ContinuationError, EngineError, Error, NotRun, PartitionKeyError, WriteError,
};
use orrery_documents::batch::StepError;
use orrery_documents::catalog::CatalogError;
use orrery_documents::changes::NotRetained;
use orrery_documents::charge::Charge;
use orrery_documents::definition::DefinitionError;
use orrery_documents::item::{ItemError, PrepareError};
use orrery_documents::roles::RoleError;
use orrery_documents::subresources::SubresourceError;
use orrery_query::QueryError;
use orrery_script::ScriptError;
use orrery_value::BinaryError;
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub status: StatusCode,
    pub code: &'static str,
    pub substatus: u32,
    pub message: String,
    pub retry_after_ms: Option<u64>,
    /// For failures about an item: the headers with its location and LSN.
    pub place: Vec<(HeaderName, HeaderValue)>,
    /// JSON for the body's `additionalErrorInfo`.
    pub info: Option<Box<ErrorInfo>>,
}

/// Boxed text, so that a failure without it stays small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorInfo(pub String);

pub const PARTITION_KEY_MISMATCH: u32 = 1001;
pub const SESSION_NOT_AVAILABLE: u32 = 1002;
pub const RANGE_GONE: u32 = 1002;
pub const OWNER_MISSING: u32 = 1003;
/// A query whose ranges the client must merge.
pub const CROSS_PARTITION_NOT_SERVABLE: u32 = 1004;
pub const PARTITION_FULL: u32 = 1014;
pub const COLLECTION_RID_MISMATCH: u32 = 1024;
/// The request units of this second are spent.
pub const RATE_TOO_LARGE: u32 = 3200;
/// The body of a script is not a function.
pub const SCRIPT_COMPILE: u32 = 0xFFFF;
/// A script threw; an error with a status of its own uses that instead.
pub const SCRIPT_THROWN: u32 = 400;
pub const BATCH_TOO_LARGE: u32 = 3402;
/// Busy because of the commit queue, not of a request-unit budget (3200).
pub const SYSTEM_BUSY: u32 = 3092;

impl Failure {
    fn new(status: StatusCode, code: &'static str, substatus: u32, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, code, substatus, message, retry_after_ms: None, place: Vec::new(), info: None }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", 0, message)
    }

    pub fn partition_key(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", PARTITION_KEY_MISMATCH, message)
    }

    /// A query over several partitions that a client must merge by the plan, which is JSON.
    pub fn needs_merging(plan: String) -> Self {
        // SDKs and programs look for the first sentence; the service's message continues with the
        // second.
        let message = "The provided cross partition query can not be directly served by the gateway. \
                       This is a first chance (internal) exception that all newer clients will know how to handle gracefully: \
                       they merge the ranges by the plan in additionalErrorInfo. Other clients name a partition key, or send the \
                       header x-orrery-cross-partition: direct.";
        let failure = Self::new(StatusCode::BAD_REQUEST, "BadRequest", CROSS_PARTITION_NOT_SERVABLE, message);
        Self { info: Some(Box::new(ErrorInfo(plan))), ..failure }
    }

    pub fn collection_recreated() -> Self {
        let message = "The container was deleted and created again since the client read it; read it again.";
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", COLLECTION_RID_MISMATCH, message)
    }

    pub fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized", 0, message)
    }

    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "Forbidden", 0, message)
    }

    /// With a sub-status that tells clients which check failed.
    pub fn with(self, substatus: u32) -> Self {
        Self { substatus, ..self }
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NotFound", 0, message)
    }

    /// The resource's database or container does not exist.
    pub fn owner_missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NotFound", OWNER_MISSING, message)
    }

    pub fn session_not_available(wanted: Lsn, current: Lsn) -> Self {
        let message = format!(
            "The read session is not available: the token wants {wanted}, the server is at {current}."
        );
        Self::new(StatusCode::NOT_FOUND, "NotFound", SESSION_NOT_AVAILABLE, message)
    }

    pub fn method_not_allowed() -> Self {
        let message = "The request verb is not allowed on this resource.";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", 0, message)
    }

    pub fn range_gone(id: &str) -> Self {
        let message = format!("The partition key range {id} is gone; read the ranges again.");
        Self::new(StatusCode::GONE, "Gone", RANGE_GONE, message)
    }

    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", 0, message)
    }

    /// Clients match on the first half, which is the service's.
    pub fn request_too_large(why: &str) -> Self {
        Self::too_large(format!("Message: {{\"Errors\":[\"Request size is too large\"]}}: {why}."))
    }

    pub fn not_implemented(what: &str) -> Self {
        let message = format!("Orrery does not have {what} yet; COMPAT.md lists what it has.");
        Self::new(StatusCode::NOT_IMPLEMENTED, "NotImplemented", 0, message)
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError", 0, message)
    }

    fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "Conflict", 0, message)
    }

    pub fn precondition(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PRECONDITION_FAILED, "PreconditionFailed", 0, message)
    }

    fn busy() -> Self {
        let message = "Too many writes are waiting for the disk; try again.";
        let failure = Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", SYSTEM_BUSY, message);
        Self { retry_after_ms: Some(100), ..failure }
    }

    /// Other queries hold the resources that this one needs. Clients treat it as a lack of throughput
    /// and retry.
    fn queries_busy(message: impl Into<String>) -> Self {
        Self::throttled(message.into(), QUERY_BUSY_RETRY_MILLIS)
    }

    fn throttled(message: String, retry_after_ms: u64) -> Self {
        let failure = Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", RATE_TOO_LARGE, message);
        Self { retry_after_ms: Some(retry_after_ms), ..failure }
    }

    /// The charge of the failed request.
    pub fn charge(&self) -> Charge {
        if self.substatus == RATE_TOO_LARGE { Charge::throttled() } else { Charge::refused() }
    }

    fn unavailable(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable", 0, message)
    }

    /// A sentence may quote a name or a header, which can be long.
    pub fn clipped_message(&self) -> Cow<'_, str> {
        let (message, max) = (&self.message, limits::ERROR_MESSAGE_BYTES_MAX);
        if message.len() <= max {
            return message.into();
        }
        let room = |(at, character): &(usize, char)| at + character.len_utf8() <= max;
        let kept: String = message.char_indices().take_while(room).map(|(_, character)| character).collect();
        format!("{kept}…").into()
    }

    /// Adds the headers that a client needs to keep its session and its view of the ranges.
    pub fn at(self, place: impl Into<Vec<(HeaderName, HeaderValue)>>) -> Self {
        Self { place: place.into(), ..self }
    }

    /// Adds headers to the existing ones.
    pub fn and(mut self, more: impl IntoIterator<Item = (HeaderName, HeaderValue)>) -> Self {
        self.place.extend(more);
        self
    }
}

/// The administrative routes of the services port use the same stores and report errors in that port's
/// form.
impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Self::new(Kind::of(failure.status), failure.message)
    }
}

impl From<BrokeOff> for Failure {
    fn from(_: BrokeOff) -> Self {
        Self::internal("The work broke off; look into the server's log.")
    }
}

impl From<NotRun> for Failure {
    fn from(error: NotRun) -> Self {
        match error {
            NotRun::BrokeOff(error) => error.into(),
            NotRun::Busy => Self::queries_busy("Too many queries that take long are waiting; try again."),
            NotRun::NoMemory => Self::queries_busy(
                "The memory for queries is used up by others; try again, or start the server with a larger --memory-mb.",
            ),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        orrery_document_store::log_failure(&error);
        match error {
            EngineError::Unavailable(_)
            | EngineError::Full(_)
            | EngineError::Uncertain(_)
            | EngineError::Halted
            | EngineError::UnknownSpace(_)
            | EngineError::Truncated { .. } => Self::unavailable(error.to_string()),
            EngineError::Corrupt(_) => Self::internal(error.to_string()),
        }
    }
}

impl From<ItemError> for Failure {
    fn from(error: ItemError) -> Self {
        let message = error.to_string();
        match error {
            ItemError::Exists | ItemError::NotUnique => Self::conflict(message),
            ItemError::Missing => Self::not_found(message),
            ItemError::Changed => Self::precondition(message),
            ItemError::PartitionKeyChanged | ItemError::Schema(_) => Self::bad_request(message),
            ItemError::Patch(_) => Self::bad_request(message),
            ItemError::ConditionFails => Self::precondition(message),
            ItemError::Condition(error) => error.into(),
            ItemError::Patched(error) => {
                let failure = Self::from(error);
                Self { message: format!("The patched item cannot be stored: {}", failure.message), ..failure }
            }
            ItemError::PartitionFull { .. } => Self { substatus: PARTITION_FULL, ..Self::forbidden(message) },
            ItemError::Store(error) => error.into(),
        }
    }
}

impl From<NotRetained> for Failure {
    fn from(error: NotRetained) -> Self {
        let message = error.to_string();
        match error {
            NotRetained::Off | NotRetained::TooOld { .. } => Self::bad_request(message),
            NotRetained::Store(error) => error.into(),
        }
    }
}

impl From<StepError> for Failure {
    fn from(error: StepError) -> Self {
        let message = error.to_string();
        match error {
            StepError::Item(error) => error.into(),
            StepError::TooMuch => Self { substatus: BATCH_TOO_LARGE, ..Self::too_large(message) },
        }
    }
}

impl From<CatalogError> for Failure {
    fn from(error: CatalogError) -> Self {
        let message = error.to_string();
        match error {
            CatalogError::Exists => Self::conflict(message),
            CatalogError::DatabaseMissing | CatalogError::ContainerMissing | CatalogError::OfferMissing => {
                Self::not_found(message)
            }
            CatalogError::Changed => Self::precondition(message),
            CatalogError::TooMany => Self::forbidden(message),
            CatalogError::StillIndexing => Self::conflict(message),
            CatalogError::OfferMoved => Self::bad_request(message),
            CatalogError::Definition(error) => error.into(),
            CatalogError::Store(error) => error.into(),
        }
    }
}

impl From<SubresourceError> for Failure {
    fn from(error: SubresourceError) -> Self {
        let message = error.to_string();
        match error {
            SubresourceError::Exists => Self::conflict(message),
            SubresourceError::Missing(_) => Self::not_found(message),
            SubresourceError::OwnerMissing(_) => Self::owner_missing(message),
            SubresourceError::Changed => Self::precondition(message),
            SubresourceError::TooMany { .. } => Self::forbidden(message),
            SubresourceError::Renamed(_) => Self::bad_request(message),
            SubresourceError::Definition(error) => error.into(),
            SubresourceError::Store(error) => error.into(),
        }
    }
}

impl From<RoleError> for Failure {
    fn from(error: RoleError) -> Self {
        let message = error.to_string();
        match error {
            RoleError::Invalid(_) => Self::bad_request(message),
            RoleError::NoDefinition(_) | RoleError::NoAssignment(_) => Self::not_found(message),
            RoleError::BuiltIn(_) | RoleError::TooMany(_) => Self::forbidden(message),
            RoleError::Assigned(_) => Self::conflict(message),
            RoleError::Store(error) => error.into(),
        }
    }
}

impl From<DefinitionError> for Failure {
    fn from(error: DefinitionError) -> Self {
        let message = error.to_string();
        match error {
            DefinitionError::InvalidName(_) | DefinitionError::Invalid(_) => Self::bad_request(message),
            DefinitionError::Forbidden(_) => Self::forbidden(message),
        }
    }
}

impl From<PrepareError> for Failure {
    fn from(error: PrepareError) -> Self {
        let message = error.to_string();
        match error {
            PrepareError::TooLarge(_) => Self::request_too_large(&message),
            PrepareError::Json(_)
            | PrepareError::NoId
            | PrepareError::IdNotText
            | PrepareError::Id(_)
            | PrepareError::Ttl(_)
            | PrepareError::PartitionKeyTooLong
            | PrepareError::UniqueKeyTooLong => Self::bad_request(message),
        }
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Text(complaint) => {
                let errors = serde_json::json!({ "errors": [{
                    "severity": "Error",
                    "location": { "start": complaint.at.start, "end": complaint.at.end },
                    "code": complaint.code,
                    "message": complaint.message,
                }] });
                Self::bad_request(format!("Message: {errors}"))
            }
            QueryError::Refused(message) => Self::bad_request(message),
            QueryError::TooLong(message) => {
                Self::new(StatusCode::REQUEST_TIMEOUT, "RequestTimeout", 0, message)
            }
            QueryError::Busy(message) => Self::queries_busy(message),
            QueryError::Storage(message) => Self::internal(message),
        }
    }
}

impl From<ScriptError> for Failure {
    fn from(error: ScriptError) -> Self {
        let message = error.to_string();
        let bad = |substatus| Self::new(StatusCode::BAD_REQUEST, "BadRequest", substatus, message.clone());
        match error {
            ScriptError::Compile { .. } => bad(SCRIPT_COMPILE),
            ScriptError::Thrown { number, .. } => {
                bad(number.filter(|number| (400..600).contains(number)).unwrap_or(SCRIPT_THROWN))
            }
            ScriptError::OutOfMemory { .. } => bad(SCRIPT_THROWN),
            ScriptError::OutputTooLarge { .. } => Self::too_large(message),
            ScriptError::TooLong { .. } => {
                Self::new(StatusCode::REQUEST_TIMEOUT, "RequestTimeout", 0, message)
            }
            ScriptError::Broken(_) => Self::internal(message),
        }
    }
}

impl From<InvalidName> for Failure {
    fn from(error: InvalidName) -> Self {
        Self::bad_request(format!("The input name is invalid: {error}"))
    }
}

impl From<BinaryError> for Failure {
    fn from(error: BinaryError) -> Self {
        Self::bad_request(format!("The body is not valid Cosmos binary JSON: {error}."))
    }
}

impl From<BodyError> for Failure {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge { bytes_max } => {
                Self::request_too_large(&format!("the largest body is {bytes_max} bytes"))
            }
            BodyError::TooSlow => Self::new(
                StatusCode::REQUEST_TIMEOUT,
                "RequestTimeout",
                0,
                "The body took too long to arrive.",
            ),
            BodyError::NoRoom => {
                let message = format!("The request was not read: {error}.");
                Self { retry_after_ms: Some(QUERY_BUSY_RETRY_MILLIS), ..Self::unavailable(message) }
            }
            BodyError::Broken(error) => Self::bad_request(format!("The body could not be read: {error}.")),
        }
    }
}

impl From<PartitionKeyError> for Failure {
    fn from(error: PartitionKeyError) -> Self {
        let message = error.to_string();
        match error {
            PartitionKeyError::TooLong { .. } | PartitionKeyError::Malformed(_) => Self::bad_request(message),
            PartitionKeyError::Wrong(_) | PartitionKeyError::Missing | PartitionKeyError::Other(_) => {
                Self::partition_key(message)
            }
        }
    }
}

impl From<ContinuationError> for Failure {
    fn from(error: ContinuationError) -> Self {
        Self::bad_request(error.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::ContainerGone => Self::owner_missing(message),
            Error::ContainerMissing { .. } => Self::owner_missing(format!("Resource Not Found: {message}")),
            Error::RateTooLarge { retry_after_ms, range } => {
                let place = [(header::PARTITION_KEY_RANGE_ID, range.to_value())];
                Self::throttled(message, retry_after_ms).at(place)
            }
            Error::MetadataRateTooLarge { retry_after_ms } => Self::throttled(message, retry_after_ms),
            Error::Busy => Self::busy(),
            Error::Stopping => Self::unavailable(message),
            Error::Engine(error) => error.into(),
            Error::NotRun(error) => error.into(),
            Error::BrokeOff(error) => error.into(),
            Error::Name(error) => error.into(),
            Error::PartitionKey(error) => error.into(),
            Error::Prepare(error) => error.into(),
            Error::Item(error) => error.into(),
            Error::Step(error) => error.into(),
            Error::Catalog(error) => error.into(),
            Error::Subresource(error) => error.into(),
            Error::Continuation(error) => error.into(),
            Error::Query(error) => error.into(),
            Error::NeedsMerging { plan } => Self::needs_merging(plan),
            Error::AggregateWithoutValue
            | Error::CrossPartitionDisabled
            | Error::PositionAhead { .. }
            | Error::Invalid(_) => Self::bad_request(message),
            Error::NotRetained(error) => error.into(),
            Error::Script(error) => error.into(),
            Error::ScriptTooLong => Self::new(StatusCode::REQUEST_TIMEOUT, "RequestTimeout", 0, message),
            Error::ScriptChangesTooMuch { .. } => Self::too_large(message),
            Error::Internal(_) => Self::internal(message),
        }
    }
}

impl<E: Into<Failure>> From<WriteError<E>> for Failure {
    fn from(error: WriteError<E>) -> Self {
        match error {
            WriteError::Model(error) => error.into(),
            WriteError::PreconditionFailed => Self::owner_missing("The container was deleted."),
            WriteError::Busy => Self::busy(),
            WriteError::Stopping => Self::unavailable("The server is stopping."),
            WriteError::Engine(error) => error.into(),
        }
    }
}
