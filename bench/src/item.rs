//! The items: JSON of a fixed length in which only the digits of the id and of the partition change.
//!
//! So a request is one copy and a few digits, and its length is known ahead. The long member is text that
//! does not compress much, because neither do real ones after PostgreSQL and the engine both had a try.

use crate::cell::{Size, Spread};

const ID_DIGITS: usize = 12;
const PARTITION_DIGITS: usize = 6;
/// Partitions that items are spread over.
const PARTITIONS: u64 = 4096;

/// Where an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    number: u64,
    partition: u64,
}

impl Place {
    pub fn new(number: u64, spread: Spread) -> Self {
        let partition = match spread {
            Spread::Many => number % PARTITIONS,
            Spread::OneHot => PARTITIONS,
        };
        Self { number, partition }
    }

    /// One of a partition that is chosen, and not spread.
    pub fn within(partition: u64, number: u64) -> Self {
        Self { number, partition }
    }

    pub fn number(self) -> u64 {
        self.number
    }

    pub fn id(self) -> String {
        format!("{:0ID_DIGITS$}", self.number)
    }

    pub fn partition(self) -> String {
        format!("p{:0PARTITION_DIGITS$}", self.partition)
    }
}

/// Bytes with slots for an item's place.
#[derive(Clone, Debug)]
pub struct Template {
    bytes: Vec<u8>,
    id_slots: Vec<usize>,
    partition_slots: Vec<usize>,
}

impl Template {
    /// Takes text in which the id and partition of `model` stand where any other's shall go.
    pub fn new(bytes: Vec<u8>, model: Place) -> Self {
        let id_slots = positions(&bytes, model.id().as_bytes());
        let partition_slots = positions(&bytes, model.partition().as_bytes());
        Self { bytes, id_slots, partition_slots: partition_slots.into_iter().map(|at| at + 1).collect() }
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Appends the text for this place.
    pub fn append(&self, place: Place, to: &mut Vec<u8>) {
        let start = to.len();
        to.extend_from_slice(&self.bytes);
        for at in &self.id_slots {
            write_digits(&mut to[start + at..][..ID_DIGITS], place.number);
        }
        for at in &self.partition_slots {
            write_digits(&mut to[start + at..][..PARTITION_DIGITS], place.partition);
        }
    }
}

/// A place whose digits stand for any place's: no other text of a request contains them.
pub fn model() -> Place {
    Place { number: 987_654_321_987, partition: 876_543 }
}

/// An item of about that many bytes.
pub fn template(size: Size) -> Template {
    let place = model();
    let head = format!(
        "{{\"id\":\"{}\",\"pk\":\"{}\",\"type\":\"message\",\"status\":\"PENDING\",\
         \"createdAt\":\"2026-11-15T01:02:43.120Z\",\"priority\":3,\"tenant\":\"tenant-17\",\
         \"title\":\"Quarterly numbers, second draft\",\"text\":\"",
        place.id(),
        place.partition()
    );
    let text = filler(size.bytes() - head.len() - 2);
    Template::new(format!("{head}{text}\"}}").into_bytes(), place)
}

/// Text of letters, digits, spaces and points.
pub fn filler(length: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .";
    let mut random = Random::new(7);
    (0..length).map(|_| char::from(LETTERS[random.below(64) as usize])).collect()
}

fn positions(bytes: &[u8], wanted: &[u8]) -> Vec<usize> {
    bytes
        .windows(wanted.len())
        .enumerate()
        .filter(|(_, window)| *window == wanted)
        .map(|(at, _)| at)
        .collect()
}

fn write_digits(slot: &mut [u8], mut number: u64) {
    for byte in slot.iter_mut().rev() {
        *byte = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Numbers good enough to choose items by, at the price of a multiplication.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_has_its_size_and_its_place() {
        for size in Size::ALL {
            let mut bytes = Vec::new();
            template(size).append(Place::new(4097, Spread::Many), &mut bytes);
            assert_eq!(bytes.len(), size.bytes());
            let item: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!((&item["id"], &item["pk"]), (&"000000004097".into(), &"p000001".into()));
        }
    }

    #[test]
    fn hot_items_share_one_partition() {
        let hot = |number| Place::new(number, Spread::OneHot).partition();
        assert_eq!(hot(1), hot(2));
        assert_ne!(Place::new(1, Spread::Many).partition(), Place::new(2, Spread::Many).partition());
    }

    #[test]
    fn a_template_appends_after_what_is_there() {
        let template = Template::new(format!("<{}>", model().id()).into_bytes(), model());
        let mut bytes = b"ab".to_vec();
        template.append(Place::new(5, Spread::Many), &mut bytes);
        assert_eq!(bytes, b"ab<000000000005>");
    }
}
