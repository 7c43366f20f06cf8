//! Measurements for OpenTelemetry collectors: OTLP over HTTP, in JSON.
//!
//! The message is small and fixed, so it is encoded here rather than by the OpenTelemetry crates, which have two dozen
//! dependencies. Everything is cumulative from the start of the process; 64-bit numbers are text, as protobuf's JSON
//! wants.

use super::family::{Family, Labels, Unit, Values};
use orrery_core::Timestamp;
use orrery_document_store::monitor::{Histogram, REPORTED_MILLIS};
use serde_json::{Value, json};

const CUMULATIVE: u32 = 2;

pub fn write(families: &[Family], started: Timestamp, now: Timestamp) -> Value {
    let times = json!({ "startTimeUnixNano": nanos(started), "timeUnixNano": nanos(now) });
    let metrics = families.iter().filter(|family| !family.is_empty()).map(|family| metric(family, &times));
    json!({ "resourceMetrics": [{
        "resource": { "attributes": [attribute("service.name", "orrery"),
            attribute("service.version", env!("CARGO_PKG_VERSION"))] },
        "scopeMetrics": [{ "scope": { "name": "orrery" }, "metrics": metrics.collect::<Vec<_>>() }],
    }] })
}

fn metric(family: &Family, times: &Value) -> Value {
    let unit = match family.unit {
        Unit::None => "1",
        Unit::Milliseconds => "ms",
        Unit::Bytes => "By",
        Unit::Seconds => "s",
    };
    let mut metric = json!({ "name": family.name, "description": family.help, "unit": unit });
    let numbers = |values: &[(Labels, f64)]| -> Vec<Value> {
        values.iter().map(|(labels, value)| point(labels, times, json!({ "asDouble": value }))).collect()
    };
    match &family.values {
        Values::Counter(values) => {
            metric["sum"] = json!({ "dataPoints": numbers(values), "aggregationTemporality": CUMULATIVE,
                "isMonotonic": true });
        }
        Values::Gauge(values) => metric["gauge"] = json!({ "dataPoints": numbers(values) }),
        Values::Histogram(values) => {
            let points = values.iter().map(|(labels, value)| point(labels, times, histogram(value)));
            metric["histogram"] = json!({ "dataPoints": points.collect::<Vec<_>>(),
                "aggregationTemporality": CUMULATIVE });
        }
    }
    metric
}

/// Here a bucket counts its own values, not all values below its bound.
fn histogram(histogram: &Histogram) -> Value {
    let (mut counts, mut before) = (Vec::new(), 0);
    for below in histogram.reported().into_iter().chain([histogram.count()]) {
        counts.push((below - before).to_string());
        before = below;
    }
    json!({ "count": histogram.count().to_string(), "sum": histogram.sum_millis(), "bucketCounts": counts,
        "explicitBounds": REPORTED_MILLIS })
}

fn point(labels: &Labels, times: &Value, mut point: Value) -> Value {
    let attributes = labels.iter().map(|(name, value)| attribute(name, value));
    point["attributes"] = attributes.collect();
    point["startTimeUnixNano"] = times["startTimeUnixNano"].clone();
    point["timeUnixNano"] = times["timeUnixNano"].clone();
    point
}

fn attribute(name: &str, value: &str) -> Value {
    json!({ "key": name, "value": { "stringValue": value } })
}

fn nanos(at: Timestamp) -> String {
    (u128::from(at.millis()) * 1_000_000).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_histogram_has_one_bucket_more_than_bounds_and_they_add_up() {
        let mut latency = Histogram::default();
        [50, 300, 400, 60_000_000].into_iter().for_each(|micros| latency.add(Duration::from_micros(micros)));
        let family = Family {
            name: "cosmos.latency".into(),
            help: "Latency.",
            unit: Unit::Milliseconds,
            values: Values::Histogram(vec![(vec![("operation", "read".into())], latency)]),
        };
        let units = Family::counter("cosmos.request_units", "Units.", vec![(vec![], 1.5)]);
        let message = write(&[family, units], Timestamp::from_seconds(1), Timestamp::from_millis(2_500));
        let metrics = &message["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
        let point = &metrics[0]["histogram"]["dataPoints"][0];
        assert_eq!((&metrics[0]["name"], &metrics[0]["unit"]), (&json!("cosmos.latency"), &json!("ms")));
        assert_eq!((&point["count"], &point["timeUnixNano"]), (&json!("4"), &json!("2500000000")));
        let counts: Vec<u64> = point["bucketCounts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it.as_str().unwrap().parse().unwrap())
            .collect();
        assert_eq!((counts.len(), &counts[..4]), (REPORTED_MILLIS.len() + 1, &[1, 0, 2, 0][..]));
        assert_eq!(counts.iter().sum::<u64>(), 4);
        assert_eq!(point["attributes"][0], json!({"key": "operation", "value": {"stringValue": "read"}}));
        assert_eq!(metrics[1]["sum"]["isMonotonic"], true);
        assert_eq!(metrics[1]["sum"]["dataPoints"][0]["asDouble"], 1.5);
    }
}
