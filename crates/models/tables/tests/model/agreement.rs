//! Random filters over random entities: what the plan reads and the residual filter keeps is what a naive evaluator finds
//! by looking at everything.

use crate::naive::{self, Condition, Known, Term};
use crate::world::{World, entity};
use orrery_tables::plan::QueryPlan;
use orrery_tables::{DateTime, EntityRow, Filter, Guid, KeyBounds, Position, Query, Value};
use proptest::prelude::*;
use proptest::sample::select;

const KEYS: [&str; 7] = ["", "a", "aa", "b", "c", "\u{e000}", "\u{10000}"];
const NAMES: [&str; 3] = ["n", "s", "t"];
const OPERATORS: [&str; 6] = ["eq", "ne", "gt", "ge", "lt", "le"];

fn key() -> impl Strategy<Value = String> {
    select(&KEYS[..]).prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => (-2i32..3).prop_map(Value::Int32),
        2 => (-2i64..3).prop_map(Value::Int64),
        2 => select(&[-1.5, -1.0, 0.0, 0.5, 1.0, f64::NAN][..]).prop_map(Value::Double),
        3 => key().prop_map(Value::String),
        2 => any::<bool>().prop_map(Value::Boolean),
        1 => (0u128..3).prop_map(|bits| Value::Guid(Guid::from_u128(bits << 100))),
        1 => prop::collection::vec(0u8..2, 0..3).prop_map(|bytes| Value::Binary(bytes.into())),
        1 => select(&["2024-01-01T00:00:00Z", "2024-01-01", "2024-01-01T00:00:00.1Z"][..])
            .prop_map(|text| Value::DateTime(DateTime::parse(text).unwrap())),
    ]
}

fn term() -> impl Strategy<Value = Term> {
    prop_oneof![
        3 => select(&NAMES[..]).prop_map(|name| Term::Named(name.to_owned())),
        1 => select(&["PartitionKey", "RowKey", "missing"][..]).prop_map(|name| Term::Named(name.to_owned())),
        4 => value().prop_map(Term::Constant),
        1 => Just(Term::Null),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    let operator = || select(&OPERATORS[..]);
    let named = |name: &'static str| {
        (key(), operator(), any::<bool>()).prop_map(move |(text, operator, is_first)| {
            let (name, text) = (Term::Named(name.to_owned()), Term::Constant(Value::String(text)));
            if is_first {
                Condition::Compare(name, operator, text)
            } else {
                Condition::Compare(text, operator, name)
            }
        })
    };
    let leaf = prop_oneof![
        4 => named("PartitionKey"),
        4 => named("RowKey"),
        3 => (term(), operator(), term())
            .prop_map(|(one, operator, other)| Condition::Compare(one, operator, other)),
        1 => term().prop_map(Condition::Bare),
    ];
    leaf.prop_recursive(5, 24, 2, |inner| {
        let two = || (inner.clone(), inner.clone());
        prop_oneof![
            two().prop_map(|(one, other)| Condition::Either(Box::new(one), Box::new(other))),
            two().prop_map(|(one, other)| Condition::Both(Box::new(one), Box::new(other))),
            inner.clone().prop_map(|one| Condition::Opposite(Box::new(one))),
        ]
    })
}

type Stored = std::collections::BTreeMap<(String, String), Vec<(&'static str, Value)>>;

fn entities() -> impl Strategy<Value = Stored> {
    let properties = prop::collection::btree_map(select(&NAMES[..]), value(), 0..4);
    let properties = properties.prop_map(|all| all.into_iter().collect());
    prop::collection::btree_map((key(), key()), properties, 0..30)
}

fn filled(stored: &Stored) -> World {
    let mut world = World::new();
    let entities = stored.iter();
    world.fill(entities.map(|((partition, row), properties)| entity(partition, row, properties)));
    world
}

/// By looking at everything, in the order of code units.
fn expected(stored: &Stored, is_wanted: impl Fn(&Known) -> bool) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for ((partition_key, row_key), properties) in stored {
        let mut known: Known =
            properties.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        known.push(("PartitionKey".to_owned(), Value::String(partition_key.clone())));
        known.push(("RowKey".to_owned(), Value::String(row_key.clone())));
        if is_wanted(&known) {
            found.push((partition_key.clone(), row_key.clone()));
        }
    }
    found.sort_by_key(|(partition_key, row_key)| {
        [partition_key, row_key].map(|text| text.encode_utf16().collect::<Vec<u16>>())
    });
    found
}

fn keys(entities: &[EntityRow]) -> Vec<(String, String)> {
    let key = |entity: &EntityRow| (entity.partition_key().into_owned(), entity.row_key().into_owned());
    entities.iter().map(key).collect()
}

/// All pages of a query.
fn answer(world: &World, mut query: Query) -> Vec<(String, String)> {
    let mut found = Vec::new();
    loop {
        let page = world.query(&query);
        found.extend(keys(&page.entities));
        match page.next {
            Some(next) => query.from = Some(next),
            None => return found,
        }
    }
}

/// Whether a filter speaks of nothing but keys, each compared with a constant.
fn is_of_keys(condition: &Condition) -> bool {
    match condition {
        Condition::Either(one, other) | Condition::Both(one, other) => is_of_keys(one) && is_of_keys(other),
        Condition::Opposite(one) => is_of_keys(one),
        Condition::Compare(one, _, other) => {
            let is_key = |term: &Term| matches!(term, Term::Named(name) if name.ends_with("Key"));
            let is_constant = |term: &Term| matches!(term, Term::Constant(_));
            is_key(one) && is_constant(other) || is_constant(one) && is_key(other)
        }
        Condition::Bare(_) => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_query_finds_what_looking_at_everything_finds(
        stored in entities(), condition in condition(), top in 1usize..5,
    ) {
        let (world, text) = (filled(&stored), naive::text(&condition));
        let filter = Filter::parse(&text).unwrap();
        let expected = expected(&stored, |known| naive::holds(&condition, known));
        let query = Query { filter: Some(filter.clone()), ..Query::default() };
        let page = world.query(&query);
        prop_assert_eq!(keys(&page.entities), expected.clone(), "{}", text);
        let paged = answer(&world, Query { top: Some(top), ..query });
        prop_assert_eq!(paged, expected.clone(), "{}", text);
        // The whole filter says of every entity what the plan's remainder says of those it reads.
        let everything = world.query(&Query::default()).entities;
        let matching: Vec<EntityRow> = everything.into_iter().filter(|entity| filter.matches(entity)).collect();
        prop_assert_eq!(keys(&matching), expected);
    }

    #[test]
    fn conditions_on_keys_alone_read_nothing_else(stored in entities(), condition in condition()) {
        let text = naive::text(&condition);
        let filter = Filter::parse(&text).unwrap();
        let plan = QueryPlan::new(Some(&filter), &KeyBounds::default());
        if is_of_keys(&condition) && plan.residual().is_none() {
            let page = filled(&stored).query(&Query { filter: Some(filter), ..Query::default() });
            prop_assert_eq!(page.scanned.rows, page.entities.len(), "{}", text);
        }
    }

    #[test]
    fn bounds_leave_out_exactly_what_is_outside(
        stored in entities(), condition in condition(),
        start in prop::option::of((key(), prop::option::of(key()))),
        end in prop::option::of((key(), prop::option::of(key()))),
    ) {
        let position = |(partition_key, row_key): (String, Option<String>)| Position { partition_key, row_key };
        let bounds = KeyBounds { start: start.map(position), end: end.map(position) };
        let filter = Filter::parse(&naive::text(&condition)).unwrap();
        let units = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
        let is_inside = |partition_key: &str, row_key: &str| {
            let key = |bound: &Position| {
                let row = |row: &String| (units(row_key), units(row));
                let rows = bound.row_key.as_ref().map_or((vec![], vec![]), row);
                ((units(partition_key), rows.0), (units(&bound.partition_key), rows.1))
            };
            bounds.start.as_ref().is_none_or(|bound| key(bound).0 >= key(bound).1)
                && bounds.end.as_ref().is_none_or(|bound| key(bound).0 <= key(bound).1)
        };
        let mut expected = expected(&stored, |known| naive::holds(&condition, known));
        expected.retain(|(partition_key, row_key)| is_inside(partition_key, row_key));
        let query = Query { filter: Some(filter), bounds: bounds.clone(), ..Query::default() };
        prop_assert_eq!(answer(&filled(&stored), query), expected);
    }
}

#[test]
fn a_long_chain_is_planned_and_a_deep_one_refused() {
    let points: Vec<String> =
        (0..1200).map(|n| format!("(PartitionKey eq 'p{n:04}' and RowKey eq 'r{n}')")).collect();
    let filter = Filter::parse(&points.join(" or ")).unwrap();
    let plan = QueryPlan::new(Some(&filter), &KeyBounds::default());
    assert!(plan.ranges().len() <= orrery_tables::limits::SCAN_RANGES_MAX);
    assert!(plan.residual().is_some(), "neighbours were merged");

    // Steps of a staircase: as many bands as there are, each with more ranges of rows than the last.
    let steps: Vec<String> =
        (0..700).map(|n| format!("(PartitionKey lt 'p{n:04}' and RowKey eq 'r{:04}')", 700 - n)).collect();
    let filter = Filter::parse(&steps.join(" or ")).unwrap();
    let plan = QueryPlan::new(Some(&filter), &KeyBounds::default());
    assert!(plan.ranges().len() <= orrery_tables::limits::SCAN_RANGES_MAX);

    let nested = format!("{}a{}", "(".repeat(30_000), ")".repeat(30_000));
    assert!(Filter::parse(&nested).is_ok(), "parentheses alone are not deep");
    let left = (0..3000).fold("a eq 0".to_owned(), |inner, n| format!("({inner}) or a eq {n}"));
    assert!(Filter::parse(&left).is_ok(), "nor is a chain");
    let deep = (0..2000).fold("a".to_owned(), |inner, n| {
        if n % 2 == 0 { format!("({inner} and b)") } else { format!("({inner} or b)") }
    });
    assert!(matches!(Filter::parse(&deep), Err(orrery_tables::FilterError::TooDeep { .. })));
    let negated = format!("{}a", "not ".repeat(10_000));
    assert!(matches!(Filter::parse(&negated), Err(orrery_tables::FilterError::TooDeep { .. })));
    assert!(Filter::parse(&"(".repeat(60_000)).is_err());
    let long = format!("a eq '{}'", "x".repeat(70_000));
    assert_eq!(Filter::parse(&long), Err(orrery_tables::FilterError::TooLong));
}
