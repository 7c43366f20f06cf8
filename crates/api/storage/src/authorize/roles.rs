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
            && Role::of(&grant.role, service).is_some_and(|role| role.allows(action))
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

    fn allows(self, action: Action) -> bool {
        use Action::{
            AddData, DelegationKey, DeleteData, DeleteResource, ProcessMessages, ReadData, ReadPolicies,
            ReadResource, ReadService, WriteData, WritePolicies, WriteResource, WriteService,
        };
        match self {
            Self::Reader => matches!(action, ReadService | ReadResource | ReadData | DelegationKey),
            Self::Sender => action == AddData,
            Self::Processor => matches!(action, ReadData | ProcessMessages),
            Self::Contributor => match action {
                ReadService | WriteService | ReadResource | WriteResource | DeleteResource | ReadPolicies
                | ReadData | AddData | WriteData | DeleteData | ProcessMessages | DelegationKey => true,
                WritePolicies => true,
            },
            Self::Owner => true,
        }
    }
}
