//! The fuzz targets on inputs from a fixed seed: noise, and samples with a few bytes changed.

use orrery_api_cosmos::fuzz;
use orrery_testing_golden::Noise;

const ROUNDS: usize = 20_000;

const PATHS: [&str; 6] = [
    "/",
    "/dbs/a%20b/colls/c/docs/100%25",
    "/dbs/QAAQAQ==/colls/QAAQAYAAEAI=/pkranges",
    "/dbs/d/colls/c/docs/q?x=1",
    "/offers/o8aB/",
    "/dbs/d/colls/c/sprocs/%E6%9D%B1",
];

const HEADERS: [&str; 6] = [
    r#"["a",1.0,null,{},true]"#,
    r#"["\u00e9\ud83d\ude80"]"#,
    "0:-1#12#1=9,7:-1#3",
    "AQAAAANrZXkAAAAAAAAAAAA",
    "type%3Dmaster%26ver%3D1.0%26sig%3Dc09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu%2Bc%2Bc%3D",
    "type=aad&ver=1.0&sig=x",
];

const QUERIES: [&str; 4] = [
    r#"{"query":"SELECT * FROM c"}"#,
    r#"{"query":"SELECT * FROM root r WHERE r.resource=@link","parameters":[{"name":"@link","value":"dbs/a/"}]}"#,
    r#"{"query":"SELECT * from root where root.resource = \"dbs/a/\" AND root.n = -1.5"}"#,
    r#"{"query":"select * from c as x where x.id = 'é東'"}"#,
];

/// Noise, or a sample with a few bytes changed.
fn input(noise: &mut Noise, round: usize, samples: &[&str]) -> Vec<u8> {
    if round.is_multiple_of(4) {
        noise.bytes(40)
    } else {
        noise.damage(samples[round % samples.len()].as_bytes())
    }
}

#[test]
fn noise_and_damage_break_no_decoder() {
    let mut noise = Noise::new(0x0bad_5eed);
    for round in 0..ROUNDS {
        fuzz::route(&input(&mut noise, round, &PATHS));
        fuzz::headers(&input(&mut noise, round, &HEADERS));
        fuzz::query(&input(&mut noise, round, &QUERIES));
    }
}

#[test]
fn the_samples_themselves_break_none() {
    PATHS.iter().for_each(|path| fuzz::route(path.as_bytes()));
    HEADERS.iter().for_each(|header| fuzz::headers(header.as_bytes()));
    QUERIES.iter().for_each(|query| fuzz::query(query.as_bytes()));
}
