//! The fuzz targets on inputs from a fixed seed: noise, and samples with a few bytes changed.

use orrery_api_cosmos::fuzz;

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

    fn bytes(&mut self) -> Vec<u8> {
        (0..self.below(40)).map(|_| self.next() as u8).collect()
    }

    fn damage(&mut self, sample: &str) -> Vec<u8> {
        let mut data = sample.as_bytes().to_vec();
        for _ in 0..1 + self.below(3) {
            let at = self.below(data.len());
            match self.below(3) {
                0 => data[at] = self.next() as u8 & 0x7f,
                1 => data.insert(at, self.next() as u8 & 0x7f),
                _ if data.len() > 1 => drop(data.remove(at)),
                _ => {}
            }
        }
        data
    }

    fn input(&mut self, round: usize, samples: &[&str]) -> Vec<u8> {
        if round.is_multiple_of(4) { self.bytes() } else { self.damage(samples[round % samples.len()]) }
    }
}

#[test]
fn noise_and_damage_break_no_decoder() {
    let mut noise = Noise(0x0bad_5eed);
    for round in 0..ROUNDS {
        fuzz::route(&noise.input(round, &PATHS));
        fuzz::headers(&noise.input(round, &HEADERS));
        fuzz::query(&noise.input(round, &QUERIES));
    }
}

#[test]
fn the_samples_themselves_break_none() {
    PATHS.iter().for_each(|path| fuzz::route(path.as_bytes()));
    HEADERS.iter().for_each(|header| fuzz::headers(header.as_bytes()));
    QUERIES.iter().for_each(|query| fuzz::query(query.as_bytes()));
}
