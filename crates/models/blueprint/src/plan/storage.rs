//! The steps of a storage account: the account, its tables, its queues.
//!
//! Example entities and messages are no steps: like example items they are inserted on request.

use super::step::{Change, Refusal, Step, Subject, Verdict};
use crate::storage::{StorageAccount, StorageQueue, StorageTable};
use orrery_catalog::storage::{AccessPolicy, SignedIdentifiers};
use orrery_queues::Metadata;
use std::collections::{BTreeMap, BTreeSet};

/// The storage accounts of a server, as far as a blueprint names them.
#[derive(Clone, Debug, Default)]
pub struct ObservedStorage {
    /// Whether an account that is missing can be made.
    pub makes_accounts: bool,
    pub accounts: BTreeMap<String, ObservedStorageAccount>,
}

#[derive(Clone, Debug, Default)]
pub struct ObservedStorageAccount {
    /// By folded name.
    pub tables: BTreeMap<String, ObservedTable>,
    pub queues: BTreeMap<String, ObservedQueue>,
}

/// Policies are read only where the blueprint specifies some.
#[derive(Clone, Debug, Default)]
pub struct ObservedTable {
    pub policies: SignedIdentifiers,
}

#[derive(Clone, Debug, Default)]
pub struct ObservedQueue {
    pub metadata: Metadata,
    pub policies: SignedIdentifiers,
}

pub(super) fn steps(wanted: &StorageAccount, server: &ObservedStorage) -> Vec<Step> {
    let name = wanted.name.as_str();
    let observed = server.accounts.get(name);
    let verdict = match observed {
        Some(_) => Verdict::Nothing,
        None if server.makes_accounts => Verdict::CreateAccount,
        None => Verdict::Refused(Refusal::Account),
    };
    let mut steps = vec![Step { subject: Subject::Account { account: name.to_owned() }, verdict }];
    steps.extend(wanted.tables.iter().map(|table| {
        let subject = Subject::Table { account: name.to_owned(), table: table.name.as_str().to_owned() };
        let there = observed.and_then(|account| account.tables.get(&table.name.folded()));
        Step { subject, verdict: of_table(table, there) }
    }));
    steps.extend(wanted.queues.iter().map(|queue| {
        let subject = Subject::Queue { account: name.to_owned(), queue: queue.name.as_str().to_owned() };
        let there = observed.and_then(|account| account.queues.get(queue.name.as_str()));
        Step { subject, verdict: of_queue(queue, there) }
    }));
    steps
}

fn of_table(wanted: &StorageTable, observed: Option<&ObservedTable>) -> Verdict {
    match observed {
        None => Verdict::CreateTable { policies: wanted.policies.clone() },
        Some(observed) => changed(policies(wanted.policies.as_ref(), &observed.policies)),
    }
}

fn of_queue(wanted: &StorageQueue, observed: Option<&ObservedQueue>) -> Verdict {
    let Some(observed) = observed else {
        let metadata = wanted.metadata.clone().unwrap_or_default();
        return Verdict::CreateQueue { metadata, policies: wanted.policies.clone() };
    };
    let metadata = wanted.metadata.as_ref().filter(|wanted| **wanted != observed.metadata);
    let metadata =
        metadata.map(|to| Change::Metadata { what: pairs(to, &observed.metadata), to: to.clone() });
    changed(metadata.into_iter().chain(policies(wanted.policies.as_ref(), &observed.policies)))
}

fn changed(changes: impl IntoIterator<Item = Change>) -> Verdict {
    let changes: Vec<Change> = changes.into_iter().collect();
    if changes.is_empty() { Verdict::Nothing } else { Verdict::Change(changes) }
}

/// The names and values that differ; the case of names makes no difference.
fn pairs(new: &Metadata, old: &Metadata) -> Vec<String> {
    let set = |metadata: &Metadata| -> BTreeSet<(String, String)> {
        metadata.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect()
    };
    let (new, old) = (set(new), set(old));
    let added = new.difference(&old).map(|(name, value)| format!("+{name}={value}"));
    let gone = old.difference(&new).map(|(name, value)| format!("-{name}={value}"));
    vec![format!("metadata: {}", added.chain(gone).collect::<Vec<_>>().join(" "))]
}

fn policies(wanted: Option<&SignedIdentifiers>, observed: &SignedIdentifiers) -> Option<Change> {
    let wanted = wanted?;
    let by_id = |policies: &SignedIdentifiers| -> BTreeMap<String, _> {
        policies.iter().map(|one| (one.id.clone(), meaning(&one.policy))).collect()
    };
    (by_id(wanted) != by_id(observed)).then(|| Change::AccessPolicies { to: wanted.clone() })
}

/// Moments rather than texts, letters in any order.
fn meaning(policy: &AccessPolicy) -> (Option<u64>, Option<u64>, BTreeSet<char>) {
    let moment =
        |time: &Option<orrery_catalog::storage::PolicyTime>| time.as_ref().map(|time| time.at().millis());
    let letters = policy.permission.iter().flat_map(|letters| letters.chars()).collect();
    (moment(&policy.start), moment(&policy.expiry), letters)
}
