//! Stored access policies, in the terms that the three formats share.

use crate::node::{Fault, Location, Node, fault};
use orrery_catalog::storage::{AccessPolicy, PolicyTime, ServiceKind, SignedIdentifier, SignedIdentifiers};
use orrery_protocol::storage::parse_time;

/// One policy as a file has it.
pub(crate) struct GivenPolicy {
    pub at: Location,
    pub id: String,
    pub start: Option<Node>,
    pub expiry: Option<Node>,
    pub permissions: Option<Node>,
}

/// The policies of a table or a queue.
pub(crate) fn policies(
    at: Location,
    service: ServiceKind,
    given: Vec<GivenPolicy>,
) -> Result<SignedIdentifiers, Fault> {
    let policies = given.into_iter().map(|one| policy(service, one)).collect::<Result<_, _>>()?;
    SignedIdentifiers::new(policies).map_err(|error| Fault { at, reason: error.to_string() })
}

fn policy(service: ServiceKind, given: GivenPolicy) -> Result<SignedIdentifier, Fault> {
    let permission = match &given.permissions {
        None => None,
        Some(node) => Some(permission(service, node)?),
    };
    let policy = AccessPolicy {
        start: given.start.as_ref().map(time).transpose()?,
        expiry: given.expiry.as_ref().map(time).transpose()?,
        permission,
    };
    if let (Some(start), Some(expiry)) = (&policy.start, &policy.expiry)
        && start.at() >= expiry.at()
    {
        return fault(given.at, format!("the access policy '{}' ends before it begins", given.id));
    }
    Ok(SignedIdentifier { id: given.id, policy })
}

fn permission(service: ServiceKind, node: &Node) -> Result<String, Fault> {
    let known = match service {
        ServiceKind::Table => "raud",
        ServiceKind::Queue => "raup",
        ServiceKind::Blob => "racwdxyltfmeopi",
    };
    let text = node.expect_text("the permissions of an access policy")?;
    if text.chars().all(|letter| known.contains(letter)) {
        return Ok(text.to_owned());
    }
    fault(node.at, format!("permissions are letters of '{known}' here, and '{text}' has others"))
}

fn time(node: &Node) -> Result<PolicyTime, Fault> {
    let text = node.expect_text("a time of an access policy")?;
    match parse_time(text) {
        Some(at) => Ok(PolicyTime::new(text, at)),
        None => fault(node.at, format!("'{text}' is no time in UTC, like 2027-01-15T08:00:00Z")),
    }
}
