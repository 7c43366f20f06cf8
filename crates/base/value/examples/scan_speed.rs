//! Prints the speed of scanning documents, in MB/s: `cargo run --release -p orrery-value --example
//! scan_speed`.

use std::hint::black_box;
use std::time::Instant;

use orrery_value::{Value, scan_object};

fn main() {
    for (name, text) in [
        ("1 KB compact", document(6)),
        ("1 KB indented", indented(&document(6))),
        ("50 KB compact", document(390)),
        ("50 KB numbers", numbers(6000)),
        ("50 KB prose", prose(50)),
    ] {
        assert!(scan_object(text.as_bytes()).is_ok(), "{name} is good");
        let scan = rate(text.len(), || drop(black_box(scan_object(black_box(text.as_bytes())))));
        let read = rate(text.len(), || drop(black_box(Value::read(black_box(&text)))));
        println!(
            "{name:14} {:6} bytes  scan_object {scan:5.0} MB/s  Value::read {read:5.0} MB/s",
            text.len()
        );
    }
}

/// The best of five runs of a fifth of a second each.
fn rate(bytes: usize, mut work: impl FnMut()) -> f64 {
    let mut best: f64 = 0.0;
    for _ in 0..5 {
        let (start, mut rounds) = (Instant::now(), 0usize);
        while start.elapsed().as_millis() < 200 {
            (0..64).for_each(|_| work());
            rounds += 64;
        }
        best = best.max((bytes * rounds) as f64 / start.elapsed().as_secs_f64() / 1e6);
    }
    best
}

/// An order with this many lines: short names, ids, dates, some numbers.
fn document(lines: usize) -> String {
    let line = |i: usize| {
        format!(
            r#"{{"sku":"SKU-{i:06}","title":"A thing with a name and number {i}","quantity":{},"price":{}.95,"tags":["new","blue"],"inStock":{}}}"#,
            i % 7,
            i * 3,
            i.is_multiple_of(2)
        )
    };
    let lines: Vec<String> = (0..lines).map(line).collect();
    format!(
        r#"{{"id":"3f2c9a5e-77b1-4c57-9a40-0d6f1f6d2b11","customerId":"customer-000042","status":"PENDING","createdAt":"2024-11-23T14:45:22.1234567Z","total":1234.5,"address":{{"street":"12 Long Street","city":"Cape Town","location":{{"type":"Point","coordinates":[18.4241,-33.9249]}}}},"lines":[{}],"note":null}}"#,
        lines.join(",")
    )
}

fn indented(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if matches!(c, ',' | '{') {
            out.push_str("\n    ");
        }
    }
    out
}

fn numbers(count: usize) -> String {
    let numbers: Vec<String> = (0..count).map(|i| format!("{}.{:04}", i % 90, i * 37 % 10_000)).collect();
    format!("{{\"id\":\"v\",\"vector\":[{}]}}", numbers.join(","))
}

fn prose(paragraphs: usize) -> String {
    let paragraph = "The orrery turns, and with it the moons. ".repeat(25);
    format!("{{\"id\":\"p\",\"text\":[\"{}\"]}}", vec![paragraph; paragraphs].join("\",\""))
}
