//! What a migration remembers, as items of a container beside its target: so it goes on wherever it is started again.
//!
//! ```text
//! run                   the phase, where changes are followed from, when the old containers may go
//! range-<side>-<container>-<range>     the stage and the position of one range
//! base-<hash>           see base.rs
//! ```
//!
//! A position is written after what it stands for, so whatever was done in between is done twice, to the same effect. Each
//! is replaced only by who wrote it last: a migrator that was thought dead and comes back finds that, and stops.

use super::run::containers;
use super::world::{Which, World};
use crate::client::Written;
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
    etag: Option<String>,
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

pub async fn read_run(world: &World) -> Result<Option<Json>, String> {
    if world.database(Which::Target).definition(STATE_CONTAINER).await?.is_none() {
        return Ok(None);
    }
    read(world, "run").await
}

pub async fn read(world: &World, id: &str) -> Result<Option<Json>, String> {
    let found = world.database(Which::Target).read(&key(world, id)).await?;
    Ok(found.and_then(|stored| serde_json::from_str(&stored.item.to_json()).ok()))
}

/// Writes an item of the state, and gives it as it is stored, with the server's time in `_ts`.
pub async fn write(world: &World, id: &str, mut content: Json) -> Result<Json, String> {
    content["id"] = json!(id);
    content["migration"] = json!(world.plan.name);
    let item = Value::parse(&content.to_string()).map_err(|error| error.to_string())?;
    world.database(Which::Target).upsert(&key(world, id), &item).await?;
    read(world, id)
        .await?
        .ok_or_else(|| "the state of the migration is gone; is its database being dropped?".to_owned())
}

impl RangeState {
    pub fn new(which: Which, container: &str, range: &str, stage: Stage) -> Self {
        Self {
            which,
            container: container.to_owned(),
            range: range.to_owned(),
            stage,
            etag: None,
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
        Ok(Some(Self { etag: Some(found.etag), ..Self::new(which, container, range, stage) }))
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

    /// Writes it, if nobody else did since.
    pub async fn save(&mut self, world: &World) -> Result<(), String> {
        let id = Self::id(self.which, &self.container, &self.range);
        let key = key(world, &id);
        let mut content = json!({
            "id": id, "migration": world.plan.name, "container": self.container, "range": self.range,
            "writer": world.remote.env().guid(),
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
        let item = Value::read(&content.to_string());
        let database = world.database(Which::Target);
        let written = match &self.etag {
            None => database.create(&key, &item).await?,
            Some(etag) => database.replace(&key, &item, etag).await?,
        };
        let found = database.read(&key).await?;
        // After a broken connection the write may have been ours although it is said to have failed.
        let is_ours = |stored: &Value| stored.member("writer") == item.member("writer");
        match found {
            Some(found) if written == Written::Done || is_ours(&found.item) => {
                self.etag = Some(found.etag);
                self.saved = Some(Instant::now());
                Ok(())
            }
            _ => Err("another orrery migrate goes on with this migration; this one stops".to_owned()),
        }
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
