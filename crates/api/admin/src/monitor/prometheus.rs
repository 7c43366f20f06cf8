//! Measurements for Prometheus: its text format, version 0.0.4.

use super::family::{Family, Labels, Unit, Values};
use orrery_document_store::monitor::{Histogram, REPORTED_MILLIS};
use std::fmt::Write as _;

pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

pub fn write(families: &[Family]) -> String {
    let mut text = String::new();
    for family in families.iter().filter(|family| !family.is_empty()) {
        let name = name(family);
        let kind = match family.values {
            Values::Counter(_) => "counter",
            Values::Gauge(_) => "gauge",
            Values::Histogram(_) => "histogram",
        };
        let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {kind}", family.help);
        match &family.values {
            Values::Counter(values) | Values::Gauge(values) => {
                values.iter().for_each(|(labels, value)| line(&mut text, &name, labels, None, *value));
            }
            Values::Histogram(values) => {
                values.iter().for_each(|(labels, value)| histogram(&mut text, &name, labels, value));
            }
        }
    }
    text
}

/// Dots become underscores; the unit, and `total` for counters, are suffixes.
fn name(family: &Family) -> String {
    let unit = match family.unit {
        Unit::None => "",
        Unit::Milliseconds => "_milliseconds",
        Unit::Bytes => "_bytes",
        Unit::Seconds => "_seconds",
    };
    let total = if matches!(family.values, Values::Counter(_)) { "_total" } else { "" };
    format!("{}{unit}{total}", family.name.replace('.', "_"))
}

fn histogram(text: &mut String, name: &str, labels: &Labels, histogram: &Histogram) {
    let bucket = format!("{name}_bucket");
    for (bound, below) in REPORTED_MILLIS.iter().zip(histogram.reported()) {
        line(text, &bucket, labels, Some(("le", &bound.to_string())), below as f64);
    }
    line(text, &bucket, labels, Some(("le", "+Inf")), histogram.count() as f64);
    line(text, &format!("{name}_sum"), labels, None, histogram.sum_millis());
    line(text, &format!("{name}_count"), labels, None, histogram.count() as f64);
}

fn line(text: &mut String, name: &str, labels: &Labels, more: Option<(&str, &str)>, value: f64) {
    text.push_str(name);
    let labels = labels.iter().map(|(name, value)| (*name, value.as_str())).chain(more);
    let labels: Vec<String> = labels.map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    if !labels.is_empty() {
        let _ = write!(text, "{{{}}}", labels.join(","));
    }
    let _ = writeln!(text, " {value}");
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn counters_gauges_and_histograms_are_written() {
        let mut latency = Histogram::default();
        latency.add(Duration::from_micros(300));
        latency.add(Duration::from_secs(60));
        let labels = || vec![("container", "a\"b\\c\nd".to_owned())];
        let families = [
            Family::counter("cosmos.request_units", "Units.", vec![(labels(), 2.5)]),
            Family::gauge("orrery.x", "X.", Unit::Bytes, vec![(vec![], 7.0)]),
            Family::gauge("orrery.none", "Nothing.", Unit::None, vec![]),
            Family {
                name: "cosmos.latency".into(),
                help: "Latency.",
                unit: Unit::Milliseconds,
                values: Values::Histogram(vec![(vec![], latency)]),
            },
        ];
        let text = write(&families);
        let has = |line: &str| assert!(text.lines().any(|it| it == line), "no {line} in\n{text}");
        has("# TYPE cosmos_request_units_total counter");
        has(r#"cosmos_request_units_total{container="a\"b\\c\nd"} 2.5"#);
        has("orrery_x_bytes 7");
        has("# TYPE cosmos_latency_milliseconds histogram");
        has(r#"cosmos_latency_milliseconds_bucket{le="0.25"} 0"#);
        has(r#"cosmos_latency_milliseconds_bucket{le="0.5"} 1"#);
        has(r#"cosmos_latency_milliseconds_bucket{le="10000"} 1"#);
        has(r#"cosmos_latency_milliseconds_bucket{le="+Inf"} 2"#);
        has("cosmos_latency_milliseconds_sum 60000.3");
        has("cosmos_latency_milliseconds_count 2");
        assert!(!text.contains("none"));
    }
}
