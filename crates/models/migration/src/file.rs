//! Parses a plan file into a plan.

use crate::canonical::content_hash;
use crate::limits;
use crate::plan::check;
use crate::rule::{Condition, Rule, Shape};
use crate::{Container, Path, Plan, PlanError, Side, Split, Step};
use orrery_core::limits::{NAME_CHARS_MAX, PARTITION_KEY_PATHS_MAX};
use orrery_value::Value;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

const LIMITS: orrery_yaml::Limits = orrery_yaml::Limits {
    levels_max: limits::MIGRATION_PLAN_LEVELS_MAX,
    values_max: limits::MIGRATION_PLAN_VALUES_MAX,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanText {
    name: String,
    source: SideText,
    target: SideText,
    rules: Vec<RuleText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SideText {
    database: String,
    containers: Map<String, Json>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    from: String,
    to: String,
    #[serde(default, rename = "where")]
    conditions: Vec<ConditionText>,
    #[serde(default)]
    steps: Vec<StepText>,
    split: Option<SplitText>,
    join: Option<SplitText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConditionText {
    path: String,
    equals: Option<Json>,
    exists: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum StepText {
    Rename { from: String, to: String },
    Set { path: String, value: Json },
    Remove { path: String, value: Json },
    Ensure { path: String, value: Json },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SplitText {
    array: String,
    container: String,
    id: String,
    carry: Map<String, Json>,
    index: String,
    #[serde(default = "keep_id")]
    keep_id: String,
    #[serde(default)]
    steps: Vec<StepText>,
}

fn keep_id() -> String {
    "/child_id".to_owned()
}

pub fn parse(text: &str) -> Result<Plan, PlanError> {
    let read = load(text)?;
    let fingerprint = content_hash(&value_of(&read)?);
    let text: PlanText = serde_json::from_value(read).map_err(|error| PlanError(error.to_string()))?;
    if text.rules.len() > limits::MIGRATION_RULES_MAX {
        return Err(PlanError(format!("a plan has at most {} rules", limits::MIGRATION_RULES_MAX)));
    }
    if text.name.is_empty() || text.name.len() > NAME_CHARS_MAX || text.name.contains(['/', '\\', '?', '#']) {
        return Err(PlanError("the name of a plan is a short text without / \\ ? #".to_owned()));
    }
    let rules = text.rules.into_iter().map(rule).collect::<Result<_, _>>()?;
    let (source, target) = (side(text.source)?, side(text.target)?);
    let plan = Plan { name: text.name, source, target, rules, fingerprint };
    check(&plan)?;
    Ok(plan)
}

fn load(text: &str) -> Result<Json, PlanError> {
    if text.len() > limits::MIGRATION_PLAN_BYTES_MAX {
        return Err(PlanError(format!("a plan has at most {} bytes", limits::MIGRATION_PLAN_BYTES_MAX)));
    }
    let read = orrery_yaml::load(text, LIMITS).map_err(|error| PlanError(error.to_string()))?;
    Ok(read.into_value())
}

fn side(text: SideText) -> Result<Side, PlanError> {
    let containers = text.containers.into_iter().map(|(name, definition)| container(name, definition));
    Ok(Side { database: text.database, containers: containers.collect::<Result<_, _>>()? })
}

/// `partitionKey` may be one path, a list of paths, or the protocol's full form.
fn container(name: String, definition: Json) -> Result<Container, PlanError> {
    let wrong =
        || PlanError(format!("the container '{name}' needs a partitionKey, such as partitionKey: /tenant"));
    let Json::Object(mut definition) = definition else { return Err(wrong()) };
    let key = definition.get("partitionKey").ok_or_else(wrong)?;
    let paths = match key {
        Json::String(path) => vec![path.clone()],
        Json::Array(paths) => texts(paths).ok_or_else(wrong)?,
        whole => whole["paths"].as_array().and_then(|paths| texts(paths)).ok_or_else(wrong)?,
    };
    if paths.is_empty() || paths.len() > PARTITION_KEY_PATHS_MAX {
        return Err(wrong());
    }
    let parsed = paths.iter().map(|path| Path::parse(path)).collect::<Result<_, _>>()?;
    if !key.is_object() {
        let kind = if paths.len() == 1 { "Hash" } else { "MultiHash" };
        definition.insert("partitionKey".to_owned(), json!({"paths": paths, "kind": kind, "version": 2}));
    }
    definition.insert("id".to_owned(), Json::String(name.clone()));
    Ok(Container { name, key: parsed, definition: Json::Object(definition) })
}

fn texts(list: &[Json]) -> Option<Vec<String>> {
    list.iter().map(|one| one.as_str().map(str::to_owned)).collect()
}

fn rule(text: RuleText) -> Result<Rule, PlanError> {
    let shape = match (text.split, text.join) {
        (None, None) => Shape::Whole,
        (Some(split), None) => Shape::Split(self::split(split)?),
        (None, Some(join)) => Shape::Join(self::split(join)?),
        (Some(_), Some(_)) => return Err(PlanError("a rule splits or joins, not both".to_owned())),
    };
    let (gives, rest) = ensured(text.steps)?;
    let takes = text.conditions.into_iter().map(condition).collect::<Result<_, _>>()?;
    Ok(Rule { from: text.from, to: text.to, takes, gives, steps: steps(rest)?, shape })
}

/// Splits off the trailing steps that state a fact about every item that the rule produces.
fn ensured(mut steps: Vec<StepText>) -> Result<(Vec<Condition>, Vec<StepText>), PlanError> {
    let mut gives = Vec::new();
    while let Some(StepText::Ensure { path, value }) =
        steps.pop_if(|step| matches!(step, StepText::Ensure { .. }))
    {
        gives.push(Condition::Equals { path: Path::parse(&path)?, value: value_of(&value)? });
    }
    gives.reverse();
    Ok((gives, steps))
}

fn condition(text: ConditionText) -> Result<Condition, PlanError> {
    let path = Path::parse(&text.path)?;
    match (text.equals, text.exists) {
        (Some(value), None) => Ok(Condition::Equals { path, value: value_of(&value)? }),
        (None, Some(wanted)) => Ok(Condition::Exists { path, wanted }),
        _ => Err(PlanError(format!("the condition on {path} needs equals or exists"))),
    }
}

fn steps(texts: Vec<StepText>) -> Result<Vec<Step>, PlanError> {
    texts.into_iter().map(step).collect()
}

fn step(text: StepText) -> Result<Step, PlanError> {
    Ok(match text {
        StepText::Rename { from, to } => {
            let (from, to) = (Path::parse(&from)?, Path::parse(&to)?);
            if from.overlaps(&to) {
                return Err(PlanError(format!(
                    "{from} and {to} lie in each other; give one of them another place"
                )));
            }
            Step::Rename { from, to }
        }
        StepText::Set { path, value } => Step::Set { path: Path::parse(&path)?, value: value_of(&value)? },
        StepText::Remove { path, value } => {
            Step::Remove { path: Path::parse(&path)?, value: value_of(&value)? }
        }
        StepText::Ensure { path, .. } => {
            return Err(PlanError(format!(
                "ensure {path} comes before other steps or is a step of parts; it says what all items of a container have in the end, so put it last"
            )));
        }
    })
}

fn split(text: SplitText) -> Result<Split, PlanError> {
    let carry = text.carry.into_iter().map(|(to, from)| {
        let from =
            from.as_str().ok_or_else(|| PlanError(format!("carry: {to} needs the path that it repeats")))?;
        Ok((Path::parse(&to)?, Path::parse(from)?))
    });
    Ok(Split {
        array: Path::parse(&text.array)?,
        container: text.container,
        id: text.id,
        carry: carry.collect::<Result<_, PlanError>>()?,
        index: Path::parse(&text.index)?,
        keep_id: Path::parse(&text.keep_id)?,
        steps: steps(text.steps)?,
    })
}

fn value_of(json: &Json) -> Result<Value, PlanError> {
    Value::parse(&json.to_string()).map_err(|error| PlanError(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_file_is_refused_with_a_position() {
        for (text, start) in [("a: 1\na: 2", "line 2, column 1: "), ("[x]: 1", "line 1, column 1: ")] {
            let error = parse(text).expect_err(text);
            assert!(error.0.starts_with(start), "{error}");
        }
        let large = "#".repeat(limits::MIGRATION_PLAN_BYTES_MAX + 1);
        assert!(parse(&large).is_err_and(|error| error.0.contains("at most")));
    }
}
