//! Cross-partition queries: their cost grows with the container, not with their result.

use super::Subject;
use crate::advise::finding::{CrossPartition, Finding};
use orrery_documents::definition::PropertyPath;
use orrery_protocol::report::Shape;
use serde_json::{Value, json};

/// A rarer query may be a report that must read everything.
pub const QUERIES_MIN: u64 = 10;
const SHOWN_MAX: usize = 5;

pub fn find(subject: Subject<'_>) -> Vec<Finding> {
    if subject.statistics.partitions < 2 {
        return Vec::new();
    }
    let shapes = subject.usage.shapes.iter().filter(|shape| shape.queries_over_all >= QUERIES_MIN);
    shapes.take(SHOWN_MAX).map(|shape| Finding::CrossPartition(found(subject, shape))).collect()
}

fn found(subject: Subject<'_>, shape: &Shape) -> CrossPartition {
    let mean = |sum: f64| sum / shape.queries.max(1) as f64;
    let paths = subject.definition.partition_key().paths();
    let example = subject.statistics.largest.first().map(|partition| &partition.key[..]).unwrap_or_default();
    let value = |at: usize| example.get(at).cloned().unwrap_or(Value::Null);
    let conditions: Vec<String> =
        paths.iter().map(|path| format!("{} = {}", member(path), parameter(path))).collect();
    CrossPartition {
        text: shape.text.clone(),
        queries: shape.queries_over_all,
        partitions: subject.statistics.partitions,
        charge_mean: mean(shape.charge),
        rows_mean: mean(shape.rows as f64),
        filter: conditions.join(" AND "),
        parameters: paths.iter().enumerate().map(|(at, path)| (parameter(path), value(at))).collect(),
    }
}

/// `c.address.zip`, `c["odd name"]`
fn member(path: &PropertyPath) -> String {
    let step = |name: &String| {
        if orrery_query::lex::is_name(name) { format!(".{name}") } else { format!("[{}]", json!(name)) }
    };
    format!("c{}", path.segments().iter().map(step).collect::<String>())
}

/// `@address_zip`: named after the property.
fn parameter(path: &PropertyPath) -> String {
    let name = path.segments().join("_");
    let name: String = name.chars().filter(|it| it.is_ascii_alphanumeric() || *it == '_').collect();
    format!("@{}", if name.is_empty() { "key" } else { &name })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::rules::sample::Sample;

    fn found(sample: &Sample) -> Vec<CrossPartition> {
        let cross = |finding| match finding {
            Finding::CrossPartition(found) => Some(found),
            _ => None,
        };
        sample.findings().into_iter().filter_map(cross).collect()
    }

    #[test]
    fn a_query_that_often_asks_all_partitions_is_found() {
        let sample = Sample::new().partition("p", 9, 900).partitions(3, 90).over_all("SELECT 1", 10, 20);
        let found = found(&sample.over_all("rarely", QUERIES_MIN - 1, 90).over_all("never", 0, 90));
        let [CrossPartition { text, queries, charge_mean, rows_mean, filter, parameters, .. }] = &found[..]
        else {
            panic!("{found:?}")
        };
        assert_eq!((text.as_str(), *queries, *charge_mean, *rows_mean), ("SELECT 1", 10, 3.0, 2.0));
        assert_eq!((filter.as_str(), &parameters[..]), ("c.pk = @pk", &[("@pk".to_owned(), json!("p"))][..]));
    }

    #[test]
    fn with_one_partition_there_is_nothing_to_cross() {
        assert_eq!(found(&Sample::new().partition("p", 9, 900).over_all("SELECT 1", 50, 50)), []);
    }

    #[test]
    fn a_filter_names_every_level_of_the_key() {
        let key = json!({"paths": ["/tenant/id", "/\"odd name\"/id"], "kind": "MultiHash", "version": 2});
        let sample = Sample::new().defined("partitionKey", key).partitions(3, 90);
        let filter = &found(&sample.over_all("SELECT 1", 50, 50))[0].filter;
        assert_eq!(filter, "c.tenant.id = @tenant_id AND c[\"odd name\"].id = @oddname_id");
    }
}
