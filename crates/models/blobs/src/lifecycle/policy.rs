//! A lifecycle policy in Azure's JSON (wire guide §9.4).

use crate::limits;
use crate::row::{self, PolicyKind, Row};
use crate::tier::Tier;
use orrery_catalog::storage::AccountName;
use orrery_kv::{Error, META, Order, Read, Txn};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What was given, and what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct LifecyclePolicy {
    pub text: Value,
    pub rules: Vec<LifecycleRule>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LifecycleRule {
    pub name: String,
    pub is_enabled: bool,
    pub filters: Filters,
    pub base_blob: RuleActions,
    pub snapshot: RuleActions,
    pub version: RuleActions,
}

/// All of them hold; of prefixes, one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filters {
    pub block_blobs: bool,
    pub append_blobs: bool,
    /// Of `container/name`; any without.
    pub prefixes: Vec<String>,
    pub tags: Vec<(String, String)>,
}

/// What is done, and when. Each once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleActions {
    pub tiers: Vec<(Tier, Condition)>,
    pub delete: Option<Condition>,
    /// A blob that was read since it became cool becomes hot.
    pub auto_tier_to_hot: bool,
}

/// Days, all of which are strictly exceeded. At least one is there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Condition {
    pub since_modification: Option<f64>,
    pub since_creation: Option<f64>,
    pub since_access: Option<f64>,
    pub since_tier_change: Option<f64>,
}

/// Where a policy is wrong, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {what}")]
pub struct InvalidPolicy {
    pub path: String,
    pub what: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyText {
    rules: Vec<RuleText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    name: String,
    enabled: Option<bool>,
    #[serde(rename = "type")]
    kind: String,
    definition: DefinitionText,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DefinitionText {
    actions: ActionsText,
    filters: FiltersText,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FiltersText {
    blob_types: Vec<String>,
    #[serde(default)]
    prefix_match: Option<Vec<String>>,
    #[serde(default)]
    blob_index_match: Option<Vec<TagText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TagText {
    name: String,
    op: String,
    value: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ActionsText {
    base_blob: Option<ActionText>,
    snapshot: Option<ActionText>,
    version: Option<ActionText>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct ActionText {
    tier_to_hot: Option<ConditionText>,
    tier_to_cool: Option<ConditionText>,
    tier_to_cold: Option<ConditionText>,
    tier_to_archive: Option<ConditionText>,
    delete: Option<ConditionText>,
    enable_auto_tier_to_hot_from_cool: Option<bool>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct ConditionText {
    days_after_modification_greater_than: Option<f64>,
    days_after_creation_greater_than: Option<f64>,
    days_after_last_access_time_greater_than: Option<f64>,
    days_after_last_tier_change_greater_than: Option<f64>,
}

impl LifecyclePolicy {
    /// The member `policy` of the document: `{"rules": […]}`.
    pub fn parse(text: &Value) -> Result<Self, InvalidPolicy> {
        let read = PolicyText::deserialize(text);
        let read = read.map_err(|error| invalid("policy", error.to_string()))?;
        if !(1..=limits::LIFECYCLE_RULES_MAX).contains(&read.rules.len()) {
            return Err(invalid("rules", format!("a policy has 1 to {} rules", limits::LIFECYCLE_RULES_MAX)));
        }
        let mut rules: Vec<LifecycleRule> = Vec::new();
        for rule in read.rules {
            let path = format!("rules/{}", rule.name);
            if rules.iter().any(|earlier| earlier.name == rule.name) {
                return Err(invalid(&path, "another rule has this name".to_owned()));
            }
            rules.push(rule.check(&path)?);
        }
        Ok(Self { text: text.clone(), rules })
    }
}

impl RuleText {
    fn check(self, path: &str) -> Result<LifecycleRule, InvalidPolicy> {
        let is_name = !self.name.is_empty()
            && self.name.len() <= limits::LIFECYCLE_RULE_NAME_CHARS_MAX
            && self.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        if !is_name {
            return Err(invalid(
                path,
                "a name has 1 to 256 letters, digits, hyphens and underscores".to_owned(),
            ));
        }
        if self.kind != "Lifecycle" {
            return Err(invalid(path, format!("the type is Lifecycle, not '{}'", self.kind)));
        }
        let ActionsText { base_blob, snapshot, version } = self.definition.actions;
        if base_blob.is_none() && snapshot.is_none() && version.is_none() {
            return Err(invalid(path, "a rule has an action".to_owned()));
        }
        let of = |action: Option<ActionText>, part: &str| {
            action.map_or(Ok(RuleActions::default()), |action| {
                action.check(&format!("{path}/{part}"), part == "baseBlob")
            })
        };
        Ok(LifecycleRule {
            is_enabled: self.enabled.unwrap_or(true),
            filters: self.definition.filters.check(path)?,
            base_blob: of(base_blob, "baseBlob")?,
            snapshot: of(snapshot, "snapshot")?,
            version: of(version, "version")?,
            name: self.name,
        })
    }
}

impl FiltersText {
    fn check(self, path: &str) -> Result<Filters, InvalidPolicy> {
        let mut filters = Filters { prefixes: self.prefix_match.unwrap_or_default(), ..Filters::default() };
        for kind in &self.blob_types {
            match kind.as_str() {
                "blockBlob" => filters.block_blobs = true,
                "appendBlob" => filters.append_blobs = true,
                other => {
                    return Err(invalid(path, format!("the blob type '{other}' is blockBlob or appendBlob")));
                }
            }
        }
        if self.blob_types.is_empty() {
            return Err(invalid(path, "blobTypes has at least one type".to_owned()));
        }
        if filters.prefixes.len() > limits::LIFECYCLE_FILTER_ENTRIES_MAX {
            return Err(invalid(path, "prefixMatch has at most 10 prefixes".to_owned()));
        }
        let tags = self.blob_index_match.unwrap_or_default();
        if tags.len() > limits::LIFECYCLE_FILTER_ENTRIES_MAX {
            return Err(invalid(path, "blobIndexMatch has at most 10 tags".to_owned()));
        }
        for TagText { name, op, value } in tags {
            if op != "==" {
                return Err(invalid(path, format!("the operator of a tag is ==, not '{op}'")));
            }
            filters.tags.push((name, value));
        }
        Ok(filters)
    }
}

impl ActionText {
    fn check(self, path: &str, is_base: bool) -> Result<RuleActions, InvalidPolicy> {
        let mut actions = RuleActions::default();
        let tiers = [
            (Tier::Hot, self.tier_to_hot),
            (Tier::Cool, self.tier_to_cool),
            (Tier::Cold, self.tier_to_cold),
            (Tier::Archive, self.tier_to_archive),
        ];
        for (tier, condition) in tiers {
            if let Some(condition) = condition {
                let condition = condition.check(path, is_base)?;
                if condition.since_tier_change.is_some() && tier != Tier::Archive {
                    let what = "daysAfterLastTierChangeGreaterThan is of tierToArchive alone";
                    return Err(invalid(path, what.to_owned()));
                }
                actions.tiers.push((tier, condition));
            }
        }
        actions.delete = self.delete.map(|condition| condition.check(path, is_base)).transpose()?;
        actions.auto_tier_to_hot = self.enable_auto_tier_to_hot_from_cool.unwrap_or(false);
        if actions.tiers.is_empty() && actions.delete.is_none() {
            return Err(invalid(path, "there is no action".to_owned()));
        }
        let cool = actions.tiers.iter().find(|(tier, _)| *tier == Tier::Cool);
        if actions.auto_tier_to_hot && cool.is_none_or(|(_, condition)| condition.since_access.is_none()) {
            let what = "enableAutoTierToHotFromCool needs tierToCool by the last access";
            return Err(invalid(path, what.to_owned()));
        }
        Ok(actions)
    }
}

impl ConditionText {
    fn check(self, path: &str, is_base: bool) -> Result<Condition, InvalidPolicy> {
        let condition = Condition {
            since_modification: self.days_after_modification_greater_than,
            since_creation: self.days_after_creation_greater_than,
            since_access: self.days_after_last_access_time_greater_than,
            since_tier_change: self.days_after_last_tier_change_greater_than,
        };
        let ages = [condition.since_modification, condition.since_creation, condition.since_access];
        if ages.iter().flatten().count() != 1 {
            return Err(invalid(
                path,
                "a condition has one of modification, creation and last access".to_owned(),
            ));
        }
        if !is_base && condition.since_creation.is_none() {
            return Err(invalid(
                path,
                "snapshots and versions have daysAfterCreationGreaterThan alone".to_owned(),
            ));
        }
        let all = ages.into_iter().chain([condition.since_tier_change]).flatten();
        if all.into_iter().any(|days| !(0.0..=limits::LIFECYCLE_DAYS_MAX).contains(&days)) {
            return Err(invalid(path, "days are 0 to 99999".to_owned()));
        }
        Ok(condition)
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

pub fn load_policy(state: &dyn Read, account: &AccountName) -> Result<Option<LifecyclePolicy>, Error> {
    let row = Row::Policy { kind: PolicyKind::Lifecycle, account: account.as_str() };
    let Some(stored) = state.get(META, &row.key())? else { return Ok(None) };
    let damaged = |why: String| Error::Corrupt(format!("a lifecycle policy: {why}"));
    let record: Record = serde_json::from_slice(&stored).map_err(|error| damaged(error.to_string()))?;
    if record.v != VERSION {
        return Err(damaged(format!("its version is {}", record.v)));
    }
    LifecyclePolicy::parse(&record.policy).map(Some).map_err(|error| damaged(error.to_string()))
}

/// The accounts that have a policy.
pub fn accounts(state: &dyn Read) -> Result<Vec<AccountName>, Error> {
    let rows = state.range(META, &row::policies(PolicyKind::Lifecycle), Order::Ascending);
    rows.map(|row| {
        let account = row::read_policy(&row?.0)?;
        AccountName::parse(&account).map_err(|error| Error::Corrupt(format!("the key of a policy: {error}")))
    })
    .collect()
}

/// Replaces or removes the policy of an account. In the catalog's scope.
pub fn save_policy(txn: &mut Txn<'_>, account: &AccountName, policy: Option<&LifecyclePolicy>) {
    let key = Row::Policy { kind: PolicyKind::Lifecycle, account: account.as_str() }.key();
    match policy {
        None => txn.delete(META, key),
        Some(policy) => {
            let record = Record { v: VERSION, policy: policy.text.clone() };
            txn.put(META, key, serde_json::to_vec(&record).expect("JSON has a JSON form"));
        }
    }
}
