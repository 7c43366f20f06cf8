//! The built-in blueprints.

use crate::source::Source;

/// Names and texts.
const BUILT_IN: [(&str, &str); 5] = [
    ("project-ascension", include_str!("../../../../blueprints/project-ascension.yaml")),
    ("agent-studio", include_str!("../../../../blueprints/agent-studio.yaml")),
    ("asora-notifications", include_str!("../../../../blueprints/asora-notifications.yaml")),
    ("copilot", include_str!("../../../../blueprints/copilot.yaml")),
    ("agents-storage", include_str!("../../../../blueprints/agents-storage.yaml")),
];

pub fn built_in_names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// The text, as a file with its name.
pub fn built_in(name: &str) -> Option<Source> {
    let (name, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
    Some(Source { name: format!("{name}.yaml"), text: (*text).to_owned() })
}

// The template of `orrery init`: a small working blueprint with a comment on every member.

/// The text of a starter blueprint with this name.
pub fn starter(name: &str) -> String {
    TEXT.replace("NAME", name)
}

const TEXT: &str = r#"# A blueprint of Orrery: a database, its containers and the questions that are asked of it; tables and queues beside it.
#
#   orrery apply NAME.yaml                        make the server so; again, and nothing happens
#   orrery apply NAME.yaml --check                say what differs, change nothing
#   orrery apply NAME.yaml --fixtures             with the example items
#   orrery query --blueprint NAME.yaml open-orders --param customer=ada
blueprint: NAME
about: One sentence on what this is for.
database: NAME

# What the containers share: serverless, {manual: 400} or {autoscale: 4000}. An environment that is not here
# asks for nothing. orrery apply --env production
environments:
  development: serverless
  staging: {manual: 400}
  production: {autoscale: 4000}

containers:
  - id: orders
    about: One item an order.
    partitionKey: /customer               # a list of up to three paths is a hierarchical key
    defaultTtl: -1                        # items expire if they say when; seconds; leave it out to switch it off
    uniqueKeys: [[/number]]               # each is a list of paths; they cannot be changed later
    indexingPolicy:                       # as the service has it; leave it out to index everything
      indexingMode: consistent
      automatic: true
      includedPaths: [{path: /*}]
      excludedPaths: [{path: /notes/*}, {path: /"_etag"/?}]
      compositeIndexes:
        - [{path: /customer, order: ascending}, {path: /at, order: descending}]
    # environments: {production: {autoscale: 1000}}    its own throughput, beside the database's
    # validation: warn                                 off, warn or enforce, by a JSON Schema:
    # schema: {type: object, required: [id, customer], properties: {customer: {type: string}}}
    fixtures:
      - {id: o1, customer: ada, number: 1, at: "2026-01-01", state: open}
      - {id: o2, customer: ada, number: 2, at: "2026-01-02", state: paid}

# storage:                                tables and queues of storage accounts:
#   - account: devstoreaccount1
#     tables: [{table: Audit, columns: {At: DateTime}, entities: [{PartitionKey: ada, RowKey: "1", At: "2026-01-01"}]}]
#     queues: [{queue: orders-to-send}]

queries:
  open-orders:
    about: What a customer has not paid for, the newest first.
    container: orders
    sql: SELECT * FROM c WHERE c.customer = @customer AND c.state = 'open' ORDER BY c.at DESC
    parameters: {customer: {type: string, example: ada}}
    partitionKey: customer                # the parameter that is the partition key, if it asks one partition
    rows: 1                               # over the example items, with the example parameters
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Variables, read};

    #[test]
    fn each_is_a_blueprint_of_its_name_that_needs_no_notes() {
        for name in built_in_names() {
            let found = read(&[built_in(name).expect("its text")], &Variables::default());
            let found = found.unwrap_or_else(|trouble| panic!("{trouble}"));
            assert_eq!((found.len(), found[0].name.as_str()), (1, name));
            assert_eq!(found[0].notes, [""; 0], "{name}");
            for query in &found[0].queries {
                assert!(
                    query.example().is_some(),
                    "{name}: {} has a parameter without an example",
                    query.name
                );
            }
        }
        assert!(built_in("nobody").is_none());
    }
}

#[cfg(test)]
mod starter_tests {
    use super::*;
    use crate::{Source, Variables, read};

    #[test]
    fn the_starter_is_a_blueprint() {
        let source = Source { name: "shop.yaml".to_owned(), text: starter("shop") };
        let found = read(&[source], &Variables::default()).expect("it is one");
        assert_eq!((found[0].name.as_str(), found[0].database_name()), ("shop", "shop"));
        assert!(found[0].notes.is_empty(), "{:?}", found[0].notes);
        assert_eq!((found[0].containers[0].fixtures.len(), found[0].queries.len()), (2, 1));
    }
}
