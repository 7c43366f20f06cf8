//! A cell: a way down the grid, as a number.
//!
//! ```text
//! level 0       1 followed by 60 zeros
//! level n       n times two bits (row, column: which quarter), then 1, then zeros; 61 bits in all
//! ```
//!
//! So a cell's own number is in the middle of those of the cells inside it, and these are one stretch of numbers.
//! Shapes are entered on every second level only, which halves the cells around a place.

use super::extent::Extent;
use orrery_catalog::definition::BoundingBox;
use std::ops::RangeInclusive;

/// How often the whole is halved both ways: to four centimetres on the equator.
pub(super) const LEVELS: u32 = 30;
pub(super) const LEVEL_STEP: usize = 2;
/// The cell that all others are in.
pub(super) const ROOT: u64 = 1 << (2 * LEVELS);

/// A rectangle of the smallest cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EpkRange {
    columns: RangeInclusive<u32>,
    rows: RangeInclusive<u32>,
}

impl EpkRange {
    /// What lies outside the bounds is moved to their edge: things that meet still do.
    pub fn new(extent: &Extent, bounds: &BoundingBox) -> Self {
        let column = |x: f64| place(x, bounds.xmin, bounds.xmax);
        let row = |y: f64| place(y, bounds.ymin, bounds.ymax);
        Self {
            columns: column(extent.west)..=column(extent.east),
            rows: row(extent.south)..=row(extent.north),
        }
    }

    /// How many cells of a level it touches.
    pub fn count(&self, level: u32) -> u64 {
        [&self.columns, &self.rows]
            .map(|side| u64::from((side.end() >> up(level)) - (side.start() >> up(level))) + 1)
            .iter()
            .product()
    }

    pub fn cells(&self, level: u32) -> impl Iterator<Item = u64> {
        let numbers = |side: &RangeInclusive<u32>| side.start() >> up(level)..=side.end() >> up(level);
        let columns = numbers(&self.columns);
        numbers(&self.rows).flat_map(move |row| {
            columns.clone().map(move |column| cell(column << up(level), row << up(level), level))
        })
    }
}

/// The cells inside those of a level that some areas touch, and all that are around them, in stretches.
pub(super) fn around(areas: &[EpkRange], level: u32) -> Vec<RangeInclusive<u64>> {
    let mut cells: Vec<u64> = areas.iter().flat_map(|area| area.cells(level)).collect();
    cells.sort_unstable();
    cells.dedup();
    let mut stretches = joined(cells.iter().map(|&cell| inside(cell, level)));
    for outer in (0..level).step_by(LEVEL_STEP).rev() {
        cells.iter_mut().for_each(|cell| *cell = lifted(*cell, outer));
        cells.dedup();
        let apart: Vec<u64> = cells.iter().copied().filter(|cell| !holds(&stretches, *cell)).collect();
        stretches.extend(apart.into_iter().map(|cell| cell..=cell));
    }
    stretches.sort_unstable_by_key(|stretch| *stretch.start());
    stretches
}

fn holds(stretches: &[RangeInclusive<u64>], cell: u64) -> bool {
    stretches.iter().any(|stretch| stretch.contains(&cell))
}

/// Neighbours become one stretch. The single number between two of them is no cell, or one around both.
fn joined(ascending: impl Iterator<Item = RangeInclusive<u64>>) -> Vec<RangeInclusive<u64>> {
    let mut all: Vec<RangeInclusive<u64>> = Vec::new();
    for next in ascending {
        match all.last_mut() {
            Some(last) if *next.start() <= last.end() + 2 => *last = *last.start()..=*next.end(),
            _ => all.push(next),
        }
    }
    all
}

/// The cell of a level that holds a smallest one.
fn cell(column: u32, row: u32, level: u32) -> u64 {
    lifted((spread(row) << 2) | (spread(column) << 1) | 1, level)
}

/// The cell of a level that holds another one of a deeper level.
fn lifted(cell: u64, level: u32) -> u64 {
    let mark = mark(level);
    (cell & !(mark | (mark - 1))) | mark
}

/// The numbers of a cell and all that are inside it.
fn inside(cell: u64, level: u32) -> RangeInclusive<u64> {
    cell - (mark(level) - 1)..=cell + (mark(level) - 1)
}

/// The 1 that ends the way.
fn mark(level: u32) -> u64 {
    1 << (2 * up(level))
}

/// How far a level is above the last.
fn up(level: u32) -> u32 {
    LEVELS - level
}

/// The bits of a number, each followed by room for another.
fn spread(number: u32) -> u64 {
    let steps = [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ];
    steps.iter().fold(u64::from(number), |bits, (by, kept)| (bits | (bits << by)) & kept)
}

/// The column or row of a coordinate. A greater coordinate never has a smaller one, whatever is lost to rounding;
/// halves, because the whole width may be more than a double holds.
fn place(at: f64, min: f64, max: f64) -> u32 {
    let share = (at / 2.0 - min / 2.0) / (max / 2.0 - min / 2.0);
    ((share * f64::from(1u32 << LEVELS)) as u32).min((1 << LEVELS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: u32 = (1 << LEVELS) - 1;

    #[test]
    fn a_cell_is_amid_the_cells_inside_it() {
        let corners =
            [(0, 0), (LAST, 0), (0, LAST), (LAST, LAST), (LAST / 2, LAST / 3), (12_345, 987_654_321)];
        for (column, row) in corners {
            for level in 0..LEVELS {
                let (outer, inner) = (cell(column, row, level), cell(column, row, level + 1));
                assert_eq!(lifted(inner, level), outer);
                assert!(inside(outer, level).contains(&inner) && inside(outer, level).contains(&outer));
                assert!(!inside(inner, level + 1).contains(&outer));
            }
        }
        assert_eq!(cell(5, 7, 0), ROOT);
        assert_eq!(inside(ROOT, 0), 1..=(1 << 61) - 1);
    }

    #[test]
    fn quarters_are_four_stretches_beside_each_other() {
        let half = 1 << (LEVELS - 1);
        let quarters = [(0, 0), (half, 0), (0, half), (half, half)].map(|(x, y)| inside(cell(x, y, 1), 1));
        for pair in quarters.windows(2) {
            assert_eq!(pair[0].end() + 2, *pair[1].start());
        }
        let whole = EpkRange { columns: 0..=LAST, rows: 0..=LAST };
        assert_eq!(around(std::slice::from_ref(&whole), 1), [inside(ROOT, 0)]);
        assert_eq!(whole.count(LEVELS), 1 << 60);
    }

    #[test]
    fn coordinates_keep_their_order_and_stay_in_the_grid() {
        let check =
            |at, min, max, expected| assert_eq!(place(at, min, max), expected, "{at} in {min}..{max}");
        check(-180.0, -180.0, 180.0, 0);
        check(0.0, -180.0, 180.0, 1 << 29);
        check(180.0, -180.0, 180.0, LAST);
        check(-1e300, -1.0, 1.0, 0);
        check(1e300, -1.0, 1.0, LAST);
        check(0.0, -f64::MAX, f64::MAX, 1 << 29);
        check(1.0, 0.0, f64::from_bits(1), LAST);
        check(-1.0, 0.0, f64::from_bits(1), 0);
    }
}
