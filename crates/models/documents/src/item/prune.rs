//! Partition pruning: the items or partitions that a query's filter names.

use super::collection::Items;
use orrery_catalog::Container;
use orrery_catalog::definition::{CompositePath, DistanceFunction, SortOrder};
use orrery_keys::{Epk, epk, prefix_range};
use orrery_query::Prepared;
use orrery_query::bind::Settings;
use orrery_query::functions::vector::Distance;
use orrery_query::plan::distributed::{id_and_key_lookups, partition_keys};
use orrery_value::Value;

/// The binder settings of a container: its vector policies and composite indexes.
pub fn settings(container: &Container) -> Settings {
    let vectors = container.definition().vectors().iter().map(|vector| {
        let distance = match vector.distance {
            DistanceFunction::Euclidean => Distance::Euclidean,
            DistanceFunction::Cosine => Distance::Cosine,
            DistanceFunction::DotProduct => Distance::DotProduct,
        };
        (vector.path.segments().to_vec(), distance)
    });
    let composites = container.definition().indexing().composites.iter().map(|index| {
        let part =
            |part: &CompositePath| (part.path.segments().to_vec(), part.order == SortOrder::Descending);
        index.paths().iter().map(part).collect()
    });
    Settings { vectors: vectors.collect(), composites: Some(composites.collect()) }
}

/// The result of pruning: single items, partitions, or no restriction.
pub enum Pruning {
    /// Partition and id of each.
    Items(Vec<(Epk, String)>),
    /// `(min, max)` of effective partition keys; of a whole key both are the same.
    Partitions(Vec<(Epk, Epk)>),
    Any,
}

impl Pruning {
    pub fn of(prepared: &Prepared, parameters: &[(String, Value)], container: &Container) -> Self {
        orrery_core::tour_step!();
        if let Some(lookups) = id_and_key_lookups(&prepared.ast, parameters, &key_paths(container)) {
            let keys = lookups.into_iter().map(|(id, key)| (epk(container.hashing(), &key), id));
            return Self::Items(keys.collect());
        }
        partitions(prepared, parameters, container).map_or(Self::Any, Self::Partitions)
    }

    /// The named partitions; `None` if the filter does not restrict them.
    pub fn partitions(&self) -> Option<Vec<(Epk, Epk)>> {
        match self {
            Self::Items(keys) => Some(keys.iter().map(|(epk, _)| (epk.clone(), epk.clone())).collect()),
            Self::Partitions(named) => Some(named.clone()),
            Self::Any => None,
        }
    }

    /// Restricts a collection to the named items or partitions.
    pub fn restrict<'a>(&self, items: Items<'a>) -> Items<'a> {
        match self {
            Self::Items(keys) => items.restrict_ids(keys),
            Self::Partitions(named) => items.restrict_ranges(named),
            Self::Any => items,
        }
    }
}

/// The effective partition keys of whole keys (`min` is `max`) and of prefixes that the filter names; none at all if no
/// document can match or none is read, and `None` if it may mean any.
pub fn partitions(
    prepared: &Prepared,
    parameters: &[(String, Value)],
    container: &Container,
) -> Option<Vec<(Epk, Epk)>> {
    if prepared.plan.matches_nothing() {
        return Some(Vec::new());
    }
    let keys = partition_keys(&prepared.ast, parameters, &key_paths(container))?;
    let levels = container.definition().partition_key().paths().len();
    let keys = keys.iter().map(|key| {
        let hash = epk(container.hashing(), key);
        if key.len() < levels { prefix_range(&hash) } else { (hash.clone(), hash) }
    });
    Some(keys.collect())
}

fn key_paths(container: &Container) -> Vec<Vec<String>> {
    container.definition().partition_key().paths().iter().map(|path| path.segments().to_vec()).collect()
}
