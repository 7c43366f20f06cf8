//! Another evaluator: over the filter's text form and plain values, written after the rules and not after the model.
//!
//! It is given a condition as data, not as text, and entities as lists of values, so that a mistake in the parser, the
//! evaluator or the plan is not repeated here.

use orrery_tables::Value;

#[derive(Clone, Debug)]
pub enum Condition {
    Either(Box<Condition>, Box<Condition>),
    Both(Box<Condition>, Box<Condition>),
    Opposite(Box<Condition>),
    Compare(Term, &'static str, Term),
    Bare(Term),
}

#[derive(Clone, Debug)]
pub enum Term {
    Named(String),
    Constant(Value),
    Null,
}

/// Properties by name, the keys among them.
pub type Known = Vec<(String, Value)>;

/// The condition as a client writes it, every part in parentheses.
pub fn text(condition: &Condition) -> String {
    match condition {
        Condition::Either(one, other) => format!("({}) or ({})", text(one), text(other)),
        Condition::Both(one, other) => format!("({}) and ({})", text(one), text(other)),
        Condition::Opposite(one) => format!("not ({})", text(one)),
        Condition::Compare(one, operator, other) => format!("{} {operator} {}", term(one), term(other)),
        Condition::Bare(one) => term(one),
    }
}

fn term(of: &Term) -> String {
    match of {
        Term::Named(name) => name.clone(),
        Term::Null => "null".to_owned(),
        Term::Constant(Value::String(text)) => format!("'{}'", text.replace('\'', "''")),
        Term::Constant(Value::Boolean(value)) => value.to_string(),
        Term::Constant(Value::Int32(value)) => value.to_string(),
        Term::Constant(Value::Int64(value)) => format!("{value}L"),
        Term::Constant(Value::Double(value)) if value.is_nan() => "NaN".to_owned(),
        Term::Constant(Value::Double(value)) => format!("{value:?}d"),
        Term::Constant(Value::DateTime(value)) => format!("datetime'{}'", value.text()),
        Term::Constant(Value::Guid(value)) => format!("guid'{}'", value.to_string().to_uppercase()),
        Term::Constant(Value::Binary(bytes)) => {
            let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            format!("binary'{}'", digits.concat())
        }
    }
}

pub fn holds(condition: &Condition, known: &Known) -> bool {
    match condition {
        Condition::Either(one, other) => holds(one, known) | holds(other, known),
        Condition::Both(one, other) => holds(one, known) & holds(other, known),
        Condition::Opposite(one) => !holds(one, known),
        Condition::Bare(one) => matches!(look(one, known), Some(Value::Boolean(true))),
        Condition::Compare(one, operator, other) => {
            let (Some(one), Some(other)) = (look(one, known), look(other, known)) else { return false };
            compare(&one, operator, &other)
        }
    }
}

fn look(term: &Term, known: &Known) -> Option<Value> {
    match term {
        Term::Named(name) => known.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone()),
        Term::Constant(value) => Some(value.clone()),
        Term::Null => None,
    }
}

/// By what can be ordered in one way: code units, numbers of 64ths, texts of dates and GUIDs, bytes.
fn compare(one: &Value, operator: &str, other: &Value) -> bool {
    if let (Some(one), Some(other)) = (as_number(one), as_number(other)) {
        return match operator {
            "eq" => one == other,
            "ne" => one != other,
            "gt" => one > other,
            "ge" => one >= other,
            "lt" => one < other,
            _ => one <= other,
        };
    }
    let (Some(one), Some(other)) = (as_units(one), as_units(other)) else { return false };
    if one.0 != other.0 {
        return false;
    }
    match operator {
        "eq" => one == other,
        "ne" => one != other,
        "gt" => one > other,
        "ge" => one >= other,
        "lt" => one < other,
        _ => one <= other,
    }
}

/// Numbers here are small enough to be doubles.
fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Int32(value) => Some(f64::from(*value)),
        Value::Int64(value) => Some(*value as f64),
        Value::Double(value) => Some(*value),
        _ => None,
    }
}

/// The name of the type, and something that sorts as the value does.
fn as_units(value: &Value) -> Option<(&'static str, Vec<u16>)> {
    Some(match value {
        Value::String(text) => ("string", text.encode_utf16().collect()),
        Value::Boolean(value) => ("boolean", vec![u16::from(*value)]),
        Value::DateTime(value) => ("date", value.ticks().to_string().encode_utf16().collect()),
        Value::Guid(value) => ("guid", value.to_string().encode_utf16().collect()),
        Value::Binary(bytes) => ("binary", bytes.iter().map(|byte| u16::from(*byte)).collect()),
        _ => return None,
    })
}
