//! A strict reader of Prometheus' text format: whatever a scraper could stumble over is a panic.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub value: f64,
}

/// All samples. Each family has one HELP and one TYPE line before its samples, which stand together; no sample is there
/// twice; buckets of a histogram grow with their bounds and end in `+Inf`, which is the count.
pub fn read(text: &str) -> Vec<Sample> {
    assert!(text.ends_with('\n'), "the last line must end");
    let (mut samples, mut families, mut current) =
        (Vec::new(), BTreeSet::new(), (String::new(), String::new()));
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, sentence) = help.split_once(' ').expect("a sentence");
            assert!(families.insert(name.to_owned()), "{name} is there twice");
            assert!(is_name(name) && !sentence.is_empty(), "{line}");
            current = (name.to_owned(), String::new());
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').expect("a kind");
            assert_eq!((name, current.1.as_str()), (current.0.as_str(), ""), "{line}");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
            current.1 = kind.to_owned();
        } else {
            let sample = sample(line);
            let family = match current.1.as_str() {
                "histogram" => {
                    ["_bucket", "_sum", "_count"].iter().find_map(|end| sample.name.strip_suffix(end))
                }
                _ => Some(sample.name.as_str()),
            };
            assert_eq!(family, Some(current.0.as_str()), "{line}");
            samples.push(sample);
        }
    }
    let distinct: BTreeSet<String> = samples.iter().map(|it| format!("{}{:?}", it.name, it.labels)).collect();
    assert_eq!(distinct.len(), samples.len(), "a sample is there twice");
    check_buckets(&samples);
    samples
}

fn is_name(name: &str) -> bool {
    let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    name.bytes().next().is_some_and(is_first)
        && name.bytes().all(|byte| is_first(byte) || byte.is_ascii_digit())
}

fn sample(line: &str) -> Sample {
    let end = line.find(['{', ' ']).expect(line);
    let (name, rest) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest, line),
        None => (BTreeMap::new(), rest),
    };
    let value = rest.strip_prefix(' ').expect(line);
    let value: f64 = value.parse().expect(line);
    assert!(value.is_finite(), "{line}");
    Sample { name: name.to_owned(), labels, value }
}

fn labels<'a>(mut rest: &'a str, line: &str) -> (BTreeMap<String, String>, &'a str) {
    let mut labels = BTreeMap::new();
    loop {
        let (name, after) = rest.split_once("=\"").expect(line);
        assert!(is_name(name), "{line}");
        let (mut value, mut characters) = (String::new(), after.char_indices());
        let end = loop {
            match characters.next().expect(line) {
                (at, '"') => break at,
                (_, '\\') => match characters.next().expect(line).1 {
                    'n' => value.push('\n'),
                    escaped @ ('\\' | '"') => value.push(escaped),
                    other => panic!("\\{other} in {line}"),
                },
                (_, plain) => value.push(plain),
            }
        };
        assert!(labels.insert(name.to_owned(), value).is_none(), "{line}");
        match after[end + 1..].strip_prefix(',') {
            Some(more) => rest = more,
            None => return (labels, after[end + 1..].strip_prefix('}').expect(line)),
        }
    }
}

fn check_buckets(samples: &[Sample]) {
    let mut series: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for bucket in samples.iter().filter(|it| it.name.ends_with("_bucket")) {
        let mut labels = bucket.labels.clone();
        let bound = labels.remove("le").expect("a bound");
        let bound = if bound == "+Inf" { f64::INFINITY } else { bound.parse().expect("a bound") };
        let name = format!("{}{labels:?}", bucket.name.trim_end_matches("_bucket"));
        series.entry(name).or_default().push((bound, bucket.value));
    }
    for (name, buckets) in series {
        assert!(buckets.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1), "{name}");
        let count = samples.iter().find(|it| {
            it.name.strip_suffix("_count").is_some_and(|family| format!("{family}{:?}", it.labels) == name)
        });
        let last = buckets.last().copied();
        assert_eq!(last, count.map(|count| (f64::INFINITY, count.value)), "{name}");
    }
}
