//! Splits an array of an item into separate items: the children of the remaining item, their parent.
//!
//! ```text
//! {id: w, steps: [{n: 7}, {n: 8}]}   ⇄   {id: w}  +  {id: s_w_000000, of: w, at: 0, n: 7}  {id: s_w_000001, of: w, at: 1, n: 8}
//! ```
//!
//! A child's id derives from its parent's id and its index, so that splitting twice gives the same items. A
//! foreign child has another id, which is kept in a member of its element. An empty array, or a value that is
//! not one, stays in the parent.

use crate::canonical::without_system;
use crate::{Path, Refusal, Step};
use orrery_core::limits;
use orrery_value::{Number, Value};
use std::collections::HashSet;

#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// The path of the array in the unsplit parent.
    pub array: Path,
    /// The children's container.
    pub container: String,
    /// `cp_{id}_{index}`
    pub id: String,
    /// Members of the child, with the parent's members that they repeat.
    pub carry: Vec<(Path, Path)>,
    /// The child's member for its index in the array.
    pub index: Path,
    /// The element's member for the id of a child with a foreign id.
    pub keep_id: Path,
    /// Further changes between an element and its child.
    pub steps: Vec<Step>,
}

const INDEX_DIGITS: usize = 6;

impl Split {
    /// Removes the array from the parent and returns the children.
    pub fn split(&self, parent: &mut Value) -> Result<Vec<Value>, Refusal> {
        match self.array.get(parent) {
            Value::Array(elements) if !elements.is_empty() => {}
            _ => return Ok(Vec::new()),
        }
        let Some(Value::Array(elements)) = self.array.take(parent) else { return Ok(Vec::new()) };
        let children = elements.into_iter().enumerate().map(|(at, element)| self.child(parent, at, element));
        let children: Vec<Value> = children.collect::<Result<_, _>>()?;
        let mut ids = HashSet::new();
        match children.iter().map(id_of).find(|id| !ids.insert(id.to_owned())) {
            Some(twice) => Err(Refusal(format!("two elements of {} have the id '{twice}'", self.array))),
            None => Ok(children),
        }
    }

    /// Inserts the children into the parent.
    pub fn join(&self, parent: &mut Value, children: &[Value]) -> Result<(), Refusal> {
        if children.is_empty() {
            return Ok(());
        }
        let mut children: Vec<Value> = children.iter().cloned().map(without_system).collect();
        // Children without an index come last.
        let place = |child: &Value| {
            (!self.index.is_in(child), self.index.get(child).clone(), id_of(child).to_owned())
        };
        children.sort_by_cached_key(place);
        let elements = children.into_iter().enumerate().map(|(at, child)| self.element(parent, at, child));
        let elements: Vec<Value> = elements.collect::<Result<_, _>>()?;
        if matches!(self.array.get(parent), Value::Array(empty) if empty.is_empty()) {
            self.array.take(parent);
        }
        self.array.put(parent, Value::Array(elements))
    }

    fn child(&self, parent: &Value, at: usize, element: Value) -> Result<Value, Refusal> {
        let place = |why: Refusal| Refusal(format!("element {at} of {}: {why}", self.array));
        self.child_of(parent, at, element).map_err(place)
    }

    fn child_of(&self, parent: &Value, at: usize, mut child: Value) -> Result<Value, Refusal> {
        if !matches!(child, Value::Object(_)) {
            return Err(Refusal("it is no object, and only objects become items".to_owned()));
        }
        let derived = self.derived_id(id_of(parent), at);
        let id = match self.keep_id.get(&child) {
            Value::Undefined => derived,
            Value::String(kept) if *kept != derived => {
                let kept = kept.clone();
                self.keep_id.take(&mut child);
                kept
            }
            _ => return Err(Refusal(format!("its member {} is not an id of its own", self.keep_id))),
        };
        if id.len() > limits::ITEM_ID_BYTES_MAX {
            return Err(Refusal("its id would be longer than an id may be".to_owned()));
        }
        self.steps.iter().try_for_each(|step| step.apply(&mut child))?;
        id_path().put(&mut child, Value::String(id))?;
        self.index.put(&mut child, Value::Number(Number::Int(at as i64)))?;
        for (to, from) in &self.carry {
            match from.get(parent) {
                Value::Undefined => {
                    return Err(Refusal(format!("the item has no member {from}, which its parts must name")));
                }
                value => to.put(&mut child, value.clone())?,
            }
        }
        Ok(child)
    }

    fn element(&self, parent: &Value, at: usize, mut child: Value) -> Result<Value, Refusal> {
        let id = id_of(&child).to_owned();
        let is_derived = id == self.derived_id(id_of(parent), at);
        for (path, _) in &self.carry {
            path.take(&mut child);
        }
        self.index.take(&mut child);
        id_path().take(&mut child);
        let undone = self.steps.iter().rev().try_for_each(|step| step.reversed().apply(&mut child));
        let kept = undone.and_then(|()| match is_derived {
            true => Ok(()),
            false => self.keep_id.put(&mut child, Value::String(id.clone())),
        });
        kept.map_err(|why| Refusal(format!("the part '{id}': {why}")))?;
        Ok(child)
    }

    fn derived_id(&self, parent: &str, at: usize) -> String {
        self.id.replace("{index}", &format!("{at:0INDEX_DIGITS$}")).replace("{id}", parent)
    }
}

pub(crate) fn id_of(item: &Value) -> &str {
    match item.member("id") {
        Value::String(id) => id,
        _ => "",
    }
}

fn id_path() -> Path {
    Path::parse("/id").expect("a path")
}
