//! Terraform's functions, as far as names and settings of containers use them.

use super::scope::shown;
use crate::node::{Data, Fault, Location, Member, Node, fault};

pub(super) fn call(name: &str, given: Vec<Node>, at: Location) -> Result<Node, Fault> {
    let first = || given.first().ok_or_else(|| Fault { at, reason: format!("{name} needs an argument") });
    let text = |text: String| Ok(Node::text(at, text));
    let list = |list: Vec<Node>| Ok(Node::new(at, Data::List(list)));
    match name {
        "toset" => list(distinct(first()?.expect_list("what toset is given")?)),
        "distinct" => list(distinct(first()?.expect_list("what distinct is given")?)),
        "tolist" => list(first()?.expect_list("what tolist is given")?.to_vec()),
        "tomap" => Ok(first()?.clone()),
        "tostring" => text(shown(first()?)?),
        "tonumber" => Ok(Node::number(at, first()?.expect_integer("what tonumber is given")?)),
        "tobool" => Ok(Node::new(at, Data::Bool(first()?.expect_bool("what tobool is given")?))),
        "lower" => text(shown(first()?)?.to_lowercase()),
        "upper" => text(shown(first()?)?.to_uppercase()),
        "trimspace" => text(shown(first()?)?.trim().to_owned()),
        "join" => join(&given, at),
        "format" => format(&given, at),
        "concat" => {
            let lists = given.iter().map(|one| one.expect_list("what concat is given"));
            list(lists.collect::<Result<Vec<_>, _>>()?.concat())
        }
        "merge" => merge(given, at),
        "length" => {
            let length = match &first()?.data {
                Data::List(list) => list.len(),
                Data::Map(members) => members.len(),
                Data::Text(text) => text.chars().count(),
                _ => return fault(at, "length is given what has none"),
            };
            Ok(Node::number(at, i64::try_from(length).unwrap_or(i64::MAX)))
        }
        "keys" => {
            let members = first()?.expect_map("what keys is given")?;
            list(members.iter().map(|member| Node::text(at, &*member.name)).collect())
        }
        "values" => {
            let members = first()?.expect_map("what values is given")?;
            list(members.iter().map(|member| member.value.clone()).collect())
        }
        "lookup" => lookup(&given, at),
        "coalesce" => {
            let is_given = |one: &&Node| one.data != Data::Null && one.as_text() != Some("");
            let found = given.iter().find(is_given).cloned();
            found.ok_or_else(|| Fault { at, reason: "coalesce is given nothing".to_owned() })
        }
        _ => fault(
            at,
            format!("the function {name} is not evaluated here; write its value, or give it with --var"),
        ),
    }
}

fn distinct(list: &[Node]) -> Vec<Node> {
    let mut seen = std::collections::BTreeSet::new();
    list.iter().filter(|one| seen.insert(one.to_value().to_string())).cloned().collect()
}

fn join(given: &[Node], at: Location) -> Result<Node, Fault> {
    let [separator, list] = given else { return fault(at, "join needs a separator and a list") };
    let parts = list.expect_list("what join is given")?.iter().map(shown).collect::<Result<Vec<_>, _>>()?;
    Ok(Node::text(at, parts.join(separator.expect_text("a separator")?)))
}

/// `%s`, `%d`, `%v` and `%%`.
fn format(given: &[Node], at: Location) -> Result<Node, Fault> {
    let Some((text, values)) = given.split_first() else { return fault(at, "format needs a text") };
    let (mut made, mut values) = (String::new(), values.iter());
    let mut characters = text.expect_text("what format is given")?.chars();
    while let Some(one) = characters.next() {
        match one {
            '%' => match characters.next() {
                Some('%') => made.push('%'),
                Some('s' | 'd' | 'v') => match values.next() {
                    Some(value) => made.push_str(&shown(value)?),
                    None => return fault(at, "format is given too few values"),
                },
                _ => return fault(at, "format knows %s, %d, %v and %% here"),
            },
            other => made.push(other),
        }
    }
    Ok(Node::text(at, made))
}

/// Later arguments win.
fn merge(given: Vec<Node>, at: Location) -> Result<Node, Fault> {
    let mut members: Vec<Member> = Vec::new();
    for one in given {
        let more = one.expect_map("what merge is given")?;
        members.retain(|known| !more.iter().any(|member| member.name == known.name));
        members.extend(more.iter().cloned());
    }
    Ok(Node::new(at, Data::Map(members)))
}

fn lookup(given: &[Node], at: Location) -> Result<Node, Fault> {
    let [map, name, rest @ ..] = given else { return fault(at, "lookup needs an object and a name") };
    let found = map.get(name.expect_text("a name")?).or(rest.first());
    found.cloned().ok_or_else(|| Fault { at, reason: "lookup finds nothing and has no default".to_owned() })
}
