//! Binary JSON of every form, produced from values by a test-only encoder, decodes to them.

mod common;

use std::collections::HashMap;

use orrery_value::{Number, Value, binary_to_text};
use proptest::prelude::*;

/// Encodes a value, choosing among the possible forms with a small generator.
fn text_to_binary(value: &Value, seed: u64) -> Vec<u8> {
    let mut encoder = Encoder { out: vec![0x80], state: seed | 1, seen: HashMap::new() };
    encoder.value(value);
    encoder.out
}

struct Encoder {
    out: Vec<u8>,
    state: u64,
    /// The position of each string, for references. Containers are written in place, so offsets stay
    /// valid.
    seen: HashMap<String, usize>,
}

impl Encoder {
    fn choose(&mut self, among: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state as usize % among
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Undefined => panic!("undefined has no binary form"),
            Value::Null => self.out.push(0xd0),
            Value::Bool(is_true) => self.out.push(0xd1 + u8::from(*is_true)),
            Value::Number(Number::Int(int)) => self.int(*int),
            Value::Number(Number::Float(float)) => {
                self.out.push([0xcc, 0xce][self.state as usize & 1]);
                self.out.extend(float.to_le_bytes());
            }
            Value::String(text) => self.string(text),
            Value::Array(items) if self.uniform(items) => {}
            Value::Array(items) => self.container(0xe0, items, |encoder, item| encoder.value(item)),
            Value::Object(members) => self.container(0xe8, members, |encoder, (name, value)| {
                encoder.string(name);
                encoder.value(value);
            }),
        }
    }

    fn int(&mut self, int: i64) {
        if let (0..=31, true) = (int, self.choose(2) == 0) {
            return self.out.push(int as u8);
        }
        let extended = self.choose(2) == 0;
        let (marker, width) = match int {
            0..=255 => (if extended { 0xd7 } else { 0xc8 }, 1),
            -128..=-1 if extended => (0xd8, 1),
            -32768..=32767 => (if extended { 0xd9 } else { 0xc9 }, 2),
            _ if i32::try_from(int).is_ok() => (if extended { 0xda } else { 0xca }, 4),
            _ if u32::try_from(int).is_ok() && extended => (0xdc, 4),
            _ => (if extended { 0xdb } else { 0xcb }, 8),
        };
        self.out.push(marker);
        self.out.extend(&int.to_le_bytes()[..width]);
    }

    fn string(&mut self, text: &str) {
        if let Some(&at) = self.seen.get(text)
            && self.choose(2) == 0
        {
            return self.reference(at);
        }
        self.seen.insert(text.to_owned(), self.out.len());
        match text {
            "id" if self.choose(2) == 0 => self.out.push(0x2c),
            "type" if self.choose(2) == 0 => self.out.push(0x3b),
            _ if text.is_ascii() && self.choose(2) == 0 => self.packed(text.as_bytes()),
            _ => self.plain(text),
        }
    }

    fn reference(&mut self, at: usize) {
        let narrowest = (1..=4).find(|width| at < 1 << (8 * width)).expect("offsets are short");
        let width = narrowest + self.choose(5 - narrowest);
        self.out.push(0xc2 + width as u8);
        self.out.extend(&at.to_le_bytes()[..width]);
    }

    fn plain(&mut self, text: &str) {
        match self.choose(3) {
            0 if text.len() < 64 => self.out.push(0x80 + text.len() as u8),
            1 if text.len() < 256 => self.out.extend([0xc0, text.len() as u8]),
            _ => {
                self.out.push(0xc1);
                self.out.extend((text.len() as u16).to_le_bytes());
            }
        }
        self.out.extend(text.as_bytes());
    }

    /// Packs ASCII text as tightly as its characters allow.
    fn packed(&mut self, text: &[u8]) {
        let (low, high) = (text.iter().min().copied().unwrap_or(0), text.iter().max().copied().unwrap_or(0));
        let is_hex = text.iter().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
        let short = text.len() < 256;
        let (marker, bits, base) = match high - low {
            _ if is_hex && short => (0x78, 4, None),
            0..=15 if short => (0x7b, 4, Some(low)),
            16..=31 if short => (0x7c, 5, Some(low)),
            32..=63 if short => (0x7d, 6, Some(low)),
            _ if short => (0x7e, 7, None),
            _ => (0x7f, 7, None),
        };
        self.out.push(marker);
        self.out.extend(&text.len().to_le_bytes()[..if marker == 0x7f { 2 } else { 1 }]);
        self.out.extend(base);
        let code = |c: &u8| match base {
            Some(base) => c - base,
            None if marker == 0x78 => (*c as char).to_digit(16).expect("a hex digit") as u8,
            None => *c,
        };
        self.out.extend(pack(text.iter().map(code), bits));
    }

    /// Small integers may be encoded as one array without markers.
    fn uniform(&mut self, items: &[Value]) -> bool {
        let bytes: Option<Vec<u8>> = items
            .iter()
            .map(|item| match item {
                Value::Number(Number::Int(int)) => u8::try_from(*int).ok(),
                _ => None,
            })
            .collect();
        let Some(bytes) = bytes.filter(|_| self.choose(2) == 0) else { return false };
        self.out.extend([0xf0, 0xd7, bytes.len() as u8]);
        self.out.extend(bytes);
        true
    }

    fn container<T>(&mut self, marker: u8, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        match (items.len(), self.choose(3)) {
            (0, 0) => return self.out.push(marker),
            (1, 0) => {
                self.out.push(marker + 1);
                return write(self, &items[0]);
            }
            _ => {}
        }
        let has_count = self.choose(2) == 0;
        let wide = self.choose(2);
        let width = 2 << wide;
        self.out.push(marker + 3 + wide as u8 + if has_count { 3 } else { 0 });
        let length_at = self.out.len();
        self.out.extend(&[0; 4][..width]);
        if has_count {
            self.out.extend(&items.len().to_le_bytes()[..width]);
        }
        let start = self.out.len();
        items.iter().for_each(|item| write(self, item));
        let length = (self.out.len() - start).to_le_bytes();
        self.out[length_at..length_at + width].copy_from_slice(&length[..width]);
    }
}

fn pack(codes: impl Iterator<Item = u8>, bits: usize) -> Vec<u8> {
    let (mut out, mut word, mut held) = (Vec::new(), 0u32, 0);
    for code in codes {
        word |= u32::from(code) << held;
        held += bits;
        while held >= 8 {
            out.push(word as u8);
            word >>= 8;
            held -= 8;
        }
    }
    if held > 0 {
        out.push(word as u8);
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn decoding_undoes_encoding(value in common::value(), seed: u64) {
        let binary = text_to_binary(&value, seed);
        prop_assume!(binary.len() < 60_000);
        let text = String::from_utf8(binary_to_text(&binary).unwrap()).unwrap();
        prop_assert_eq!(text, value.to_json());
    }

    #[test]
    fn a_shortened_buffer_is_refused(value in common::value(), seed: u64, cut: prop::sample::Index) {
        let binary = text_to_binary(&value, seed);
        let cut = cut.index(binary.len());
        prop_assert!(binary_to_text(&binary[..cut]).is_err());
    }

    #[test]
    fn a_damaged_buffer_breaks_nothing(value in common::value(), seed: u64, at: prop::sample::Index, byte: u8) {
        let mut binary = text_to_binary(&value, seed);
        let at = at.index(binary.len());
        binary[at] = byte;
        orrery_value::fuzz::binary_to_text(&binary);
    }
}
