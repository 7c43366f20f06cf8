//! What the writers write: items that prove they are whole.
//!
//! `sum` is a checksum over all other members the writer chose, so an item mixed from two versions, or cut
//! short, does not pass. `unique` is one of two values per item and changes with the attempt, so a write
//! moves the item from one unique-key row to the other. What queries ask for follows from the attempt alone:
//! whoever knows which attempt made an item knows which questions it answers.

use crate::history::{Found, Key, Seq};
use orrery_testing_client::OwnedReply;
use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_64;

/// Most fillers are this long at most, which makes an item of up to 1.5 KB.
const FILLER_BYTES_MAX: u64 = 1300;
/// One in so many is a large one, and its text lies apart from its row.
const LARGE_EVERY: u64 = 24;
const LARGE_BYTES_MIN: u64 = 16 * 1024;
const LARGE_BYTES_MAX: u64 = 48 * 1024;
/// How many different values the members have that queries ask for. Primes, so that each meets all of the others.
pub const KINDS: u64 = 23;
pub const RANKS: u64 = 499;
pub const TAGS: u64 = 41;

/// The unique values an item can have.
pub fn unique_values(key: &Key) -> [String; 2] {
    [format!("{}#0", key.id), format!("{}#1", key.id)]
}

/// Which of its two unique values an attempt gives an item.
pub fn unique_index(seq: Seq) -> usize {
    (seq % 2) as usize
}

pub fn kind(seq: Seq) -> u64 {
    seq % KINDS
}

pub fn rank(seq: Seq) -> u64 {
    seq.wrapping_mul(7919) % RANKS
}

/// One tag or two; two attempts in a row share one at times.
pub fn tags(seq: Seq) -> Vec<u64> {
    let mut tags = vec![seq / 3 % TAGS, seq % TAGS];
    tags.dedup();
    tags
}

/// The members that queries ask for.
fn asked(seq: Seq) -> Map<String, Value> {
    let tags: Vec<String> = tags(seq).into_iter().map(|tag| format!("t{tag}")).collect();
    let kind = format!("k{}", kind(seq));
    let members = [("kind", json!(kind)), ("tags", json!(tags)), ("info", json!({"rank": rank(seq)}))];
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The item that this attempt writes. `random` chooses the filler.
pub fn item(key: &Key, seq: Seq, random: u64) -> Value {
    let filler = filler(random);
    let unique = &unique_values(key)[unique_index(seq)];
    let sum = checksum(key, seq, unique, &filler);
    let mut item = json!({"id": key.id, "pk": key.partition, "seq": seq, "unique": unique, "filler": filler, "sum": sum});
    asked(seq).into_iter().for_each(|(name, value)| item[name] = value);
    item
}

/// The version in an item as the server gave it back, or what is wrong with it.
pub fn read(item: &Value) -> Result<(Key, Found), String> {
    let text = |name: &str| item.get(name).and_then(Value::as_str).ok_or(format!("no `{name}` in {item}"));
    let key = Key { partition: text("pk")?.to_owned(), id: text("id")?.to_owned() };
    let seq = item.get("seq").and_then(Value::as_u64).ok_or(format!("no `seq` in {item}"))?;
    let sum = checksum(&key, seq, text("unique")?, text("filler")?);
    if text("sum")? != sum {
        return Err(format!("half an item: its checksum is {}, its content's {sum}: {item}", text("sum")?));
    }
    if let Some((name, _)) = asked(seq).iter().find(|(name, value)| item.get(name.as_str()) != Some(*value)) {
        return Err(format!("half an item: `{name}` is not what attempt {seq} wrote: {item}"));
    }
    Ok((key, Found { seq, etag: text("_etag")?.to_owned() }))
}

/// The same of a reply to a point read or a write, whose header must name the same tag as its body.
pub fn read_reply(reply: &OwnedReply) -> Result<(Key, Found), String> {
    let item = reply.json().ok_or("the body is not JSON")?;
    let (key, found) = read(&item)?;
    match reply.header("etag") {
        Some(etag) if etag == found.etag => Ok((key, found)),
        other => Err(format!("the header's etag is {other:?}, the body's {}", found.etag)),
    }
}

fn checksum(key: &Key, seq: Seq, unique: &str, filler: &str) -> String {
    let parts = [&key.partition, &key.id, &seq.to_string(), unique, filler].map(str::len);
    let text = format!("{parts:?}{}{}{seq}{unique}{filler}", key.partition, key.id);
    format!("{:016x}", xxh3_64(text.as_bytes()))
}

fn filler(random: u64) -> String {
    let length = match random % LARGE_EVERY {
        0 => LARGE_BYTES_MIN + random / LARGE_EVERY % (LARGE_BYTES_MAX - LARGE_BYTES_MIN),
        _ => random / LARGE_EVERY % FILLER_BYTES_MAX,
    };
    let mut state = random;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + ((state >> 33) % 26) as u8)
    };
    (0..length).map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored() -> Value {
        let mut item = item(&Key { partition: "p".to_owned(), id: "i".to_owned() }, 7, 123_457);
        item["_etag"] = json!("\"tag\"");
        item["_ts"] = json!(1);
        item
    }

    #[test]
    fn a_whole_item_is_read_back() {
        let (key, found) = read(&stored()).unwrap();
        assert_eq!((key.partition.as_str(), key.id.as_str()), ("p", "i"));
        assert_eq!(found, Found { seq: 7, etag: "\"tag\"".to_owned() });
    }

    #[test]
    fn an_item_mixed_from_two_versions_is_half_an_item() {
        let changes = [
            ("seq", json!(8)),
            ("unique", json!("i#0")),
            ("filler", json!("short")),
            ("pk", json!("q")),
            ("id", json!("j")),
            ("sum", json!("0")),
            ("kind", json!("k8")),
            ("tags", json!(["t7", "t2"])),
            ("info", json!({"rank": 0})),
        ];
        for (name, value) in changes {
            let mut mixed = stored();
            mixed[name] = value;
            assert!(read(&mixed).is_err(), "{name}");
        }
    }

    #[test]
    fn an_item_without_a_member_is_refused() {
        for name in ["id", "pk", "seq", "unique", "filler", "sum", "kind", "tags", "info", "_etag"] {
            let mut cut = stored();
            cut.as_object_mut().unwrap().remove(name);
            assert!(read(&cut).is_err(), "{name}");
        }
    }

    #[test]
    fn two_attempts_in_a_row_use_both_unique_values() {
        assert_ne!(unique_index(4), unique_index(5));
    }
}
