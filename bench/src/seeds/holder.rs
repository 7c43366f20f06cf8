//! Who holds the sets: does the workloads and gives answers that can be compared.

use super::set::Set;
use super::workload::{Agreement, Case, Question, Workload};
use crate::error::Error;
use crate::sample::Sample;
use serde_json::Value;
use std::time::Duration;

/// Cases of a question whose answers are compared before anything is measured.
const CASES_COMPARED_MAX: usize = 64;

/// Rows in the order they came: an item's id, or a value's text.
pub type Answer = Vec<String>;

pub trait Holder {
    fn name(&self) -> &'static str;

    /// The whole answer, or its first page if the question is for that.
    fn answer(&self, set: &Set, question: &Question, case: &Case) -> Result<Answer, Error>;

    /// One run of a workload. `Err` is a run that could not be made; failed operations are in the sample.
    fn run(&self, set: &Set, workload: &Workload, span: Duration) -> Result<Sample, Error>;
}

/// What stands for a row when answers are compared.
pub fn row(value: &Value) -> String {
    match value.get("id").unwrap_or(value) {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Asks all holders the same and notes how many rows each case has. An error tells where they differ.
pub fn agree(holders: &[Box<dyn Holder>], set: &Set, question: &mut Question) -> Result<(), Error> {
    for at in 0..question.cases.len().min(CASES_COMPARED_MAX) {
        let case = &question.cases[at];
        let answers = holders.iter().map(|holder| holder.answer(set, question, case));
        let answers = answers.collect::<Result<Vec<Answer>, _>>()?;
        if let [ours, theirs] = &answers[..]
            && let Some(difference) = difference(ours, theirs, question.agreement)
        {
            let values = &case.values;
            return Err(Error::Unexpected(format!("the answers for {values:?} differ: {difference}")));
        }
        question.cases[at].rows = answers.first().map(Vec::len);
    }
    Ok(())
}

fn difference(ours: &Answer, theirs: &Answer, agreement: Agreement) -> Option<String> {
    if ours.len() != theirs.len() {
        return Some(format!("{} rows and {}", ours.len(), theirs.len()));
    }
    let in_order = |answer: &Answer| {
        let mut rows = answer.clone();
        if agreement == Agreement::Rows {
            rows.sort();
        }
        rows
    };
    if agreement == Agreement::Number {
        return None;
    }
    let pairs = in_order(ours).into_iter().zip(in_order(theirs));
    pairs.enumerate().find(|(_, (a, b))| a != b).map(|(at, (a, b))| format!("row {at} is {a} and {b}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows(names: &[&str]) -> Answer {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn differ(ours: &[&str], theirs: &[&str], agreement: Agreement) -> bool {
        difference(&rows(ours), &rows(theirs), agreement).is_some()
    }

    #[test]
    fn answers_agree_in_what_the_question_fixes() {
        assert!(differ(&["a", "b"], &["b", "a"], Agreement::Order));
        assert!(!differ(&["a", "b"], &["b", "a"], Agreement::Rows));
        assert!(differ(&["a", "b"], &["a", "c"], Agreement::Rows));
        assert!(!differ(&["a", "b"], &["c", "d"], Agreement::Number));
        assert!(differ(&["a"], &["c", "d"], Agreement::Number));
    }

    #[test]
    fn a_row_is_known_by_its_id_or_by_its_value() {
        assert_eq!(row(&json!({"a": 1, "id": "x"})), "x");
        assert_eq!(row(&json!(17)), "17");
    }
}
