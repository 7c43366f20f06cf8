//! The items that are asked about: 1 KB each, and each drawn from its number alone, so that whoever is filled
//! holds the same.

use crate::item::Random;
use serde_json::json;

const ITEM_BYTES: usize = 1024;
const TENANTS: u64 = 50;
const PARTS: usize = 5;

/// One item: where it goes, and its text.
pub struct Item {
    pub id: String,
    pub partition: String,
    pub text: String,
}

/// The items `0..count`.
pub fn items(count: u64) -> impl Iterator<Item = Item> {
    (0..count).map(move |number| item(number, count))
}

/// About one in a hundred has failed and was tried less than three times.
pub fn item(number: u64, count: u64) -> Item {
    let mut random = Random::new(number + 1);
    random.below(1);
    let id = format!("{number:012}");
    let partition = format!("p{:06}", number % 4096);
    let status = if random.below(25) == 0 { "FAILED" } else { ["DONE", "PENDING"][random.below(2) as usize] };
    let head = format!(
        "{{\"id\":\"{id}\",\"pk\":\"{partition}\",\"type\":\"order\",\"status\":\"{status}\",\
         \"createdAt\":\"{}\",\"priority\":{},\"retryCount\":{},\"amount\":{},\"flag\":{},\
         \"tenant\":\"tenant-{}\",\"title\":\"Quarterly numbers, second draft\",\"parts\":{},\"text\":\"",
        created_at(number, count),
        random.below(5),
        random.below(12),
        quarters(&mut random, 4000),
        random.below(2) == 0,
        random.below(TENANTS),
        serde_json::Value::from_iter((0..PARTS).map(|_| part(&mut random))),
    );
    let text = filler(&mut random, ITEM_BYTES - head.len() - 2);
    Item { id, partition, text: format!("{head}{text}\"}}") }
}

fn part(random: &mut Random) -> serde_json::Value {
    json!({
        "sku": format!("sku-{:05}", random.below(100_000)),
        "count": random.below(20),
        "price": quarters(random, 4000),
    })
}

/// Doubles add these up exactly, in whatever order.
fn quarters(random: &mut Random, end: u64) -> f64 {
    random.below(end) as f64 / 4.0
}

/// Another second for each item, in an order that is not that of the ids.
fn created_at(number: u64, count: u64) -> String {
    const STEP: u64 = 7919;
    let second = number * STEP % count;
    let (days, hours, minutes) = (second / 86_400, second / 3600 % 24, second / 60 % 60);
    format!("2026-11-{:02}T{hours:02}:{minutes:02}:{:02}.000Z", days + 1, second % 60)
}

fn filler(random: &mut Random, length: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .";
    (0..length).map(|_| char::from(LETTERS[random.below(64) as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn drawn() -> Vec<serde_json::Value> {
        items(20_000).map(|item| serde_json::from_str(&item.text).unwrap()).collect()
    }

    #[test]
    fn an_item_is_a_kilobyte_and_says_where_it_goes() {
        for item in items(100) {
            assert_eq!(item.text.len(), ITEM_BYTES);
            let value: serde_json::Value = serde_json::from_str(&item.text).unwrap();
            assert_eq!((&value["id"], &value["pk"]), (&item.id.into(), &item.partition.into()));
        }
    }

    #[test]
    fn one_in_a_hundred_passes_the_filter_and_the_join() {
        let all = drawn();
        let passes =
            |item: &&serde_json::Value| item["status"] == "FAILED" && item["retryCount"].as_u64() < Some(3);
        let found = all.iter().filter(passes).count();
        assert!((100..300).contains(&found), "{found} of {}", all.len());
        let parts = all.iter().flat_map(|item| item["parts"].as_array().unwrap());
        let dear = parts.filter(|part| part["price"].as_f64() > Some(990.0)).count();
        assert!((500..1500).contains(&dear), "{dear} of {}", all.len() * PARTS);
    }

    #[test]
    fn every_item_has_a_time_of_its_own_and_every_tenant_has_items() {
        let all = drawn();
        let distinct =
            |name: &str| all.iter().map(|item| item[name].to_string()).collect::<HashSet<_>>().len();
        assert_eq!(distinct("createdAt"), all.len());
        assert_eq!(distinct("tenant") as u64, TENANTS);
    }
}
