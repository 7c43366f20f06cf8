//! Intervals of longitude, in degrees.

/// An interval eastwards from a longitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Turn {
    /// From -180 to below 180.
    start: f64,
    width: f64,
}

/// An edge longer than this passes a pole, or so close to one that it makes no difference.
const EDGE_DEGREES_MAX: f64 = 179.9;
/// A ring ends where it began or a full turn further; the tolerance is for rounding.
const AROUND_DEGREES_MIN: f64 = 359.0;

impl Turn {
    pub(super) const FULL: Self = Self { start: -180.0, width: 360.0 };

    fn new(start: f64, width: f64) -> Self {
        if width >= 360.0 { Self::FULL } else { Self { start: normal(start), width } }
    }

    /// The longitudes of edges between these, each taking the shorter way; all longitudes if the edges
    /// pass or surround a pole. `None` without edges.
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

/// The shortest interval that contains all of them: it omits the widest gap. `None` without any.
pub(super) fn joined(mut turns: Vec<Turn>) -> Option<Turn> {
    turns.sort_by(|a, b| a.start.total_cmp(&b.start));
    let first = turns.first()?.start;
    let ends = turns.iter().skip(1).map(|turn| turn.start).chain([first + 360.0]);
    // An interval that continues past the 180th meridian may wrap around to the first.
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

/// Normalizes a longitude to -180 (inclusive) to 180 (exclusive).
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
    fn edges_take_the_shorter_way() {
        check(&[&[10.0, 30.0, 20.0]], (10.0, 30.0));
        check(&[&[170.0, -170.0]], (170.0, -170.0));
        check(&[&[-170.0, 170.0, 175.0]], (170.0, -170.0));
        check(&[&[5.0]], (5.0, 5.0));
        check(&[&[180.0]], (-180.0, -180.0));
        check(&[&[0.0, 170.0, -20.0]], (0.0, -20.0));
    }

    #[test]
    fn edges_past_or_around_a_pole_have_all_longitudes() {
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
    fn growing_stops_at_all_longitudes() {
        let turn = |line: &[f64]| Turn::along(line.iter().copied()).unwrap();
        assert_eq!(turn(&[175.0]).grown(10.0).ends(), (165.0, -175.0));
        assert_eq!(turn(&[0.0, 100.0]).grown(130.0), Turn::FULL);
    }
}
