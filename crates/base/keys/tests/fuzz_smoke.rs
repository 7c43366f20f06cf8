//! The fuzz targets on inputs from a fixed seed: noise, and samples with a few bytes changed.

use orrery_keys::{Direction, KeyBuf, fuzz};
use orrery_testing_golden::Noise;
use orrery_value::Value;

const ROUNDS: usize = 20_000;

/// A value behind the byte that tells the target to read a value first.
fn sample(direction: Direction) -> Vec<u8> {
    let value = Value::parse(r#"[null,1.5,"a\u0000b",{"k":[true,-7],"":{}}]"#).expect("good JSON");
    let plan = if direction == Direction::Ascending { 0b100 } else { 0b101 };
    KeyBuf::new().u8(plan).value(&value, direction).bytes(b"a\0b").finish()
}

#[test]
fn random_and_mutated_input_breaks_no_promise() {
    let mut noise = Noise::new(0x0bad_5eed);
    let samples = [sample(Direction::Ascending), sample(Direction::Descending)];
    for round in 0..ROUNDS {
        let data = match round % 3 {
            0 => noise.bytes(40),
            _ => noise.damage(&samples[round % 2]),
        };
        fuzz::key_reader(&data);
        let mut hex: Vec<u8> =
            (0..noise.below(60)).map(|_| b"0123456789abcdefABCDEF05"[noise.below(24)]).collect();
        if round % 8 == 0 {
            hex.push(noise.byte());
        }
        fuzz::epk_parse(&hex);
    }
}
