//! Items of 1 KB in containers of growing size, and the same questions of each: the newest page of a partition that
//! holds a tenth of all, and twenty items by a value, whatever partition they are in.

use super::only;
use crate::seeds::draw::{mix, time, uuid};
use crate::seeds::scene::Scene;
use crate::seeds::set::{Item, Set, padded};
use crate::seeds::workload::{Act, Agreement, Case, Pages, Question, Scope, Workload};
use serde_json::json;

const ITEM_BYTES: usize = 1024;
const SIZES: [u64; 4] = [10_000, 100_000, 1_000_000, 3_000_000];
const PARTITIONS: u64 = 10;
const ITEMS_A_REFERENCE: u64 = 20;
/// References asked for: few enough that their items stay in every cache at every size, so that what grows is the
/// work and not the misses; and so many that they do not.
const REFERENCES_NEAR: u64 = 1000;
const REFERENCES_ANYWHERE: u64 = 20_000;

/// The kinds of questions; what is asked of every size under one of these names is compared.
pub const NAMES: [&str; 3] = ["growth-page", "growth-equality", UNBOUNDED];
/// The one that is told and not judged: it costs more of more items than the caches hold, on any disk.
pub const UNBOUNDED: &str = "growth-anywhere";

/// The sizes between which a question may cost twice as much.
pub fn compared(tenth: u64) -> [String; 2] {
    [size_name(SIZES[1] / tenth), size_name(SIZES[3] / tenth)]
}

pub fn scene(tenth: u64) -> Scene {
    let sizes = SIZES.map(|items| items / tenth);
    let mut workloads = Vec::new();
    for name in NAMES {
        workloads.extend(sizes.iter().enumerate().map(|(at, items)| workload(name, at, *items)));
    }
    Scene { side_by_side: sizes.len(), ..Scene::new("growth", sizes.map(set).into(), workloads) }
}

fn workload(name: &str, set: usize, items: u64) -> Workload {
    let (about, question) = match name {
        "growth-page" => ("the newest 100 of a partition with a tenth of all", page(items)),
        "growth-equality" => ("20 by a value", equality(items, REFERENCES_NEAR)),
        _ => ("20 by a value", equality(items, REFERENCES_ANYWHERE)),
    };
    Workload {
        name: format!("{name}-{}", size_name(items)),
        about: format!("{about}, {} cases, of {items} items of 1 KB", question.cases.len()),
        set,
        connections: 1,
        act: Act::Ask(question),
        p95: None,
    }
}

fn page(items: u64) -> Question {
    Question {
        cosmos: "SELECT * FROM c WHERE c.pk = @pk ORDER BY c.createdAt DESC",
        postgres: format!(
            "SELECT doc::text FROM {} WHERE pk = $1 ORDER BY doc->>'createdAt' DESC LIMIT 100",
            table(items)
        ),
        parameters: &["@pk"],
        scope: Scope::Partition,
        pages: Pages::First(100),
        agreement: Agreement::Order,
        cases: (0..PARTITIONS).map(|number| Case::new([partition(number)])).collect(),
    }
}

fn equality(items: u64, cases: u64) -> Question {
    let references = items / ITEMS_A_REFERENCE;
    let step = (references / cases).max(1);
    Question {
        cosmos: "SELECT * FROM c WHERE c.reference = @reference",
        postgres: format!("SELECT doc::text FROM {} WHERE doc->>'reference' = $1", table(items)),
        parameters: &["@reference"],
        scope: Scope::Everywhere,
        pages: Pages::All,
        agreement: Agreement::Rows,
        cases: (0..references.min(cases)).map(|number| Case::new([reference(number * step)])).collect(),
    }
}

fn set(items: u64) -> Set {
    Set {
        name: table(items),
        items,
        definition: json!({"indexingPolicy": only(&["/createdAt/?", "/reference/?"], &json!([]))}),
        indexes: vec!["(pk, (doc->>'createdAt') DESC)".to_owned(), "((doc->>'reference'))".to_owned()],
        draw,
    }
}

fn draw(number: u64, items: u64) -> Item {
    let drawn = mix(number);
    let (id, partition) = (uuid(number), partition(drawn % PARTITIONS));
    let head = format!(
        "{{\"id\":\"{id}\",\"pk\":\"{partition}\",\"reference\":\"{}\",\"createdAt\":\"{}\",\"status\":\"DONE\",\
         \"amount\":{},\"tenant\":\"tenant-{:02}\",\"text\":\"",
        reference(number % (items / ITEMS_A_REFERENCE).max(1)),
        time(number * 100),
        drawn >> 44,
        drawn >> 8 & 0x1f,
    );
    Item { id, partition, text: padded(&head, drawn, ITEM_BYTES, "\"}") }
}

fn partition(number: u64) -> String {
    format!("p{number:02}")
}

fn reference(number: u64) -> String {
    format!("ref-{number:08}")
}

fn table(items: u64) -> String {
    format!("growth_{}", size_name(items))
}

/// `100k`, `3m`.
fn size_name(items: u64) -> String {
    if items.is_multiple_of(1_000_000) {
        format!("{}m", items / 1_000_000)
    } else {
        format!("{}k", items / 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::set::checks::items_are_sound;

    fn sound(items: u64) -> Vec<serde_json::Value> {
        let definition = json!({"partitionKey": {"paths": ["/pk"]}});
        items_are_sound(&Set { definition, ..set(items) }, ITEM_BYTES..=ITEM_BYTES)
    }

    #[test]
    fn a_reference_is_of_twenty_items_in_several_partitions() {
        let items = sound(10_000);
        let mine: Vec<_> = items.iter().filter(|item| item["reference"] == reference(123)).collect();
        assert_eq!(mine.len(), 20);
        let mut partitions: Vec<_> = mine.iter().map(|item| item["pk"].to_string()).collect();
        partitions.sort();
        partitions.dedup();
        assert!(partitions.len() > 3, "{partitions:?}");
    }

    #[test]
    fn every_case_is_of_a_value_that_is_there() {
        let values: std::collections::HashSet<String> =
            sound(10_000).iter().map(|item| item["reference"].as_str().unwrap().to_owned()).collect();
        for cases in [REFERENCES_NEAR, REFERENCES_ANYWHERE, 7] {
            for case in equality(10_000, cases).cases {
                assert!(values.contains(&case.values[0]), "{case:?}");
            }
        }
    }

    #[test]
    fn the_compared_sizes_are_among_the_workloads() {
        let scene = scene(10);
        for size in compared(10) {
            for name in NAMES {
                assert!(scene.workloads.iter().any(|workload| workload.name == format!("{name}-{size}")));
            }
        }
    }
}
