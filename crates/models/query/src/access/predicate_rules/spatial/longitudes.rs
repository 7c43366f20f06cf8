//! Parts of the circle of longitudes, in degrees.

/// From a longitude eastwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Turn {
    /// From -180 to below 180.
    start: f64,
    width: f64,
}

/// An edge that goes further round than this passes a pole, or comes so close that it may as well.
const EDGE_DEGREES_MAX: f64 = 179.9;
/// A ring ends where it began, or a full turn further; the rest is for rounding.
const AROUND_DEGREES_MIN: f64 = 359.0;

impl Turn {
    pub(super) const FULL: Self = Self { start: -180.0, width: 360.0 };

    fn new(start: f64, width: f64) -> Self {
        if width >= 360.0 { Self::FULL } else { Self { start: normal(start), width } }
    }

    /// What edges between these longitudes pass, each the shorter way; all, if they pass a pole or lead around
    /// one. `None` without any.
    pub(super) fn along(mut longitudes: impl Iterator<Item = f64>) -> Option<Self> {
        let first = longitudes.next()?;
        let (mut at, mut low, mut high) = (first, first, first);
        for longitude in longitudes {
            let step = normal(longitude - at);
            if step.abs() > EDGE_DEGREES_MAX {
                return Some(Self::FULL);
            }
            at += step;
            (low, high) = (low.min(at), high.max(at));
        }
        let is_around = (at - first).abs() > AROUND_DEGREES_MIN;
        Some(if is_around { Self::FULL } else { Self::new(low, high - low) })
    }

    pub(super) fn grown(self, by: f64) -> Self {
        Self::new(self.start - by, self.width + 2.0 * by)
    }

    /// The ends from west to east, as longitudes.
    pub(super) fn ends(self) -> (f64, f64) {
        if self == Self::FULL { (-180.0, 180.0) } else { (self.start, normal(self.start + self.width)) }
    }
}

/// The shortest turn that has all of them in it: it leaves out the widest gap. `None` without any.
pub(super) fn joined(mut turns: Vec<Turn>) -> Option<Turn> {
    turns.sort_by(|a, b| a.start.total_cmp(&b.start));
    let first = turns.first()?.start;
    let ends = turns.iter().skip(1).map(|turn| turn.start).chain([first + 360.0]);
    // A turn that goes on past the 180th meridian comes back before the first.
    let last = turns.iter().map(|turn| turn.start + turn.width).fold(f64::NEG_INFINITY, f64::max);
    let (mut reached, mut gap, mut after) = (last - 360.0, 0.0, first);
    for (turn, next) in turns.iter().zip(ends) {
        reached = (turn.start + turn.width).max(reached);
        if next - reached > gap {
            (gap, after) = (next - reached, next);
        }
    }
    Some(Turn::new(after, 360.0 - gap))
}

/// The same longitude from -180 to below 180.
fn normal(longitude: f64) -> f64 {
    let turned = (longitude + 180.0).rem_euclid(360.0) - 180.0;
    if turned >= 180.0 { -180.0 } else { turned }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&[f64]], expected: (f64, f64)) {
        let turns = lines.iter().map(|line| Turn::along(line.iter().copied())).collect::<Option<Vec<_>>>();
        assert_eq!(joined(turns.unwrap()).unwrap().ends(), expected, "{lines:?}");
    }

    #[test]
    fn edges_go_the_shorter_way() {
        check(&[&[10.0, 30.0, 20.0]], (10.0, 30.0));
        check(&[&[170.0, -170.0]], (170.0, -170.0));
        check(&[&[-170.0, 170.0, 175.0]], (170.0, -170.0));
        check(&[&[5.0]], (5.0, 5.0));
        check(&[&[180.0]], (-180.0, -180.0));
        check(&[&[0.0, 170.0, -20.0]], (0.0, -20.0));
    }

    #[test]
    fn a_way_past_or_around_a_pole_has_all_longitudes() {
        check(&[&[0.0, 120.0, -120.0, 0.0]], (-180.0, 180.0));
        check(&[&[0.0, 180.0]], (-180.0, 180.0));
        check(&[&[0.0, 170.0, -20.0, 150.0, -40.0]], (-180.0, 180.0));
    }

    #[test]
    fn the_widest_gap_is_left_out() {
        check(&[&[10.0, 20.0], &[40.0, 50.0]], (10.0, 50.0));
        check(&[&[-100.0, -90.0], &[100.0, 110.0]], (100.0, -90.0));
        check(&[&[170.0, -170.0], &[0.0, 10.0], &[-60.0]], (170.0, 10.0));
        check(&[&[0.0, 100.0], &[10.0, 20.0]], (0.0, 100.0));
        check(&[&[-170.0, -160.0], &[0.0, 10.0], &[20.0, 120.0, -120.0, -10.0]], (0.0, -10.0));
        check(&[&[0.0, 100.0, -160.0], &[-170.0, -80.0], &[-90.0, 5.0]], (-180.0, 180.0));
    }

    #[test]
    fn growing_ends_at_all_longitudes() {
        let turn = |line: &[f64]| Turn::along(line.iter().copied()).unwrap();
        assert_eq!(turn(&[175.0]).grown(10.0).ends(), (165.0, -175.0));
        assert_eq!(turn(&[0.0, 100.0]).grown(130.0), Turn::FULL);
    }
}
