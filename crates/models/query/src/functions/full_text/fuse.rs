//! Reciprocal rank fusion: several rankings become one.
//!
//! A row's share from a ranking is `weight / (60 + rank)`, ranks from 1. Rows of the same score share a rank and
//! the next score has the next one, as the clients do it when they fuse themselves.

use std::cmp::Ordering;

/// How much the first places stand out; fixed in the protocol's clients too.
const K: f64 = 60.0;

/// The fused score of each row; the greatest is the best. `scores` has for each component the score of each
/// row, greater being better; NaN is no score and comes after all others. Missing weights are 1.
pub fn fuse(scores: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let rows = scores.iter().map(Vec::len).max().unwrap_or(0);
    let mut fused = vec![0.0; rows];
    for (component, scores) in scores.iter().enumerate() {
        let weight = weights.get(component).copied().unwrap_or(1.0);
        for (row, rank) in ranks(scores).into_iter().enumerate() {
            fused[row] += weight / (K + rank as f64);
        }
    }
    fused
}

/// The rank of each row, from 1.
fn ranks(scores: &[f64]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| best_first(scores[a], scores[b]));
    let mut ranks = vec![1; scores.len()];
    for pair in order.windows(2) {
        let is_worse = best_first(scores[pair[0]], scores[pair[1]]).is_ne();
        ranks[pair[1]] = ranks[pair[0]] + u64::from(is_worse);
    }
    ranks
}

fn best_first(a: f64, b: f64) -> Ordering {
    b.partial_cmp(&a).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: f64 = f64::NAN;

    #[test]
    fn equal_scores_share_a_rank_and_the_next_has_the_next() {
        assert_eq!(ranks(&[0.5, 0.9, 0.5, 0.1]), [2, 1, 2, 3]);
        assert_eq!(ranks(&[0.0, -0.0]), [1, 1]);
    }

    #[test]
    fn rows_without_a_score_come_last_together() {
        assert_eq!(ranks(&[NONE, -5.0, NONE, f64::NEG_INFINITY]), [3, 1, 3, 2]);
    }

    #[test]
    fn shares_are_added_up() {
        let fused = fuse(&[vec![0.9, 0.1], vec![1.0, 7.0]], &[]);
        assert_eq!(fused, [1.0 / 61.0 + 1.0 / 62.0, 1.0 / 62.0 + 1.0 / 61.0]);
    }

    #[test]
    fn weights_say_which_component_counts() {
        let fused = fuse(&[vec![0.9, 0.1], vec![1.0, 7.0]], &[2.0, 1.0]);
        assert!(fused[0] > fused[1]);
        let fused = fuse(&[vec![0.9, 0.1], vec![1.0, 7.0]], &[1.0, 2.0]);
        assert!(fused[0] < fused[1]);
    }

    #[test]
    fn nothing_fuses_to_nothing() {
        assert!(fuse(&[], &[]).is_empty());
        assert!(fuse(&[vec![], vec![]], &[1.0]).is_empty());
    }
}
