//! How a table's definition is stored (`docs/formats/tables.md`).

use super::Table;
use orrery_catalog::storage::{AccountName, SignedIdentifiers, TableName};
use orrery_core::Timestamp;
use orrery_kv::Error;
use serde::{Deserialize, Serialize};

const VERSION: u32 = 1;

/// The account is in the row's key.
#[derive(Serialize, Deserialize)]
struct Record {
    v: u32,
    name: String,
    number: u32,
    created: u64,
    #[serde(default, skip_serializing_if = "SignedIdentifiers::is_empty")]
    access_policies: SignedIdentifiers,
}

pub(super) fn write(table: &Table) -> Vec<u8> {
    let record = Record {
        v: VERSION,
        name: table.name.as_str().to_owned(),
        number: table.number,
        created: table.created.millis(),
        access_policies: table.access_policies.clone(),
    };
    serde_json::to_vec(&record).expect("a record of texts and numbers has a JSON form")
}

pub(super) fn read(account: AccountName, bytes: &[u8]) -> Result<Table, Error> {
    let record: Record = serde_json::from_slice(bytes)
        .map_err(|error| Error::Corrupt(format!("the definition of a table: {error}")))?;
    if record.v != VERSION {
        return Err(Error::Corrupt(format!("the definition of a table has version {}", record.v)));
    }
    let name = TableName::parse(&record.name)
        .map_err(|error| Error::Corrupt(format!("the definition of a table: {error}")))?;
    Ok(Table {
        account,
        name,
        number: record.number,
        created: Timestamp::from_millis(record.created),
        access_policies: record.access_policies,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_catalog::storage::{AccessPolicy, PolicyTime, SignedIdentifier};

    #[test]
    fn the_first_version_is_still_read_and_written() {
        let stored = r#"{"v":1,"name":"Runs","number":7,"created":1000001000,"access_policies":[{"id":"p","policy":{"expiry":{"text":"2027-01-15T08:00:00Z","millis":1800000000000},"permission":"raud"}}]}"#;
        let account = AccountName::parse("devstoreaccount1").expect("a name");
        let policy = AccessPolicy {
            start: None,
            expiry: Some(PolicyTime::new("2027-01-15T08:00:00Z", Timestamp::from_seconds(1_800_000_000))),
            permission: Some("raud".to_owned()),
        };
        let policies = SignedIdentifiers::new(vec![SignedIdentifier { id: "p".to_owned(), policy }]);
        let table = Table {
            account: account.clone(),
            name: TableName::parse("Runs").expect("a name"),
            number: 7,
            created: Timestamp::from_millis(1_000_001_000),
            access_policies: policies.expect("a policy"),
        };
        assert_eq!(read(account, stored.as_bytes()), Ok(table.clone()));
        assert_eq!(write(&table), stored.as_bytes());
    }

    #[test]
    fn what_is_damaged_is_no_definition() {
        let account = AccountName::parse("devstoreaccount1").expect("a name");
        for stored in ["", "{}", r#"{"v":2,"name":"Runs","number":7,"created":1}"#] {
            assert!(matches!(read(account.clone(), stored.as_bytes()), Err(Error::Corrupt(_))), "{stored}");
        }
    }
}
