//! The data roles of storage, by their names in Azure, and what each allows (wire guide §3.7).
//!
//! A role is granted over a scope: `/` is everything, `/account` one account, `/account/name` one container, queue or table.

use super::need::Action;
use orrery_api_common::bearer;
use orrery_catalog::storage::ServiceKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Reader,
    Contributor,
    Owner,
    /// Of queues: puts messages.
    Sender,
    /// Of queues: receives messages.
    Processor,
}

/// Whether one of the granted roles allows this.
pub fn allow(
    granted: &[bearer::Grant],
    service: ServiceKind,
    account: &str,
    container: Option<&str>,
    action: Action,
) -> bool {
    granted.iter().any(|grant| {
        covers(&grant.scope, account, container)
            && Role::of(&grant.role, service).is_some_and(|role| role.allows(action, service))
    })
}

/// Every word of the scope is a word of the path.
fn covers(scope: &str, account: &str, container: Option<&str>) -> bool {
    let mut path = [Some(account), container].into_iter().flatten();
    let mut words = scope.split('/').filter(|word| !word.is_empty());
    scope.starts_with('/')
        && words.all(|word| path.next().is_some_and(|named| named.eq_ignore_ascii_case(word)))
}

impl Role {
    /// By its name in Azure, such as `Storage Queue Data Reader`, or for all services by the last word alone.
    fn of(name: &str, service: ServiceKind) -> Option<Self> {
        let is = |text: String| name.eq_ignore_ascii_case(&text);
        let word = match service {
            ServiceKind::Blob => "Blob",
            ServiceKind::Queue => "Queue",
            ServiceKind::Table => "Table",
        };
        let all = [(Self::Reader, "Reader"), (Self::Contributor, "Contributor"), (Self::Owner, "Owner")];
        let found = all
            .into_iter()
            .find(|(_, last)| is(format!("Storage {word} Data {last}")) || is((*last).to_owned()));
        let of_queues = [(Self::Sender, "Sender"), (Self::Processor, "Processor")];
        let messages =
            || of_queues.into_iter().find(|(_, last)| is(format!("Storage Queue Data Message {last}")));
        found.or_else(|| messages().filter(|_| service == ServiceKind::Queue)).map(|(role, _)| role)
    }

    fn allows(self, action: Action, service: ServiceKind) -> bool {
        use Action::{
            AddData, DelegationKey, ProcessMessages, ReadData, ReadResource, ReadService, WritePolicies,
        };
        match self {
            Self::Reader => matches!(action, ReadService | ReadResource | ReadData | DelegationKey),
            Self::Sender => action == AddData,
            Self::Processor => matches!(action, ReadData | ProcessMessages),
            // Who may open containers of blobs to everybody is somebody else.
            Self::Contributor => service != ServiceKind::Blob || action != WritePolicies,
            Self::Owner => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_of_a_service_and_contributors_do_not_open_containers() {
        let check = |role: &str, service: ServiceKind, action: Action, expected: bool| {
            let granted = [bearer::Grant { role: role.to_owned(), scope: "/".to_owned() }];
            assert_eq!(
                allow(&granted, service, "acct", None, action),
                expected,
                "{role} {service:?} {action:?}"
            );
        };
        let policies = Action::WritePolicies;
        check("Storage Blob Data Contributor", ServiceKind::Blob, policies, false);
        check("Storage Blob Data Owner", ServiceKind::Blob, policies, true);
        check("storage table data contributor", ServiceKind::Table, policies, true);
        check("Storage Table Data Reader", ServiceKind::Table, Action::ReadData, true);
        check("Storage Table Data Reader", ServiceKind::Table, Action::WriteData, false);
        check("Storage Table Data Reader", ServiceKind::Queue, Action::ReadData, false);
        check("Storage Queue Data Message Sender", ServiceKind::Table, Action::AddData, false);
        check("reader", ServiceKind::Queue, Action::ReadData, true);
        check("", ServiceKind::Queue, Action::ReadData, false);
    }

    #[test]
    fn a_scope_is_whole_words_of_the_path() {
        let check = |scope: &str, container: Option<&str>, expected: bool| {
            assert_eq!(covers(scope, "acct", container), expected, "{scope} {container:?}");
        };
        check("/", None, true);
        check("/acct", Some("q"), true);
        check("/acct/q", Some("q"), true);
        check("/acct/q", None, false);
        check("/acct/q", Some("q2"), false);
        check("/acc", Some("q"), false);
        check("/acct/q/messages", Some("q"), false);
        check("", None, false);
        check("acct", None, false);
    }
}
