//! Find Blobs by Tags: reads the rows of the index that match, and no others.
//!
//! Equalities are intersected: the rows of one key and value are in the order of names, so each cursor jumps to the name that
//! another one is at. Without any equality, the first key's range is read in the order of its values, and the rest is checked on
//! each blob.

use super::filter::{Comparison, Operator, TagFilter};
use crate::blob::{Blob, BlobState};
use crate::limits;
use crate::marker;
use crate::operations::load_blob;
use crate::row;
use crate::spaces::TAGS;
use orrery_kv::{Error, KeyRange, Order, Read};

/// Blobs of one container that a filter matches, from a position on.
pub struct ContainerFind<'a> {
    pub container: u32,
    pub filter: &'a TagFilter,
    /// Behind the blob at which an earlier search ended.
    pub after: Option<FindPosition>,
    pub count_max: usize,
}

/// Where a page of an account's blobs ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindMarker {
    pub container: String,
    pub after: Option<FindPosition>,
}

impl FindMarker {
    pub fn write(&self) -> String {
        let FindPosition { value, name } = self.after.clone().unwrap_or_default();
        // None of them has a zero in it but names, which are last.
        marker::write([self.container.as_str(), &value, &name].join("\0").as_bytes())
    }

    pub fn read(text: &str) -> Option<Self> {
        let text = String::from_utf8(marker::read(text)?).ok()?;
        let mut parts = text.splitn(3, '\0').map(str::to_owned);
        let (container, value, name) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self { container, after: Some(FindPosition { value, name }) })
    }
}

/// A row of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindPosition {
    pub value: String,
    pub name: String,
}

#[derive(Debug, Default)]
pub struct ContainerFound {
    pub blobs: Vec<Blob>,
    /// Where to go on, if there may be more.
    pub rest: Option<FindPosition>,
    /// Rows of the index that were read.
    pub rows_seen: usize,
}

pub fn find(state: &dyn Read, find: &ContainerFind<'_>) -> Result<ContainerFound, Error> {
    let mut equalities: Vec<&Comparison> = Vec::new();
    for comparison in &find.filter.comparisons {
        let is_known =
            equalities.iter().any(|known| known.key == comparison.key && known.value == comparison.value);
        if comparison.operator == Operator::Equal && !is_known {
            equalities.push(comparison);
        }
    }
    if equalities.is_empty() { scan(state, find) } else { intersect(state, find, &equalities) }
}

/// Whether the blob of a row matches; a row may be of a blob that a filter on other tags refuses.
fn matching(state: &dyn Read, find: &ContainerFind<'_>, name: &str) -> Result<Option<Blob>, Error> {
    let blob = load_blob(state, find.container, name, BlobState::Current)?;
    let blob = blob.ok_or_else(|| Error::Corrupt(format!("a tag of '{name}', which is not there")))?;
    Ok(find.filter.matches(&blob.tags).then_some(blob))
}

/// Leapfrog: no cursor reads a name that is before one that another cursor is at.
fn intersect(
    state: &dyn Read,
    find: &ContainerFind<'_>,
    equalities: &[&Comparison],
) -> Result<ContainerFound, Error> {
    let mut found = ContainerFound::default();
    let mut from = find.after.as_ref().map_or_else(Vec::new, |after| [after.name.as_bytes(), &[0]].concat());
    let (mut cursors, mut agreed, mut at, mut last) = (Vec::new(), 0, 0, find.after.clone());
    for comparison in equalities {
        cursors.push(EqualCursor::new(state, find.container, comparison, &from)?);
    }
    loop {
        let cursor = &mut cursors[at];
        found.rows_seen += cursor.seek(&from)?;
        let Some(name) = cursor.name() else { return Ok(found) };
        if name.as_bytes() == from.as_slice() {
            agreed += 1;
        } else {
            from = name.as_bytes().to_vec();
            agreed = 1;
        }
        let name = name.to_owned();
        at = (at + 1) % cursors.len();
        if agreed < cursors.len() {
            continue;
        }
        if found.blobs.len() == find.count_max || found.rows_seen > limits::LIST_ROWS_SEEN_MAX {
            found.rest = last;
            return Ok(found);
        }
        found.blobs.extend(matching(state, find, &name)?);
        last = Some(FindPosition { value: String::new(), name });
        from.push(0);
        agreed = 0;
    }
}

/// The names that have one tag, in order.
struct EqualCursor<'a> {
    state: &'a dyn Read,
    prefix: Vec<u8>,
    rows: orrery_kv::Rows<'a>,
    name: Option<String>,
}

/// Rows that are read one by one before a cursor seeks: most jumps are short.
const STEPS_BEFORE_SEEK: usize = 8;

impl<'a> EqualCursor<'a> {
    fn new(state: &'a dyn Read, container: u32, of: &Comparison, from: &[u8]) -> Result<Self, Error> {
        let prefix = row::tag_value(container, &of.key, &of.value);
        let mut cursor = Self { state, prefix, rows: Box::new(std::iter::empty()), name: None };
        cursor.open(from);
        cursor.step()?;
        Ok(cursor)
    }

    fn open(&mut self, from: &[u8]) {
        let start = [&self.prefix, from].concat();
        let range = KeyRange { start, ..KeyRange::prefix(&self.prefix) };
        self.rows = self.state.range(TAGS, &range, Order::Ascending);
    }

    fn step(&mut self) -> Result<(), Error> {
        let key = self.rows.next().transpose()?.map(|(key, _)| key);
        let name = key.map(|key| String::from_utf8(key[self.prefix.len()..].to_vec()));
        self.name = name.transpose().map_err(|_| Error::Corrupt("the key of a tag".into()))?;
        Ok(())
    }

    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Goes to the first name that is not before these bytes. Returns how many rows that took.
    fn seek(&mut self, from: &[u8]) -> Result<usize, Error> {
        let mut steps = 0;
        while self.name.as_ref().is_some_and(|name| name.as_bytes() < from) {
            if steps == STEPS_BEFORE_SEEK {
                self.open(from);
            }
            self.step()?;
            steps += 1;
        }
        Ok(steps)
    }
}

/// Reads the range that comparisons of one key allow.
fn scan(state: &dyn Read, find: &ContainerFind<'_>) -> Result<ContainerFound, Error> {
    let key = &find.filter.comparisons[0].key;
    let mut range = row::tags_of_key(find.container, key);
    for comparison in find.filter.comparisons.iter().filter(|comparison| comparison.key == *key) {
        let at = row::tag_value(find.container, key, &comparison.value);
        let behind = orrery_keys::prefix_end(&at);
        match comparison.operator {
            Operator::Greater => range.start = range.start.max(behind.unwrap_or(at)),
            Operator::GreaterOrEqual => range.start = range.start.max(at),
            Operator::Less => range.end = range.end.min(Some(at)),
            Operator::LessOrEqual => range.end = range.end.min(behind),
            Operator::Equal | Operator::NotEqual => {}
        }
    }
    if let Some(after) = &find.after {
        let at =
            row::Row::Tag { container: find.container, key, value: &after.value, name: &after.name }.key();
        range.start = range.start.max([&at[..], &[0]].concat());
    }
    let mut found = ContainerFound::default();
    if range.is_empty() {
        return Ok(found);
    }
    let mut last = find.after.clone();
    for row in state.range(TAGS, &range, Order::Ascending) {
        let (value, name) = row::read_tag(&row?.0)?;
        if found.blobs.len() == find.count_max || found.rows_seen > limits::LIST_ROWS_SEEN_MAX {
            found.rest = last;
            return Ok(found);
        }
        found.rows_seen += 1;
        found.blobs.extend(matching(state, find, &name)?);
        last = Some(FindPosition { value, name });
    }
    Ok(found)
}
