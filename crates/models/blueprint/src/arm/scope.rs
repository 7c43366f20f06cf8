//! Name resolution in a template: parameters, variables, and the iteration of a copy loop.

use super::expression::{self, Expression};
use super::functions;
use crate::budget::Budget;
use crate::node::{Data, Fault, Location, Member, Node, fault};
use crate::source::Variables;
use std::collections::BTreeMap;

#[derive(Clone)]
pub(super) struct Scope<'t> {
    template: &'t Node,
    /// Parameters given by the outer template, if there is one.
    given: BTreeMap<String, Node>,
    /// Parameters from the command line; for the outermost template only.
    variables: Option<&'t Variables>,
    /// The enclosing loops, the innermost last.
    turns: Vec<(String, i64)>,
    budget: &'t Budget,
}

impl<'t> Scope<'t> {
    pub fn of_template(template: &'t Node, variables: &'t Variables, budget: &'t Budget) -> Self {
        Self { template, given: BTreeMap::new(), variables: Some(variables), turns: Vec::new(), budget }
    }

    /// The scope of a nested template.
    pub fn inner(&self, template: &'t Node, given: BTreeMap<String, Node>) -> Self {
        Self { template, given, variables: None, turns: Vec::new(), budget: self.budget }
    }

    /// The same scope in one iteration of a loop.
    pub fn iteration(&self, name: &str, iteration: i64) -> Self {
        let mut scope = self.clone();
        scope.turns.push((name.to_owned(), iteration));
        scope
    }

    pub fn budget(&self) -> &'t Budget {
        self.budget
    }

    /// The value with all its expressions evaluated.
    pub fn value(&self, node: &Node) -> Result<Node, Fault> {
        self.budget.deeper(node.at, || match &node.data {
            Data::Text(text) => match expression::inside(text) {
                Some(inside) => {
                    let found = self.evaluate(&expression::parse(inside, node.at)?, node.at)?;
                    Ok(Node { at: node.at, ..found })
                }
                None => Ok(Node::text(
                    node.at,
                    text.strip_prefix('[').filter(|rest| rest.starts_with('[')).unwrap_or(text),
                )),
            },
            Data::List(list) => {
                let list = list.iter().map(|one| self.value(one)).collect::<Result<_, _>>()?;
                Ok(Node::new(node.at, Data::List(list)))
            }
            Data::Map(members) => {
                let member =
                    |member: &Member| Ok(Member { value: self.value(&member.value)?, ..member.clone() });
                let members = members.iter().map(member).collect::<Result<_, Fault>>()?;
                Ok(Node::new(node.at, Data::Map(members)))
            }
            Data::Null | Data::Bool(_) | Data::Number(_) => Ok(node.clone()),
        })
    }

    pub fn evaluate(&self, expression: &Expression, at: Location) -> Result<Node, Fault> {
        self.budget.deeper(at, || match expression {
            Expression::Text(text) => Ok(Node::text(at, text)),
            Expression::Number(number) => Ok(Node::number(at, *number)),
            Expression::Call { name, arguments } => functions::call(self, name, arguments, at),
            Expression::Member { of, name } => member(&self.evaluate(of, at)?, name, at),
            Expression::Index { of, at: index } => {
                let (of, index) = (self.evaluate(of, at)?, self.evaluate(index, at)?);
                match index.as_text() {
                    Some(name) => member(&of, name, at),
                    None => element(&of, index.expect_integer("an index")?, at),
                }
            }
        })
    }

    pub fn parameter(&self, name: &str, at: Location) -> Result<Node, Fault> {
        let declared = self.template.get("parameters").and_then(|all| all.get(name));
        let Some(declared) = declared else {
            return fault(at, format!("the template has no parameter '{name}'"));
        };
        if let Some(text) = self.variables.and_then(|variables| variables.get(name)) {
            return from_command_line(name, text, declared);
        }
        if let Some(given) = self.given.get(name) {
            return Ok(given.clone());
        }
        match declared.get("defaultValue") {
            Some(value) => self.value(value),
            None => {
                let reason =
                    format!("the parameter '{name}' has no default value; give it with --var {name}=...");
                fault(declared.at, reason)
            }
        }
    }

    pub fn variable(&self, name: &str, at: Location) -> Result<Node, Fault> {
        match self.template.get("variables").and_then(|all| all.get(name)) {
            Some(value) => self.value(value),
            None => fault(at, format!("the template has no variable '{name}'")),
        }
    }

    /// The iteration of the loop with this name, or of the innermost.
    pub fn copy_index(&self, name: Option<&str>, at: Location) -> Result<i64, Fault> {
        let found = self.turns.iter().rev().find(|(known, _)| name.is_none_or(|name| name == known));
        found
            .map(|(_, iteration)| *iteration)
            .ok_or_else(|| Fault { at, reason: "copyIndex stands in no copy loop".to_owned() })
    }
}

/// Converts the text to the parameter's type.
fn from_command_line(name: &str, text: &str, declared: &Node) -> Result<Node, Fault> {
    let at = declared.at;
    let kind = declared.get("type").and_then(Node::as_text).unwrap_or("string").to_ascii_lowercase();
    if matches!(kind.as_str(), "string" | "securestring") {
        return Ok(Node::text(at, text));
    }
    match serde_json::from_str(text) {
        Ok(value) => Ok(Node::of_value(at, value)),
        Err(_) => fault(
            at,
            format!("the parameter '{name}' is of type {kind}, and --var {name}={text} is not JSON"),
        ),
    }
}

fn member(of: &Node, name: &str, at: Location) -> Result<Node, Fault> {
    let Data::Map(members) = &of.data else {
        return fault(at, format!("what has no members is asked for '{name}'"));
    };
    let found = members.iter().find(|member| member.name.eq_ignore_ascii_case(name));
    found
        .map(|member| member.value.clone())
        .ok_or_else(|| Fault { at, reason: format!("there is no member '{name}'") })
}

fn element(of: &Node, index: i64, at: Location) -> Result<Node, Fault> {
    let list = of.expect_list("what is indexed")?;
    let found = usize::try_from(index).ok().and_then(|index| list.get(index));
    found.cloned().ok_or_else(|| Fault { at, reason: format!("the list has no element {index}") })
}
