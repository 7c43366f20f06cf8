//! Changing JSON text in place: find a value by its path, and put other text where it was.
//!
//! The text was scanned before, so the grammar holds. Only the containers on the way are walked, and all that no
//! operation names is copied as it is.

use super::{Operation, OperationKind, Reason, pointer};
use orrery_value::{Number, raw};
use std::ops::Range;

pub(super) fn apply(operation: &Operation, text: &str) -> Result<String, Reason> {
    let path = &operation.path;
    match &operation.kind {
        OperationKind::Add { value } => add(text, path, value),
        OperationKind::Set { value } => set(text, path, value),
        OperationKind::Replace { value } => replace(text, path, value),
        OperationKind::Remove => Ok(splice(text, existing(text, path, Reason::Missing)?.whole, "")),
        OperationKind::Increment { by } => increment(text, path, *by),
        OperationKind::Move { from } => shift(text, from, path),
    }
}

/// Where something is in the text.
struct Found {
    /// The value alone.
    value: Range<usize>,
    /// The value with its name and the comma that goes with it.
    whole: Range<usize>,
}

/// A child of an object or an array: its value, and where it begins (a member, at its name's quote).
struct Child<'t> {
    name: Option<&'t str>,
    start: usize,
    value: Range<usize>,
}

/// A place for the last segment of a path.
enum Locator {
    There(Found),
    /// No such member, but it may be made: here, behind this comma if it is not the first.
    Free {
        at: usize,
        comma: &'static str,
    },
}

fn add(text: &str, path: &[String], value: &str) -> Result<String, Reason> {
    let (parent, leaf) = parent(text, path)?;
    if parent.is_array(text) {
        return insert(text, &parent, leaf, value);
    }
    put_member(text, &parent, leaf, value)
}

fn set(text: &str, path: &[String], value: &str) -> Result<String, Reason> {
    let (parent, leaf) = parent(text, path)?;
    if parent.is_array(text) && leaf != "-" {
        return replace(text, path, value);
    }
    add(text, path, value)
}

fn replace(text: &str, path: &[String], value: &str) -> Result<String, Reason> {
    Ok(splice(text, existing(text, path, Reason::Missing)?.value, value))
}

fn increment(text: &str, path: &[String], by: Number) -> Result<String, Reason> {
    let (parent, leaf) = parent(text, path)?;
    match place(text, &parent, leaf, Reason::Missing)? {
        Locator::There(found) => {
            let number = Number::parse(&text[found.value.clone()]).ok_or(Reason::NotANumber)?;
            Ok(splice(text, found.value, &written(sum(number, by)?)))
        }
        Locator::Free { .. } => put_member(text, &parent, leaf, &written(by)),
    }
}

/// Integers stay integers as long as one holds the sum.
fn sum(number: Number, by: Number) -> Result<Number, Reason> {
    if let (Number::Int(a), Number::Int(b)) = (number, by)
        && let Some(sum) = a.checked_add(b)
    {
        return Ok(Number::Int(sum));
    }
    let sum = number.as_f64() + by.as_f64();
    if sum.is_finite() { Ok(Number::Float(sum)) } else { Err(Reason::Overflow) }
}

fn written(number: Number) -> String {
    let mut out = Vec::new();
    number.write_json(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn shift(text: &str, from: &[String], to: &[String]) -> Result<String, Reason> {
    let found = existing(text, from, Reason::SourceMissing)?;
    if from == to {
        return Ok(text.to_owned());
    }
    if to.starts_with(from) {
        return Err(Reason::IntoItself);
    }
    let value = text[found.value].to_owned();
    let without = splice(text, found.whole, "");
    add(&without, to, &value)
}

/// Adds a member, or gives it another value.
fn put_member(text: &str, parent: &Span, leaf: &str, value: &str) -> Result<String, Reason> {
    match place(text, parent, leaf, Reason::Missing)? {
        Locator::There(found) => Ok(splice(text, found.value, value)),
        Locator::Free { at, comma } => {
            let mut name = Vec::new();
            raw::escape_into(leaf, &mut name);
            let name = String::from_utf8_lossy(&name);
            Ok(splice(text, at..at, &[comma, &name, ":", value].concat()))
        }
    }
}

fn insert(text: &str, array: &Span, leaf: &str, value: &str) -> Result<String, Reason> {
    let children = children(text, array);
    let index = match leaf {
        "-" => children.len(),
        leaf => pointer::index(leaf).ok_or_else(|| Reason::Index(leaf.to_owned()))?,
    };
    if let Some(next) = children.get(index) {
        return Ok(splice(text, next.start..next.start, &[value, ","].concat()));
    }
    if index > children.len() {
        return Err(Reason::OutOfRange { index, length: children.len() });
    }
    match children.last() {
        Some(last) => Ok(splice(text, last.value.end..last.value.end, &[",", value].concat())),
        None => Ok(splice(text, array.0.start + 1..array.0.start + 1, value)),
    }
}

/// What is at a path; `reason` if nothing is.
fn existing(text: &str, path: &[String], reason: Reason) -> Result<Found, Reason> {
    let (parent, leaf) = parent(text, path)?;
    match place(text, &parent, leaf, reason.clone())? {
        Locator::There(found) => Ok(found),
        Locator::Free { .. } => Err(reason),
    }
}

/// A value's place in the text.
struct Span(Range<usize>);

impl Span {
    fn as_bytes<'t>(&self, text: &'t str) -> &'t [u8] {
        &text.as_bytes()[self.0.clone()]
    }

    fn is_array(&self, text: &str) -> bool {
        self.as_bytes(text).starts_with(b"[")
    }
}

/// The container that the last segment of a path is looked for in.
fn parent<'p>(text: &str, path: &'p [String]) -> Result<(Span, &'p str), Reason> {
    let Some((leaf, way)) = path.split_last() else { return Err(Reason::Path) };
    let mut at = Span(span_of(text, text.trim_ascii()));
    for segment in way {
        let missing = Reason::NoParent(segment.chars().take(64).collect());
        at = match place(text, &at, segment, missing.clone())? {
            Locator::There(found) => Span(found.value),
            Locator::Free { .. } => return Err(missing),
        };
    }
    Ok((at, leaf))
}

/// Where a segment is, or would be, in a container. An element that is not there is `missing`.
fn place(text: &str, container: &Span, segment: &str, missing: Reason) -> Result<Locator, Reason> {
    match container.as_bytes(text).first() {
        Some(b'{') => Ok(member(text, container, segment)),
        Some(b'[') => element(text, container, segment, missing),
        _ => Err(Reason::NotAContainer),
    }
}

fn member(text: &str, object: &Span, name: &str) -> Locator {
    let children = children(text, object);
    let is_it = |child: &Child<'_>| child.name.is_some_and(|raw| raw::unescape(raw) == name);
    match children.iter().position(is_it) {
        Some(index) => Locator::There(found(&children, index)),
        None => match children.last() {
            Some(last) => Locator::Free { at: last.value.end, comma: "," },
            None => Locator::Free { at: object.0.start + 1, comma: "" },
        },
    }
}

fn element(text: &str, array: &Span, segment: &str, missing: Reason) -> Result<Locator, Reason> {
    let children = children(text, array);
    if segment == "-" {
        return Err(missing);
    }
    let index = pointer::index(segment).ok_or_else(|| Reason::Index(segment.chars().take(64).collect()))?;
    if index < children.len() {
        return Ok(Locator::There(found(&children, index)));
    }
    Err(Reason::OutOfRange { index, length: children.len() })
}

/// A child, and what goes with it when it goes: the comma before it, or behind it if it is the first.
fn found(children: &[Child<'_>], index: usize) -> Found {
    let child = &children[index];
    let whole = match (index.checked_sub(1), children.get(index + 1)) {
        (Some(before), _) => children[before].value.end..child.value.end,
        (None, Some(next)) => child.start..next.start,
        (None, None) => child.start..child.value.end,
    };
    Found { value: child.value.clone(), whole }
}

fn children<'t>(text: &'t str, container: &Span) -> Vec<Child<'t>> {
    let inside = &text[container.0.clone()];
    let members = raw::members(inside).map(|(name, value)| Child {
        name: Some(name),
        // A quote is before the name.
        start: span_of(text, name).start - 1,
        value: span_of(text, value),
    });
    let elements = raw::elements(inside).map(|value| {
        let value = span_of(text, value);
        Child { name: None, start: value.start, value }
    });
    members.chain(elements).collect()
}

/// Where a part of `text` lies in it.
fn span_of(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

fn splice(text: &str, range: Range<usize>, with: &str) -> String {
    [&text[..range.start], with, &text[range.end..]].concat()
}
