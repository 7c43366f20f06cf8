//! Random queries that indexes are for, and documents to ask them of: few paths, few values, many ties.

use super::collection::{Policy, composite, path};
use super::naive::generate::case;
use super::naive::random::Random;
use orrery_core::limits;
use orrery_query::access::Path;
use orrery_value::{Number, Value};

const INDEXED: [&str; 20] = [
    "/id",
    "/a",
    "/a",
    "/b",
    "/s",
    "/s",
    "/t",
    "/flag",
    "/order",
    "/n",
    "/n/x",
    "/n/y",
    "/tags",
    "/tags/[]",
    "/kids",
    "/kids/[]",
    "/kids/[]/a",
    "/kids/[]/s",
    "/kids/[]/tags/[]",
    "/none",
];
const PARTS: [&str; 9] = ["/a", "/b", "/s", "/t", "/flag", "/order", "/n/x", "/n/y", "/id"];
const MEMBERS: [&str; 12] =
    ["c.a", "c.a", "c.b", "c.b", "c.s", "c.s", "c.t", "c.flag", "c.n.x", "c.n.y", "c[\"order\"]", "c.id"];

/// Policies with few paths, and with so many that most queries can use one.
pub fn policy(random: &mut Random) -> Policy {
    let share = random.pick(&[40, 70, 95]);
    let mut paths: Vec<_> = INDEXED.iter().filter(|_| random.chance(share)).map(|text| path(text)).collect();
    paths.sort();
    paths.dedup();
    let mut composites = Vec::new();
    for _ in 0..random.below(6) {
        let mut parts: Vec<&str> = Vec::new();
        for _ in 0..2 + random.below(3) {
            let part = random.pick(&PARTS);
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        let parts: Vec<String> =
            parts.iter().map(|part| format!("{part} {}", random.pick(&["ASC", "DESC"]))).collect();
        if parts.len() > 1 {
            composites.push(composite(&parts.join(", ")));
        }
    }
    Policy { paths, composites, spatial: Vec::new(), is_uncounted: random.chance(20) }
}

/// The documents of some random cases, each with an id of its own.
pub fn documents(random: &mut Random) -> Vec<Value> {
    let count = 1 + random.below(5) as u64;
    let seed = random.next() >> 32;
    let documents = (0..count).flat_map(|at| case(seed + at).documents);
    documents.zip(0..).map(|(document, at)| tamed(&with_id(document, at))).collect()
}

pub fn with_id(document: Value, at: u64) -> Value {
    let Value::Object(mut members) = document else { return document };
    members.retain(|(name, _)| name != "id");
    members.push(("id".to_owned(), Value::String(format!("d{at}"))));
    Value::Object(members)
}

/// Some texts become so long that an index keeps one letter of what they were. Sums that overflow in one order and
/// not in another would be another answer, so very large numbers become smaller.
pub fn tamed(value: &Value) -> Value {
    match value {
        Value::Number(Number::Float(it)) if it.abs() > 1e300 => Value::from(it.signum() * 1e17),
        Value::String(text) => Value::String(lengthened(text)),
        Value::Array(items) => Value::Array(items.iter().map(tamed).collect()),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), tamed(value))).collect())
        }
        other => other.clone(),
    }
}

fn lengthened(text: &str) -> String {
    let is_long = text.starts_with(['a', 'd']);
    let before = if is_long { "x".repeat(limits::INDEX_STRING_BYTES_MAX - 1) } else { String::new() };
    format!("{before}{text}")
}

/// A query as a client sends it.
pub fn question(random: &mut Random) -> String {
    let from = match random.below(12) {
        0 => "FROM c JOIN t IN c.tags",
        1 => "FROM c JOIN k IN c.kids",
        _ => "FROM c",
    };
    let filter = if random.chance(80) { format!(" WHERE {}", filter(random)) } else { String::new() };
    match random.below(13) {
        11.. => extremes(random).0,
        10 => {
            let (one, other) = (equality(random), equality(random));
            format!("SELECT VALUE {} FROM c WHERE {one} AND {other}", random.pick(&["COUNT(1)", "1"]))
        }
        0..2 => format!("SELECT {}{} {from}{filter}", top(random), selected(random, from)),
        2 => format!("SELECT {} {from}{filter} OFFSET 2 LIMIT 5", selected(random, from)),
        3 => format!("SELECT VALUE {} {from}{filter}", aggregate(random)),
        4 => {
            let key = random.pick(&MEMBERS);
            format!("SELECT VALUE [{key}, {}] {from}{filter} GROUP BY {key}", aggregate(random))
        }
        5 => format!("SELECT DISTINCT VALUE {} {from}{filter}", random.pick(&MEMBERS)),
        6 if random.chance(50) => distinct_in_order(random, &filter),
        6 => format!("SELECT DISTINCT VALUE c.a {from}{filter} ORDER BY {}", keys(random)),
        _ => {
            let (top, selected) = (top(random), selected(random, from));
            format!("SELECT {top}{selected} {from}{filter} ORDER BY {}", keys(random))
        }
    }
}

fn top(random: &mut Random) -> &'static str {
    random.pick(&["", "", "TOP 3 ", "TOP 7 "])
}

fn selected(random: &mut Random, from: &str) -> String {
    match random.below(6) {
        0 if from == "FROM c" => "*".to_owned(),
        1 => format!("VALUE {}", random.pick(&MEMBERS)),
        2 => format!("VALUE [{}, {}]", random.pick(&MEMBERS), random.pick(&MEMBERS)),
        3 => "VALUE 1".to_owned(),
        _ => "VALUE c.id".to_owned(),
    }
}

fn aggregate(random: &mut Random) -> String {
    let member = random.pick(&MEMBERS);
    match random.below(4) {
        0 => format!("SUM({member})"),
        1 => format!("MAX({member})"),
        2 => format!("MIN({member})"),
        _ => "COUNT(1)".to_owned(),
    }
}

/// The least and the greatest of a member, as clients ask for them and as plans have it, among documents that the
/// filter names by that member, by another, or not at all; and a composite index that may help.
pub fn extremes(random: &mut Random) -> (String, Vec<(Path, bool)>) {
    let member = random.pick(&MEMBERS);
    let selected = random.pick(&[
        "MIN(m)",
        "MAX(m)",
        "[MIN(m), MAX(m)]",
        "{'item': MIN(m), 'item2': {'min': MIN(m), 'count': COUNT(m)}}",
        "{'item': MAX(m), 'item2': {'max': MAX(m), 'count': COUNT(m)}}",
        "[COUNT(1), MAX(m)]",
        "COUNT(1)",
        "[COUNT(m), SUM(m)]",
    ]);
    let (mut parts, mut named) = (Vec::new(), Vec::new());
    for _ in 0..random.pick(&[0, 0, 1, 1, 2]) {
        let other = random.pick(&MEMBERS);
        named.push(other);
        parts.push(match random.chance(30) {
            true => format!("{other} IN ({}, {}, {})", constant(random), constant(random), constant(random)),
            false => format!("{other} = {}", constant(random)),
        });
    }
    if random.chance(40) {
        parts.push(condition_on(member, random));
    }
    let filter = if parts.is_empty() { String::new() } else { format!(" WHERE {}", parts.join(" AND ")) };
    let text = format!("SELECT VALUE {} FROM c{filter}", selected.replace("(m)", &format!("({member})")));
    named.push(member);
    (text, composite_of(&named, random))
}

/// Rows that differ and are their own keys.
fn distinct_in_order(random: &mut Random, filter: &str) -> String {
    let (one, other) = (random.pick(&MEMBERS), random.pick(&MEMBERS));
    let (top, direction) = (top(random), random.pick(&["ASC", "DESC"]));
    match random.chance(60) || one == other || one.ends_with(".x") || other.ends_with(".x") {
        true => format!("SELECT DISTINCT {top}VALUE {one} FROM c{filter} ORDER BY {one} {direction}"),
        false => format!(
            "SELECT DISTINCT {top}{other}, {one} FROM c{filter} ORDER BY {one} {direction}, {other} {}",
            random.pick(&["ASC", "DESC"])
        ),
    }
}

/// Documents with one of a few values, sorted by something else; and a composite index that has them so.
pub fn lists(random: &mut Random) -> (String, Vec<(Path, bool)>) {
    let (mut members, mut parts) = (Vec::new(), Vec::new());
    for _ in 0..random.pick(&[1, 1, 2]) {
        let member = random.pick(&MEMBERS);
        members.push(member);
        let values: Vec<String> = (0..random.pick(&[1, 2, 3, 4])).map(|_| constant(random)).collect();
        parts.push(format!("{member} IN ({})", values.join(", ")));
    }
    let mut keys: Vec<&str> = Vec::new();
    for _ in 0..random.pick(&[1, 1, 2]) {
        let key = random.pick(&MEMBERS);
        if !keys.contains(&key) && !members.contains(&key) {
            keys.push(key);
        }
    }
    if keys.is_empty() {
        keys.push("c._ts");
    }
    if random.chance(30) {
        parts.push(condition_on(keys[0], random));
    }
    if random.chance(20) {
        parts.push(condition(random));
    }
    let composite = composite_of(&[&members[..], &keys[..]].concat(), random);
    let turned = random.chance(50);
    let directions = composite.iter().rev().take(keys.len()).rev().map(|(_, descends)| *descends != turned);
    let order: Vec<String> = keys
        .iter()
        .zip(directions)
        .map(|(key, descends)| format!("{key} {}", if descends { "DESC" } else { "ASC" }))
        .collect();
    let selected = selected(random, "FROM c");
    let text = format!(
        "SELECT {}{selected} FROM c WHERE {} ORDER BY {}",
        top(random),
        parts.join(" AND "),
        order.join(", ")
    );
    (text, composite)
}

/// A composite index over members, each once.
fn composite_of(members: &[&str], random: &mut Random) -> Vec<(Path, bool)> {
    let mut parts: Vec<(Path, bool)> = Vec::new();
    for member in members {
        let steps = member.trim_start_matches("c").replace("[\"", "/").replace("\"]", "").replace('.', "/");
        let path = path(&steps);
        if parts.iter().all(|(known, _)| *known != path) {
            parts.push((path, random.chance(50)));
        }
    }
    parts
}

/// Keys for an ORDER BY.
pub fn keys(random: &mut Random) -> String {
    let mut keys: Vec<&str> = Vec::new();
    for _ in 0..random.pick(&[1, 1, 2, 2, 3]) {
        let key = random.pick(&MEMBERS);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let keys: Vec<String> =
        keys.iter().map(|key| format!("{key} {}", random.pick(&["ASC", "DESC", "DESC"]))).collect();
    keys.join(", ")
}

/// What is true of most documents.
pub fn broad_filter(random: &mut Random) -> String {
    let often = [
        "c.a >= -2",
        "c.a IN (-2, -1, 0, 0.5, 1, 1.5, 2, 2.5)",
        "c.s >= ''",
        "c.flag IN (true, false)",
        "IS_DEFINED(c.n.x)",
        "(c.a > 0 OR c.b > 0)",
        "c.id >= 'd'",
        "ARRAY_CONTAINS_ANY(c.tags, 'a', 1, 2, 'ab', 'b', null)",
        "(c.flag = true OR c.a < 2 AND c.b IN (-1, 0, 1, 2, 3) OR c.t > 'a')",
    ];
    match random.chance(25) {
        true => format!("{} AND {}", random.pick(&often), random.pick(&often)),
        false => random.pick(&often).to_owned(),
    }
}

/// What is true of some documents and not of others.
pub fn filter(random: &mut Random) -> String {
    let count = random.pick(&[1, 1, 2, 2, 3]);
    let parts: Vec<String> = (0..count).map(|_| part(random)).collect();
    parts.join(" AND ")
}

fn part(random: &mut Random) -> String {
    match random.below(8) {
        0 => format!("({} OR {})", condition(random), condition(random)),
        1 => format!("({} OR {} AND {})", condition(random), condition(random), condition(random)),
        _ => condition(random),
    }
}

fn equality(random: &mut Random) -> String {
    format!("{} = {}", random.pick(&MEMBERS), constant(random))
}

fn condition(random: &mut Random) -> String {
    let member = random.pick(&MEMBERS);
    condition_on(member, random)
}

fn condition_on(member: &str, random: &mut Random) -> String {
    let value = constant(random);
    match random.below(16) {
        0..5 => format!("{member} = {value}"),
        5..8 => format!("{member} {} {value}", random.pick(&["<", "<=", ">", ">="])),
        8 => format!("{member} IN ({value}, {}, {})", constant(random), constant(random)),
        9 => format!("c.s IN ({value}, '{}', '{}')", lengthened("abc"), lengthened("ab")),
        10 => format!("{member} BETWEEN {} AND {}", number(random), number(random)),
        11 => format!("STARTSWITH({member}, '{}')", lengthened(random.pick(&["a", "ab", "b", "", "d"]))),
        12 => format!("ARRAY_CONTAINS(c.tags, {value})"),
        13 => format!("EXISTS(SELECT VALUE k FROM k IN c.kids WHERE k.a > {})", number(random)),
        14 => format!("IS_DEFINED({member})"),
        _ => format!("{member} LIKE '{}'", lengthened(random.pick(&["a%", "ab%", "a_", "%b"]))),
    }
}

fn number(random: &mut Random) -> &'static str {
    random.pick(&["-2", "-1", "0", "0.5", "1", "1", "2", "2.5", "7", "100000000000000000"])
}

pub fn constant(random: &mut Random) -> String {
    match random.below(10) {
        0..5 => number(random).to_owned(),
        5..8 => format!("'{}'", lengthened(random.pick(&["a", "a", "b", "ab", "abc", "Ab", "d3", ""]))),
        8 => random.pick(&["true", "false"]).to_owned(),
        _ => random.pick(&["null", "[]", "{'x': 1}", "[1]"]).to_owned(),
    }
}
