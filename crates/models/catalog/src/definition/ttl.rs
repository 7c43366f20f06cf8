//! Time to live: `-1` or a number of seconds.

use super::members::integer;
use super::members::{DefinitionError, Parsed, invalid};
use crate::limits;
use serde_json::{Value, json};

/// The default expiry of items. A missing value means that nothing expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultTtl {
    /// `-1`: items expire only by their own TTL.
    Never,
    /// Seconds after the last write; at least 1.
    Seconds(u32),
}

pub(super) fn parse(name: &str, raw: &Value) -> Parsed<DefaultTtl> {
    let seconds = integer(raw).ok_or_else(|| refusal(name, raw))?;
    let ttl = match seconds {
        -1 => DefaultTtl::Never,
        1..=limits::TTL_SECONDS_MAX => {
            DefaultTtl::Seconds(u32::try_from(seconds).map_err(|_| refusal(name, raw))?)
        }
        _ => return Err(refusal(name, raw)),
    };
    Ok((ttl, json!(seconds)))
}

fn refusal(name: &str, raw: &Value) -> DefinitionError {
    invalid(format!(
        "The {name} '{raw}' is invalid. Give -1 (items live on unless they say otherwise) or a number of \
         seconds from 1 to {}, or leave the member out to turn expiry off.",
        limits::TTL_SECONDS_MAX
    ))
}
