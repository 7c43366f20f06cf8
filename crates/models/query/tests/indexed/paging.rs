//! Pages while documents come and go, and indexes too: what stays is on one page, and nothing is on two.

use super::collection::Indexed;
use super::memory::Still;
use super::naive::random::Random;
use super::queries::{broad_filter, documents, policy, with_id};
use orrery_query::access::AccessPreference;
use orrery_query::execute::{Limits, page};
use orrery_query::plan::{Plan, Rules};
use orrery_query::prepare;
use orrery_value::{Value, raw};
use std::collections::BTreeSet;

const CASES: u64 = 1_500;
const PAGES_MAX: usize = 2_000;

#[test]
fn a_stable_document_appears_once_despite_concurrent_writes() {
    let mut changed = 0;
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let mut collection = Indexed::new(documents(&mut random), Some(policy(&mut random)));
        let order = random.pick(&["", "", " ORDER BY c.id DESC"]);
        let text = format!("SELECT VALUE c.id FROM c WHERE {}{order}", broad_filter(&mut random));
        changed += usize::from(check(&mut collection, &text, &mut random, seed));
    }
    assert!(changed > CASES as usize / 4, "only {changed} were changed between pages");
}

/// Whether anything was written between two pages.
fn check(collection: &mut Indexed, text: &str, random: &mut Random, seed: u64) -> bool {
    let plan = prepare(text, &[], Rules::On).unwrap_or_else(|error| panic!("{text}: {error}")).plan;
    let before = all(&plan, collection);
    let (mut came, mut next, mut fresh, mut written) = (Vec::new(), None, 1_000_000, false);
    for pages in 0.. {
        assert!(pages < PAGES_MAX, "seed {seed}: {text} does not end");
        let prefer = random.pick(&[
            AccessPreference::Cheapest,
            AccessPreference::Nth(1),
            AccessPreference::Nth(2),
            AccessPreference::Scan,
        ]);
        let plan = Plan { prefer, ..plan.clone() };
        let (rows, then) = one(&plan, collection, next.as_deref(), 1 + random.below(4));
        came.extend(rows);
        next = then;
        if next.is_none() {
            break;
        }
        written |= change(collection, random, &mut fresh);
    }
    let after = all(&plan, collection);
    let told = format!("seed {seed}: {text}\nbefore {before:?}\nafter {after:?}\ncame {came:?}");
    let once: BTreeSet<String> = came.iter().cloned().collect();
    assert_eq!(once.len(), came.len(), "a document came twice\n{told}");
    for id in before.intersection(&after) {
        assert!(once.contains(id), "{id} was left out\n{told}");
    }
    written
}

fn change(collection: &mut Indexed, random: &mut Random, fresh: &mut u64) -> bool {
    let mut written = false;
    if random.chance(40) {
        let numbers = collection.numbers();
        if !numbers.is_empty() {
            collection.remove(random.pick(&numbers));
            written = true;
        }
    }
    if random.chance(40) {
        for document in documents(random).into_iter().take(1) {
            *fresh += 1;
            collection.insert(*fresh, &with_id(document, *fresh));
            written = true;
        }
    }
    if random.chance(20) {
        let policy = random.chance(60).then(|| policy(random));
        collection.set_policy(policy);
    }
    written
}

fn all(plan: &Plan, collection: &Indexed) -> BTreeSet<String> {
    let plan = Plan { prefer: AccessPreference::Scan, ..plan.clone() };
    one(&plan, collection, None, usize::MAX).0.into_iter().collect()
}

fn one(
    plan: &Plan,
    collection: &Indexed,
    next: Option<&[u8]>,
    items: usize,
) -> (Vec<String>, Option<Vec<u8>>) {
    let limits = Limits { items, bytes: usize::MAX };
    let page = page(plan, collection, &Still, next, None, limits).expect("a page");
    let text = format!("[{}]", String::from_utf8(page.rows).expect("rows are text"));
    let rows = raw::elements(&text).map(|row| match Value::read(row) {
        Value::String(id) => id,
        other => panic!("{other:?} is no id"),
    });
    (rows.collect(), page.next)
}
