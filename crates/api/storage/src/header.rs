//! The names of headers that the storage protocols share (wire guide §4).

use http::HeaderName;

macro_rules! headers {
    ($($name:ident = $text:literal;)*) => {
        $(pub const $name: HeaderName = HeaderName::from_static($text);)*
    };
}

headers! {
    CLIENT_REQUEST_ID = "x-ms-client-request-id";
    DATE = "x-ms-date";
    ERROR_CODE = "x-ms-error-code";
    META = "x-ms-meta";
    REQUEST_ID = "x-ms-request-id";
    VERSION = "x-ms-version";
}

/// The names of metadata begin with it.
pub const META_PREFIX: &str = "x-ms-meta-";
