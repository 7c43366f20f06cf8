//! `--functions`: every function of the query language, from the tables it is run by.
//!
//! A line each, with tabs between: the name, how many arguments (`2`, `1-3`, `2+`), and `scalar` or
//! `aggregate`. `COMPAT.md` is made from this.

use orrery_query::bind::bound::AggregateFunction;
use orrery_query::functions;
use serde_json::json;

pub fn list() -> String {
    let scalars = functions::all().map(|it| line(it.name, &arguments(it.args_min, it.args_max), "scalar"));
    let aggregates = AggregateFunction::ALL.iter().map(|(name, _)| line(name, "1", "aggregate"));
    let mut lines: Vec<String> = scalars.chain(aggregates).collect();
    lines.sort_by_key(|line| line.to_ascii_lowercase());
    lines.concat()
}

/// The same for programs.
pub fn json() -> serde_json::Value {
    let of = |line: &str| {
        let mut cells = line.split('\t');
        let mut next = || cells.next().unwrap_or_default();
        json!({ "name": next(), "arguments": next(), "kind": next() })
    };
    list().lines().map(of).collect()
}

fn line(name: &str, arguments: &str, kind: &str) -> String {
    format!("{name}\t{arguments}\t{kind}\n")
}

fn arguments(min: usize, max: usize) -> String {
    match max {
        usize::MAX => format!("{min}+"),
        _ if min == max => min.to_string(),
        _ => format!("{min}-{max}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_has_a_line_with_what_it_takes() {
        let list = list();
        for line in ["ABS\t1\tscalar", "CONCAT\t2+\tscalar", "LOG\t1-2\tscalar", "SUM\t1\taggregate"] {
            assert!(list.lines().any(|known| known == line), "{line}");
        }
        assert_eq!(list.lines().count(), functions::all().count() + AggregateFunction::ALL.len());
    }
}
