//! Names and metadata of storage resources, as the service accepts them.

use crate::node::{Fault, Location, Member, Node};
use orrery_catalog::storage::{AccountName, QueueName, TableName};
use orrery_queues::Metadata;

pub(crate) fn account(at: Location, raw: &str) -> Result<AccountName, Fault> {
    AccountName::parse(raw).map_err(|_| Fault {
        at,
        reason: format!(
            "'{raw}' is no name of a storage account, which has 3 to 24 lower-case letters and digits"
        ),
    })
}

pub(crate) fn table(at: Location, raw: &str) -> Result<TableName, Fault> {
    TableName::parse(raw).map_err(|_| Fault {
        at,
        reason: format!(
            "'{raw}' is no name of a table, which has 3 to 63 letters and digits, a letter first"
        ),
    })
}

pub(crate) fn queue(at: Location, raw: &str) -> Result<QueueName, Fault> {
    QueueName::parse(raw).map_err(|_| Fault {
        at,
        reason: format!(
            "'{raw}' is no name of a queue, which has 3 to 63 lower-case letters, digits and single hyphens between them"
        ),
    })
}

/// The metadata of a queue, from names and texts.
pub(crate) fn metadata(node: &Node) -> Result<Metadata, Fault> {
    let members = node.expect_map("'metadata'")?;
    let pair = |member: &Member| {
        Ok((member.name.clone(), member.value.expect_text("a value of metadata")?.to_owned()))
    };
    let pairs = members.iter().map(pair).collect::<Result<Vec<_>, Fault>>()?;
    Metadata::new(pairs)
        .map_err(|error| Fault { at: node.at, reason: error.to_string().trim_end_matches('.').to_owned() })
}
