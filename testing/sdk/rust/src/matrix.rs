//! The query matrix as the facts see it: the queries, the containers they are asked of, and when two answers agree.
//!
//! `queries/` has the items and, for each query, the rows it must give. The items lie in one container of one
//! range and in one of four; both are filled once, and http and https ask the same two.

use crate::cosmos::{Cosmos, Place, properties};
use azure_data_cosmos::clients::ContainerClient;
use azure_data_cosmos::models::{ContainerProperties, PartitionKeyValue, ThroughputProperties};
use azure_data_cosmos::{FeedScope, PartitionKey, Query};
use serde_json::{Value, json};
use std::error::Error;
use std::sync::OnceLock;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../queries");
const SYSTEM: [&str; 5] = ["_rid", "_self", "_etag", "_ts", "_attachments"];
const CLOSE: f64 = 1e-6;

pub const GROUPS: [&str; 9] =
    ["select", "where", "order", "join", "aggregates", "functions", "parameters", "search", "paging"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranges {
    One,
    Four,
}

/// One query with the rows it must give.
pub struct Entry(Value);

/// What the SDK makes of a query before any server sees it.
pub enum Fate {
    Runs,
    /// It cannot be asked at all.
    Skipped,
    /// It is refused with this code of the SDK's own.
    Refused(u16),
}

/// The queries of a group.
pub fn entries(group: &str) -> Result<Vec<Entry>> {
    let Value::Array(entries) = read(&format!("{group}.json"))? else { return Err("not a list".into()) };
    Ok(entries.into_iter().map(Entry).collect())
}

impl Entry {
    pub fn text(&self) -> &str {
        self.0["query"].as_str().unwrap_or_default()
    }

    pub fn name(&self) -> &str {
        self.0["name"].as_str().unwrap_or_default()
    }

    pub fn is_cross(&self) -> bool {
        self.0["scope"] == "cross"
    }

    /// Whether the ranges may be asked one by one.
    pub fn splits(&self) -> bool {
        self.0["splits"] == true
    }

    pub fn fate(&self) -> Fate {
        match self.0["skip"]["rust"].as_str() {
            None => Fate::Runs,
            Some(reason) => {
                let code = reason.split(':').next().and_then(|code| code.parse().ok());
                code.map_or(Fate::Skipped, Fate::Refused)
            }
        }
    }

    pub fn query(&self) -> Result<Query> {
        let mut query = Query::from(self.text());
        for parameter in self.0["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().ok_or("a parameter without a name")?;
            query = query.with_parameter(name, &parameter["value"])?;
        }
        Ok(query)
    }

    pub fn scope(&self) -> Result<FeedScope> {
        if self.is_cross() {
            return Ok(FeedScope::full_container());
        }
        Ok(FeedScope::partition(key(self.0["scope"].get("pk"))?))
    }

    /// Fails unless the rows are those expected: in order where the query has one, each as often as expected
    /// otherwise.
    pub fn check(&self, found: &[Value]) -> Result<()> {
        let expected = self.0["expect"].as_array().map_or(&[][..], Vec::as_slice);
        let agree = if self.0["close"] == true {
            found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| close(a, b))
        } else {
            self.texts(found) == self.texts(expected)
        };
        if agree {
            return Ok(());
        }
        Err(format!("gave {}, expected {}", json!(found), json!(expected)).into())
    }

    fn texts(&self, rows: &[Value]) -> Vec<String> {
        let mut texts: Vec<String> = rows.iter().map(text).collect();
        if self.0["ordered"] != true {
            texts.sort_unstable();
        }
        texts
    }
}

/// The container of this many ranges with all items, as the client of this fact sees it.
pub async fn filled(cosmos: &Cosmos, ranges: Ranges) -> Result<ContainerClient> {
    static PLACES: OnceLock<[Place; 2]> = OnceLock::new();
    if PLACES.get().is_none() {
        let made = [fill(cosmos, 400).await?, fill(cosmos, 24_000).await?];
        PLACES.set(made).map_err(|_| "filled twice at once")?;
    }
    let [one, four] = PLACES.get().ok_or("not filled")?;
    let place = if ranges == Ranges::One { one } else { four };
    Ok(place.seen_by(&cosmos.client).await?)
}

async fn fill(cosmos: &Cosmos, throughput: u64) -> Result<Place> {
    let throughput = ThroughputProperties::manual(throughput);
    let place = cosmos.place(described()?, Some(throughput)).await?;
    let container = place.seen_by(&cosmos.client).await?;
    for item in read("items.json")?.as_array().ok_or("not a list")? {
        let id = item["id"].as_str().ok_or("an item without an id")?;
        container.create_item(key(item.get("pk"))?, id, item.clone(), None).await?;
    }
    Ok(place)
}

/// A new container with the policies of `container.json`.
fn described() -> Result<ContainerProperties> {
    let mut description = serde_json::to_value(properties("/pk"))?;
    let Value::Object(policies) = read("container.json")? else { return Err("not an object".into()) };
    for (name, policy) in policies {
        description[name] = policy;
    }
    Ok(serde_json::from_value(description)?)
}

fn key(value: Option<&Value>) -> Result<PartitionKey> {
    Ok(match value {
        None => PartitionKeyValue::UNDEFINED.into(),
        Some(Value::Null) => PartitionKeyValue::NULL.into(),
        Some(Value::Bool(it)) => (*it).into(),
        Some(Value::String(it)) => it.clone().into(),
        Some(Value::Number(it)) => it.as_i64().ok_or("not an integer")?.into(),
        Some(other) => return Err(format!("{other} is no partition key").into()),
    })
}

fn read(file: &str) -> Result<Value> {
    Ok(serde_json::from_slice(&std::fs::read(format!("{FOLDER}/{file}"))?)?)
}

/// One text for each value, whatever the order of its members and the way its numbers are written.
fn text(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| !SYSTEM.contains(&name.as_str()));
            let mut texts: Vec<String> =
                kept.map(|(name, value)| format!("{name:?}:{}", text(value))).collect();
            texts.sort_unstable();
            format!("{{{}}}", texts.join(","))
        }
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.to_string(),
            (None, Some(number)) if number.fract() == 0.0 && number.abs() < 9e15 => {
                (number as i64).to_string()
            }
            _ => number.to_string(),
        },
        scalar => scalar.to_string(),
    }
}

fn close(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            (a - b).abs() <= CLOSE * b.abs().max(1.0)
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| close(a, b)))
        }
        _ => a == b,
    }
}
