//! The arithmetic of bills, in `cases/cost`.
//!
//! ```text
//! month 720                                                     hours of the month
//! use 0 c manual 400 units 3600 peak 5 gb 1                     an hour, an owner, what it has and used; `x4` repeats it
//! line c serverless 0.0009 manual 0.032 autoscale 0.012 storage 0.000347 cheapest serverless
//! total ...  projected ...                                       serverless is `-` where it is not possible
//! drop c                                                        the owner is there no more: its line is apart
//! ```

use super::*;
use orrery_testing_golden::{case_files, lines};
use std::path::Path;

#[test]
fn every_case_comes_to_what_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/cost");
    let files = case_files(&folder, "case");
    assert!(!files.is_empty());
    files
        .iter()
        .for_each(|file| check(&std::fs::read_to_string(file).expect("a file"), &file.display().to_string()));
}

fn check(text: &str, file: &str) {
    let prices = Prices::load().expect("prices");
    let (mut hours, mut used, mut checked) = (720, Vec::new(), 0);
    let mut gone: Vec<u32> = Vec::new();
    for line in lines(text) {
        let place = format!("{file}:{}", line.from + 1);
        let words: Vec<&str> = line.text.split_whitespace().collect();
        match line.keyword.as_str() {
            "case" => {
                used.clear();
                gone.clear();
            }
            "drop" => gone.push(number_of(words[0])),
            "month" => hours = words[0].parse().expect("hours"),
            "use" => used.extend(parse(&words)),
            "line" => {
                let bill = billed(&prices, hours, &used, &gone);
                let name = |line: &Line| line.container.clone().unwrap_or_else(|| line.database.clone());
                let is_gone = gone.contains(&number_of(words[0]));
                let lines = if is_gone { &bill.dropped } else { &bill.lines };
                let found = lines.iter().find(|line| name(line) == words[0]).expect(&place);
                let cheapest = format!("cheapest {}", found.cheapest.name());
                assert_eq!(format!("{} {cheapest}", shown(&found.costs)), words[1..].join(" "), "{place}");
                checked += 1;
            }
            "total" => {
                assert_eq!(shown(&billed(&prices, hours, &used, &gone).total), words.join(" "), "{place}")
            }
            "projected" => {
                let bill = billed(&prices, hours, &used, &gone);
                assert_eq!(shown(&bill.projected), words.join(" "), "{place}");
            }
            other => panic!("{place}: what is '{other}'?"),
        }
    }
    assert!(checked > 0, "{file} says nothing");
}

fn billed(prices: &Prices, hours: u32, used: &[(u32, Owner, Use)], gone: &[u32]) -> Bill {
    let measured: std::collections::BTreeSet<u32> = used.iter().map(|(hour, ..)| *hour).collect();
    bill(prices, "m", hours, used, measured.len() as u32, |owner| match owner {
        Owner::Container(number) | Owner::Database(number) => !gone.contains(&number),
    })
}

fn number_of(name: &str) -> u32 {
    u32::from(name.as_bytes()[0])
}

/// To a millionth of a dollar, without zeros at the end.
fn shown(costs: &Costs) -> String {
    let number = |value: f64| {
        let text = format!("{value:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    format!(
        "serverless {} manual {} autoscale {} storage {}",
        costs.serverless.map_or("-".to_owned(), number),
        number(costs.manual),
        number(costs.autoscale),
        number(costs.storage)
    )
}

fn parse(words: &[&str]) -> Vec<(u32, Owner, Use)> {
    let number = |name: &str| {
        let at = words.iter().position(|word| *word == name);
        at.map_or(0.0, |at| words[at + 1].parse::<f64>().expect(name))
    };
    let throughput = match words[2] {
        "none" => None,
        "manual" => Some(Throughput::Manual(number("manual") as u64)),
        "autoscale" => {
            Some(Throughput::Autoscale { max: number("autoscale") as u64, increment_percent: None })
        }
        other => panic!("what is '{other}'?"),
    };
    let shared = words[1].strip_prefix("db:");
    let used = Use {
        database: shared.unwrap_or("d").to_owned(),
        container: shared.is_none().then(|| words[1].to_owned()),
        requests: 1,
        hundredths: (number("units") * 100.0) as u64,
        peak_hundredths: (number("peak") * 100.0) as u64,
        bytes: (number("gb") * 1e9) as u64,
        throughput,
    };
    let owner =
        shared.map_or_else(|| Owner::Container(number_of(words[1])), |name| Owner::Database(number_of(name)));
    let first: u32 = words[0].parse().expect("an hour");
    let times =
        words.iter().find_map(|word| word.strip_prefix('x')).map_or(1, |times| times.parse().expect("times"));
    (first..first + times).map(|hour| (hour, owner, used.clone())).collect()
}
