//! The shapes of recent queries, with their totals.

use super::shape::Shape;
use super::{Queried, Reach};
use crate::limits;
use orrery_documents::charge::Charge;
use orrery_query::access::{Path, Step};
use std::collections::HashMap;

/// The most recently used shapes, by the hash of their text.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    known: HashMap<u64, ShapeUsage>,
    now: u64,
}

#[derive(Clone, Debug, Default)]
pub struct ShapeUsage {
    pub text: String,
    /// How often it was run, and how often over all partitions.
    pub queries: u64,
    pub queries_over_all: u64,
    /// The totals of its pages.
    pub rows: u64,
    pub charge: Charge,
    /// Composite indexes that would have helped its last run.
    pub missing: Vec<Vec<(Path, bool)>>,
    last: u64,
}

impl Shapes {
    pub fn add(&mut self, shape: &Shape, page: &Queried<'_>) {
        self.now += 1;
        if self.known.len() >= limits::USAGE_SHAPES_MAX && !self.known.contains_key(&shape.hash) {
            self.forget_least_recent();
        }
        let known = self
            .known
            .entry(shape.hash)
            .or_insert_with(|| ShapeUsage { text: shape.text.clone(), ..ShapeUsage::default() });
        known.last = self.now;
        known.add(page);
    }

    /// The most expensive first.
    pub fn all(&self) -> Vec<&ShapeUsage> {
        let mut all: Vec<&ShapeUsage> = self.known.values().collect();
        all.sort_by(|a, b| b.charge.cmp(&a.charge).then_with(|| a.text.cmp(&b.text)));
        all
    }

    fn forget_least_recent(&mut self) {
        let least = self.known.iter().min_by_key(|(_, shape)| shape.last).map(|(hash, _)| *hash);
        least.and_then(|hash| self.known.remove(&hash));
    }
}

impl ShapeUsage {
    fn add(&mut self, page: &Queried<'_>) {
        self.queries += u64::from(page.is_first);
        self.queries_over_all += u64::from(page.is_first && page.reach == Reach::All);
        self.rows += page.rows;
        self.charge = [self.charge, page.charge].into_iter().sum();
        if self.missing != page.missing {
            let kept = page.missing.iter().filter(|parts| bytes(parts) <= limits::USAGE_PATH_BYTES_MAX);
            self.missing = kept.take(limits::USAGE_COMPOSITES_MAX).cloned().collect();
        }
    }
}

fn bytes(parts: &[(Path, bool)]) -> usize {
    let names = parts.iter().flat_map(|(path, _)| path.iter()).map(|step| match step {
        Step::Member(name) => name.len() + 1,
        Step::Each => 1,
    });
    names.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page<'a>(is_first: bool, reach: Reach<'a>, missing: &'a [Vec<(Path, bool)>]) -> Queried<'a> {
        let charge = Charge::metadata();
        Queried { text: "", is_first, reach, rows: 3, charge, paths: &[], missing }
    }

    fn shape(hash: u64) -> Shape {
        Shape { hash, text: format!("shape {hash}") }
    }

    #[test]
    fn pages_add_up_to_their_query() {
        let mut shapes = Shapes::default();
        shapes.add(&shape(1), &page(true, Reach::All, &[]));
        shapes.add(&shape(1), &page(false, Reach::All, &[]));
        shapes.add(&shape(1), &page(true, Reach::Some, &[]));
        let all = shapes.all();
        let ShapeUsage { text, queries, queries_over_all, rows, charge, .. } = all[0];
        assert_eq!((all.len(), text.as_str()), (1, "shape 1"));
        assert_eq!((*queries, *queries_over_all, *rows, charge.to_string().as_str()), (2, 1, 9, "6"));
    }

    #[test]
    fn what_would_have_helped_is_what_would_have_the_last_time() {
        let path = |name: &str| Path::from([Step::Member(name.to_owned())]);
        let (one, long) =
            (vec![(path("a"), false), (path("b"), true)], vec![(path(&"x".repeat(999)), false)]);
        let mut shapes = Shapes::default();
        shapes.add(&shape(1), &page(true, Reach::All, &[one.clone(), long]));
        assert_eq!(shapes.all()[0].missing, [one], "what is too long to be remembered is not");
        shapes.add(&shape(1), &page(true, Reach::All, &[]));
        assert!(shapes.all()[0].missing.is_empty());
    }

    #[test]
    fn of_too_many_shapes_the_least_recent_is_forgotten() {
        let mut shapes = Shapes::default();
        let max = limits::USAGE_SHAPES_MAX as u64;
        (0..max).for_each(|hash| shapes.add(&shape(hash), &page(true, Reach::All, &[])));
        shapes.add(&shape(0), &page(true, Reach::All, &[]));
        shapes.add(&shape(max), &page(true, Reach::All, &[]));
        let has = |hash: u64| shapes.all().iter().any(|known| known.text == format!("shape {hash}"));
        assert_eq!((shapes.all().len() as u64, has(0), has(1), has(max)), (max, true, false, true));
    }
}
