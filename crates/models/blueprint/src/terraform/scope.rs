//! Evaluates expressions in their scope.

use super::functions;
use super::module::{Declared, File, Module};
use super::storage;
use crate::node::{Data, Fault, Location, Member, Node, fault};
use hcl_edit::expr::{
    BinaryOperator, Expression, ForExpr, ObjectKey, Traversal, TraversalOperator, UnaryOperator,
};
use hcl_edit::template::{Element, Template};
use std::collections::BTreeMap;
use std::ops::Deref;

/// The scope of an expression: its file, and the values of `each`, `count` and the variables of `for`.
#[derive(Clone)]
pub(super) struct Scope<'m> {
    pub module: &'m Module<'m>,
    pub file: &'m File,
    names: BTreeMap<String, Node>,
}

impl<'m> Scope<'m> {
    pub fn new(module: &'m Module<'m>, file: &'m File) -> Self {
        Self { module, file, names: BTreeMap::new() }
    }

    fn elsewhere(&self, file: &'m File) -> Self {
        Self::new(self.module, file)
    }

    /// A scope with one more variable.
    pub fn with(&self, name: &str, value: Node) -> Self {
        let mut scope = self.clone();
        scope.names.insert(name.to_owned(), value);
        scope
    }

    pub fn at(&self, expression: &Expression) -> Location {
        self.file.place(expression)
    }

    pub fn value(&self, expression: &Expression) -> Result<Node, Fault> {
        let at = self.at(expression);
        self.module.budget.deeper(at, || self.evaluate(expression, at))
    }

    fn evaluate(&self, expression: &Expression, at: Location) -> Result<Node, Fault> {
        match expression {
            Expression::Null(_) => Ok(Node::new(at, Data::Null)),
            Expression::Bool(bool) => Ok(Node::new(at, Data::Bool(*bool.value()))),
            Expression::Number(number) => number_node(number.value(), at),
            Expression::String(text) => Ok(Node::text(at, text.value())),
            Expression::Array(array) => {
                let list = array.iter().map(|one| self.value(one)).collect::<Result<_, _>>()?;
                Ok(Node::new(at, Data::List(list)))
            }
            Expression::Object(object) => {
                let mut members = Vec::new();
                for (key, value) in object.iter() {
                    let name = match key {
                        ObjectKey::Ident(name) => name.as_str().to_owned(),
                        ObjectKey::Expression(Expression::Variable(name)) => name.as_str().to_owned(),
                        ObjectKey::Expression(key) => shown(&self.value(key)?)?,
                    };
                    members.push(Member { name, at, value: self.value(value.expr())? });
                }
                Ok(Node::new(at, Data::Map(members)))
            }
            Expression::StringTemplate(template) => {
                let mut text = String::new();
                template.iter().try_for_each(|element| self.element(element, at, &mut text))?;
                self.module.budget.spend(at, text.len())?;
                Ok(Node::text(at, text))
            }
            Expression::HeredocTemplate(heredoc) => self.template(&heredoc.template, at),
            Expression::Parenthesis(inner) => self.value(inner.inner()),
            Expression::Variable(name) => self.name(name.as_str(), at),
            Expression::Conditional(choice) => {
                let is_so = self.value(&choice.cond_expr)?.expect_bool("a condition")?;
                self.value(if is_so { &choice.true_expr } else { &choice.false_expr })
            }
            Expression::FuncCall(call) => {
                let arguments = call.args.iter().map(|one| self.value(one)).collect::<Result<Vec<_>, _>>()?;
                let made = functions::call(call.name.name.as_str(), arguments, at)?;
                self.module.budget.spend(at, made.size())?;
                Ok(made)
            }
            Expression::Traversal(traversal) => self.traversal(traversal, at),
            Expression::UnaryOp(operation) => {
                let value = self.value(&operation.expr)?;
                match *operation.operator.value() {
                    UnaryOperator::Not => {
                        Ok(Node::new(at, Data::Bool(!value.expect_bool("what ! is given")?)))
                    }
                    UnaryOperator::Neg => {
                        Ok(Node::number(at, value.expect_integer("what - is given")?.saturating_neg()))
                    }
                }
            }
            Expression::BinaryOp(operation) => {
                let (left, right) = (self.value(&operation.lhs_expr)?, self.value(&operation.rhs_expr)?);
                binary(*operation.operator.value(), &left, &right, at)
            }
            Expression::ForExpr(each) => self.for_each(each, at),
        }
    }

    fn template(&self, template: &Template, at: Location) -> Result<Node, Fault> {
        let mut text = String::new();
        template.iter().try_for_each(|element| self.element(element, at, &mut text))?;
        self.module.budget.spend(at, text.len())?;
        Ok(Node::text(at, text))
    }

    fn element(&self, element: &Element, at: Location, text: &mut String) -> Result<(), Fault> {
        match element {
            Element::Literal(literal) => text.push_str(literal.deref()),
            Element::Interpolation(inner) => text.push_str(&shown(&self.value(&inner.expr)?)?),
            Element::Directive(_) => return fault(at, "directives (%{...}) in texts are not evaluated here"),
        }
        Ok(())
    }

    fn name(&self, name: &str, at: Location) -> Result<Node, Fault> {
        match self.names.get(name) {
            Some(value) => Ok(value.clone()),
            None => fault(at, format!("'{name}' means nothing here")),
        }
    }

    fn for_each(&self, each: &ForExpr, at: Location) -> Result<Node, Fault> {
        let collection = self.value(&each.intro.collection_expr)?;
        let (mut list, mut members): (Vec<Node>, Vec<Member>) = (Vec::new(), Vec::new());
        for (key, value) in entries(&collection)? {
            let mut scope = self.with(each.intro.value_var.as_str(), value);
            if let Some(name) = &each.intro.key_var {
                scope = scope.with(name.as_str(), key);
            }
            if let Some(condition) = &each.cond
                && !scope.value(&condition.expr)?.expect_bool("the condition of for")?
            {
                continue;
            }
            let value = scope.value(&each.value_expr)?;
            match &each.key_expr {
                None => list.push(value),
                Some(key) => {
                    let name = shown(&scope.value(key)?)?;
                    members.retain(|known| known.name != name);
                    members.push(Member { name, at, value });
                }
            }
        }
        Ok(Node::new(at, if each.key_expr.is_some() { Data::Map(members) } else { Data::List(list) }))
    }

    fn traversal(&self, traversal: &Traversal, at: Location) -> Result<Node, Fault> {
        let mut operators: Vec<&TraversalOperator> =
            traversal.operators.iter().map(|one| one.value()).collect();
        let Expression::Variable(root) = &traversal.expr else {
            return self.walk(self.value(&traversal.expr)?, &operators, at);
        };
        let text = written(root.as_str(), &operators);
        if let Some(given) = text.as_deref().and_then(|text| self.module.variables.get(text)) {
            return Ok(Node::text(at, given));
        }
        if let Some(value) = self.names.get(root.as_str()) {
            return self.walk(value.clone(), &operators, at);
        }
        let mut names = Vec::new();
        while let Some(TraversalOperator::GetAttr(name)) = operators.first() {
            names.push(name.as_str());
            operators.remove(0);
        }
        match (root.as_str(), names.as_slice()) {
            ("var", [name, rest @ ..]) => self.walk(dig(self.variable(name, at)?, rest, at)?, &operators, at),
            ("local", [name, rest @ ..]) => match self.module.local(name) {
                Some((file, value)) => {
                    self.walk(dig(self.elsewhere(file).value(value)?, rest, at)?, &operators, at)
                }
                None => fault(at, format!("there is no local value '{name}'")),
            },
            ("data", [kind, name, rest @ ..]) => {
                self.attribute(&format!("data.{kind}"), name, rest, &operators, text, at)
            }
            (kind, [name, rest @ ..]) => self.attribute(kind, name, rest, &operators, text, at),
            (root, []) => fault(at, format!("'{root}' means nothing here")),
        }
    }

    fn variable(&self, name: &str, at: Location) -> Result<Node, Fault> {
        let Some(declared) = self.module.variable(name) else {
            return fault(at, format!("there is no variable '{name}'; declare it in one of the files"));
        };
        let body = &declared.block.body;
        if let Some(text) = self.module.variables.get(name) {
            let is_text = body.get_attribute("type").is_none_or(
                |kind| matches!(&kind.value, Expression::Variable(kind) if kind.as_str() == "string"),
            );
            if is_text {
                return Ok(Node::text(declared.at(), text));
            }
            return match text.parse::<Expression>() {
                Ok(value) => self.elsewhere(declared.file).value(&value),
                Err(_) => fault(declared.at(), format!("--var {name}={text} is not a value of Terraform")),
            };
        }
        match body.get_attribute("default") {
            Some(default) => self.elsewhere(declared.file).value(&default.value),
            None => {
                let reason = format!("the variable '{name}' has no default; give it with --var {name}=...");
                fault(declared.at(), reason)
            }
        }
    }

    /// An attribute of a resource, as far as the files determine it.
    fn attribute(
        &self,
        kind: &str,
        name: &str,
        rest: &[&str],
        operators: &[&TraversalOperator],
        text: Option<String>,
        at: Location,
    ) -> Result<Node, Fault> {
        let unknown = |what: &str| {
            let how = match &text {
                Some(text) => format!("; give it with --var {text}=..."),
                None => String::new(),
            };
            fault(at, format!("{what}{how}"))
        };
        let Some(declared) = self.module.resource(kind, name) else {
            return unknown(&format!("there is no {kind}.{name} in the files"));
        };
        let mut scope = self.elsewhere(declared.file);
        let (mut operators, mut rest) = (operators, rest.to_vec());
        if let Some((TraversalOperator::Index(key), after)) =
            operators.split_first().filter(|_| rest.is_empty())
        {
            scope = scope.of_turn(declared, &self.value(key)?)?;
            let names = after.iter().map_while(|one| match one {
                TraversalOperator::GetAttr(name) => Some(name.as_str()),
                _ => None,
            });
            rest = names.collect();
            operators = &after[rest.len()..];
        }
        let Some((wanted, rest)) = rest.split_first() else {
            return unknown(&format!("{kind}.{name} as a whole is not known before it is made"));
        };
        match declared.block.body.get_attribute(wanted) {
            Some(attribute) => self.walk(dig(scope.value(&attribute.value)?, rest, at)?, operators, at),
            None if matches!(*wanted, "id" | "resource_manager_id") => {
                let path = storage::path(&scope, kind, declared)?;
                Ok(Node::text(at, path.unwrap_or_else(|| format!("{kind}.{name}"))))
            }
            None => unknown(&format!("the files do not say the '{wanted}' of {kind}.{name}")),
        }
    }

    /// The value of `each` for the resource with this key.
    fn of_turn(&self, declared: Declared<'m>, key: &Node) -> Result<Self, Fault> {
        let key = shown(key)?;
        for (scope, iteration) in turns(self.module, declared)? {
            if iteration.is_some_and(|iteration| iteration == key) {
                return Ok(scope);
            }
        }
        fault(declared.at(), format!("there is no '{key}' among these"))
    }

    fn walk(&self, mut value: Node, operators: &[&TraversalOperator], at: Location) -> Result<Node, Fault> {
        for operator in operators {
            value = match operator {
                TraversalOperator::GetAttr(name) => dig(value, &[name.as_str()], at)?,
                TraversalOperator::Index(index) => {
                    let index = self.value(index)?;
                    match &value.data {
                        Data::List(_) => element(&value, index.expect_integer("an index")?, at)?,
                        _ => dig(value, &[&shown(&index)?], at)?,
                    }
                }
                TraversalOperator::LegacyIndex(index) => {
                    element(&value, i64::try_from(*index.value()).unwrap_or(i64::MAX), at)?
                }
                TraversalOperator::AttrSplat(_) | TraversalOperator::FullSplat(_) => {
                    return fault(at, "[*] is not evaluated here; use a for expression");
                }
            };
        }
        Ok(value)
    }
}

/// A scope and key for each resource that a block creates: `for_each`, `count`, or one.
pub(super) fn turns<'m>(
    module: &'m Module<'m>,
    declared: Declared<'m>,
) -> Result<Vec<(Scope<'m>, Option<String>)>, Fault> {
    let scope = Scope::new(module, declared.file);
    let body = &declared.block.body;
    if let Some(each) = body.get_attribute("for_each") {
        let collection = scope.value(&each.value)?;
        let iteration = |(key, value): (Node, Node)| {
            // A set's elements are their own keys.
            let key = if matches!(collection.data, Data::List(_)) { value.clone() } else { key };
            let (at, name) = (key.at, shown(&key)?);
            let member = |name: &str, value| Member { name: name.to_owned(), at, value };
            let each = Node::new(at, Data::Map(vec![member("key", key), member("value", value)]));
            Ok((scope.with("each", each), Some(name)))
        };
        return entries(&collection)?.into_iter().map(iteration).collect();
    }
    if let Some(count) = body.get_attribute("count") {
        let times = scope.value(&count.value)?.expect_integer("'count'")?;
        let at = scope.at(&count.value);
        module.budget.spend(at, usize::try_from(times).unwrap_or(0).saturating_mul(64))?;
        let iteration = |index: i64| {
            let value = Node::number(at, index);
            let count = Node::new(at, Data::Map(vec![Member { name: "index".to_owned(), at, value }]));
            (scope.with("count", count), Some(index.to_string()))
        };
        return Ok((0..times).map(iteration).collect());
    }
    Ok(vec![(scope, None)])
}

/// Keys and values: an object's members, or a list's indexes and elements.
fn entries(collection: &Node) -> Result<Vec<(Node, Node)>, Fault> {
    match &collection.data {
        Data::Map(members) => Ok(members
            .iter()
            .map(|member| (Node::text(member.at, &*member.name), member.value.clone()))
            .collect()),
        Data::List(list) => {
            let number = |index: usize| Node::number(collection.at, i64::try_from(index).unwrap_or(i64::MAX));
            Ok(list.iter().enumerate().map(|(index, value)| (number(index), value.clone())).collect())
        }
        _ => fault(collection.at, "what is gone through must be a list or an object"),
    }
}

fn binary(operator: BinaryOperator, left: &Node, right: &Node, at: Location) -> Result<Node, Fault> {
    let bool = |bool| Ok(Node::new(at, Data::Bool(bool)));
    let numbers = || Ok((left.expect_integer("a number")?, right.expect_integer("a number")?));
    let bools = || Ok((left.expect_bool("a condition")?, right.expect_bool("a condition")?));
    let number = |made: Option<i64>| match made {
        Some(made) => Ok(Node::number(at, made)),
        None => fault(at, "the numbers come to one that is too large, or divide by nothing"),
    };
    match operator {
        BinaryOperator::Eq => bool(left.to_value() == right.to_value()),
        BinaryOperator::NotEq => bool(left.to_value() != right.to_value()),
        BinaryOperator::LessEq => numbers().and_then(|(a, b)| bool(a <= b)),
        BinaryOperator::GreaterEq => numbers().and_then(|(a, b)| bool(a >= b)),
        BinaryOperator::Less => numbers().and_then(|(a, b)| bool(a < b)),
        BinaryOperator::Greater => numbers().and_then(|(a, b)| bool(a > b)),
        BinaryOperator::And => bools().and_then(|(a, b)| bool(a && b)),
        BinaryOperator::Or => bools().and_then(|(a, b)| bool(a || b)),
        BinaryOperator::Plus => numbers().and_then(|(a, b)| number(a.checked_add(b))),
        BinaryOperator::Minus => numbers().and_then(|(a, b)| number(a.checked_sub(b))),
        BinaryOperator::Mul => numbers().and_then(|(a, b)| number(a.checked_mul(b))),
        BinaryOperator::Div => numbers().and_then(|(a, b)| number(a.checked_div(b))),
        BinaryOperator::Mod => numbers().and_then(|(a, b)| number(a.checked_rem(b))),
    }
}

fn number_node(number: &hcl_edit::Number, at: Location) -> Result<Node, Fault> {
    if let Some(whole) = number.as_i64() {
        return Ok(Node::number(at, whole));
    }
    match number.as_f64().and_then(serde_json::Number::from_f64) {
        Some(number) => Ok(Node::new(at, Data::Number(number))),
        None => fault(at, "the number is too large"),
    }
}

/// Terraform's string interpolation of a value.
pub(super) fn shown(node: &Node) -> Result<String, Fault> {
    match &node.data {
        Data::Text(text) => Ok(text.clone()),
        Data::Number(number) => Ok(number.to_string()),
        Data::Bool(bool) => Ok(bool.to_string()),
        Data::Null | Data::List(_) | Data::Map(_) => {
            fault(node.at, "this must be text, a number, or true or false")
        }
    }
}

fn dig(mut value: Node, names: &[&str], at: Location) -> Result<Node, Fault> {
    for name in names {
        let Data::Map(members) = value.data else {
            return fault(at, format!("what has no members is asked for '{name}'"));
        };
        value = match members.into_iter().find(|member| member.name == *name) {
            Some(member) => member.value,
            None => return fault(at, format!("there is no member '{name}'")),
        };
    }
    Ok(value)
}

fn element(of: &Node, index: i64, at: Location) -> Result<Node, Fault> {
    let list = of.expect_list("what is indexed")?;
    let found = usize::try_from(index).ok().and_then(|index| list.get(index));
    found.cloned().ok_or_else(|| Fault { at, reason: format!("the list has no element {index}") })
}

/// The reference as written, if it consists of names only: the name under which `--var` replaces it.
fn written(root: &str, operators: &[&TraversalOperator]) -> Option<String> {
    let mut text = root.to_owned();
    for operator in operators {
        let TraversalOperator::GetAttr(name) = operator else { return None };
        text.push('.');
        text.push_str(name.as_str());
    }
    Some(text)
}
