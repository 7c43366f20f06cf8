//! A filter's tree as an S-expression, in which every literal says its type.

use orrery_tables::filter::{Expr, Operand};
use orrery_tables::{Filter, Value};

pub fn show(filter: &Filter) -> String {
    expr(filter.root(), filter.names())
}

fn expr(of: &Expr, names: &[String]) -> String {
    let list = |head: &str, parts: &[Expr]| {
        let parts: Vec<String> = parts.iter().map(|part| expr(part, names)).collect();
        format!("({head} {})", parts.join(" "))
    };
    match of {
        Expr::Or(parts) => list("or", parts),
        Expr::And(parts) => list("and", parts),
        Expr::Not(part) => format!("(not {})", expr(part, names)),
        Expr::Compare(comparison, left, right) => {
            format!("({} {} {})", comparison.keyword(), operand(left, names), operand(right, names))
        }
        Expr::Truth(part) => operand(part, names),
    }
}

fn operand(of: &Operand, names: &[String]) -> String {
    match of {
        Operand::Property(index) => names[*index].clone(),
        Operand::Null => "null".to_owned(),
        Operand::Literal(value) => match value {
            Value::String(text) => format!("{text:?}"),
            Value::Boolean(value) => value.to_string(),
            Value::Int32(value) => format!("int32:{value}"),
            Value::Int64(value) => format!("int64:{value}"),
            Value::Double(value) => format!("double:{value:?}"),
            Value::DateTime(value) => format!("datetime:{}={}", value.text(), value.ticks()),
            Value::Guid(value) => format!("guid:{value}"),
            Value::Binary(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("binary:{digits}")
            }
        },
    }
}
