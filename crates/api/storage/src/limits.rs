//! The limits of what storage requests carry beside their data.

/// Names and values of the metadata of one resource together.
pub const METADATA_BYTES_MAX: usize = 8 * 1024;
/// A client's own id of a request, which it gets back.
pub const CLIENT_REQUEST_ID_CHARS_MAX: usize = 1024;
/// The body of service properties, access policies and other small documents.
pub const DOCUMENT_BYTES_MAX: usize = 1024 * 1024;
/// Elements of an XML document, and elements inside one another.
pub const XML_ELEMENTS_MAX: usize = 100_000;
pub const XML_LEVELS_MAX: usize = 16;
/// How far the date of a request may be off our clock, unless it is configured.
pub const SKEW_SECONDS_MAX: u64 = 15 * 60;
/// How long a key for user delegation is valid.
pub const DELEGATION_KEY_SECONDS_MAX: u64 = 7 * 24 * 60 * 60;
/// How many characters of the client's own text an error repeats.
pub const SHOWN_CHARS_MAX: usize = 256;
