//! The names of headers that the queue service has beside those of all storage services (wire guide §6.1).

use http::HeaderName;

pub const APPROXIMATE_MESSAGES_COUNT: HeaderName = HeaderName::from_static("x-ms-approximate-messages-count");
pub const POP_RECEIPT: HeaderName = HeaderName::from_static("x-ms-popreceipt");
pub const TIME_NEXT_VISIBLE: HeaderName = HeaderName::from_static("x-ms-time-next-visible");
