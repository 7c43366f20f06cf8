//! Gathering: entries that are not in the order of numbers are read and sorted before a walk begins.
//!
//! How many there are is known only now. What is too much is left out where something else remains that holds every
//! match, and a way that has nothing else becomes a scan.

use super::gather::{self, sorted};
use super::indexes::{IndexOf, Indexes, Interval, Path, Rectangle, Span, is_kept_whole};
use super::postings::Postings;
use super::way::{Access, Along, Set};
use crate::error::QueryError;
use crate::execute::World;
use orrery_core::limits;
use orrery_value::Value;

/// The way that is taken in the end.
pub(crate) fn settle(
    access: Access,
    indexes: Option<&dyn Indexes>,
    world: &World<'_>,
) -> Result<Settled, QueryError> {
    settle_within(limits::POSTINGS_GATHERED_MAX, access, indexes, world)
}

#[derive(Debug, Default)]
pub(crate) struct Settled {
    pub access: Access,
    /// What is known of every document that it leads to, if none of them is read.
    pub known: Vec<(Path, Value)>,
}

fn settle_within(
    max: usize,
    access: Access,
    indexes: Option<&dyn Indexes>,
    world: &World<'_>,
) -> Result<Settled, QueryError> {
    let Some(indexes) = indexes else { return Ok(access.into()) };
    let mut gather = Gather { indexes, world, left: max, is_whole: true };
    let access = match access {
        Access::Postings { set, covered } => {
            let Some(set) = gather.settle(set)? else { return Ok(Access::Scan.into()) };
            // Without a part of it, the set leads to documents that have other values.
            return Ok(match gather.is_whole {
                true => {
                    let known = covered.clone().filter(|it| it.iter().all(|(_, value)| is_kept_whole(value)));
                    Settled { access: Access::Postings { set, covered }, known: known.unwrap_or_default() }
                }
                false => Access::Postings { set, covered: None }.into(),
            });
        }
        Access::Along(along) => {
            let among = along.among.as_ref().map(|set| gather.numbers(set)).transpose()?.flatten();
            Access::Along(Along { among: among.map(Set::Numbers), ..along })
        }
        other => other,
    };
    Ok(access.into())
}

impl From<Access> for Settled {
    fn from(access: Access) -> Self {
        Self { access, known: Vec::new() }
    }
}

struct Gather<'a> {
    indexes: &'a dyn Indexes,
    world: &'a World<'a>,
    /// How many numbers more there is room for.
    left: usize,
    /// Whether nothing was left out so far.
    is_whole: bool,
}

impl Gather<'_> {
    /// A set that can be walked as it is; nothing if it is too large.
    fn settle(&mut self, set: Set) -> Result<Option<Set>, QueryError> {
        match set {
            Set::Equal { .. } | Set::Numbers(_) | Set::AllBut(_) => Ok(Some(set)),
            Set::Outside { path, interval } => Ok(self.outside(path, interval)?.map(Set::AllBut)),
            Set::Within { index, span } => Ok(self.within(index, span)?.map(Set::Numbers)),
            Set::Near { path, rectangle } => Ok(self.near(&path, &rectangle)?.map(Set::Numbers)),
            Set::All(sets) => self.all(sets),
            Set::OneOf(sets) if sets.len() > limits::POSTINGS_MERGED_MAX => {
                Ok(self.any(&sets)?.map(Set::Numbers))
            }
            Set::OneOf(sets) => {
                let sets = sets.into_iter().map(|set| self.settle(set));
                Ok(sets.collect::<Result<Option<Vec<_>>, QueryError>>()?.map(Set::OneOf))
            }
        }
    }

    fn all(&mut self, sets: Vec<Set>) -> Result<Option<Set>, QueryError> {
        let mut kept = Vec::new();
        for set in sets {
            let settled = self.settle(set)?;
            self.is_whole &= settled.is_some();
            kept.extend(settled);
        }
        if kept.iter().all(Set::is_remainder) {
            return Ok(None);
        }
        Ok(if kept.len() > 1 { Some(Set::All(kept)) } else { kept.pop() })
    }

    /// The numbers of a set, sorted.
    fn numbers(&mut self, set: &Set) -> Result<Option<Vec<u64>>, QueryError> {
        let Some(set) = self.settle(set.clone())? else { return Ok(None) };
        if let Set::Numbers(numbers) = set {
            return Ok(Some(numbers));
        }
        let mut walk = Postings::open(&set, self.indexes, self.world)?;
        let (mut numbers, mut next) = (Vec::new(), Some(0));
        while let Some(from) = next
            && let Some(number) = walk.at_least(from)?
        {
            if !self.has_room() {
                return Ok(None);
            }
            numbers.push(number);
            next = number.checked_add(1);
        }
        Ok(Some(numbers))
    }

    fn any(&mut self, sets: &[Set]) -> Result<Option<Vec<u64>>, QueryError> {
        let mut all = Vec::new();
        for set in sets {
            let Some(numbers) = self.numbers(set)? else { return Ok(None) };
            all.extend(numbers);
        }
        Ok(Some(sorted(all)))
    }

    fn within(&mut self, index: IndexOf, span: Span) -> Result<Option<Vec<u64>>, QueryError> {
        self.world.seek()?;
        let set = Set::Within { index: index.clone(), span: span.clone() };
        self.gathered(&set, |gather, max, each| gather::within(gather.indexes, &index, &span, max, each))
    }

    fn outside(&mut self, path: Path, interval: Interval) -> Result<Option<Vec<u64>>, QueryError> {
        self.world.seek()?;
        let set = Set::Outside { path: path.clone(), interval: interval.clone() };
        self.gathered(&set, |gather, max, each| gather::outside(gather.indexes, &path, &interval, max, each))
    }

    /// The numbers of a set: as they were read when it was weighed, or read now.
    fn gathered(
        &mut self,
        set: &Set,
        read: impl FnOnce(&Self, usize, gather::Each<'_>) -> Result<Option<Vec<u64>>, QueryError>,
    ) -> Result<Option<Vec<u64>>, QueryError> {
        let numbers = match self.world.recall(set) {
            Some(numbers) => {
                numbers.iter().try_for_each(|_| self.world.entry())?;
                Some(numbers)
            }
            None => read(self, self.left, &|| self.world.entry())?,
        };
        // What was too much stays spent, so that all of it together has a bound.
        self.left = numbers.as_ref().map_or(0, |numbers| self.left.saturating_sub(numbers.len()));
        Ok(numbers)
    }

    fn near(&mut self, path: &Path, rectangle: &Rectangle) -> Result<Option<Vec<u64>>, QueryError> {
        self.world.seek()?;
        let Some(numbers) = self.indexes.near(path, rectangle, self.left as u64)? else {
            self.left = 0;
            return Ok(None);
        };
        for _ in &numbers {
            self.world.entry()?;
        }
        self.left = self.left.saturating_sub(numbers.len());
        Ok(Some(numbers))
    }

    /// What was too much stays spent, so that all of it together has a bound.
    fn has_room(&mut self) -> bool {
        let has_room = self.left > 0;
        self.left = self.left.saturating_sub(1);
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::indexes::Step;
    use crate::access::multiples::{Multiples, Still};

    /// A set that tells all that is read: by the entries of one value, and by those that are not of another.
    fn settled(max: usize) -> Settled {
        let path = |name: &str| Path::from([Step::Member(name.to_owned())]);
        let equal = Set::Equal { index: IndexOf::Path(path("a")), values: vec![Value::from(3i64)] };
        let flag = Set::Outside { path: path("b"), interval: Interval::equal(Value::Bool(false)) };
        let covered = Some(vec![(path("b"), Value::Bool(false))]);
        let world = World::new(&Still);
        let access = Access::Postings { set: Set::All(vec![equal, flag]), covered };
        settle_within(max, access, Some(&Multiples), &world).unwrap()
    }

    #[test]
    fn what_a_set_tells_is_known_of_its_documents() {
        let Settled { access, known } = settled(limits::POSTINGS_GATHERED_MAX);
        assert!(matches!(access, Access::Postings { covered: Some(_), .. }), "{access:?}");
        assert_eq!(known.len(), 1);
    }

    #[test]
    fn a_set_that_lost_a_part_does_not_tell_what_that_part_told() {
        let Settled { access, known } = settled(1);
        assert!(matches!(access, Access::Postings { set: Set::Equal { .. }, covered: None }), "{access:?}");
        assert_eq!(known, Vec::new());
    }
}
