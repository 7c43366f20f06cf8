//! A client that resumes an ORDER BY by values of its own gets the same rows with indexes as without.

use super::collection::Indexed;
use super::memory::Still;
use super::naive::random::Random;
use super::queries::{constant, documents, filter, keys, policy};
use orrery_query::access::{Access, AccessPreference};
use orrery_query::execute::{Limits, Page, ResumeFilter, page};
use orrery_query::plan::{Plan, Rules};
use orrery_query::prepare;
use orrery_value::Value;

const CASES: u64 = 1_500;

#[test]
fn a_resumed_order_continues_at_the_same_row() {
    let mut sorted = 0;
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let collection = Indexed::new(documents(&mut random), Some(policy(&mut random)));
        let filter = if random.chance(60) { format!("WHERE {}", filter(&mut random)) } else { String::new() };
        let text = format!("SELECT VALUE c.id FROM c {filter} ORDER BY {}", keys(&mut random));
        sorted += check(&collection, &text, &mut random, seed);
    }
    assert!(sorted > CASES / 4, "only {sorted} were walked in order");
}

/// How many access_paths were walks in order.
fn check(collection: &Indexed, text: &str, random: &mut Random, seed: u64) -> u64 {
    let plan = prepare(text, &[], Rules::On).unwrap_or_else(|error| panic!("{text}: {error}")).plan;
    let resume = resume(&plan, random);
    let limits = Limits { items: 1 + random.below(4), bytes: usize::MAX };
    let first = |prefer| -> Page {
        let plan = Plan { prefer, ..plan.clone() };
        page(&plan, collection, &Still, None, Some(&resume), limits).expect("a page")
    };
    let expected = first(AccessPreference::Scan);
    let mut sorted = 0;
    for number in 1..6 {
        let found = first(AccessPreference::Nth(number));
        let way = &found.index_usage.access;
        assert_eq!(found.rows, expected.rows, "seed {seed}: {text}\n{resume:?}\nby {way}");
        sorted += u64::from(matches!(way, Access::IndexScan(along) if along.sorted.is_some()));
    }
    sorted
}

fn resume(plan: &Plan, random: &mut Random) -> ResumeFilter {
    let values = plan.query.block.order.iter().map(|_| match random.chance(10) {
        true => Value::Undefined,
        false => Value::parse(&constant(random).replace('\'', "\"")).expect("a value"),
    });
    let values = values.collect();
    let ordinal = random.chance(60).then(|| 10 * random.below(20) as u64);
    ResumeFilter { values, ordinal, exclude: random.chance(50) }
}
