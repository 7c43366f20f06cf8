//! Findings for people and for programs: the same sentences, numbers and JSON to paste.

mod evidence;
pub mod numbers;
mod paste;
mod sentence;

use super::ask::Container;
use super::rules::Advice;
use crate::terminal::plain;
use serde_json::{Value, json};

/// For programs: a list with one object for each container.
pub fn json(advised: &[(&Container, Advice)]) -> Value {
    advised.iter().map(|(container, advice)| of_container(container, advice)).collect()
}

fn of_container(container: &Container, advice: &Advice) -> Value {
    let report = &container.report;
    let findings = advice.findings.iter().map(|finding| {
        json!({
            "kind": finding.kind(),
            "finding": sentence::of(finding),
            "evidence": evidence::json(finding),
            "paste": paste::of(finding, &advice.policy),
        })
    });
    let findings: Vec<Value> = findings.collect();
    let mut shown = json!({
        "database": container.database,
        "container": container.name,
        "since_ms": report.since_ms,
        "now_ms": report.now_ms,
        "items": report.statistics.items,
        "bytes": report.statistics.bytes,
        "partitions": report.statistics.partitions,
        "queries": report.usage.queries,
        "findings": findings,
    });
    if let Some(together) = &advice.together {
        shown["paste_all"] = json!({ "indexingPolicy": together });
    }
    shown
}

/// For people: a paragraph for each container.
pub fn text(advised: &[(&Container, Advice)]) -> Vec<String> {
    advised.iter().map(|(container, advice)| text_of(container, advice)).collect()
}

fn text_of(container: &Container, advice: &Advice) -> String {
    let mut text = headline(container);
    if advice.findings.is_empty() {
        text += "  Nothing to advise.\n";
    }
    for finding in &advice.findings {
        text += &format!("\n  {}\n", plain(&sentence::of(finding)));
        evidence::lines(finding).iter().for_each(|line| text += &format!("    {}\n", plain(line)));
        if let Some(paste) = paste::of(finding, &advice.policy) {
            text += &format!("    Paste: {paste}\n");
        }
    }
    if let Some(together) = &advice.together {
        text += &format!(
            "\n  All of this in one policy:\n    Paste: {}\n",
            json!({ "indexingPolicy": together })
        );
    }
    text
}

fn headline(container: &Container) -> String {
    let (statistics, usage) = (&container.report.statistics, &container.report.usage);
    let at_least = if statistics.is_whole { "" } else { "at least " };
    let seconds = container.report.now_ms.saturating_sub(container.report.since_ms) / 1000;
    format!(
        "{} / {}: {at_least}{}, {}, {}; {} in {}\n",
        container.database,
        container.name,
        numbers::count(statistics.items, "item"),
        numbers::bytes(statistics.bytes),
        numbers::count(statistics.partitions, "partition"),
        numbers::count_of(usage.queries, "query", "queries"),
        numbers::duration(seconds),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::finding::{Finding, LargeItems};
    use orrery_documents::definition::ContainerDefinition;
    use orrery_protocol::report::{LargeItem, Report};

    fn container(name: &str) -> Container {
        let body = json!({"id": name, "partitionKey": {"paths": ["/pk"]}});
        let definition = ContainerDefinition::parse(body.as_object().unwrap().clone()).unwrap();
        let (database, name) = ("d".to_owned(), name.to_owned());
        Container { database, name, definition, report: Report::default() }
    }

    fn advice(findings: Vec<Finding>) -> Advice {
        Advice { findings, policy: serde_json::Map::new(), together: None }
    }

    #[test]
    fn a_line_stays_one_whatever_an_item_is_called() {
        let id = "a\n\u{1b}[2J".to_owned();
        let item = LargeItem { id, bytes: 70_000, ..LargeItem::default() };
        let large = LargeItems { items: vec![item], bytes_mean: 100, member: None, unused: None };
        let text = text(&[(&container("c"), advice(vec![Finding::LargeItems(large)]))]);
        let expected = "d / c: at least 0 items, 0 bytes, 0 partitions; 0 queries in 0 seconds\n\
            \n  Large items: up to 68 KB, where 100 bytes is the mean. \
            Divide them into items that are read on their own.\n    a  [2J in []  68 KB\n";
        assert_eq!(text, [expected]);
    }

    #[test]
    fn each_container_is_a_paragraph() {
        let (a, b) = (container("a"), container("b"));
        let both = text(&[(&a, advice(Vec::new())), (&b, advice(Vec::new()))]);
        assert_eq!(both.concat().matches("Nothing to advise.\n").count(), 2);
        assert!(both[1].starts_with("d / b: "), "{both:?}");
    }
}
