//! The record of a whole migration.
//!
//! ```text
//! copying ─> following ─> finished ─> cleaned
//!                ^───────────┘ --reopen, or both sides are written
//! ```

use super::state::{STATE_CONTAINER, read_hash, write_hash};
use super::world::Which;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRecord {
    pub phase: Phase,
    /// The fingerprint of its plan.
    pub plan: u128,
    pub is_both: bool,
    pub marks: Marks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Copying,
    Following,
    /// When, in seconds by the server's clock, and for how long the old containers stay.
    Finished {
        at: u64,
        keep_seconds: u64,
    },
    /// The old containers are dropped.
    Cleaned,
}

/// Where each container was before anything of it was read. `None`: it keeps no deletes, and is followed by its latest versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub source: Containers,
    pub target: Containers,
}

pub type Containers = BTreeMap<String, Option<String>>;

impl Marks {
    pub fn of(&self, which: Which, container: &str) -> Option<&str> {
        let side = match which {
            Which::Source => &self.source,
            Which::Target => &self.target,
        };
        side.get(container)?.as_deref()
    }
}

impl Phase {
    pub fn name(self) -> &'static str {
        match self {
            Self::Copying => "copying",
            Self::Following => "following",
            Self::Finished { .. } => "finished",
            Self::Cleaned => "cleaned",
        }
    }
}

impl RunRecord {
    pub fn dual_write(&self) -> &'static str {
        if self.is_both { "both" } else { "source" }
    }

    pub fn to_json(&self) -> Json {
        let mut json = json!({
            "phase": self.phase.name(), "plan": write_hash(self.plan), "dualWrite": self.dual_write(),
            "marks": {"source": self.marks.source, "target": self.marks.target},
        });
        if let Phase::Finished { at, keep_seconds } = self.phase {
            json["finishedAt"] = json!(at);
            json["keepSeconds"] = json!(keep_seconds);
        }
        json
    }

    pub fn parse(json: &Json) -> Result<Self, String> {
        let wrong = || {
            format!(
                "what '{STATE_CONTAINER}' says of this migration is not understood; it is of another version, or somebody wrote it"
            )
        };
        read(json).ok_or_else(wrong)
    }
}

fn read(json: &Json) -> Option<RunRecord> {
    let phase = match json["phase"].as_str()? {
        "copying" => Phase::Copying,
        "following" => Phase::Following,
        "finished" => {
            Phase::Finished { at: json["finishedAt"].as_u64()?, keep_seconds: json["keepSeconds"].as_u64()? }
        }
        "cleaned" => Phase::Cleaned,
        _ => return None,
    };
    let is_both = match json["dualWrite"].as_str()? {
        "both" => true,
        "source" => false,
        _ => return None,
    };
    let marks = Marks {
        source: containers(&json["marks"]["source"])?,
        target: containers(&json["marks"]["target"])?,
    };
    Some(RunRecord { phase, plan: read_hash(json["plan"].as_str()?)?, is_both, marks })
}

fn containers(json: &Json) -> Option<Containers> {
    let none = Map::new();
    let members = if json.is_null() { &none } else { json.as_object()? };
    let mark = |(name, mark): (&String, &Json)| match mark {
        Json::Null => Some((name.clone(), None)),
        Json::String(mark) => Some((name.clone(), Some(mark.clone()))),
        _ => None,
    };
    members.iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the first version wrote them.
    const FIRST: [(&str, Phase); 3] = [
        (
            r#"{"id":"run","migration":"m","phase":"copying","plan":"0000000000000000000000000000002a","dualWrite":"source",
                "marks":{"source":{"a":"\"17\"","b":null}}}"#,
            Phase::Copying,
        ),
        (
            r#"{"id":"run","migration":"m","phase":"finished","plan":"0000000000000000000000000000002a","dualWrite":"source",
                "marks":{"source":{"a":"\"17\"","b":null}},"keepSeconds":604800,"finishedAt":1794768000,"_ts":1794768001}"#,
            Phase::Finished { at: 1_794_768_000, keep_seconds: 604_800 },
        ),
        (
            r#"{"id":"run","migration":"m","phase":"cleaned","plan":"0000000000000000000000000000002a","dualWrite":"source",
                "marks":{"source":{"a":"\"17\"","b":null}},"keepSeconds":604800,"finishedAt":1794768000}"#,
            Phase::Cleaned,
        ),
    ];

    #[test]
    fn records_of_the_first_version_are_read_and_written_as_they_were() {
        for (text, phase) in FIRST {
            let record = RunRecord::parse(&serde_json::from_str(text).unwrap()).unwrap();
            assert_eq!((record.phase, record.plan, record.is_both), (phase, 42, false), "{text}");
            assert_eq!(record.marks.of(Which::Source, "a"), Some("\"17\""));
            assert_eq!(record.marks.of(Which::Source, "b"), None);
            assert_eq!(record.marks.of(Which::Target, "a"), None);
            assert_eq!(RunRecord::parse(&record.to_json()), Ok(record));
        }
    }

    #[test]
    fn what_is_no_record_is_not_taken_for_one() {
        let good: Json = serde_json::from_str(FIRST[1].0).unwrap();
        for (name, value) in [
            ("phase", json!("finishing")),
            ("phase", json!(null)),
            ("finishedAt", json!("now")),
            ("plan", json!("x")),
            ("dualWrite", json!(true)),
            ("marks", json!({"source": {"a": 17}})),
        ] {
            let mut bad = good.clone();
            bad[name] = value;
            assert!(RunRecord::parse(&bad).is_err(), "{bad}");
        }
    }
}
