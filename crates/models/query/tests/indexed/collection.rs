//! A collection in memory with indexes, computed without any cleverness.
//!
//! Keys are in another order than numbers, so that whoever mistakes one for the other is found out.

use super::entry_values::{Cell, is_exact};
use orrery_query::access::{
    DeclaredIndexes, Entry, EntryCursor, EntryValue, IndexOf, Indexes, Interval, Path, Rectangle, SeekKey,
    Span, Step,
};
use orrery_query::execute::{Collection, ScannedDocument, Start};
use orrery_query::{Datum, QueryError};
use orrery_value::Value;
use std::cell::{Cell as Shared, RefCell};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Which indexes there are.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub paths: Vec<Path>,
    pub composites: Vec<Vec<(Path, bool)>>,
    pub spatial: Vec<Path>,
    /// Whether it was not counted how many documents have a value at each path.
    pub is_uncounted: bool,
}

pub struct Indexed {
    /// By their numbers, as text.
    documents: BTreeMap<u64, String>,
    policy: Option<Policy>,
    lists: RefCell<BTreeMap<IndexOf, List>>,
    /// What the order of keys depends on.
    pub key_seed: u64,
    /// How often a document was asked for by its number.
    pub fetched: Shared<u64>,
}

type List = Rc<Vec<(Vec<Cell>, u64)>>;

impl Indexed {
    pub fn new(documents: impl IntoIterator<Item = Value>, policy: Option<Policy>) -> Self {
        let documents = documents.into_iter().zip(0..).map(|(document, at)| (10 * at, document.to_json()));
        let (documents, lists) = (documents.collect(), RefCell::default());
        Self { documents, policy, lists, key_seed: 0x9e37_79b9_7f4a_7c15, fetched: Shared::new(0) }
    }

    pub fn insert(&mut self, ordinal: u64, document: &Value) {
        self.documents.insert(ordinal, document.to_json());
        self.lists.take();
    }

    pub fn remove(&mut self, ordinal: u64) {
        self.documents.remove(&ordinal);
        self.lists.take();
    }

    pub fn numbers(&self) -> Vec<u64> {
        self.documents.keys().copied().collect()
    }

    pub fn set_policy(&mut self, policy: Option<Policy>) {
        self.policy = policy;
    }

    fn policy(&self) -> &Policy {
        self.policy.as_ref().expect("who asks was given indexes")
    }

    fn key(&self, ordinal: u64) -> [u8; 8] {
        (ordinal + 1).wrapping_mul(self.key_seed).to_be_bytes()
    }

    fn list(&self, index: &IndexOf) -> List {
        let make = || {
            let mut entries = Vec::new();
            for (ordinal, text) in &self.documents {
                entries.extend(
                    entries_of(index, &Value::read(text))
                        .into_iter()
                        .map(|entry_values| (entry_values, *ordinal)),
                );
            }
            entries.sort_by(|a, b| cmp_cells(index, 0, &a.0, &b.0).then(a.1.cmp(&b.1)));
            entries.dedup();
            Rc::new(entries)
        };
        self.lists.borrow_mut().entry(index.clone()).or_insert_with(make).clone()
    }
}

fn entries_of(index: &IndexOf, document: &Value) -> Vec<Vec<Cell>> {
    match index {
        IndexOf::Path(path) => {
            let passes_array = path.contains(&Step::Each);
            let values = values_at(document, path);
            let values = values.into_iter().filter(|value| {
                let is_simple = !matches!(value, Value::Array(_) | Value::Object(_));
                !value.is_undefined() && (is_simple || !passes_array)
            });
            values.map(|value| vec![Cell::of(value)]).collect()
        }
        IndexOf::Composite(parts) => {
            let value =
                |path: &Path| values_at(document, path).first().map_or(Value::Undefined, |it| (*it).clone());
            let values: Vec<Value> = parts.iter().map(|(path, _)| value(path)).collect();
            let is_there = values.iter().any(|value| !value.is_undefined());
            is_there.then(|| values.iter().map(Cell::of).collect()).into_iter().collect()
        }
    }
}

fn values_at<'v>(value: &'v Value, path: &[Step]) -> Vec<&'v Value> {
    match path.split_first() {
        None => vec![value],
        Some((Step::Member(name), rest)) => values_at(value.member(name), rest),
        Some((Step::Each, rest)) => match value {
            Value::Array(items) => items.iter().flat_map(|item| values_at(item, rest)).collect(),
            _ => Vec::new(),
        },
    }
}

/// By the directions of the parts from this one on.
fn cmp_cells(index: &IndexOf, from: usize, a: &[Cell], b: &[Cell]) -> Ordering {
    let descends = |part: usize| matches!(index, IndexOf::Composite(parts) if parts[part].1);
    let entry_values = a.iter().zip(b).enumerate().map(|(at, (a, b))| {
        let order = a.cmp(b);
        if descends(from + at) { order.reverse() } else { order }
    });
    entry_values.fold(Ordering::Equal, Ordering::then)
}

fn is_in_span(entry_values: &[Cell], span: &Span) -> bool {
    let is_named =
        span.prefix.iter().zip(entry_values).all(|(value, cell)| Cell::of(value).cmp(cell).is_eq());
    let next = entry_values.get(span.prefix.len());
    is_named && next.map_or(span.next == Interval::All, |cell| cell.is_in(&span.next))
}

/// Whether an entry comes before the place where a scan begins.
fn is_before(
    index: &IndexOf,
    span: &Span,
    begin: &SeekKey,
    reverse: bool,
    (entry_values, ordinal): &(Vec<Cell>, u64),
) -> bool {
    let from = span.prefix.len();
    let values: Vec<Cell> = begin.values.iter().map(Cell::of).collect();
    let by_cells = cmp_cells(index, from, &entry_values[from..], &values);
    let is_whole = from + values.len() == entry_values.len();
    let is_exact = span.prefix.iter().chain(&begin.values).all(is_exact);
    let ordinal_scan = match begin.ordinal.filter(|_| is_whole && is_exact) {
        Some(first) => ordinal.cmp(&first),
        None => Ordering::Equal,
    };
    let order = by_cells.then(ordinal_scan);
    if reverse { order.is_gt() } else { order.is_lt() }
}

struct ScanOrder {
    index: IndexOf,
    list: List,
    places: std::vec::IntoIter<usize>,
    current: Option<usize>,
}

impl EntryCursor for ScanOrder {
    fn next(&mut self) -> Result<Option<Entry>, QueryError> {
        self.current = self.places.next();
        Ok(self.current.map(|at| Entry { ordinal: self.list[at].1 }))
    }

    fn seek(&mut self, ordinal: u64) -> Result<(), QueryError> {
        let rest: Vec<usize> = self.places.by_ref().collect();
        assert!(rest.is_sorted_by_key(|at| self.list[*at].1), "only a scan over one value may seek");
        let rest: Vec<usize> = rest.into_iter().filter(|at| self.list[*at].1 >= ordinal).collect();
        self.places = rest.into_iter();
        Ok(())
    }

    fn value(&self, part: usize) -> EntryValue {
        let at = self.current.expect("there is an entry");
        self.list[at].0[part].known()
    }

    /// Its place among all of them.
    fn sort_key(&self, part: usize) -> Vec<u8> {
        let order = |a: &(Vec<Cell>, u64), b: &(Vec<Cell>, u64)| {
            cmp_cells(&self.index, part, &a.0[part..], &b.0[part..]).then(a.1.cmp(&b.1))
        };
        let entry = &self.list[self.current.expect("there is an entry")];
        let before = self.list.iter().filter(|other| order(other, entry).is_lt()).count();
        (before as u64).to_be_bytes().to_vec()
    }
}

impl DeclaredIndexes for Indexed {
    fn has(&self, path: &Path) -> bool {
        self.policy().paths.contains(path)
    }

    fn composites(&self) -> &[Vec<(Path, bool)>] {
        &self.policy().composites
    }

    fn has_spatial(&self, path: &Path) -> bool {
        self.policy().spatial.contains(path)
    }
}

impl Indexes for Indexed {
    fn documents(&self) -> Result<u64, QueryError> {
        Ok(self.documents.len() as u64)
    }

    fn documents_exact(&self) -> Result<Option<u64>, QueryError> {
        Ok((!self.policy().is_uncounted).then_some(self.documents.len() as u64))
    }

    fn documents_indexed(&self, index: &IndexOf) -> Result<u64, QueryError> {
        let is_counted = !matches!(index, IndexOf::Path(path) if path.contains(&Step::Each));
        Ok(if is_counted && !self.policy().is_uncounted { self.list(index).len() as u64 } else { 0 })
    }

    fn count(&self, index: &IndexOf, span: &Span, max: u64) -> Result<u64, QueryError> {
        let list = self.list(index);
        Ok(list.iter().filter(|(entry_values, _)| is_in_span(entry_values, span)).take(max as usize).count()
            as u64)
    }

    fn entries<'a>(
        &'a self,
        index: &IndexOf,
        span: &Span,
        reverse: bool,
        from: Option<&SeekKey>,
    ) -> Result<Box<dyn EntryCursor + 'a>, QueryError> {
        let list = self.list(index);
        let mut places: Vec<usize> = (0..list.len()).filter(|at| is_in_span(&list[*at].0, span)).collect();
        if reverse {
            places.reverse();
        }
        if let Some(begin) = from {
            places.retain(|at| !is_before(index, span, begin, reverse, &list[*at]));
        }
        Ok(Box::new(ScanOrder { index: index.clone(), list, places: places.into_iter(), current: None }))
    }

    /// Whatever is a shape may touch anything.
    fn spatial_candidates(
        &self,
        path: &Path,
        _: &Rectangle,
        max: u64,
    ) -> Result<Option<Vec<u64>>, QueryError> {
        let is_shape =
            |text: &&String| values_at(&Value::read(text), path).iter().any(|it| !it.is_undefined());
        let near = self.documents.iter().filter(|(_, text)| is_shape(text));
        let near: Vec<u64> = near.map(|(ordinal, _)| *ordinal).collect();
        Ok((near.len() as u64 <= max).then_some(near))
    }

    fn fetch(
        &self,
        ordinal: u64,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, QueryError> {
        self.fetched.set(self.fetched.get() + 1);
        Ok(self.documents.get(&ordinal).map_or(ControlFlow::Continue(()), |text| {
            let position = self.key(ordinal);
            visit(ScannedDocument {
                position: &position,
                ordinal,
                part: 0,
                bytes: text.len(),
                root: Datum::read(text),
            })
        }))
    }

    fn contains(&self, ordinal: u64) -> Result<bool, QueryError> {
        Ok(self.documents.contains_key(&ordinal))
    }
}

impl Collection for Indexed {
    fn scan(
        &self,
        start: &Start,
        visit: &mut dyn FnMut(ScannedDocument<'_>) -> ControlFlow<()>,
    ) -> Result<(), QueryError> {
        let mut documents: Vec<([u8; 8], u64, &String)> =
            self.documents.iter().map(|(ordinal, text)| (self.key(*ordinal), *ordinal, text)).collect();
        documents.sort();
        for (position, ordinal, text) in documents {
            let is_behind = match start {
                Start::Beginning => false,
                Start::At(first) => position[..] < first[..],
                Start::After(last) => position[..] <= last[..],
            };
            let (bytes, root) = (text.len(), Datum::read(text));
            let found = ScannedDocument { position: &position, ordinal, part: 0, bytes, root };
            if !is_behind && visit(found).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn indexes(&self) -> Option<&dyn Indexes> {
        self.policy.as_ref().map(|_| self as &dyn Indexes)
    }
}

/// `/a/[]/"b c"` is not read: names without spaces only.
pub fn path(text: &str) -> Path {
    let steps = text.split('/').skip(1).map(|step| match step {
        "[]" => Step::Each,
        name => Step::Member(name.to_owned()),
    });
    steps.collect()
}

/// `/a ASC, /b DESC`
pub fn composite(text: &str) -> Vec<(Path, bool)> {
    let parts = text.split(", ").map(|part| {
        let (name, direction) = part.split_once(' ').unwrap_or((part, "ASC"));
        (path(name), direction == "DESC")
    });
    parts.collect()
}
