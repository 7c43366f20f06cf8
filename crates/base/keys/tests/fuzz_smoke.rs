//! The fuzz targets on inputs from a fixed seed: noise, and samples with a few bytes changed.

use orrery_keys::{Direction, KeyBuf, fuzz};
use orrery_value::Value;

const ROUNDS: usize = 20_000;

struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 16) as usize % limit
    }

    fn damage(&mut self, sample: &[u8]) -> Vec<u8> {
        let mut data = sample.to_vec();
        for _ in 0..self.below(4) {
            let at = self.below(data.len());
            data[at] = self.next() as u8;
        }
        data
    }
}

/// A value behind the byte that tells the target to read a value first.
fn sample(direction: Direction) -> Vec<u8> {
    let value = Value::parse(r#"[null,1.5,"a\u0000b",{"k":[true,-7],"":{}}]"#).expect("good JSON");
    let plan = if direction == Direction::Ascending { 0b100 } else { 0b101 };
    KeyBuf::new().u8(plan).value(&value, direction).bytes(b"a\0b").finish()
}

#[test]
fn noise_and_damage_break_no_reader() {
    let mut noise = Noise(0x0bad_5eed);
    let samples = [sample(Direction::Ascending), sample(Direction::Descending)];
    for round in 0..ROUNDS {
        let data = match round % 3 {
            0 => (0..noise.below(40)).map(|_| noise.next() as u8).collect(),
            _ => noise.damage(&samples[round % 2]),
        };
        fuzz::key_reader(&data);
        let mut hex: Vec<u8> =
            (0..noise.below(60)).map(|_| b"0123456789abcdefABCDEF05"[noise.below(24)]).collect();
        if round % 8 == 0 {
            hex.push(noise.next() as u8);
        }
        fuzz::epk_parse(&hex);
    }
}
