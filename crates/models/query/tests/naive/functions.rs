//! Some of the built-in functions, written the plainest way.
//!
//! An argument that is undefined or of the wrong type makes the answer undefined, but for the IS_ family and
//! IIF. Positions in strings count UTF-16 code units.

use super::operators::{is_equal, is_true};
use orrery_value::{Number, Value};

/// What JSON cannot say is undefined.
pub fn number(it: f64) -> Value {
    if it.is_finite() { Value::from(it) } else { Value::Undefined }
}

pub fn of_number(value: &Value) -> Option<f64> {
    if let Value::Number(it) = value { Some(it.as_f64()) } else { None }
}

pub fn of_text(value: &Value) -> Option<&str> {
    if let Value::String(it) = value { Some(it) } else { None }
}

pub fn call(name: &str, args: &[Value]) -> Result<Value, String> {
    let name = name.to_ascii_uppercase();
    if let Some(answer) = type_check(&name, args) {
        return Ok(Value::Bool(answer));
    }
    if name == "IIF" {
        return Ok(args[if is_true(&args[0]) { 1 } else { 2 }].clone());
    }
    if !KNOWN.contains(&name.as_str()) {
        return Err(format!("no function {name}"));
    }
    let families = [mathematical, textual, arrays];
    Ok(families.iter().find_map(|family| family(&name, args)).unwrap_or_default())
}

const KNOWN: &[&str] = &[
    "ABS",
    "FLOOR",
    "CEILING",
    "ROUND",
    "SIGN",
    "TRUNC",
    "SQUARE",
    "INTADD",
    "INTSUB",
    "INTMUL",
    "STRINGTONUMBER",
    "LENGTH",
    "LOWER",
    "UPPER",
    "CONCAT",
    "CONTAINS",
    "STARTSWITH",
    "ENDSWITH",
    "STRINGEQUALS",
    "SUBSTRING",
    "LEFT",
    "RIGHT",
    "INDEX_OF",
    "REPLACE",
    "REVERSE",
    "REPLICATE",
    "TRIM",
    "LTRIM",
    "RTRIM",
    "TOSTRING",
    "ARRAY_LENGTH",
    "ARRAY_CONTAINS",
    "ARRAY_CONCAT",
    "ARRAY_SLICE",
];

fn type_check(name: &str, args: &[Value]) -> Option<bool> {
    let value = args.first()?;
    Some(match name {
        "IS_DEFINED" => !value.is_undefined(),
        "IS_NULL" => matches!(value, Value::Null),
        "IS_BOOL" => matches!(value, Value::Bool(_)),
        "IS_NUMBER" | "IS_FINITE_NUMBER" => matches!(value, Value::Number(_)),
        "IS_INTEGER" => of_number(value).is_some_and(|it| it.fract() == 0.0),
        "IS_STRING" => matches!(value, Value::String(_)),
        "IS_ARRAY" => matches!(value, Value::Array(_)),
        "IS_OBJECT" => matches!(value, Value::Object(_)),
        "IS_PRIMITIVE" => !matches!(value, Value::Undefined | Value::Array(_) | Value::Object(_)),
        _ => return None,
    })
}

fn mathematical(name: &str, args: &[Value]) -> Option<Value> {
    let first = of_number(args.first()?)?;
    let integers = || Some((integer(&args[0])?, integer(&args[1])?));
    Some(match name {
        "ABS" => number(first.abs()),
        "FLOOR" => number(first.floor()),
        "CEILING" => number(first.ceil()),
        "TRUNC" => number(first.trunc()),
        "SQUARE" => number(first * first),
        // Halves go away from zero.
        "ROUND" => number(first.signum() * (first.abs() + 0.5).floor()),
        "SIGN" => number(f64::from(i8::from(first > 0.0) - i8::from(first < 0.0))),
        "INTADD" => integers().map(|(a, b)| Value::from(a.wrapping_add(b)))?,
        "INTSUB" => integers().map(|(a, b)| Value::from(a.wrapping_sub(b)))?,
        "INTMUL" => integers().map(|(a, b)| Value::from(a.wrapping_mul(b)))?,
        "TOSTRING" => Value::String(args[0].to_json()),
        _ => return None,
    })
}

fn integer(value: &Value) -> Option<i64> {
    if let Value::Number(it) = value { it.as_i64() } else { None }
}

fn textual(name: &str, args: &[Value]) -> Option<Value> {
    if name == "TOSTRING" {
        return simple_to_text(&args[0]);
    }
    let strings: Option<Vec<&str>> = args.iter().map(of_text).collect();
    let first = of_text(args.first()?)?;
    let units: Vec<u16> = first.encode_utf16().collect();
    let position = |i: usize| args.get(i).and_then(of_number).map(|it| it.max(0.0) as usize);
    Some(match name {
        "LENGTH" => number(units.len() as f64),
        "LOWER" => Value::String(first.to_lowercase()),
        "UPPER" => Value::String(first.to_uppercase()),
        "CONCAT" => Value::String(strings?.concat()),
        "CONTAINS" | "STARTSWITH" | "ENDSWITH" | "STRINGEQUALS" => found(name, first, args)?,
        "SUBSTRING" => cut(&units, position(1)?, position(2)?),
        "LEFT" => cut(&units, 0, position(1)?),
        "RIGHT" => cut(&units, units.len() - units.len().min(position(1)?), usize::MAX),
        "INDEX_OF" => index_of(&units, of_text(&args[1])?, if args.len() > 2 { position(2)? } else { 0 }),
        "REPLACE" => Value::String(first.replace(*strings.as_ref()?.get(1)?, strings.as_ref()?.get(2)?)),
        "REVERSE" => Value::String(first.chars().rev().collect()),
        "REPLICATE" => replicate(first, of_number(&args[1])?)?,
        "TRIM" => Value::from(first.trim()),
        "LTRIM" => Value::from(first.trim_start()),
        "RTRIM" => Value::from(first.trim_end()),
        "STRINGTONUMBER" => Value::Number(Number::parse(first.trim())?),
        _ => return None,
    })
}

fn simple_to_text(value: &Value) -> Option<Value> {
    match value {
        Value::String(_) => Some(value.clone()),
        Value::Bool(it) => Some(Value::String(it.to_string())),
        Value::Null => Some(Value::from("null")),
        _ => None,
    }
}

fn found(name: &str, text: &str, args: &[Value]) -> Option<Value> {
    let wanted = of_text(args.get(1)?)?;
    let any_case = match args.get(2) {
        None => false,
        Some(Value::Bool(it)) => *it,
        Some(_) => return None,
    };
    let fold = |it: &str| if any_case { it.to_lowercase() } else { it.to_owned() };
    let (text, wanted) = (fold(text), fold(wanted));
    Some(Value::Bool(match name {
        "CONTAINS" => text.contains(&wanted),
        "STARTSWITH" => text.starts_with(&wanted),
        "ENDSWITH" => text.ends_with(&wanted),
        _ => text == wanted,
    }))
}

fn cut(units: &[u16], start: usize, length: usize) -> Value {
    let kept: Vec<u16> = units.iter().copied().skip(start).take(length).collect();
    Value::String(String::from_utf16_lossy(&kept))
}

fn index_of(units: &[u16], wanted: &str, start: usize) -> Value {
    let wanted: Vec<u16> = wanted.encode_utf16().collect();
    let found = (start..=units.len()).find(|at| units[*at..].starts_with(&wanted));
    found.map_or(Value::from(-1i64), |at| number(at as f64))
}

fn replicate(text: &str, times: f64) -> Option<Value> {
    let in_limits = times.fract() == 0.0 && (0.0..=10_000.0).contains(&times);
    in_limits.then(|| Value::String(text.repeat(times as usize)))
}

fn arrays(name: &str, args: &[Value]) -> Option<Value> {
    let Value::Array(first) = args.first()? else { return None };
    Some(match name {
        "ARRAY_LENGTH" => number(first.len() as f64),
        "ARRAY_CONCAT" => {
            let all: Option<Vec<_>> = args.iter().map(items).collect();
            Value::Array(all?.concat())
        }
        "ARRAY_CONTAINS" => array_contains(first, args)?,
        "ARRAY_SLICE" => slice(first, args)?,
        _ => return None,
    })
}

fn items(value: &Value) -> Option<&[Value]> {
    if let Value::Array(items) = value { Some(items) } else { None }
}

fn array_contains(items: &[Value], args: &[Value]) -> Option<Value> {
    let wanted = args.get(1).filter(|wanted| !wanted.is_undefined())?;
    let partial = match args.get(2) {
        None => false,
        Some(Value::Bool(it)) => *it,
        Some(_) => return None,
    };
    Some(Value::Bool(items.iter().any(|item| is_equal(item, wanted) || partial && has_members(item, wanted))))
}

fn has_members(item: &Value, wanted: &Value) -> bool {
    let (Value::Object(_), Value::Object(wanted)) = (item, wanted) else { return false };
    wanted.iter().all(|(name, value)| is_equal(item.member(name), value))
}

fn slice(items: &[Value], args: &[Value]) -> Option<Value> {
    let start = of_number(args.get(1)?)?;
    let length = if args.len() > 2 { of_number(&args[2])? } else { f64::MAX };
    let start = if start < 0.0 { (items.len() as f64 + start).max(0.0) } else { start };
    Some(Value::Array(items.iter().skip(start as usize).take(length.max(0.0) as usize).cloned().collect()))
}

#[test]
fn functions_answer_as_the_reference_says() {
    let check = |name, args: &str, expected: &str| {
        let Value::Array(args) = Value::parse(args).expect("arguments") else { panic!("{args}") };
        assert_eq!(call(name, &args).expect("known").to_json(), expected, "{name} {args:?}");
    };
    check("ABS", "[-1.5]", "1.5");
    check("round", "[2.5]", "3");
    check("ROUND", "[-2.5]", "-3");
    check("ROUND", "[2.4]", "2");
    check("SIGN", "[-7]", "-1");
    check("ABS", "[\"1\"]", "");
    check("LENGTH", "[\"a\u{1f680}\"]", "3");
    check("SUBSTRING", "[\"AdventureWorks\",0,9]", "\"Adventure\"");
    check("SUBSTRING", "[\"abc\",2,9]", "\"c\"");
    check("RIGHT", "[\"abc\",2]", "\"bc\"");
    check("INDEX_OF", "[\"abcb\",\"b\"]", "1");
    check("INDEX_OF", "[\"abcb\",\"b\",2]", "3");
    check("INDEX_OF", "[\"abcb\",\"x\"]", "-1");
    check("CONTAINS", "[\"ABC\",\"b\"]", "false");
    check("CONTAINS", "[\"ABC\",\"b\",true]", "true");
    check("REPLICATE", "[\"ab\",3]", "\"ababab\"");
    check("REPLICATE", "[\"ab\",-1]", "");
    check("TOSTRING", "[1.50]", "\"1.5\"");
    check("TOSTRING", "[false]", "\"false\"");
    check("STRINGTONUMBER", "[\" 60 \"]", "60");
    check("STRINGTONUMBER", "[\"x\"]", "");
    check("ARRAY_SLICE", "[[1,2,3],-2]", "[2,3]");
    check("ARRAY_SLICE", "[[1,2,3],-2,1]", "[2]");
    check("ARRAY_SLICE", "[[1,2,3],1,12]", "[2,3]");
    check("ARRAY_CONTAINS", "[[{\"a\":1,\"b\":2}],{\"a\":1}]", "false");
    check("ARRAY_CONTAINS", "[[{\"a\":1,\"b\":2}],{\"a\":1},true]", "true");
    check("ARRAY_CONCAT", "[[1],[2,3]]", "[1,2,3]");
    check("IntAdd", "[20,10]", "30");
    check("IntAdd", "[20,1.5]", "");
    check("IS_INTEGER", "[2.0]", "true");
    check("IS_PRIMITIVE", "[{}]", "false");
    check("IIF", "[1,\"a\",\"b\"]", "\"b\"");
    assert!(call("NOPE", &[]).is_err());
}
