//! Spatial indexes: the cells of a grid that a shape lies in, and where to look for shapes near a place.
//!
//! The globe, or the box that an index over a plane names, is one cell; each cell is halved both ways into four, thirty
//! times. A shape is entered under a few cells that cover the rectangle around it, and found from a rectangle by every
//! cell inside it and every one around it:
//!
//! ```text
//! shape ─ extent ─> rectangle ─ cover ───> cells                     two cells that share a place
//!        question ─> rectangle ─ lookups ─> stretches of cells       lie one inside the other
//! ```
//!
//! Nothing that meets a rectangle is missed, and much that only comes near it is found: whoever asks looks at the
//! shapes again. Where that would be hard to decide (an edge over a pole, a ring that runs around the rest of the
//! earth), a shape is simply everywhere.

mod cell;
mod extent;
mod shape;

#[cfg(test)]
mod tests;

use crate::limits::{SPATIAL_CELLS_MAX, SPATIAL_LOOKUPS_MAX};
use cell::{EpkRange, LEVEL_STEP, LEVELS, ROOT};
use extent::Extent;
use orrery_catalog::definition::{BoundingBox, SpatialType};
use orrery_query::access::Rectangle;
use orrery_value::Value;
use std::ops::RangeInclusive;

/// Cells that a question may list. Most of them are neighbours, so they are fewer stretches.
const CELLS_LISTED_MAX: u64 = 256;

/// The cells that a shape is entered under; none if the value is no shape. Rings that cross themselves are not looked
/// for: such a shape is found, and then seen to be none.
///
/// A shape of a type that the index was not told of is in the cell that every question finds, so that it is not missed
/// by one about all types.
pub fn cover(shape: &Value, types: &[SpatialType], bounds: Option<&BoundingBox>) -> Vec<u64> {
    let Some((kind, shape)) = shape::read(shape) else { return Vec::new() };
    let Some(extent) = Extent::of(&shape, bounds.is_some()) else { return Vec::new() };
    if !types.contains(&kind) {
        return vec![ROOT];
    }
    cells_of(&extent, bounds)
}

/// Stretches of cells, ascending and apart. Of every shape that meets the rectangle, one cell at least is in one of
/// them; perhaps several are.
pub fn lookups(rectangle: &Rectangle, bounds: Option<&BoundingBox>) -> Vec<RangeInclusive<u64>> {
    let Some(extent) = Extent::around(rectangle, bounds.is_some()) else { return Vec::new() };
    let areas = areas(&extent, bounds);
    let few = |level: &u32| areas.iter().map(|area| area.count(*level)).sum::<u64>() <= CELLS_LISTED_MAX;
    let mut found = (0..=LEVELS).rev().filter(few).map(|level| cell::around(&areas, level));
    found.find(|stretches| stretches.len() <= SPATIAL_LOOKUPS_MAX).unwrap_or_else(|| vec![0..=u64::MAX])
}

fn cells_of(extent: &Extent, bounds: Option<&BoundingBox>) -> Vec<u64> {
    let areas = areas(extent, bounds);
    let cells_max = (SPATIAL_CELLS_MAX / areas.len()) as u64;
    let mut cells: Vec<u64> = areas.iter().flat_map(|area| fewest(area, cells_max)).collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// The smallest cells of one size that cover an area with so few of them.
fn fewest(area: &EpkRange, cells_max: u64) -> impl Iterator<Item = u64> {
    let mut levels = (0..=LEVELS).rev().step_by(LEVEL_STEP);
    let level = levels.find(|level| area.count(*level) <= cells_max).unwrap_or(0);
    area.cells(level)
}

/// Where an extent lies on the grid: in two places if it passes the edge of the globe's.
fn areas(extent: &Extent, bounds: Option<&BoundingBox>) -> Vec<EpkRange> {
    let Some(plane) = bounds else {
        let globe = BoundingBox { xmin: -180.0, ymin: -90.0, xmax: 180.0, ymax: 90.0 };
        return extent.parts().iter().map(|part| EpkRange::new(part, &globe)).collect();
    };
    vec![EpkRange::new(extent, plane)]
}
