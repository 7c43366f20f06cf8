//! The state of a migration, as items of a container beside its target, so that it can be resumed anywhere.
//!
//! ```text
//! run                   the phase, where changes are followed from, when the old containers may go: record.rs
//! range-<side>-<container>-<range>     the stage and the position of one range
//! base-<hash>           see base.rs
//! ```
//!
//! A position is written after its work, so work since the last position is repeated after an interruption, to the same
//! effect. Each record is replaced only by its last writer: a migrator that was presumed dead and returns detects that,
//! and stops.

use super::record::{Phase, RunRecord};
use super::run::containers;
use super::world::{Which, World};
use crate::client::{Stored, Written, allowed, not_understood};
use http::Method;
use orrery_migration::{Container, ItemKey, Path};
use orrery_value::Value;
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};

pub const STATE_CONTAINER: &str = "orrery-migrations";

/// The two stages of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The items as they are, from the beginning.
    Copy { position: Option<String> },
    /// What has changed since the mark; deletes are among it if all versions are kept.
    Follow { position: String, has_deletes: bool },
}

#[derive(Clone, Debug)]
pub struct RangeState {
    pub which: Which,
    pub container: String,
    pub range: String,
    pub stage: Stage,
    tag: Option<String>,
    saved: Option<Instant>,
}

/// A position that nobody writes down is forgotten by the server in the end.
const STALE: Duration = Duration::from_secs(60);

pub async fn make(world: &World) -> Result<(), String> {
    let database = world.database(Which::Target);
    let definition = json!({
        "id": STATE_CONTAINER,
        "partitionKey": {"paths": ["/migration"], "kind": "Hash", "version": 2},
        "indexingPolicy": {"indexingMode": "none", "automatic": false},
    });
    let key = vec![Path::parse("/migration").map_err(|error| error.to_string())?];
    database.make_container(&Container { name: STATE_CONTAINER.to_owned(), key, definition }).await
}

fn key(world: &World, id: &str) -> ItemKey {
    ItemKey::new(STATE_CONTAINER, &[Value::from(world.plan.name.as_str())], id)
}

/// Writes an item of the state: creates it, or replaces the version with this etag. Returns the new etag, or `None` if
/// somebody else wrote it since.
pub async fn save(
    world: &World,
    key: &ItemKey,
    mut content: Json,
    tag: Option<&str>,
) -> Result<Option<String>, String> {
    let writer = world.remote.env().guid();
    content["id"] = json!(key.id);
    content["writer"] = json!(writer);
    let database = world.database(Which::Target);
    let call = match tag {
        Some(tag) => database.on_item(Method::PUT, key).header("if-match", tag.to_owned()),
        None => database
            .on_items(Method::POST, &key.container)
            .header("x-ms-documentdb-partitionkey", key.partition.clone()),
    };
    let call = call.header("prefer", "return=minimal".to_owned()).body(content.to_string());
    let answer = allowed(world.remote.call(&call).await?, &[200, 201, 404, 409, 412])?;
    if matches!(answer.status.as_u16(), 200 | 201) {
        return answer.header("etag").map(|tag| Some(tag.to_owned())).ok_or_else(not_understood);
    }
    // After a broken connection the write may have been ours although it is said to have failed.
    let is_ours = |stored: &Stored| *stored.item.member("writer") == Value::from(writer.as_str());
    Ok(database.read(key).await?.filter(is_ours).map(|stored| stored.etag))
}

fn taken_over() -> String {
    "another orrery migrate goes on with this migration; this one stops".to_owned()
}

/// The record of a migration, as last read or written by this process.
pub struct RunState {
    pub record: RunRecord,
    tag: Option<String>,
}

impl RunState {
    pub fn new(record: RunRecord) -> Self {
        Self { record, tag: None }
    }

    /// The same migration, begun again with this.
    pub fn with(self, record: RunRecord) -> Self {
        Self { record, ..self }
    }

    /// `None`: there is no such migration yet.
    pub async fn read(world: &World) -> Result<Option<Self>, String> {
        let Some(found) = world.database(Which::Target).read(&key(world, "run")).await? else {
            return Ok(None);
        };
        let json = serde_json::from_str(&found.item.to_json()).unwrap_or_default();
        Ok(Some(Self { record: RunRecord::parse(&json)?, tag: Some(found.etag) }))
    }

    pub async fn found(world: &World) -> Result<Self, String> {
        let name = &world.plan.name;
        Self::read(world).await?.ok_or_else(|| format!("there is no migration '{name}' here"))
    }

    /// Writes it, unless somebody else did since.
    pub async fn save(&mut self, world: &World) -> Result<(), String> {
        let mut content = self.record.to_json();
        content["migration"] = json!(world.plan.name);
        let tag = save(world, &key(world, "run"), content, self.tag.as_deref()).await?;
        self.tag = Some(tag.ok_or_else(taken_over)?);
        Ok(())
    }

    pub async fn enter(&mut self, world: &World, phase: Phase) -> Result<(), String> {
        self.record.phase = phase;
        self.save(world).await
    }
}

/// Seconds by the server's clock: those of an item that is written to ask for them.
pub async fn server_now(world: &World) -> Result<u64, String> {
    let (key, database) = (key(world, "now"), world.database(Which::Target));
    let item = Value::read(&json!({"id": "now", "migration": world.plan.name}).to_string());
    if let Written::Refused(why) = database.upsert(&key, &item).await? {
        return Err(why);
    }
    let found = database.read(&key).await?;
    found
        .and_then(|found| found.item.member("_ts").to_json().parse().ok())
        .ok_or_else(|| "the state of the migration is gone; is its database being dropped?".to_owned())
}

impl RangeState {
    pub fn new(which: Which, container: &str, range: &str, stage: Stage) -> Self {
        Self {
            which,
            container: container.to_owned(),
            range: range.to_owned(),
            stage,
            tag: None,
            saved: None,
        }
    }

    fn id(which: Which, container: &str, range: &str) -> String {
        format!("range-{}-{container}-{range}", which.name())
    }

    pub async fn read(
        world: &World,
        which: Which,
        container: &str,
        range: &str,
    ) -> Result<Option<Self>, String> {
        let found =
            world.database(Which::Target).read(&key(world, &Self::id(which, container, range))).await?;
        let Some(found) = found else { return Ok(None) };
        let text = |name: &str| match found.item.member(name) {
            Value::String(text) => Some(text.clone()),
            _ => None,
        };
        let stage = match (text("stage").as_deref(), text("position")) {
            (Some("follow"), Some(position)) => {
                let has_deletes = matches!(found.item.member("deletes"), Value::Bool(true));
                Stage::Follow { position, has_deletes }
            }
            (_, position) => Stage::Copy { position },
        };
        Ok(Some(Self { tag: Some(found.etag), ..Self::new(which, container, range, stage) }))
    }

    /// Of a range, or, if it is new, of the nearest that it was part of: there its changes went on from.
    pub async fn known(
        world: &World,
        which: Which,
        container: &str,
        (range, parents): (&str, &[String]),
    ) -> Result<Option<Self>, String> {
        if let Some(own) = Self::read(world, which, container, range).await? {
            return Ok(Some(own));
        }
        for parent in parents.iter().rev() {
            if let Some(parent) = Self::read(world, which, container, parent).await? {
                return Ok(Some(Self::new(which, container, range, parent.stage)));
            }
        }
        Ok(None)
    }

    /// After which all is new; `None` is the beginning.
    pub fn position(&self) -> Option<&str> {
        match &self.stage {
            Stage::Copy { position } => position.as_deref(),
            Stage::Follow { position, .. } => Some(position),
        }
    }

    pub fn is_stale(&self) -> bool {
        self.saved.is_none_or(|saved| saved.elapsed() > STALE)
    }

    /// Writes it, unless somebody else did since.
    pub async fn save(&mut self, world: &World) -> Result<(), String> {
        let mut content = json!({
            "migration": world.plan.name, "container": self.container, "range": self.range,
        });
        match &self.stage {
            Stage::Copy { position } => {
                content["stage"] = json!("copy");
                content["position"] = json!(position);
            }
            Stage::Follow { position, has_deletes } => {
                content["stage"] = json!("follow");
                content["position"] = json!(position);
                content["deletes"] = json!(has_deletes);
            }
        }
        let key = key(world, &Self::id(self.which, &self.container, &self.range));
        self.tag = Some(save(world, &key, content, self.tag.as_deref()).await?.ok_or_else(taken_over)?);
        self.saved = Some(Instant::now());
        Ok(())
    }
}

/// The ranges of a side as they are now, each with what a migration has seen of it. Of one that it knows nothing of, it has seen
/// nothing.
pub async fn ranges(world: &World, which: Which) -> Result<Vec<RangeState>, String> {
    let mut found = Vec::new();
    for (container, _) in containers(world, which)? {
        if world.database(which).definition(&container).await?.is_none() {
            continue;
        }
        for (range, parents) in world.database(which).ranges(&container).await? {
            let known = RangeState::known(world, which, &container, (&range, &parents)).await?;
            let unseen = || RangeState::new(which, &container, &range, Stage::Copy { position: None });
            found.push(known.unwrap_or_else(unseen));
        }
    }
    Ok(found)
}

/// 128 bits do not fit into a JSON number.
pub fn write_hash(hash: u128) -> String {
    format!("{hash:032x}")
}

pub fn read_hash(text: &str) -> Option<u128> {
    u128::from_str_radix(text, 16).ok()
}
