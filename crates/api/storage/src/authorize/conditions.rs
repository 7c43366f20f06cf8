//! What a signature demands of any request that comes with it: the protocol, the address, the times (wire guide §3.6).

use crate::error::StorageError;
use crate::request::StorageRequest;
use orrery_core::Timestamp;
use orrery_protocol::storage::{format_time_seconds, parse_time};
use std::net::IpAddr;

pub fn check_protocol(spr: Option<&str>, scheme: &str) -> Result<(), StorageError> {
    let Some(spr) = spr else { return Ok(()) };
    let mut allowed = spr.split(',').map(str::trim);
    if !allowed.clone().all(|word| matches!(word, "http" | "https")) {
        return Err(StorageError::authentication_failed("spr is https, or https,http"));
    }
    if allowed.any(|word| word == scheme) { Ok(()) } else { Err(StorageError::protocol_mismatch()) }
}

/// One address, or all from one to another.
pub fn check_address(sip: Option<&str>, peer: IpAddr) -> Result<(), StorageError> {
    let Some(sip) = sip else { return Ok(()) };
    let (first, last) = sip.split_once('-').unwrap_or((sip, sip));
    let parse = |text: &str| text.trim().parse().map(|address: IpAddr| address.to_canonical());
    let (Ok(first), Ok(last)) = (parse(first), parse(last)) else {
        return Err(StorageError::authentication_failed(
            "sip is an address, or two with a hyphen between them",
        ));
    };
    let peer = peer.to_canonical();
    let is_within = first.is_ipv4() == peer.is_ipv4() && (first..=last).contains(&peer);
    if is_within { Ok(()) } else { Err(StorageError::source_ip_mismatch(&peer.to_string())) }
}

/// A start that is missing is now; an end has to be said.
pub fn check_times(
    request: &StorageRequest,
    start: Option<&str>,
    end: Option<&str>,
) -> Result<(), StorageError> {
    let start_at = start.map(|start| moment("st", start)).transpose()?;
    let end = end.ok_or_else(|| mandatory("se"))?;
    let (end_at, now) = (moment("se", end)?, request.now());
    if start_at.is_none_or(|start| start <= now) && now <= end_at {
        return Ok(());
    }
    Err(StorageError::authentication_failed(format!(
        "Signature not valid in the specified time frame: Start [{}] - Expiry [{end}] - Current [{}]",
        start.unwrap_or_default(),
        format_time_seconds(now)
    )))
}

pub fn mandatory(field: &str) -> StorageError {
    StorageError::authentication_failed(format!("{field} is mandatory. Cannot be empty"))
}

fn moment(field: &str, text: &str) -> Result<Timestamp, StorageError> {
    let refused =
        || StorageError::authentication_failed(format!("{field} is not a time in UTC, as ISO 8601 has it"));
    parse_time(text).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(result: Result<(), StorageError>) -> &'static str {
        result.err().map_or("", |error| error.code)
    }

    #[test]
    fn a_protocol_is_one_of_those_allowed() {
        let check =
            |spr, scheme, expected| assert_eq!(code(check_protocol(spr, scheme)), expected, "{spr:?}");
        check(None, "http", "");
        check(Some("https,http"), "http", "");
        check(Some("https"), "https", "");
        check(Some("https"), "http", "AuthorizationProtocolMismatch");
        check(Some("ftp"), "http", "AuthenticationFailed");
        check(Some(""), "http", "AuthenticationFailed");
    }

    #[test]
    fn an_address_is_within_the_range_and_of_its_family() {
        let check = |sip, peer: &str, expected| {
            assert_eq!(
                code(check_address(sip, peer.parse().expect("an address"))),
                expected,
                "{sip:?} {peer}"
            );
        };
        check(None, "10.0.0.1", "");
        check(Some("10.0.0.1"), "10.0.0.1", "");
        check(Some("10.0.0.1"), "::ffff:10.0.0.1", "");
        check(Some("10.0.0.1-10.0.0.9"), "10.0.0.9", "");
        check(Some("10.0.0.1-10.0.0.9"), "10.0.0.10", "AuthorizationSourceIPMismatch");
        check(Some("10.0.0.1"), "::1", "AuthorizationSourceIPMismatch");
        check(Some("0.0.0.0-255.255.255.255"), "::1", "AuthorizationSourceIPMismatch");
        check(Some("::1"), "::1", "");
        check(Some("everywhere"), "::1", "AuthenticationFailed");
    }
}
