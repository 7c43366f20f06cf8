//! Whether rows from elsewhere are an answer to the query.
//!
//! Rows whose ORDER BY keys are equal may come in any order, and a window that cuts through such a run may
//! keep any of it. Without ORDER BY all rows are one run.

use super::run::Answer;
use orrery_value::Value;

/// What is wrong with the rows, if anything is.
pub fn disagreement(answer: &Answer, rows: &[Value]) -> Option<String> {
    let end = answer.rows.len().min(answer.skip.saturating_add(answer.take));
    let expected = end.saturating_sub(answer.skip);
    if rows.len() != expected {
        return Some(format!("{expected} rows expected, {} came", rows.len()));
    }
    let mut start = 0;
    for run in answer.rows.chunk_by(|a, b| a.0 == b.0) {
        let (from, to) = (start.max(answer.skip), (start + run.len()).min(end));
        start += run.len();
        if from < to {
            let came = &rows[from - answer.skip..to - answer.skip];
            if let Some(stranger) = not_among(came, run) {
                return Some(format!("not expected among rows {from}..{to}: {}", stranger.to_json()));
            }
        }
    }
    None
}

/// A row that is not in the run, or more often than there.
fn not_among<'a>(came: &'a [Value], run: &[(Vec<Value>, Value)]) -> Option<&'a Value> {
    let mut left: Vec<&Value> = run.iter().map(|(_, row)| row).collect();
    for row in came {
        let Some(at) = left.iter().position(|known| *known == row) else { return Some(row) };
        left.swap_remove(at);
    }
    None
}

#[test]
fn only_ties_may_change_places() {
    let row = |key: i64, row: i64| (vec![Value::from(key)], Value::from(row));
    let answer =
        |skip, take| Answer { rows: vec![row(1, 10), row(2, 20), row(2, 21), row(3, 30)], skip, take };
    let check = |answer: &Answer, rows: &[i64], agrees: bool| {
        let rows: Vec<Value> = rows.iter().map(|row| Value::from(*row)).collect();
        assert_eq!(disagreement(answer, &rows).is_none(), agrees, "{rows:?}");
    };
    let all = answer(0, usize::MAX);
    check(&all, &[10, 20, 21, 30], true);
    check(&all, &[10, 21, 20, 30], true);
    check(&all, &[20, 10, 21, 30], false);
    check(&all, &[10, 20, 20, 30], false);
    check(&all, &[10, 20, 21], false);
    let cut = answer(1, 1);
    check(&cut, &[20], true);
    check(&cut, &[21], true);
    check(&cut, &[10], false);
    check(&answer(9, 1), &[], true);
}
