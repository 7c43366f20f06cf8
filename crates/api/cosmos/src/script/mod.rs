//! Scripts on the wire: stored procedures, triggers and user-defined functions over a container's items.
//!
//! ```text
//! partition    what a script may do, as operations on a transaction in one logical partition
//! procedure    POST on a stored procedure
//! triggers     writes that name triggers
//! functions    user-defined functions, as a query calls them
//! work         running what takes seconds: on a thread, so many at once, with an end
//! slots        how many run at once, and how short ones pass long ones
//! ```

pub mod functions;
mod partition;
pub mod procedure;
pub mod slots;
pub mod triggers;
mod work;

use crate::header;
use crate::request::Request;
use http::{HeaderName, HeaderValue};
use orrery_api_common::percent;
use orrery_core::limits;
use serde_json::Value;

/// The request's headers as a script sees them: the text of a JSON object. Who asks is not a script's business.
fn values(request: &Request) -> String {
    let headers = request.head.headers.iter().filter(|(name, _)| **name != http::header::AUTHORIZATION);
    let text = |value: &HeaderValue| value.to_str().ok().map(Value::from);
    let values = headers.filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?)));
    Value::Object(values.collect()).to_string()
}

/// The header with a script's log, if the client wants it. What a header has no room for is left out.
fn escaped_log(is_wanted: bool, log: &str) -> Option<(HeaderName, HeaderValue)> {
    if !is_wanted {
        return None;
    }
    let mut escaped = String::new();
    let mut buffer = [0; 4];
    for character in log.chars() {
        let part =
            percent_encoding::utf8_percent_encode(character.encode_utf8(&mut buffer), &percent::COMPONENT);
        let part = part.to_string();
        if escaped.len() + part.len() > limits::SCRIPT_LOG_HEADER_BYTES_MAX {
            break;
        }
        escaped.push_str(&part);
    }
    let value = HeaderValue::from_str(&escaped).ok()?;
    Some((header::SCRIPT_LOG_RESULTS, value))
}
