//! The data roles of storage, by their names in Azure, and what each allows (wire guide §3.7).
//!
//! A role is granted over a scope: `/` is everything, `/account` one account, `/account/name` one container, queue or table.

use super::need::Action;
use orrery_api_common::bearer;
use orrery_catalog::storage::ServiceKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
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

/// The role by which somebody may make signatures in their own name for a whole account, the most powerful one they have.
pub(crate) fn delegator(granted: &[bearer::Grant], service: ServiceKind, account: &str) -> Option<Role> {
    let over_account = || granted.iter().filter(|grant| covers(&grant.scope, account, None));
    let has = |role: &Role| over_account().any(|grant| Role::of(&grant.role, service) == Some(*role));
    Role::DELEGATORS.into_iter().find(has)
}

/// Every word of the scope is a word of the path.
fn covers(scope: &str, account: &str, container: Option<&str>) -> bool {
    let mut path = [Some(account), container].into_iter().flatten();
    let mut words = scope.split('/').filter(|word| !word.is_empty());
    scope.starts_with('/')
        && words.all(|word| path.next().is_some_and(|named| named.eq_ignore_ascii_case(word)))
}

impl Role {
    /// Those that allow [`Action::DelegationKey`], the most powerful first.
    pub(crate) const DELEGATORS: [Self; 3] = [Self::Owner, Self::Contributor, Self::Reader];

    /// What a key of somebody with this role is derived from.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Contributor => "contributor",
            Self::Owner => "owner",
            Self::Sender => "sender",
            Self::Processor => "processor",
        }
    }

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

    pub(super) fn allows(self, action: Action, service: ServiceKind) -> bool {
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
    fn whoever_signs_for_an_account_has_a_role_over_the_whole_of_it() {
        let check = |granted: &[(&str, &str)], expected: Option<Role>| {
            let grant = |(role, scope): &(&str, &str)| bearer::Grant {
                role: (*role).to_owned(),
                scope: (*scope).to_owned(),
            };
            let granted: Vec<_> = granted.iter().map(grant).collect();
            assert_eq!(delegator(&granted, ServiceKind::Queue, "acct"), expected, "{granted:?}");
        };
        let contributor = "Storage Queue Data Contributor";
        check(&[("Storage Queue Data Reader", "/"), (contributor, "/acct")], Some(Role::Contributor));
        check(&[("Storage Queue Data Reader", "/"), (contributor, "/acct/q")], Some(Role::Reader));
        check(&[(contributor, "/other")], None);
        check(&[("Storage Queue Data Message Sender", "/"), ("Storage Blob Data Owner", "/")], None);
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
