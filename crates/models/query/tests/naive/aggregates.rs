//! The aggregates over the values of a group, undefined ones included.

use super::functions::{number, of_number};
use super::operators::is_true;
use orrery_value::Value;

pub const NAMES: [&str; 6] = ["COUNT", "COUNTIF", "SUM", "AVG", "MIN", "MAX"];

pub fn is_aggregate(name: &str) -> bool {
    NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

pub fn aggregate(name: &str, values: &[Value]) -> Value {
    let defined: Vec<&Value> = values.iter().filter(|value| !value.is_undefined()).collect();
    match name.to_ascii_uppercase().as_str() {
        "COUNT" => number(defined.len() as f64),
        "COUNTIF" => number(defined.iter().filter(|value| is_true(value)).count() as f64),
        "SUM" => sum(&defined).map_or(Value::Undefined, number),
        "AVG" => sum(&defined).map_or(Value::Undefined, |sum| number(sum / defined.len() as f64)),
        "MIN" if all_simple(&defined) => defined.into_iter().min().cloned().unwrap_or_default(),
        "MAX" if all_simple(&defined) => defined.into_iter().max().cloned().unwrap_or_default(),
        _ => Value::Undefined,
    }
}

fn sum(values: &[&Value]) -> Option<f64> {
    let numbers: Option<Vec<f64>> = values.iter().map(|value| of_number(value)).collect();
    Some(numbers?.iter().fold(0.0, |sum, it| sum + it))
}

fn all_simple(values: &[&Value]) -> bool {
    !values.iter().any(|value| matches!(value, Value::Array(_) | Value::Object(_)))
}

#[test]
fn aggregates_of_nothing_and_of_mixed_types() {
    let check = |name, values: &str, expected: &str| {
        let Value::Array(values) = Value::read(values) else { panic!("{values}") };
        assert_eq!(aggregate(name, &values).to_json(), expected, "{name} {values:?}");
    };
    check("COUNT", "[]", "0");
    check("SUM", "[]", "0");
    check("AVG", "[]", "");
    check("MIN", "[]", "");
    check("count", "[1,null,\"a\"]", "3");
    check("SUM", "[1,2.5]", "3.5");
    check("SUM", "[1,\"2\"]", "");
    check("AVG", "[1,2]", "1.5");
    check("AVG", "[1,null]", "");
    check("MIN", "[2,\"a\",true]", "true");
    check("MAX", "[2,\"a\",true]", "\"a\"");
    check("MAX", "[2,[1]]", "");
    check("COUNTIF", "[true,false,1]", "1");
}
