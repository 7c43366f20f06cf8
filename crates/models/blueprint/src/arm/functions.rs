//! ARM's functions, as far as Cosmos DB resources use them.
//!
//! Functions that only Azure can evaluate, such as the name of the resource group, return a placeholder: they
//! produce names of accounts and locations, and neither matters here. `reference` and the like are refused if
//! their value is needed.

use super::expression::Expression;
use super::scope::Scope;
use crate::node::{Data, Fault, Location, Member, Node, fault};
use serde_json::json;

pub(super) fn call(
    scope: &Scope<'_>,
    name: &str,
    arguments: &[Expression],
    at: Location,
) -> Result<Node, Fault> {
    let argument = |number: usize| match arguments.get(number) {
        Some(argument) => scope.evaluate(argument, at),
        None => fault(at, format!("{name} needs {} or more arguments", number + 1)),
    };
    let all = || arguments.iter().map(|argument| scope.evaluate(argument, at)).collect::<Result<Vec<_>, _>>();
    let text = |text: String| {
        scope.budget().spend(at, text.len())?;
        Ok(Node::text(at, text))
    };
    let bool = |bool| Ok(Node::new(at, Data::Bool(bool)));
    match name.to_ascii_lowercase().as_str() {
        "parameters" => scope.parameter(argument(0)?.expect_text("the name of a parameter")?, at),
        "variables" => scope.variable(argument(0)?.expect_text("the name of a variable")?, at),
        "copyindex" => copy_index(scope, &all()?, at),
        "concat" => concat(scope, &all()?, at),
        "format" => text(format(&all()?, at)?),
        "resourceid" | "subscriptionresourceid" | "extensionresourceid" | "tenantresourceid" => {
            text(all()?.iter().map(shown).collect::<Result<Vec<_>, _>>()?.join("/"))
        }
        "uniquestring" | "guid" => text(stand_in(&all()?)?),
        "resourcegroup" | "subscription" | "deployment" | "environment" | "tenant" => Ok(Node::of_value(
            at,
            json!({"id": "/local", "name": "local", "location": "local", "subscriptionId": "local", "tenantId": "local"}),
        )),
        "tolower" => text(argument(0)?.expect_text("what tolower is given")?.to_lowercase()),
        "toupper" => text(argument(0)?.expect_text("what toupper is given")?.to_uppercase()),
        "trim" => text(argument(0)?.expect_text("what trim is given")?.trim().to_owned()),
        "string" => text(shown(&argument(0)?)?),
        "replace" => {
            let (of, from, to) = (argument(0)?, argument(1)?, argument(2)?);
            let [of, from, to] = [&of, &from, &to].map(|node| node.expect_text("what replace is given"));
            let (of, from, to) = (of?, from?, to?);
            // Every position between two bytes may be replaced by `to`.
            scope.budget().spend(at, (of.len() + 1).saturating_mul(to.len()))?;
            text(of.replace(from, to))
        }
        "int" => Ok(Node::number(at, argument(0)?.expect_integer("what int is given")?)),
        "bool" => bool(argument(0)?.expect_bool("what bool is given")?),
        "json" => {
            let given = argument(0)?;
            let parsed = serde_json::from_str(given.expect_text("what json is given")?);
            parsed
                .map(|value| Node::of_value(at, value))
                .or_else(|_| fault(at, "json is given text that is not JSON"))
        }
        "null" => Ok(Node::new(at, Data::Null)),
        "true" => bool(true),
        "false" => bool(false),
        "not" => bool(!argument(0)?.expect_bool("what not is given")?),
        "and" => all_bool(&all()?, |found, one| found && one, true).and_then(bool),
        "or" => all_bool(&all()?, |found, one| found || one, false).and_then(bool),
        "equals" => bool(argument(0)?.to_value() == argument(1)?.to_value()),
        // Only the selected side is evaluated.
        "if" => argument(if argument(0)?.expect_bool("the condition of if")? { 1 } else { 2 }),
        "coalesce" => {
            Ok(all()?.into_iter().find(|one| one.data != Data::Null).unwrap_or(Node::new(at, Data::Null)))
        }
        "empty" => bool(length(&argument(0)?) == 0),
        "length" => Ok(Node::number(at, i64::try_from(length(&argument(0)?)).unwrap_or(i64::MAX))),
        "contains" => contains(&argument(0)?, &argument(1)?).and_then(bool),
        "first" => Ok(argument(0)?
            .expect_list("what first is given")?
            .first()
            .cloned()
            .unwrap_or(Node::new(at, Data::Null))),
        "last" => Ok(argument(0)?
            .expect_list("what last is given")?
            .last()
            .cloned()
            .unwrap_or(Node::new(at, Data::Null))),
        "createarray" => Ok(Node::new(at, Data::List(all()?))),
        "createobject" => create_object(all()?, at),
        "union" => union(scope, all()?, at),
        "range" => {
            range(scope, argument(0)?.expect_integer("a start")?, argument(1)?.expect_integer("a count")?, at)
        }
        _ => fault(
            at,
            format!("the value of {name}(...) cannot be known here; write it out, or make it a parameter"),
        ),
    }
}

fn copy_index(scope: &Scope<'_>, given: &[Node], at: Location) -> Result<Node, Fault> {
    let (name, offset) = match given {
        [] => (None, 0),
        [one] => match one.as_text() {
            Some(name) => (Some(name), 0),
            None => (None, one.expect_integer("an offset")?),
        },
        [name, offset, ..] => {
            (Some(name.expect_text("the name of a loop")?), offset.expect_integer("an offset")?)
        }
    };
    Ok(Node::number(at, scope.copy_index(name, at)?.saturating_add(offset)))
}

/// For strings or lists.
fn concat(scope: &Scope<'_>, given: &[Node], at: Location) -> Result<Node, Fault> {
    if given.first().is_some_and(|first| matches!(first.data, Data::List(_))) {
        let lists = given.iter().map(|one| one.expect_list("what concat is given"));
        let joined: Vec<Node> = lists.collect::<Result<Vec<_>, _>>()?.concat();
        let joined = Node::new(at, Data::List(joined));
        scope.budget().spend(at, joined.size())?;
        return Ok(joined);
    }
    let joined: String = given.iter().map(shown).collect::<Result<Vec<_>, _>>()?.concat();
    scope.budget().spend(at, joined.len())?;
    Ok(Node::text(at, joined))
}

/// `{0}` is replaced by the first argument after the format; `{{` is a literal brace.
fn format(given: &[Node], at: Location) -> Result<String, Fault> {
    let Some((text, values)) = given.split_first() else { return fault(at, "format needs a text") };
    let (mut made, mut rest) = (String::new(), text.expect_text("what format is given")?);
    while let Some(brace) = rest.find(['{', '}']) {
        made.push_str(&rest[..brace]);
        let after = &rest[brace + 1..];
        if after.starts_with(&rest[brace..=brace]) {
            made.push_str(&rest[brace..=brace]);
            rest = &after[1..];
            continue;
        }
        let Some((number, after)) = after.split_once('}') else {
            return fault(at, "format is given an open brace");
        };
        let number = number.split([':', ',']).next().and_then(|number| number.trim().parse::<usize>().ok());
        match number.and_then(|number| values.get(number)) {
            Some(value) => made.push_str(&shown(value)?),
            None => return fault(at, "format is given a place for a value that it is not given"),
        }
        rest = after;
    }
    made.push_str(rest);
    Ok(made)
}

fn shown(node: &Node) -> Result<String, Fault> {
    Ok(match &node.data {
        Data::Null => String::new(),
        Data::Bool(true) => "True".to_owned(),
        Data::Bool(false) => "False".to_owned(),
        Data::Number(number) => number.to_string(),
        Data::Text(text) => text.clone(),
        Data::List(_) | Data::Map(_) => node.to_value().to_string(),
    })
}

/// Thirteen characters derived from the arguments; Azure's own also depend on the subscription.
fn stand_in(given: &[Node]) -> Result<String, Fault> {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for one in given {
        for byte in shown(one)?.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    let letter = |shift: u32| char::from(b'a' + u8::try_from((hash >> (shift * 4)) & 15).unwrap_or_default());
    Ok((0..13).map(letter).collect())
}

fn all_bool(given: &[Node], fold: fn(bool, bool) -> bool, start: bool) -> Result<bool, Fault> {
    given.iter().try_fold(start, |found, one| Ok(fold(found, one.expect_bool("a condition")?)))
}

fn length(node: &Node) -> usize {
    match &node.data {
        Data::Null => 0,
        Data::Bool(_) | Data::Number(_) => 1,
        Data::Text(text) => text.chars().count(),
        Data::List(list) => list.len(),
        Data::Map(members) => members.len(),
    }
}

fn contains(of: &Node, what: &Node) -> Result<bool, Fault> {
    Ok(match &of.data {
        Data::Text(text) => text.contains(what.expect_text("what contains looks for")?),
        Data::List(list) => list.iter().any(|one| one.to_value() == what.to_value()),
        Data::Map(members) => {
            let name = what.expect_text("what contains looks for")?;
            members.iter().any(|member| member.name.eq_ignore_ascii_case(name))
        }
        Data::Null | Data::Bool(_) | Data::Number(_) => false,
    })
}

fn create_object(given: Vec<Node>, at: Location) -> Result<Node, Fault> {
    let mut members: Vec<Member> = Vec::new();
    let mut given = given.into_iter();
    while let (Some(name), Some(value)) = (given.next(), given.next()) {
        members.push(Member { name: name.expect_text("a name")?.to_owned(), at, value });
    }
    Ok(Node::new(at, Data::Map(members)))
}

/// Merges objects, where the later wins, or lists.
fn union(scope: &Scope<'_>, given: Vec<Node>, at: Location) -> Result<Node, Fault> {
    let (mut members, mut list): (Vec<Member>, Vec<Node>) = (Vec::new(), Vec::new());
    for one in given {
        scope.budget().spend(at, one.size())?;
        match one.data {
            Data::Map(more) => {
                members.retain(|known| !more.iter().any(|member| member.name == known.name));
                members.extend(more);
            }
            Data::List(more) => list.extend(more),
            _ => return fault(at, "union is given what is neither an object nor a list"),
        }
    }
    Ok(Node::new(at, if members.is_empty() { Data::List(list) } else { Data::Map(members) }))
}

fn range(scope: &Scope<'_>, start: i64, count: i64, at: Location) -> Result<Node, Fault> {
    scope.budget().spend(at, usize::try_from(count).unwrap_or(usize::MAX))?;
    let numbers = (0..count).map(|step| Node::number(at, start.saturating_add(step)));
    Ok(Node::new(at, Data::List(numbers.collect())))
}
