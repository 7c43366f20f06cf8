//! Index metrics: the indexes that a query uses, and those it would use if they existed.
//!
//! The result depends only on the text and the policy. That a scan is cheaper for few documents is nothing
//! that a client can act on; the access path taken is reported separately.

use super::access_path::{Access, passes_array};
use super::choose::order_paths;
use super::conditions::{Conditions, Constraint};
use super::document_path::paths_read;
use super::indexes::{DeclaredIndexes, IndexOf, Interval, Path};
use super::predicate::IndexPredicate;
use crate::bind::bound::Block;
use crate::limits;

/// Index usage of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexUsage {
    /// The access path taken.
    pub access: Access,
    /// Existing indexes that serve the query.
    pub utilized: Vec<IndexUse>,
    /// Missing indexes that would serve it.
    pub potential: Vec<IndexUse>,
    /// Whether no index is read because there are few documents, or they are selected by id.
    pub is_scan_only: bool,
    /// Whether the policy's indexes cover the query, so that an aggregate needs no document.
    pub is_index_only: bool,
}

impl IndexUsage {
    /// Adds a path that the request fixes besides the filter: the partition key of its scope.
    pub fn add_path(&mut self, path: Path) {
        let one = of_path(&path, Purpose::Filter);
        if !self.utilized.iter().any(|known| known.index == one.index) {
            self.utilized.insert(0, one);
        }
    }
}

/// An index and its purpose.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexUse {
    pub index: IndexOf,
    pub purpose: Purpose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Filter,
    Order,
    /// Spatial: a spatial index over the path.
    Shape,
}

/// The indexes that serve a query, and those that would. If no indexes exist, none is suggested.
pub(crate) fn index_usage(
    block: &Block,
    need: &IndexPredicate,
    declared: Option<&dyn DeclaredIndexes>,
    access: Access,
) -> IndexUsage {
    let Some(declared) = declared else { return IndexUsage { access, ..IndexUsage::default() } };
    let order = if block.rank.is_some() { Vec::new() } else { order_paths(block) };
    let wanted = single(need, &order).into_iter().chain(composites(block, need, &order));
    let (mut utilized, mut potential) = (Vec::new(), Vec::new());
    for one in wanted {
        match there(&one, declared, need) {
            Some(index) => utilized.push(IndexUse { index, ..one }),
            None => potential.push(one),
        }
    }
    potential.retain(|one| !utilized.contains(one));
    let is_index_only = is_one_group(block)
        && paths_read(block).is_some_and(|paths| paths.iter().all(|path| declared.has(path)));
    IndexUsage { access, utilized, potential, is_scan_only: false, is_index_only }
}

/// Whether all rows form one group.
fn is_one_group(block: &Block) -> bool {
    block.grouping.as_ref().is_some_and(|grouping| grouping.keys.is_empty())
}

/// The existing index that serves as well as a suggested one.
fn there(wish: &IndexUse, declared: &dyn DeclaredIndexes, need: &IndexPredicate) -> Option<IndexOf> {
    match &wish.index {
        IndexOf::Path(path) => {
            let is_there =
                if wish.purpose == Purpose::Shape { declared.has_spatial(path) } else { declared.has(path) };
            is_there.then(|| wish.index.clone())
        }
        IndexOf::Composite(parts) => {
            let conditions = Conditions::of(need);
            let named = parts.iter().take_while(|(path, _)| conditions.constant(path).is_some()).count();
            let mut composites = declared.composites().iter();
            let found = composites.find(|known| serves(known, parts, named, wish.purpose));
            found.cloned().map(IndexOf::Composite)
        }
    }
}

/// Whether a composite index starts with the first parts in any order, followed by the others in order and,
/// for ORDER BY, all in their directions or all in the opposite ones.
fn serves(known: &[(Path, bool)], parts: &[(Path, bool)], named: usize, purpose: Purpose) -> bool {
    let (first, rest) = parts.split_at(named);
    let Some((known_first, known_rest)) = known.split_at_checked(named) else { return false };
    let Some(known_rest) = known_rest.get(..rest.len()) else { return false };
    let is_named = first.iter().all(|(path, _)| known_first.iter().any(|(known, _)| known == path));
    let is_next = rest.iter().zip(known_rest).all(|(a, b)| a.0 == b.0);
    let mut turned = rest.iter().zip(known_rest).map(|(a, b)| a.1 != b.1);
    let first_turned = turned.next();
    let is_one_way = purpose == Purpose::Filter || turned.all(|turned| Some(turned) == first_turned);
    is_named && is_next && is_one_way
}

/// Each path of the filter and of ORDER BY, without duplicates.
fn single(need: &IndexPredicate, order: &[Option<Path>]) -> Vec<IndexUse> {
    let mut uses = Vec::new();
    terms(need, &mut uses);
    uses.extend(order.iter().flatten().map(|path| of_path(path, Purpose::Order)));
    let mut seen: Vec<(IndexOf, bool)> = Vec::new();
    uses.retain(|one| {
        let known = (one.index.clone(), one.purpose == Purpose::Shape);
        let is_new = !seen.contains(&known);
        seen.push(known);
        is_new
    });
    uses
}

fn of_path(path: &Path, purpose: Purpose) -> IndexUse {
    IndexUse { index: IndexOf::Path(path.clone()), purpose }
}

/// A long list of values concerns a single path.
fn terms(need: &IndexPredicate, uses: &mut Vec<IndexUse>) {
    let one = match need {
        IndexPredicate::True | IndexPredicate::False => return,
        IndexPredicate::Term { path, .. } => of_path(path, Purpose::Filter),
        IndexPredicate::Shape { path, .. } => of_path(path, Purpose::Shape),
        IndexPredicate::And(parts) | IndexPredicate::Or(parts) => {
            return parts.iter().for_each(|part| terms(part, uses));
        }
    };
    if uses.last() != Some(&one) {
        uses.push(one);
    }
}

/// The composite indexes that would serve: the paths of equalities, followed by the keys of ORDER BY or by
/// the path of one interval.
fn composites(block: &Block, need: &IndexPredicate, order: &[Option<Path>]) -> Vec<IndexUse> {
    let conditions = Conditions::of(need);
    let (mut equal, mut within) = (Vec::new(), Vec::new());
    for path in conditions.all.iter().filter_map(|need| term_path(need)) {
        match conditions.about(path) {
            Some((_, Constraint::Equal(_))) => equal.push((path.clone(), false)),
            Some((_, Constraint::Within(Interval::Between(..)))) => within.push((path.clone(), false)),
            _ => {}
        }
    }
    let after = |rest: &[(Path, bool)]| [&equal[..], rest].concat();
    let wishes = if !block.order.is_empty() {
        let keys = order.iter().zip(&block.order).map(|(path, key)| Some((path.clone()?, key.descending)));
        let keys: Option<Vec<(Path, bool)>> = keys.collect();
        keys.map(|keys| (sorted_by(&equal, &keys), Purpose::Order)).into_iter().collect()
    } else if within.is_empty() {
        vec![(after(&[]), Purpose::Filter)]
    } else {
        within.iter().map(|one| (after(std::slice::from_ref(one)), Purpose::Filter)).collect()
    };
    let fitting =
        wishes.into_iter().filter(|(parts, _)| (2..=limits::COMPOSITE_PATHS_MAX).contains(&parts.len()));
    fitting.map(|(parts, purpose)| IndexUse { index: IndexOf::Composite(parts), purpose }).collect()
}

/// Equalities first, then the remaining keys.
fn sorted_by(equal: &[(Path, bool)], keys: &[(Path, bool)]) -> Vec<(Path, bool)> {
    let keys = keys.iter().filter(|(path, _)| !equal.iter().any(|(known, _)| known == path));
    let mut parts: Vec<(Path, bool)> = keys.cloned().collect();
    if parts.is_empty() {
        return parts;
    }
    parts.splice(0..0, equal.iter().cloned());
    parts
}

fn term_path(need: &IndexPredicate) -> Option<&Path> {
    match need {
        IndexPredicate::Term { path, .. } if !passes_array(path) => Some(path),
        _ => None,
    }
}
