//! A survey of a container: its partitions, and the indexed paths of a sample of items.
//!
//! Paths are stored as numbers. Their names come from the items: each is walked once for the names of its paths and
//! once for its terms, which begin with the numbers. Everything is bounded, so a survey of a large container is one of
//! a part of it: the first partitions, which is as good as any since they lie in the order of hashes, and items spread
//! over the whole time that the container was written in.

use super::locator::Locator;
use super::terms::terms;
use crate::item::{self, ItemRow};
use crate::limits;
use crate::partition::PartitionSize;
use crate::row::{self, Row};
use crate::spaces::{DOCUMENTS, INDEX};
use orrery_catalog::Container;
use orrery_catalog::indexing::IndexRules;
use orrery_catalog::indexing::number::{self, ROOT};
use orrery_core::limits::NESTING_LEVELS_MAX;
use orrery_kv::{Error, KeyRange, Order, Read};
use orrery_query::access::{Path, Step};
use orrery_value::{Value, raw};
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    pub items: u64,
    /// Of the items' text.
    pub bytes: u64,
    pub partitions: u64,
    /// Not if there are more partitions than were looked at.
    pub is_whole: bool,
    /// Those with the most bytes, the largest first.
    pub largest: Vec<SurveyedPartition>,
    /// Items whose entries were counted; these are how many, over all indexes.
    pub sampled: u64,
    pub entries: u64,
    /// Those with the most entries first.
    pub paths: Vec<SurveyedPath>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SurveyedPartition {
    pub key: Vec<Value>,
    pub items: u64,
    pub bytes: u64,
}

/// Of the sampled items.
#[derive(Clone, Debug, PartialEq)]
pub struct SurveyedPath {
    pub path: Path,
    pub items: u64,
    pub entries: u64,
}

/// How large an item is, and what most of it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weight {
    pub bytes: usize,
    /// The largest member at the top, and how large it is.
    pub member: Option<(String, usize)>,
}

pub fn survey(state: &dyn Read, container: &Container) -> Result<Survey, Error> {
    let mut survey = count_partitions(state, container)?;
    let mut counts = PathCounts::default();
    for item in sample(state, container)? {
        survey.sampled += 1;
        survey.entries += counts.add(container.generations().rules(), &item);
    }
    survey.paths = counts.paths();
    Ok(survey)
}

/// The same without the indexed paths, for which no item is looked at.
pub fn survey_partitions(state: &dyn Read, container: &Container) -> Result<Survey, Error> {
    count_partitions(state, container)
}

/// The partition key that the items of a partition have; `None` if there are none.
pub fn partition_key(
    state: &dyn Read,
    container: &Container,
    epk: &[u8],
) -> Result<Option<Vec<Value>>, Error> {
    let range = row::items_of_partition(container.number(), epk);
    let first = state.range(DOCUMENTS, &range, Order::Ascending).next().transpose()?;
    let Some((_, value)) = first else { return Ok(None) };
    Ok(Some(item::partition_key_of(container, ItemRow::read(state, value)?.text())))
}

/// How large an item is now; `None` if it is gone.
pub fn item_weight(
    state: &dyn Read,
    container: &Container,
    epk: &[u8],
    id: &str,
) -> Result<Option<Weight>, Error> {
    Ok(item::stored(state, container, epk, id)?.map(|item| weight(&item)))
}

fn weight(item: &ItemRow) -> Weight {
    let text = item.text();
    let heaviest = item.members().into_iter().max_by_key(|member| member.value.of(text).len());
    let shown = |member: orrery_value::Member| {
        (raw::unescape(member.name.of(text)).into_owned(), member.value.of(text).len())
    };
    Weight { bytes: item.text_length(), member: heaviest.map(shown) }
}

fn count_partitions(state: &dyn Read, container: &Container) -> Result<Survey, Error> {
    let number = container.number();
    // The key of a partition's row ends in its effective partition key; the empty one begins them all.
    let prefix = Row::Partition { container: number, epk: &[] }.key();
    let mut survey = Survey { is_whole: true, ..Survey::default() };
    let mut largest: BTreeMap<(u64, Vec<u8>), u64> = BTreeMap::new();
    for row in state.range(INDEX, &KeyRange::prefix(&prefix), Order::Ascending) {
        if survey.partitions as usize == limits::SURVEY_PARTITIONS_MAX {
            survey.is_whole = false;
            break;
        }
        let (key, value) = row?;
        let size = PartitionSize::read(&value)?;
        survey.partitions += 1;
        survey.items += size.items;
        survey.bytes += size.bytes;
        largest.insert((size.bytes, key[prefix.len()..].to_vec()), size.items);
        if largest.len() > limits::SURVEY_LARGEST_MAX {
            largest.pop_first();
        }
    }
    for ((bytes, epk), items) in largest.into_iter().rev() {
        let key = partition_key(state, container, &epk)?.unwrap_or_default();
        survey.largest.push(SurveyedPartition { key, items, bytes });
    }
    Ok(survey)
}

/// Indexed items, spread evenly over their numbers: all of them if they are few.
fn sample(state: &dyn Read, container: &Container) -> Result<Vec<ItemRow>, Error> {
    let (mut items, mut bytes) = (Vec::new(), 0);
    for ordinal in spread(state, container)? {
        let Some(place) = Locator::of(state, container.number(), ordinal)? else { continue };
        let Some(item) = item::stored(state, container, &place.epk, &place.id)? else { continue };
        bytes += item.text_length();
        items.push(item);
        if bytes > limits::SURVEY_BYTES_MAX {
            break;
        }
    }
    Ok(items)
}

fn spread(state: &dyn Read, container: &Container) -> Result<Vec<u64>, Error> {
    let number = container.number();
    let items_max = limits::SURVEY_ITEMS_MAX;
    let range = |from| row::locators_from(number, from);
    let ordinals = |from, order| {
        let rows = state.range(INDEX, &range(from), order);
        rows.map(|row| row.map(|(key, _)| row::read_locator(&key).unwrap_or_default()))
    };
    let first = ordinals(0, Order::Ascending).take(items_max + 1).collect::<Result<Vec<u64>, Error>>()?;
    let last = ordinals(0, Order::Descending).next().transpose()?;
    let (Some(start), Some(end)) = (first.first(), last) else { return Ok(Vec::new()) };
    if first.len() <= items_max {
        return Ok(first);
    }
    let mut spread: Vec<u64> = Vec::with_capacity(items_max);
    let step = (end - start).div_ceil(items_max as u64);
    let mut next = *start;
    while spread.len() < items_max
        && let Some(found) = ordinals(next, Order::Ascending).next().transpose()?
    {
        spread.push(found);
        next = (next + step).max(found + 1);
    }
    Ok(spread)
}

/// Entries by the number of their path, and what the numbers stand for.
#[derive(Default)]
struct PathCounts {
    /// The number of the path above, and the step from there.
    names: HashMap<u64, (u64, Step)>,
    /// How many items have entries of a number, and how many they have.
    counts: HashMap<u64, (u64, u64)>,
}

impl PathCounts {
    /// Says how many entries the item has.
    fn add(&mut self, rules: &IndexRules, item: &ItemRow) -> u64 {
        let terms = terms(rules, item.text(), item.written());
        let mut last = None;
        for term in terms.iter() {
            let number = term.first_chunk().map_or(0, |number| u64::from_be_bytes(*number));
            let (items, entries) = self.counts.entry(number).or_default();
            *items += u64::from(last.replace(number) != Some(number));
            *entries += 1;
        }
        self.learn(item.text());
        terms.len() as u64
    }

    /// The names of an item's paths.
    fn learn(&mut self, text: &str) {
        let mut waiting = vec![(ROOT, text)];
        while let Some((above, value)) = waiting.pop() {
            for (name, value) in raw::members(value) {
                let name = raw::unescape(name);
                let number = number::member(above, &name);
                self.name(number, above, || Step::Member(name.into_owned()));
                waiting.push((number, value));
            }
            for value in raw::elements(value) {
                let number = number::each(above);
                self.name(number, above, || Step::Each);
                waiting.push((number, value));
            }
        }
    }

    fn name(&mut self, number: u64, above: u64, step: impl FnOnce() -> Step) {
        if self.names.len() < limits::SURVEY_PATHS_MAX && !self.names.contains_key(&number) {
            self.names.insert(number, (above, step()));
        }
    }

    /// Composite and spatial indexes are no paths, and neither is `_ts`: no item has it in its text.
    fn paths(&self) -> Vec<SurveyedPath> {
        let found = self.counts.iter().filter_map(|(number, (items, entries))| {
            Some(SurveyedPath { path: self.path(*number)?, items: *items, entries: *entries })
        });
        let mut found: Vec<SurveyedPath> = found.collect();
        found.sort_by(|a, b| b.entries.cmp(&a.entries).then_with(|| a.path.cmp(&b.path)));
        found
    }

    fn path(&self, mut number: u64) -> Option<Path> {
        let mut steps = Vec::new();
        // A path is no longer than an item is deep; two paths of one number could make a ring.
        while number != ROOT && steps.len() <= NESTING_LEVELS_MAX {
            let (above, step) = self.names.get(&number)?;
            steps.push(step.clone());
            number = *above;
        }
        steps.reverse();
        (number == ROOT).then(|| steps.into())
    }
}
