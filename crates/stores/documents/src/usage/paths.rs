//! The paths that queries used.

use crate::limits;
use orrery_query::access::{Path, Step};
use std::collections::HashMap;

#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Pages that used each path.
    counts: HashMap<Path, u64>,
    /// Whether some were dropped for lack of room.
    is_cut: bool,
}

impl Paths {
    pub fn add(&mut self, paths: &[Path]) {
        for path in paths {
            // A path stands for everything below it, so the prefix of a long one suffices.
            let path = &path[..steps_kept(path)];
            let has_room = self.counts.len() < limits::USAGE_PATHS_MAX;
            match self.counts.get_mut(path) {
                Some(count) => *count += 1,
                None if has_room => drop(self.counts.insert(path.into(), 1)),
                None => self.is_cut = true,
            }
        }
    }

    /// All paths; `None` if some were dropped.
    pub fn all(&self) -> Option<Vec<(&Path, u64)>> {
        let mut all: Vec<_> = self.counts.iter().map(|(path, count)| (path, *count)).collect();
        all.sort();
        (!self.is_cut).then_some(all)
    }
}

fn steps_kept(path: &[Step]) -> usize {
    let mut bytes = 0;
    let fits = |step: &&Step| {
        bytes += match step {
            Step::Member(name) => name.len() + 1,
            Step::Each => 1,
        };
        bytes <= limits::USAGE_PATH_BYTES_MAX
    };
    path.iter().take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(names: &[&str]) -> Path {
        names.iter().map(|name| Step::Member((*name).to_owned())).collect()
    }

    #[test]
    fn paths_are_counted() {
        let mut paths = Paths::default();
        paths.add(&[path(&["a"]), path(&["a", "b"])]);
        paths.add(&[path(&["a"])]);
        assert_eq!(paths.all(), Some(vec![(&path(&["a"]), 2), (&path(&["a", "b"]), 1)]));
    }

    #[test]
    fn of_a_long_path_the_beginning_is_kept() {
        let mut paths = Paths::default();
        paths.add(&[path(&["a", &"b".repeat(limits::USAGE_PATH_BYTES_MAX)])]);
        assert_eq!(paths.all(), Some(vec![(&path(&["a"]), 1)]));
    }

    #[test]
    fn a_set_that_is_too_small_says_so() {
        let mut paths = Paths::default();
        let names: Vec<Path> = (0..limits::USAGE_PATHS_MAX).map(|at| path(&[&at.to_string()])).collect();
        paths.add(&names);
        assert!(paths.all().is_some());
        paths.add(&names[..1]);
        assert!(paths.all().is_some());
        paths.add(&[path(&["one more"])]);
        assert_eq!(paths.all(), None);
    }
}
