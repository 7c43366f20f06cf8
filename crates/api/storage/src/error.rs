//! What a storage request is refused with: status, code, message and details (wire guide §4.3).
//!
//! The codes that all services have are made here, once; those of one service are made by its `errors.rs` with
//! [`StorageError::new`]. How an error is written is `error_body`'s.

use crate::limits::SHOWN_CHARS_MAX;
use http::{HeaderValue, StatusCode};
use orrery_catalog::storage::InvalidResourceName;
use orrery_txn::EngineError;
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageError {
    pub status: StatusCode,
    pub code: &'static str,
    pub message: Cow<'static, str>,
    /// Further elements of the XML body, by name.
    pub details: Vec<(&'static str, String)>,
    /// The value of `WWW-Authenticate`.
    pub challenge: Option<HeaderValue>,
}

impl StorageError {
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code, message: message.into(), details: Vec::new(), challenge: None }
    }

    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.details.push((name, value.into()));
        self
    }
}

/// Requests that are not understood.
impl StorageError {
    pub fn invalid_header(name: &str, value: &str) -> Self {
        let message = "The value for one of the HTTP headers is not in the correct format.";
        Self::new(StatusCode::BAD_REQUEST, "InvalidHeaderValue", message)
            .with("HeaderName", name)
            .with("HeaderValue", shown(value))
    }

    pub fn missing_header(name: &str) -> Self {
        let message = "An HTTP header that's mandatory for this request is not specified.";
        Self::new(StatusCode::BAD_REQUEST, "MissingRequiredHeader", message).with("HeaderName", name)
    }

    pub fn invalid_query(name: &str, value: &str, reason: impl Into<String>) -> Self {
        let message = "Value for one of the query parameters specified in the request URI is invalid.";
        Self::new(StatusCode::BAD_REQUEST, "InvalidQueryParameterValue", message)
            .with("QueryParameterName", name)
            .with("QueryParameterValue", shown(value))
            .with("Reason", reason)
    }

    pub fn out_of_range_query(name: &str, value: &str, min: i64, max: i64) -> Self {
        let message =
            "One of the query parameters specified in the request URI is outside the permissible range.";
        Self::new(StatusCode::BAD_REQUEST, "OutOfRangeQueryParameterValue", message)
            .with("QueryParameterName", name)
            .with("QueryParameterValue", shown(value))
            .with("MinimumAllowed", min.to_string())
            .with("MaximumAllowed", max.to_string())
    }

    pub fn missing_query(name: &str) -> Self {
        let message = "A query parameter that's mandatory for this request is not specified.";
        Self::new(StatusCode::BAD_REQUEST, "MissingRequiredQueryParameter", message)
            .with("QueryParameterName", name)
    }

    pub fn invalid_uri() -> Self {
        let message = "The requested URI does not represent any resource on the server.";
        Self::new(StatusCode::BAD_REQUEST, "InvalidUri", message)
    }

    pub fn invalid_input(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "InvalidInput", message)
    }

    pub fn invalid_xml(reason: impl Into<String>) -> Self {
        let message = "XML specified is not syntactically valid.";
        Self::new(StatusCode::BAD_REQUEST, "InvalidXmlDocument", message).with("Reason", reason)
    }

    pub fn invalid_xml_value(node: &str, value: &str, reason: impl Into<String>) -> Self {
        let message = "The value for one of the XML nodes is not in the correct format.";
        Self::new(StatusCode::BAD_REQUEST, "InvalidXmlNodeValue", message)
            .with("XmlNodeName", node)
            .with("XmlNodeValue", shown(value))
            .with("Reason", reason)
    }

    pub fn invalid_metadata() -> Self {
        let message = "The metadata specified is invalid. It has characters that are not permitted.";
        Self::new(StatusCode::BAD_REQUEST, "InvalidMetadata", message)
    }

    pub fn empty_metadata_key() -> Self {
        let message = "The key for one of the metadata key-value pairs is empty.";
        Self::new(StatusCode::BAD_REQUEST, "EmptyMetadataKey", message)
    }

    pub fn metadata_too_large() -> Self {
        let message = "The size of the specified metadata exceeds the maximum size permitted.";
        Self::new(StatusCode::BAD_REQUEST, "MetadataTooLarge", message)
    }

    pub fn unsupported_verb() -> Self {
        let message = "The resource doesn't support specified Http Verb.";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "UnsupportedHttpVerb", message)
    }

    pub fn body_too_large(bytes_max: usize) -> Self {
        let message = "The request body is too large and exceeds the maximum permissible limit.";
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "RequestBodyTooLarge", message)
            .with("MaxLimit", bytes_max.to_string())
    }

    pub fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "ResourceNotFound", "The specified resource does not exist.")
    }

    /// Never 500: clients would try again for half a minute.
    pub fn not_implemented(what: &str) -> Self {
        let message =
            format!("The requested operation is not implemented on the specified resource: {what}.");
        Self::new(StatusCode::NOT_IMPLEMENTED, "NotImplemented", message)
    }
}

/// Failures that are not the client's.
impl StorageError {
    pub fn internal() -> Self {
        let message = "The server encountered an internal error. Please retry the request.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", message)
    }

    pub fn timed_out() -> Self {
        let message = "The operation could not be completed within the permitted time.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "OperationTimedOut", message)
    }

    pub fn server_busy() -> Self {
        let message = "The server is currently unable to receive requests. Please retry your request.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "ServerBusy", message)
    }
}

/// What the engine cannot do now, or at all.
impl From<EngineError> for StorageError {
    fn from(error: EngineError) -> Self {
        orrery_txn::log_failure(&error);
        match error {
            EngineError::Unavailable(_)
            | EngineError::Full(_)
            | EngineError::Uncertain(_)
            | EngineError::Halted
            | EngineError::UnknownSpace(_)
            | EngineError::Truncated { .. } => Self::server_busy(),
            EngineError::Corrupt(_) => Self::internal(),
        }
    }
}

/// Requests that may not be made (wire guide §3.6).
impl StorageError {
    /// `detail` is for people, and never has a key or a signature in it.
    pub fn authentication_failed(detail: impl Into<String>) -> Self {
        let message = "Server failed to authenticate the request. Make sure the value of Authorization header is \
                       formed correctly including the signature.";
        Self::new(StatusCode::FORBIDDEN, "AuthenticationFailed", message)
            .with("AuthenticationErrorDetail", detail)
    }

    /// The header `Authorization` has no form that is known.
    pub fn invalid_authentication(detail: impl Into<String>) -> Self {
        let message = "Authentication information is not given in the correct format. Check the value of \
                       Authorization header.";
        Self::new(StatusCode::BAD_REQUEST, "InvalidAuthenticationInfo", message)
            .with("AuthenticationErrorDetail", detail)
    }

    pub fn authorization_failure() -> Self {
        Self::forbidden("AuthorizationFailure", "This request is not authorized to perform this operation.")
    }

    pub fn protocol_mismatch() -> Self {
        let message = "This request is not authorized to perform this operation using this protocol.";
        Self::forbidden("AuthorizationProtocolMismatch", message)
    }

    pub fn source_ip_mismatch(ip: &str) -> Self {
        let message =
            format!("This request is not authorized to perform this operation using this source IP {ip}.");
        Self::forbidden("AuthorizationSourceIPMismatch", message)
    }

    pub fn service_mismatch() -> Self {
        let message = "This request is not authorized to perform this operation using this service.";
        Self::forbidden("AuthorizationServiceMismatch", message)
    }

    pub fn resource_type_mismatch() -> Self {
        let message = "This request is not authorized to perform this operation using this resource type.";
        Self::forbidden("AuthorizationResourceTypeMismatch", message)
    }

    pub fn permission_mismatch() -> Self {
        let message = "This request is not authorized to perform this operation using this permission.";
        Self::forbidden("AuthorizationPermissionMismatch", message)
    }

    pub fn secondary_is_read_only() -> Self {
        let message = "Write operations to the secondary location are not allowed.";
        Self::forbidden("InsufficientAccountPermissions", message)
    }

    fn forbidden(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::FORBIDDEN, code, message)
    }
}

impl From<InvalidResourceName> for StorageError {
    fn from(error: InvalidResourceName) -> Self {
        let code = match error {
            InvalidResourceName::Length => "OutOfRangeInput",
            InvalidResourceName::Characters | InvalidResourceName::Reserved => "InvalidResourceName",
        };
        Self::new(StatusCode::BAD_REQUEST, code, error.to_string())
    }
}

/// As much of the client's text as an error repeats.
fn shown(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}
