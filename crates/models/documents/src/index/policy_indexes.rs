//! The indexes that a container has by its policy, for telling which of them serve a query.
//!
//! While a change of policy is under way these are the indexes of every generation that items still follow. Whether an
//! index can be read now is another question, and [`IndexReader`](super::IndexReader) answers it.

use orrery_catalog::Container;
use orrery_query::access::Path;

pub(crate) struct PolicyIndexes<'a> {
    container: &'a Container,
    composites: Vec<Vec<(Path, bool)>>,
}

impl<'a> PolicyIndexes<'a> {
    /// `None` when the container has no index. Paths that are not stored are not in any.
    pub fn new(container: &'a Container, is_stored: impl Fn(&Path) -> bool) -> Option<Self> {
        let generations = container.generations();
        if !generations.all(|rules| !rules.is_none()) {
            return None;
        }
        let composites = generations.rules().composites().iter().map(|composite| composite.parts());
        let composites = composites.filter(|parts: &Vec<(Path, bool)>| {
            parts.iter().all(|(path, _)| is_stored(path))
                && generations.all(|rules| rules.has_composite(parts))
        });
        Some(Self { container, composites: composites.collect() })
    }

    pub fn has(&self, path: &Path) -> bool {
        self.container.generations().all(|rules| rules.includes(path))
    }

    pub fn composites(&self) -> &[Vec<(Path, bool)>] {
        &self.composites
    }

    pub fn has_spatial(&self, path: &Path) -> bool {
        let generations = self.container.generations();
        // Another box has other cells.
        let bounds = generations.rules().bounds(path);
        generations.all(|rules| rules.has_spatial(path) && rules.bounds(path) == bounds)
    }
}
