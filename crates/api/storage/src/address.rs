//! Which account a URL is about, and which part of its path is the account's own (wire guide §1.2).
//!
//! ```text
//! http://127.0.0.1:10001/devstoreaccount1/orders/messages     path style: the first segment is the account
//! http://devstoreaccount1.queue.localhost:10001/orders/messages   host style: the first label is
//! …/devstoreaccount1-secondary/…   devstoreaccount1-secondary.queue.…   the replica that may only be read
//! ```
//!
//! The host decides: it is host style if its first label is an account of ours and its second the word of the service. Where
//! names of machines happen to look like this, path style alone can be chosen. The path is not decoded here.

use crate::error::StorageError;
use orrery_catalog::storage::{AccountName, ServiceKind};
use orrery_protocol::storage::Service;

/// Which styles of URLs are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addressing {
    #[default]
    Both,
    PathOnly,
}

/// Where a URL names its account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    Path,
    Host,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Address<'a> {
    pub account: AccountName,
    pub is_secondary: bool,
    pub style: Style,
    /// It asks for a document of the account's static website: `account.web.localhost`.
    pub is_of_website: bool,
    /// What follows the account, as it travelled, without the first slash.
    pub path: &'a str,
}

const SECONDARY: &str = "-secondary";

/// `host` without its port; `path` as it travelled.
pub fn locate<'a>(
    service: ServiceKind,
    addressing: Addressing,
    host: Option<&str>,
    path: &'a str,
    is_account: impl Fn(&str) -> bool,
) -> Result<Address<'a>, StorageError> {
    let by_host = host.filter(|_| addressing == Addressing::Both).and_then(|host| of_host(service, host));
    if let Some(found) = by_host.filter(|found| is_account(found.account.as_str())) {
        let path = path.strip_prefix('/').unwrap_or(path);
        let OfHost { account, is_secondary, is_of_website } = found;
        return Ok(Address { account, is_secondary, style: Style::Host, is_of_website, path });
    }
    let (first, path) =
        path.strip_prefix('/').map_or((path, ""), |rest| rest.split_once('/').unwrap_or((rest, "")));
    let (account, is_secondary) = of_name(first).ok_or_else(StorageError::invalid_uri)?;
    if !is_account(account.as_str()) {
        return Err(unknown(&account));
    }
    Ok(Address { account, is_secondary, style: Style::Path, is_of_website: false, path })
}

struct OfHost {
    account: AccountName,
    is_secondary: bool,
    is_of_website: bool,
}

/// The second label of a website's host, which the blob service answers.
const WEB: &str = "web";

fn of_host(service: ServiceKind, host: &str) -> Option<OfHost> {
    let host = host.to_ascii_lowercase();
    let (first, rest) = host.split_once('.')?;
    let second = rest.split('.').next()?;
    let is_of_website = service == ServiceKind::Blob && second == WEB;
    if second != protocol_service(service).word() && !is_of_website {
        return None;
    }
    of_name(first).map(|(account, is_secondary)| OfHost { account, is_secondary, is_of_website })
}

/// The service, as the protocol's own vocabulary has it.
pub fn protocol_service(service: ServiceKind) -> Service {
    match service {
        ServiceKind::Blob => Service::Blob,
        ServiceKind::Queue => Service::Queue,
        ServiceKind::Table => Service::Table,
    }
}

/// Names of accounts have no hyphen, so what follows one is no part of the name.
fn of_name(name: &str) -> Option<(AccountName, bool)> {
    let (name, is_secondary) = name.strip_suffix(SECONDARY).map_or((name, false), |name| (name, true));
    AccountName::parse(name).ok().map(|account| (account, is_secondary))
}

fn unknown(account: &AccountName) -> StorageError {
    let mut error = StorageError::not_found();
    let name = account.as_str();
    error.message = format!("{} There is no storage account '{name}' here.", error.message).into();
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(addressing: Addressing, host: &str, path: &str) -> Result<String, &'static str> {
        let is_account = |name: &str| ["devstoreaccount1", "other"].contains(&name);
        let located = locate(ServiceKind::Queue, addressing, Some(host), path, is_account);
        located.map_err(|error| error.code).map(|found| {
            let secondary = if found.is_secondary { " secondary" } else { "" };
            format!("{:?} {}{secondary} {}", found.style, found.account.as_str(), found.path)
        })
    }

    fn check(host: &str, path: &str, expected: Result<&str, &'static str>) {
        assert_eq!(found(Addressing::Both, host, path), expected.map(str::to_owned), "{host} {path}");
    }

    #[test]
    fn the_account_is_the_first_segment_or_the_first_label() {
        check("127.0.0.1", "/devstoreaccount1/q/messages", Ok("Path devstoreaccount1 q/messages"));
        check("localhost", "/devstoreaccount1", Ok("Path devstoreaccount1 "));
        check("localhost", "/devstoreaccount1/", Ok("Path devstoreaccount1 "));
        check("azurite", "/other/a%2Fb//c/../d", Ok("Path other a%2Fb//c/../d"));
        check("other.queue.localhost", "/q/messages", Ok("Host other q/messages"));
        check("Other.Queue.core.windows.net", "/", Ok("Host other "));
    }

    #[test]
    fn a_replica_is_named_by_its_account() {
        check("localhost", "/other-secondary/q", Ok("Path other secondary q"));
        check("other-secondary.queue.localhost", "/q", Ok("Host other secondary q"));
    }

    #[test]
    fn a_host_that_only_looks_like_an_account_is_no_account() {
        check("storage.local", "/other/q", Ok("Path other q"));
        check("other.table.localhost", "/other/q", Ok("Path other q"));
        check("nobody.queue.localhost", "/other/q", Ok("Path other q"));
        assert_eq!(
            found(Addressing::PathOnly, "other.queue.localhost", "/other/q"),
            Ok("Path other q".to_owned())
        );
    }

    #[test]
    fn a_path_without_an_account_of_ours_is_refused() {
        check("localhost", "/", Err("InvalidUri"));
        check("localhost", "", Err("InvalidUri"));
        check("localhost", "//q", Err("InvalidUri"));
        check("localhost", "/My-Account/q", Err("InvalidUri"));
        check("localhost", "/nobody/q", Err("ResourceNotFound"));
    }
}
