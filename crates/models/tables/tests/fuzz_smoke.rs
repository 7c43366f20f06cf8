//! The fuzz target on inputs from a fixed seed: noise, tokens in any order, and filters with a few bytes changed.

use orrery_tables::fuzz;
use orrery_testing_golden::Noise;

const ROUNDS: usize = 20_000;

const FILTERS: [&str; 4] = [
    "PartitionKey eq 'p' and (RowKey ge 'a' and RowKey lt 'b' or not (n gt 5L)) and t eq datetime'2024-01-01T00:00:00Z'",
    "not a or b ne -1.5e3 and guid'c9da6455-213d-42c9-9a79-3e9149a57833' eq g or X'0aff' lt blob",
    "(PartitionKey lt 'c' or PartitionKey ge 'd') and RowKey ne 'it''s' and x eq null or y eq NaN",
    "((a eq 1) or (b eq true) or (Infinity gt c)) and (PartitionKey eq 'p' and RowKey le 'é')",
];

const WORDS: [&str; 30] = [
    "PartitionKey",
    "RowKey",
    "a",
    "(",
    ")",
    "and",
    "or",
    "not",
    "eq",
    "ne",
    "gt",
    "ge",
    "lt",
    "le",
    "'x'",
    "''",
    "'",
    "1",
    "-1.5",
    "7L",
    "true",
    "null",
    "NaN",
    "-Infinity",
    "X'0a'",
    "guid'",
    "datetime'2024-01-01'",
    "f(",
    ",",
    "é",
];

fn words(noise: &mut Noise) -> Vec<u8> {
    let words: Vec<&str> = (0..1 + noise.below(24)).map(|_| noise.one_of(&WORDS)).collect();
    words.join(if noise.below(8) == 0 { "" } else { " " }).into_bytes()
}

#[test]
fn noise_words_and_damage_break_no_promise() {
    let mut noise = Noise::new(0x0bad_5eed);
    for round in 0..ROUNDS {
        fuzz::filter_parse(&match round % 4 {
            0 => noise.bytes(40),
            1 | 2 => words(&mut noise),
            _ => noise.damage(FILTERS[round / 4 % FILTERS.len()].as_bytes()),
        });
    }
}
