//! What the writers of entities write: entities that prove they are whole.
//!
//! A full write (insert, insert-or-replace, replace) makes `Base` name the attempt and has no `Merged`; a merge sets `Merged`
//! and leaves `Base` alone. So an entity also tells whether a merge kept what it had to keep, and whether a replace took away
//! what it had to take away.

use crate::history::{Found, Key, Seq};
use orrery_testing_client::OwnedReply;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

/// Most fillers are this long at most; one in so many is a large one.
const FILLER_CHARS_MAX: u64 = 700;
const LARGE_EVERY: u64 = 40;
const LARGE_CHARS_MAX: u64 = 30_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Full,
    Merge,
}

/// The properties that this attempt writes. `random` chooses the filler.
pub fn entity(key: &Key, seq: Seq, kind: Kind, random: u64) -> Value {
    let filler = filler(random);
    let sum = checksum(key, seq, &filler);
    let number = match kind {
        Kind::Full => "Base",
        Kind::Merge => "Merged",
    };
    json!({
        "PartitionKey": key.partition,
        "RowKey": key.id,
        "Seq@odata.type": "Edm.Int64",
        "Seq": seq.to_string(),
        format!("{number}@odata.type"): "Edm.Int64",
        number: seq.to_string(),
        "Filler": filler,
        "Sum": sum,
    })
}

/// The version in an entity as the server gave it back, or what is wrong with it.
pub fn read(entity: &Value) -> Result<(Key, Found), String> {
    let text =
        |name: &str| entity.get(name).and_then(Value::as_str).ok_or(format!("no `{name}` in {entity}"));
    let number = |name: &str| {
        let is_typed = entity[format!("{name}@odata.type")] == "Edm.Int64";
        let number = entity.get(name).and_then(Value::as_str).filter(|_| is_typed);
        number.and_then(|number| number.parse::<Seq>().ok())
    };
    let key = Key { partition: text("PartitionKey")?.to_owned(), id: text("RowKey")?.to_owned() };
    let seq = number("Seq").ok_or(format!("no `Seq` of type Int64 in {entity}"))?;
    let sum = checksum(&key, seq, text("Filler")?);
    if text("Sum")? != sum {
        return Err(format!(
            "half an entity: its checksum is {}, its content's {sum}: {entity}",
            text("Sum")?
        ));
    }
    let is_whole = match number("Merged") {
        Some(merged) => merged == seq && number("Base") != Some(seq),
        None => number("Base") == Some(seq) && entity.get("Merged").is_none(),
    };
    if !is_whole {
        return Err(format!("half an entity: neither a full write nor a merge of attempt {seq}: {entity}"));
    }
    let (etag, timestamp) = (text("odata.etag")?, text("Timestamp")?.replace(':', "%3A"));
    if etag != format!("W/\"datetime'{timestamp}'\"") {
        return Err(format!("the tag is not that of the timestamp: {entity}"));
    }
    Ok((key, Found { seq, etag: etag.to_owned() }))
}

/// The same of a reply to a point read or an insert, whose header must name the same tag as its body.
pub fn read_reply(reply: &OwnedReply) -> Result<(Key, Found), String> {
    let (key, found) = read(&reply.json().ok_or("the body is not JSON")?)?;
    match reply.header("etag") {
        Some(etag) if etag == found.etag => Ok((key, found)),
        other => Err(format!("the header's etag is {other:?}, the body's {}", found.etag)),
    }
}

fn checksum(key: &Key, seq: Seq, filler: &str) -> String {
    let lengths = [key.partition.len(), key.id.len(), filler.len()];
    let text = format!("{lengths:?}{}{}{seq}{filler}", key.partition, key.id);
    format!("{:016x}", xxh3_64(text.as_bytes()))
}

fn filler(random: u64) -> String {
    let most = if random.is_multiple_of(LARGE_EVERY) { LARGE_CHARS_MAX } else { FILLER_CHARS_MAX };
    let length = (random / LARGE_EVERY % most) as usize;
    format!("{random:016x}").chars().cycle().take(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(kind: Kind) -> Value {
        let mut entity = entity(&Key { partition: "p".to_owned(), id: "r".to_owned() }, 7, kind, 123_457);
        entity["odata.etag"] = json!("W/\"datetime'2026-11-15T00%3A59%3A26.3287118Z'\"");
        entity["Timestamp"] = json!("2026-11-15T00:59:26.3287118Z");
        entity
    }

    fn merged() -> Value {
        let mut entity = stored(Kind::Merge);
        entity["Base"] = json!("5");
        entity["Base@odata.type"] = json!("Edm.Int64");
        entity
    }

    #[test]
    fn a_whole_entity_is_read_back() {
        for entity in [stored(Kind::Full), merged(), stored(Kind::Merge)] {
            let (key, found) = read(&entity).unwrap();
            assert_eq!((key.partition.as_str(), key.id.as_str(), found.seq), ("p", "r", 7));
        }
    }

    #[test]
    fn an_entity_mixed_from_two_versions_is_half_an_entity() {
        let changes = [
            ("Seq", json!("8")),
            ("Seq", json!(7)),
            ("Filler", json!("short")),
            ("PartitionKey", json!("q")),
            ("RowKey", json!("s")),
            ("Sum", json!("0")),
            ("Base", json!("6")),
            ("Merged", json!("6")),
            ("Timestamp", json!("2026-11-15T00:59:26.3287119Z")),
        ];
        for (name, value) in changes {
            let mut mixed = stored(Kind::Full);
            mixed[name] = value;
            assert!(read(&mixed).is_err(), "{name}");
        }
        for (name, value) in [("Merged", json!("6")), ("Base", json!("7"))] {
            let mut mixed = merged();
            mixed[name] = value;
            assert!(read(&mixed).is_err(), "{name} of a merged one");
        }
    }

    #[test]
    fn an_entity_without_a_property_is_refused() {
        for name in ["PartitionKey", "RowKey", "Seq", "Seq@odata.type", "Base", "Filler", "Sum", "odata.etag"]
        {
            let mut cut = stored(Kind::Full);
            cut.as_object_mut().unwrap().remove(name);
            assert!(read(&cut).is_err(), "{name}");
        }
    }
}
