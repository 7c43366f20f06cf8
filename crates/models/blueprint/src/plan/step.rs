//! The steps of a plan, for execution and for display.

use crate::blueprint::Environment;
use orrery_catalog::storage::SignedIdentifiers;
use orrery_documents::definition::Throughput;
use orrery_queues::Metadata;
use serde_json::{Map, Value, json};
use std::fmt;

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub blueprint: String,
    pub environment: Environment,
    pub steps: Vec<Step>,
    /// Sentences without a full stop.
    pub notes: Vec<String>,
}

impl Plan {
    /// Whether the server matches the blueprint.
    pub fn is_done(&self) -> bool {
        self.steps.iter().all(|step| step.verdict == Verdict::Nothing)
    }

    pub fn is_refused(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.verdict, Verdict::Refused(_)))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub subject: Subject,
    pub verdict: Verdict,
}

/// The resource that a step is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Database { database: String },
    Container { database: String, container: String },
    Account { account: String },
    Table { account: String, table: String },
    Queue { account: String, queue: String },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    CreateDatabase {
        throughput: Option<Throughput>,
    },
    /// The schema is set once the container exists.
    CreateContainer {
        body: Map<String, Value>,
        throughput: Option<Throughput>,
        schema: Option<Value>,
    },
    CreateAccount,
    CreateTable {
        policies: Option<SignedIdentifiers>,
    },
    CreateQueue {
        metadata: Metadata,
        policies: Option<SignedIdentifiers>,
    },
    Change(Vec<Change>),
    Nothing,
    Refused(Refusal),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The body is the complete definition, which replaces the version with this etag.
    Definition {
        body: Map<String, Value>,
        etag: String,
        what: Vec<String>,
    },
    Throughput {
        offer: String,
        from: Throughput,
        to: Throughput,
    },
    Schema {
        body: Value,
    },
    /// All metadata of a queue.
    Metadata {
        to: Metadata,
        what: Vec<String>,
    },
    /// All stored access policies of a table or a queue.
    AccessPolicies {
        to: SignedIdentifiers,
    },
}

/// The differences that cannot be changed in place, and the remedy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error(
        "its partition key is {observed}, the blueprint says {wanted}, and a container keeps its key for ever; orrery migrate copies it into \
         a container with the other key, or give the one of the blueprint another id"
    )]
    PartitionKey { observed: String, wanted: String },
    #[error(
        "its unique keys are {observed}, the blueprint says {wanted}, and a container keeps them for ever; orrery migrate copies it into \
         a container with the others, or give the one of the blueprint another id"
    )]
    UniqueKeys { observed: String, wanted: String },
    #[error(
        "what the blueprint says cannot be put in the place of what is there: {0}; orrery migrate copies the items into another container"
    )]
    Definition(String),
    #[error(
        "it was made without throughput for its containers to share, and cannot be given {} later; give the containers \
         their own in the blueprint, or copy them into a database of another name with orrery migrate",
        Units(*.wanted)
    )]
    SharedThroughput { wanted: Throughput },
    #[error(
        "{}, and cannot be given {} of its own later; orrery migrate copies it into a container that has it",
        if *.shares { "it shares the throughput of its database" } else { "it has no throughput" },
        Units(*.wanted)
    )]
    OwnThroughput { wanted: Throughput, shares: bool },
    #[error(
        "the server has no storage account of this name, and none can be added from here; orrery account add makes one, or give the \
         one of the blueprint the name of an account that is there"
    )]
    Account,
}

/// `manual 400 RU/s`
struct Units(Throughput);

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Throughput::Manual(units) => write!(f, "{units} RU/s"),
            Throughput::Autoscale { max, .. } => write!(f, "autoscale up to {max} RU/s"),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database { database } => write!(f, "database {database}"),
            Self::Container { database, container } => write!(f, "container {database}/{container}"),
            Self::Account { account } => write!(f, "account {account}"),
            Self::Table { account, table } => write!(f, "table {account}/{table}"),
            Self::Queue { account, queue } => write!(f, "queue {account}/{queue}"),
        }
    }
}

impl Subject {
    fn to_json(&self) -> Value {
        match self {
            Self::Database { database } => json!({"database": database, "container": null}),
            Self::Container { database, container } => json!({"database": database, "container": container}),
            Self::Account { account } => json!({"account": account}),
            Self::Table { account, table } => json!({"account": account, "table": table}),
            Self::Queue { account, queue } => json!({"account": account, "queue": queue}),
        }
    }
}

impl Verdict {
    /// One of `create`, `change`, `nothing`, `refused`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::CreateDatabase { .. }
            | Self::CreateContainer { .. }
            | Self::CreateAccount
            | Self::CreateTable { .. }
            | Self::CreateQueue { .. } => "create",
            Self::Change(_) => "change",
            Self::Nothing => "nothing",
            Self::Refused(_) => "refused",
        }
    }

    /// Details beyond the word.
    pub fn details(&self) -> Vec<String> {
        match self {
            Self::Nothing | Self::CreateAccount => Vec::new(),
            Self::CreateTable { policies } | Self::CreateQueue { policies, .. } => {
                policies.iter().filter(|policies| !policies.is_empty()).map(told_policies).collect()
            }
            Self::CreateDatabase { throughput } => provisioned(*throughput).into_iter().collect(),
            Self::CreateContainer { throughput, schema, .. } => {
                provisioned(*throughput).into_iter().chain(schema.as_ref().map(told)).collect()
            }
            Self::Change(changes) => changes.iter().flat_map(Change::details).collect(),
            Self::Refused(refusal) => vec![refusal.to_string()],
        }
    }
}

fn provisioned(throughput: Option<Throughput>) -> Option<String> {
    throughput.map(|throughput| format!("with {}", Units(throughput)))
}

fn told(schema: &Value) -> String {
    format!("schema: {}", schema["validation"].as_str().unwrap_or("off"))
}

fn told_policies(policies: &SignedIdentifiers) -> String {
    let ids: Vec<&str> = policies.iter().map(|policy| policy.id.as_str()).collect();
    match ids.as_slice() {
        [] => "access: none".to_owned(),
        ids => format!("access: {}", ids.join(", ")),
    }
}

impl Change {
    fn details(&self) -> Vec<String> {
        match self {
            Self::Definition { what, .. } => what.clone(),
            Self::Throughput { from, to, .. } => {
                vec![format!("throughput: {} -> {}", Units(*from), Units(*to))]
            }
            Self::Schema { body } => vec![told(body)],
            Self::Metadata { what, .. } => what.clone(),
            Self::AccessPolicies { to } => vec![told_policies(to)],
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<8} {}", self.verdict.word(), self.subject)?;
        match self.verdict.details() {
            details if details.is_empty() => Ok(()),
            details => write!(f, ": {}", details.join("; ")),
        }
    }
}

impl Plan {
    pub fn to_json(&self) -> Value {
        let step = |step: &Step| {
            let mut shown = step.subject.to_json();
            shown["step"] = json!(step.verdict.word());
            shown["details"] = json!(step.verdict.details());
            shown
        };
        json!({
            "blueprint": self.blueprint,
            "environment": self.environment.name(),
            "steps": self.steps.iter().map(step).collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }
}
