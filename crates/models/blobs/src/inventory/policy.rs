//! An inventory policy in Azure's JSON.

use super::column::Column;
use crate::blob::{Blob, BlobKind, BlobState};
use crate::lifecycle::InvalidPolicy;
use crate::limits;
use crate::row::{self, PolicyKind, Row};
use orrery_catalog::storage::{AccountName, BlobContainerName};
use orrery_core::Timestamp;
use orrery_kv::{Error, META, Order, Read, Txn};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What was given, and what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct InventoryPolicy {
    pub text: Value,
    pub is_enabled: bool,
    pub rules: Vec<InventoryRule>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct InventoryRule {
    pub name: String,
    pub is_enabled: bool,
    /// The container that the files are written to.
    pub destination: BlobContainerName,
    pub format: InventoryFormat,
    pub schedule: InventorySchedule,
    pub object: InventoryObject,
    /// The name of the object first, as it is always there.
    pub columns: Vec<Column>,
    pub filters: InventoryFilters,
    /// As it was given.
    pub definition: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum InventoryFormat {
    Csv,
    Parquet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum InventorySchedule {
    Daily,
    Weekly,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum InventoryObject {
    Blob,
    Container,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct InventoryFilters {
    pub blob_types: Vec<String>,
    /// Of `container/name`.
    pub prefix_match: Vec<String>,
    pub exclude_prefix: Vec<String>,
    pub include_snapshots: bool,
    pub include_blob_versions: bool,
    pub include_deleted: bool,
    pub creation_time: Option<CreationTime>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreationTime {
    pub last_n_days: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyText {
    enabled: bool,
    #[serde(rename = "type")]
    kind: String,
    rules: Vec<RuleText>,
    #[serde(default)]
    #[expect(dead_code, reason = "an answer of Azure has it, and may be sent back")]
    destination: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    enabled: bool,
    name: String,
    destination: String,
    definition: DefinitionText,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DefinitionText {
    format: InventoryFormat,
    schedule: InventorySchedule,
    object_type: InventoryObject,
    schema_fields: Vec<String>,
    filters: Option<InventoryFilters>,
}

impl InventoryPolicy {
    /// The member `policy` of the document.
    pub fn parse(text: &Value) -> Result<Self, InvalidPolicy> {
        let read = PolicyText::deserialize(text).map_err(|error| invalid("policy", error.to_string()))?;
        if read.kind != "Inventory" {
            return Err(invalid("type", format!("the type is Inventory, not '{}'", read.kind)));
        }
        if !(1..=limits::INVENTORY_RULES_MAX).contains(&read.rules.len()) {
            return Err(invalid("rules", format!("a policy has 1 to {} rules", limits::INVENTORY_RULES_MAX)));
        }
        let mut rules: Vec<InventoryRule> = Vec::new();
        for (at, rule) in read.rules.into_iter().enumerate() {
            let path = format!("rules/{}", rule.name);
            if rules.iter().any(|earlier| earlier.name == rule.name) {
                return Err(invalid(&path, "another rule has this name".to_owned()));
            }
            rules.push(rule.check(&path, text["rules"][at]["definition"].clone())?);
        }
        Ok(Self { text: text.clone(), is_enabled: read.enabled, rules })
    }
}

impl RuleText {
    fn check(self, path: &str, definition: Value) -> Result<InventoryRule, InvalidPolicy> {
        let wrong = |what: &str| Err(invalid(path, what.to_owned()));
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if self.name.is_empty() || !self.name.bytes().all(is_name) {
            return wrong("a name has letters, digits and hyphens");
        }
        let DefinitionText { format, schedule, object_type, schema_fields, filters } = self.definition;
        let filters = filters.unwrap_or_default();
        let find = match object_type {
            InventoryObject::Blob => Column::of_blobs,
            InventoryObject::Container => Column::of_containers,
        };
        let column =
            |name: &String| find(name).ok_or_else(|| invalid(path, format!("there is no field '{name}'")));
        let columns = schema_fields.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        let has = |name: &str| columns.iter().any(|column| column.name == name);
        if !has("Name") {
            return wrong("schemaFields has Name");
        }
        if object_type == InventoryObject::Blob && filters.blob_types.is_empty() {
            return wrong("filters have blobTypes");
        }
        if filters.include_snapshots && !has("Snapshot") {
            return wrong("includeSnapshots needs the field Snapshot");
        }
        if filters.include_blob_versions && !(has("VersionId") && has("IsCurrentVersion")) {
            return wrong("includeBlobVersions needs the fields VersionId and IsCurrentVersion");
        }
        if filters.include_deleted && !(has("Deleted") && has("RemainingRetentionDays")) {
            return wrong("includeDeleted needs the fields Deleted and RemainingRetentionDays");
        }
        let prefixes_max = limits::LIFECYCLE_FILTER_ENTRIES_MAX;
        if filters.prefix_match.len() > prefixes_max || filters.exclude_prefix.len() > prefixes_max {
            return wrong("there are at most 10 prefixes");
        }
        let destination = BlobContainerName::parse(&self.destination);
        Ok(InventoryRule {
            destination: destination.map_err(|error| invalid(path, format!("the destination: {error}")))?,
            name: self.name,
            is_enabled: self.enabled,
            format,
            schedule,
            object: object_type,
            columns,
            filters,
            definition,
        })
    }
}

impl InventoryFilters {
    /// Whether a state has a row.
    pub fn match_blob(&self, container: &str, blob: &Blob, now: Timestamp) -> bool {
        let kind = match blob.kind {
            BlobKind::Block => "blockBlob",
            BlobKind::Append { .. } => "appendBlob",
            BlobKind::Page { .. } => "pageBlob",
        };
        let is_state = match blob.state {
            BlobState::Current => true,
            BlobState::Snapshot(_) => self.include_snapshots,
            BlobState::Version(_) => self.include_blob_versions,
            BlobState::DeletedBlob => self.include_deleted,
        };
        let is_young = |within: CreationTime| {
            let days = u64::from(within.last_n_days) * 24 * 60 * 60 * 1000;
            blob.created.timestamp().millis() + days >= now.millis()
        };
        self.blob_types.iter().any(|wanted| wanted == kind)
            && is_state
            && (self.include_deleted || blob.deleted.is_none())
            && self.match_path(&format!("{container}/{}", blob.name.as_str()))
            && self.creation_time.is_none_or(is_young)
    }

    pub fn match_path(&self, path: &str) -> bool {
        let begins = |prefix: &String| path.starts_with(prefix.as_str());
        (self.prefix_match.is_empty() || self.prefix_match.iter().any(begins))
            && !self.exclude_prefix.iter().any(begins)
    }
}

fn invalid(path: &str, what: String) -> InvalidPolicy {
    InvalidPolicy { path: path.to_owned(), what }
}

#[derive(Serialize, Deserialize)]
struct Record {
    v: u32,
    policy: Value,
}

const VERSION: u32 = 1;

pub fn load_policy(state: &dyn Read, account: &AccountName) -> Result<Option<InventoryPolicy>, Error> {
    let row = Row::Policy { kind: PolicyKind::Inventory, account: account.as_str() };
    let Some(stored) = state.get(META, &row.key())? else { return Ok(None) };
    let damaged = |why: String| Error::Corrupt(format!("an inventory policy: {why}"));
    let record: Record = serde_json::from_slice(&stored).map_err(|error| damaged(error.to_string()))?;
    if record.v != VERSION {
        return Err(damaged(format!("its version is {}", record.v)));
    }
    InventoryPolicy::parse(&record.policy).map(Some).map_err(|error| damaged(error.to_string()))
}

/// The accounts that have a policy.
pub fn accounts(state: &dyn Read) -> Result<Vec<AccountName>, Error> {
    let rows = state.range(META, &row::policies(PolicyKind::Inventory), Order::Ascending);
    rows.map(|row| {
        let account = row::read_policy(&row?.0)?;
        AccountName::parse(&account).map_err(|error| Error::Corrupt(format!("the key of a policy: {error}")))
    })
    .collect()
}

/// Replaces or removes the policy of an account. In the catalog's scope.
pub fn save_policy(txn: &mut Txn<'_>, account: &AccountName, policy: Option<&InventoryPolicy>) {
    let key = Row::Policy { kind: PolicyKind::Inventory, account: account.as_str() }.key();
    match policy {
        None => txn.delete(META, key),
        Some(policy) => {
            let record = Record { v: VERSION, policy: policy.text.clone() };
            txn.put(META, key, serde_json::to_vec(&record).expect("JSON has a JSON form"));
        }
    }
}
