//! The storage part of a server that a blueprint is applied to: what it has, and requests that change it.

use super::accounts::{OpenAccount, StorageAccounts};
use super::carry_out::{Fixtures, Sent};
use orrery_blueprint::{
    Change, ExampleEntity, ObservedQueue, ObservedStorage, ObservedStorageAccount, ObservedTable,
    StorageAccount, StorageQueue, StorageTable, Subject, Verdict,
};
use orrery_catalog::storage::{AccessPolicy, PolicyTime, SignedIdentifier, SignedIdentifiers};
use orrery_client::storage::queues::{ListQueues, NewMessage};
use orrery_client::storage::tables::{Entity, EntityWrite, TableListQuery};
use orrery_client::storage::{StorageError, StoredPolicy};
use orrery_protocol::storage::parse_time;
use orrery_queues::Metadata;

/// A server's storage accounts, while a blueprint is applied.
pub struct StorageSide(Box<dyn StorageAccounts>);

impl StorageSide {
    pub fn new(accounts: Box<dyn StorageAccounts>) -> Self {
        Self(accounts)
    }

    /// What the server has of these accounts.
    pub async fn observe(&mut self, wanted: &[StorageAccount]) -> Result<ObservedStorage, String> {
        let mut observed = ObservedStorage { makes_accounts: self.0.adds(), ..ObservedStorage::default() };
        for account in wanted {
            if let Some(open) = self.0.open(account.name.as_str()).await? {
                let there = look(&open, account).await.map_err(|error| refused(account, &error))?;
                observed.accounts.insert(account.name.as_str().to_owned(), there);
            }
        }
        Ok(observed)
    }

    /// Takes a step about an account, a table or a queue.
    pub async fn take(&mut self, subject: &Subject, verdict: &Verdict) -> Result<Sent, String> {
        let (account, resource) = match subject {
            Subject::Account { account } => {
                if let Verdict::CreateAccount = verdict {
                    self.0.add(account).await?;
                }
                return Ok(Sent::Done);
            }
            Subject::Table { account, table } => (account, Resource::Table(table)),
            Subject::Queue { account, queue } => (account, Resource::Queue(queue)),
            Subject::Database { .. } | Subject::Container { .. } => return Ok(Sent::Done),
        };
        let open = self.open(account).await?;
        let outcome = resource.take(&open, verdict).await;
        match outcome {
            // Somebody was faster, in either direction.
            Err(error) if matches!(error.code(), "TableAlreadyExists" | "QueueAlreadyExists") => {
                Ok(Sent::Overtaken)
            }
            Err(error) if matches!(error.code(), "TableNotFound" | "ResourceNotFound" | "QueueNotFound") => {
                Ok(Sent::Overtaken)
            }
            Err(error) => Err(format!("{subject}: {error}")),
            Ok(()) => Ok(Sent::Done),
        }
    }

    /// Inserts the example entities that are not there, and messages into queues that have none.
    pub async fn insert_fixtures(
        &mut self,
        wanted: &[StorageAccount],
        fixtures: &mut Fixtures,
    ) -> Result<(), String> {
        for account in wanted.iter().filter(|account| account.has_fixtures()) {
            let open = self.open(account.name.as_str()).await?;
            for table in &account.tables {
                insert_entities(&open, table, fixtures).await?;
            }
            for queue in &account.queues {
                put_messages(&open, queue, fixtures).await?;
            }
        }
        Ok(())
    }

    async fn open(&mut self, account: &str) -> Result<OpenAccount, String> {
        let open = self.0.open(account).await?;
        open.ok_or_else(|| format!("the storage account '{account}' is not there any more"))
    }
}

fn refused(account: &StorageAccount, error: &StorageError) -> String {
    format!("the storage account '{}' does not answer: {error}", account.name.as_str())
}

async fn look(open: &OpenAccount, wanted: &StorageAccount) -> Result<ObservedStorageAccount, StorageError> {
    let mut observed = ObservedStorageAccount::default();
    if !wanted.tables.is_empty() {
        for name in all_tables(open).await? {
            let folded = name.to_ascii_lowercase();
            let known = wanted.tables.iter().find(|table| table.name.folded() == folded);
            let policies = match known.is_some_and(|table| table.policies.is_some()) {
                true => understood(open.tables.access_policies(&name).await?)?,
                false => SignedIdentifiers::default(),
            };
            observed.tables.insert(folded, ObservedTable { policies });
        }
    }
    if !wanted.queues.is_empty() {
        for (name, metadata) in all_queues(open).await? {
            let known = wanted.queues.iter().find(|queue| queue.name.as_str() == name);
            let policies = match known.is_some_and(|queue| queue.policies.is_some()) {
                true => understood(open.queues.access_policies(&name).await?)?,
                false => SignedIdentifiers::default(),
            };
            let metadata = Metadata::new(metadata).map_err(|error| not_understood(&error))?;
            observed.queues.insert(name, ObservedQueue { metadata, policies });
        }
    }
    Ok(observed)
}

async fn all_tables(open: &OpenAccount) -> Result<Vec<String>, StorageError> {
    let (mut names, mut query) = (Vec::new(), TableListQuery::default());
    loop {
        let page = open.tables.list(&query).await?;
        names.extend(page.tables);
        match page.next {
            Some(next) => query.from = Some(next),
            None => return Ok(names),
        }
    }
}

type NamedMetadata = (String, Vec<(String, String)>);

async fn all_queues(open: &OpenAccount) -> Result<Vec<NamedMetadata>, StorageError> {
    let (mut found, mut list) = (Vec::new(), ListQueues { with_metadata: true, ..ListQueues::default() });
    loop {
        let page = open.queues.list(&list).await?;
        found.extend(page.queues.into_iter().map(|queue| (queue.name, queue.metadata)));
        match page.next {
            Some(next) => list.marker = Some(next),
            None => return Ok(found),
        }
    }
}

fn not_understood(error: &dyn std::fmt::Display) -> StorageError {
    StorageError::NotUnderstood(error.to_string())
}

/// The policies of an answer.
fn understood(told: Vec<StoredPolicy>) -> Result<SignedIdentifiers, StorageError> {
    let time = |text: Option<String>| match text {
        None => Ok(None),
        Some(text) => match parse_time(&text) {
            Some(at) => Ok(Some(PolicyTime::new(text, at))),
            None => Err(StorageError::NotUnderstood(format!("'{text}' is no time"))),
        },
    };
    let one = |told: StoredPolicy| {
        let (start, expiry) = (time(told.start)?, time(told.expiry)?);
        Ok(SignedIdentifier {
            id: told.id,
            policy: AccessPolicy { start, expiry, permission: told.permissions },
        })
    };
    let policies = told.into_iter().map(one).collect::<Result<Vec<_>, StorageError>>()?;
    SignedIdentifiers::new(policies).map_err(|error| not_understood(&error))
}

/// The policies of a blueprint, as they are sent.
fn sent(policies: &SignedIdentifiers) -> Vec<StoredPolicy> {
    let one = |one: &SignedIdentifier| {
        let text = |time: &Option<PolicyTime>| time.as_ref().map(|time| time.text.clone());
        let (start, expiry) = (text(&one.policy.start), text(&one.policy.expiry));
        StoredPolicy { id: one.id.clone(), start, expiry, permissions: one.policy.permission.clone() }
    };
    policies.iter().map(one).collect()
}

fn pairs(metadata: &Metadata) -> Vec<(String, String)> {
    metadata.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[derive(Clone, Copy)]
enum Resource<'a> {
    Table(&'a str),
    Queue(&'a str),
}

impl Resource<'_> {
    async fn take(self, open: &OpenAccount, verdict: &Verdict) -> Result<(), StorageError> {
        match (self, verdict) {
            (Self::Table(table), Verdict::CreateTable { policies }) => {
                open.tables.create(table).await?;
                self.set_policies(open, policies.as_ref()).await
            }
            (Self::Queue(queue), Verdict::CreateQueue { metadata, policies }) => {
                open.queues.create(queue, &pairs(metadata)).await?;
                self.set_policies(open, policies.as_ref()).await
            }
            (_, Verdict::Change(changes)) => {
                for change in changes {
                    self.make(open, change).await?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    async fn make(self, open: &OpenAccount, change: &Change) -> Result<(), StorageError> {
        match (self, change) {
            (Self::Queue(queue), Change::Metadata { to, .. }) => {
                open.queues.set_metadata(queue, &pairs(to)).await
            }
            (Self::Table(table), Change::AccessPolicies { to }) => {
                open.tables.set_access_policies(table, &sent(to)).await
            }
            (Self::Queue(queue), Change::AccessPolicies { to }) => {
                open.queues.set_access_policies(queue, &sent(to)).await
            }
            _ => Ok(()),
        }
    }

    /// Of what is new, and has none.
    async fn set_policies(
        self,
        open: &OpenAccount,
        to: Option<&SignedIdentifiers>,
    ) -> Result<(), StorageError> {
        match to.filter(|to| !to.is_empty()) {
            None => Ok(()),
            Some(to) => self.make(open, &Change::AccessPolicies { to: to.clone() }).await,
        }
    }
}

async fn insert_entities(
    open: &OpenAccount,
    table: &StorageTable,
    fixtures: &mut Fixtures,
) -> Result<(), String> {
    let name = table.name.as_str();
    for ExampleEntity { partition_key, row_key, properties } in &table.entities {
        let entity = Entity {
            partition_key: partition_key.clone(),
            row_key: row_key.clone(),
            properties: properties.clone(),
        };
        match open.tables.write(name, &EntityWrite::Insert(entity)).await {
            Ok(_) => fixtures.inserted += 1,
            Err(error) if error.code() == "EntityAlreadyExists" => fixtures.there += 1,
            Err(error) => {
                return Err(format!(
                    "the entity '{partition_key}', '{row_key}' of '{name}' is not taken: {error}"
                ));
            }
        }
    }
    Ok(())
}

/// A message has no key by which it could be found again, so a queue that has any is left alone.
async fn put_messages(
    open: &OpenAccount,
    queue: &StorageQueue,
    fixtures: &mut Fixtures,
) -> Result<(), String> {
    if queue.messages.is_empty() {
        return Ok(());
    }
    let name = queue.name.as_str();
    let refused = |error: StorageError| format!("the messages of '{name}' are not taken: {error}");
    if open.queues.count(name).await.map_err(refused)? > 0 {
        fixtures.there += queue.messages.len();
        return Ok(());
    }
    for text in &queue.messages {
        let message = NewMessage { text: text.clone(), ..NewMessage::default() };
        open.queues.put(name, &message).await.map_err(refused)?;
        fixtures.inserted += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_understood_again() {
        let policy = |text: &str| StoredPolicy {
            id: text.to_owned(),
            start: Some("2026-11-15".to_owned()),
            expiry: None,
            permissions: Some("ra".to_owned()),
        };
        let told = vec![policy("a"), StoredPolicy { id: "b".to_owned(), ..StoredPolicy::default() }];
        let understood = understood(told.clone()).expect("two policies");
        assert_eq!(sent(&understood), told);
        let other = StoredPolicy { start: Some("soon".to_owned()), ..policy("a") };
        assert!(super::understood(vec![other]).is_err());
    }
}
