//! Documents with few names and few values, where a member may be missing or of another type.

use super::super::random::Random;
use super::scope::Kind;
use orrery_value::Value;

const DOCUMENTS_MAX: usize = 9;
/// Now and then many, so that pages are many too.
const DOCUMENTS_MANY: usize = 40;
const NUMBERS: [f64; 12] = [-2.0, -1.0, 0.0, 0.5, 1.0, 1.0, 1.5, 2.0, 2.0, 2.5, 3.0, 7.0];
/// Beyond 32 bits, and where sums and products leave the doubles.
const LARGE: [f64; 4] = [4_294_967_301.0, -2_147_483_649.0, 1e308, -1e308];
const TEXTS: [&str; 18] = [
    "",
    "a",
    "a",
    "b",
    "ab",
    "Ab",
    "abc",
    "B",
    "1",
    "2.5",
    "a%b",
    "a_b",
    " a ",
    "é",
    "\u{1f680}",
    "it's",
    "\"q\"",
    "b\\n",
];

pub fn some(random: &mut Random) -> Vec<Value> {
    let most = if random.chance(3) { DOCUMENTS_MANY } else { DOCUMENTS_MAX };
    let count = random.below(most + 1);
    (0..count).map(|i| document(i, random)).collect()
}

fn document(i: usize, random: &mut Random) -> Value {
    let mut members = vec![("id".to_owned(), Value::String(format!("d{i}")))];
    for (name, kind) in [
        ("a", Kind::Number),
        ("b", Kind::Number),
        ("order", Kind::Number),
        ("s", Kind::Text),
        ("t", Kind::Text),
        ("flag", Kind::Truth),
    ] {
        if random.chance(80) {
            members.push((name.to_owned(), mostly(kind, random)));
        }
    }
    if random.chance(85) {
        members.push(("tags".to_owned(), tags(random)));
    }
    if random.chance(70) {
        let count = random.below(4);
        members.push(("kids".to_owned(), Value::Array((0..count).map(|_| kid(random)).collect())));
    }
    if random.chance(70) {
        members.push(("n".to_owned(), inner(random)));
    }
    Value::Object(members)
}

fn mostly(kind: Kind, random: &mut Random) -> Value {
    match random.below(100) {
        0..80 => of_kind(kind, random),
        80..87 => Value::Null,
        _ => scalar(random),
    }
}

fn scalar(random: &mut Random) -> Value {
    let kind = random.pick(&[Kind::Number, Kind::Text, Kind::Truth]);
    of_kind(kind, random)
}

fn tags(random: &mut Random) -> Value {
    if random.chance(6) {
        return scalar(random);
    }
    let kind = random.pick(&[Kind::Number, Kind::Text]);
    let count = random.below(5);
    Value::Array((0..count).map(|_| mostly(kind, random)).collect())
}

fn kid(random: &mut Random) -> Value {
    let mut members = Vec::new();
    if random.chance(85) {
        members.push(("a".to_owned(), mostly(Kind::Number, random)));
    }
    if random.chance(85) {
        members.push(("s".to_owned(), mostly(Kind::Text, random)));
    }
    if random.chance(60) {
        members.push(("tags".to_owned(), tags(random)));
    }
    Value::Object(members)
}

fn inner(random: &mut Random) -> Value {
    let mut members =
        vec![("x".to_owned(), mostly(Kind::Number, random)), ("y".to_owned(), mostly(Kind::Text, random))];
    if random.chance(30) {
        members.reverse();
    }
    members.truncate(random.below(4).min(2));
    Value::Object(members)
}

pub fn of_kind(kind: Kind, random: &mut Random) -> Value {
    match kind {
        Kind::Number if random.chance(2) => Value::from(random.pick(&LARGE)),
        Kind::Number => Value::from(random.pick(&NUMBERS)),
        Kind::Text => Value::from(random.pick(&TEXTS)),
        Kind::Truth => Value::Bool(random.chance(50)),
        Kind::List => {
            let count = random.below(4);
            Value::Array((0..count).map(|_| scalar(random)).collect())
        }
        Kind::Object => inner(random),
    }
}
