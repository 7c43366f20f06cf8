//! Answers as both give them, made comparable: rows of cells, cells as text.

use serde_json::Value;

/// Rows in the order they came.
pub type Answer = Vec<Vec<String>>;

/// The cells of a row of the server's: a value is one, an object has one for each member.
pub fn cells(row: &Value) -> Vec<String> {
    match row {
        Value::Object(members) => members.values().map(cell).collect(),
        value => vec![cell(value)],
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Where two answers differ. Rows without an order of their own come in any.
pub fn difference(ours: &Answer, theirs: &Answer) -> Option<String> {
    if ours.len() != theirs.len() {
        return Some(format!("{} rows and {}", ours.len(), theirs.len()));
    }
    let sorted = |answer: &Answer| {
        let mut rows: Answer =
            answer.iter().map(|row| row.iter().map(|cell| plain(cell)).collect()).collect();
        rows.sort();
        rows
    };
    let (ours, theirs) = (sorted(ours), sorted(theirs));
    let at = ours.iter().zip(&theirs).position(|(a, b)| a != b)?;
    Some(format!("{:?} and {:?}", ours[at], theirs[at]))
}

/// `17.50` and `17.5` are one number; so are those that differ in the last digit a double has.
fn plain(cell: &str) -> String {
    cell.parse::<f64>().map_or_else(|_| cell.to_owned(), |number| format!("{number:.6}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows(values: &[Value]) -> Answer {
        values.iter().map(cells).collect()
    }

    #[test]
    fn the_order_of_rows_and_the_spelling_of_numbers_do_not_matter() {
        let ours = rows(&[json!({"a": "x", "b": 2, "c": 500.307_197_943_444_7}), json!("y")]);
        let theirs = vec![
            vec!["y".to_owned()],
            vec!["x".to_owned(), "2.0".to_owned(), "500.30719794344475".to_owned()],
        ];
        assert_eq!(difference(&ours, &theirs), None);
    }

    #[test]
    fn another_value_or_another_number_of_rows_is_a_difference() {
        let one = rows(&[json!(1)]);
        assert!(difference(&one, &rows(&[json!(2)])).is_some());
        assert!(difference(&one, &rows(&[json!(1), json!(1)])).is_some());
    }
}
