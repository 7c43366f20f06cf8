//! What a storage service refuses, as a sentence about what was named on the command line.

use orrery_client::storage::StorageError;

/// What a verb was about.
#[derive(Clone, Copy, Debug)]
pub enum About<'a> {
    /// The account: lists.
    Account,
    Table(&'a str),
    Entity {
        table: &'a str,
        partition_key: &'a str,
        row_key: &'a str,
    },
    Queue(&'a str),
    Message {
        queue: &'a str,
        id: &'a str,
    },
}

/// `.map_err(about.refused())`
pub fn refused(about: About<'_>) -> impl Fn(StorageError) -> String + '_ {
    move |error| sentence(about, &error)
}

fn sentence(about: About<'_>, error: &StorageError) -> String {
    match (error.code(), about) {
        ("TableNotFound" | "ResourceNotFound", About::Table(table))
        | ("TableNotFound", About::Entity { table, .. }) => {
            format!("there is no table '{table}'; orrery table ls lists what is there, create makes one")
        }
        ("ResourceNotFound", About::Entity { table, partition_key, row_key }) => {
            format!("{table} has no entity with PartitionKey '{partition_key}' and RowKey '{row_key}'")
        }
        ("TableAlreadyExists", About::Table(table)) => format!("there is a table '{table}' already"),
        ("EntityAlreadyExists", About::Entity { table, partition_key, row_key }) => {
            format!(
                "{table} has an entity with PartitionKey '{partition_key}' and RowKey '{row_key}' already"
            )
        }
        ("UpdateConditionNotSatisfied", About::Entity { partition_key, row_key, .. }) => {
            format!("the entity '{partition_key}' '{row_key}' has another version than --if-match says")
        }
        ("QueueNotFound", About::Queue(queue) | About::Message { queue, .. }) => {
            format!("there is no queue '{queue}'; orrery queue ls lists what is there, create makes one")
        }
        ("QueueAlreadyExists", About::Queue(queue)) => {
            format!("there is a queue '{queue}' already, with other metadata")
        }
        ("MessageNotFound", About::Message { queue, id }) => format!("{queue} has no message '{id}'"),
        ("PopReceiptMismatch", About::Message { id, .. }) => format!(
            "the receipt is not the newest one of message '{id}': somebody received or changed it since"
        ),
        ("AuthenticationFailed", _) => {
            // What was signed follows over many lines, for whoever writes a client.
            let said = error.to_string();
            let said = said.split(" Server used following string").next().unwrap_or_default();
            format!("the service does not take the key or signature: {}", said.replace('\n', " "))
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_client::storage::Refusal;

    #[test]
    fn what_was_named_is_in_the_sentence() {
        let check = |about: About<'_>, code: &str, expected: &str| {
            let refusal =
                Refusal { status: 404, code: code.to_owned(), message: "why".to_owned(), index: None };
            assert_eq!(refused(about)(refusal.into()), expected);
        };
        let entity = About::Entity { table: "t", partition_key: "p", row_key: "r" };
        check(entity, "ResourceNotFound", "t has no entity with PartitionKey 'p' and RowKey 'r'");
        check(
            entity,
            "TableNotFound",
            "there is no table 't'; orrery table ls lists what is there, create makes one",
        );
        check(About::Message { queue: "q", id: "i" }, "MessageNotFound", "q has no message 'i'");
        check(About::Account, "InvalidInput", "InvalidInput: why");
    }
}
