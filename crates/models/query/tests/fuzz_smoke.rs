//! The fuzz targets on inputs from a fixed seed: noise, tokens in any order, and queries with a few bytes or
//! words changed.

use orrery_query::fuzz;
use orrery_query::parse::parse;
use orrery_testing_golden::Noise;

const ROUNDS: usize = 20_000;

const QUERIES: [&str; 6] = [
    "SELECT DISTINCT TOP 5 c.a, {\"x\": c.b, y: [1, -2.5e3]} AS z FROM c WHERE c[\"a b\"] = 'x' ORDER BY c.n DESC",
    "SELECT VALUE COUNT(1) FROM c JOIN t IN c.tags JOIN (SELECT VALUE 1) AS s GROUP BY c.a, LOWER(c.b)",
    "SELECT * FROM x IN c.items[0][\"k\"] WHERE NOT x.a AND x.b NOT BETWEEN 1 AND 2 OR x.c IN (1, @p, 'é')",
    "SELECT c.a ?? c.b ? 1 : 0x1F, c.n >>> 2 | ~1, 'a' || \"b\" LIKE '%\\n' ESCAPE '!' FROM c",
    "SELECT ARRAY(SELECT VALUE t FROM t IN c.a) AS l FROM c WHERE EXISTS(SELECT 1) OFFSET 5 LIMIT @n -- done",
    "SELECT udf.f(c, undefined, null) FROM root r ORDER BY RANK RRF(VectorDistance(r.v, [1,2]), f(r.t, 'x'))",
];

const WORDS: [&str; 54] = [
    "SELECT", "*", "VALUE", "FROM", "c", "JOIN", "IN", "(", ")", "WHERE", "AND", "OR", "NOT", "=", "<>", "1",
    "-", "+", "~", "'s'", "@p", "[", "]", "{", "}", "a:", ",", ".", "ORDER", "BY", "GROUP", "RANK", "OFFSET",
    "LIMIT", "LIKE", "ESCAPE", "BETWEEN", "?", "??", ":", "||", ">>>", "EXISTS(", "ARRAY(", "udf.", "f(",
    "AS", "TOP", "DISTINCT", "null", "0x", "\"", "--", "\n",
];

fn words(noise: &mut Noise) -> Vec<u8> {
    let words: Vec<&str> = (0..1 + noise.below(20)).map(|_| noise.one_of(&WORDS)).collect();
    format!("SELECT {}", words.join(" ")).into_bytes()
}

/// The query with a few bytes changed, and sometimes a word put in.
fn damage(noise: &mut Noise, query: &str) -> Vec<u8> {
    let mut data = noise.damage(query.as_bytes());
    if noise.below(2) == 0 {
        let at = noise.below(data.len());
        data.splice(at..at, format!(" {} ", noise.one_of(&WORDS)).into_bytes());
    }
    data
}

#[test]
fn random_and_mutated_text_breaks_no_promise() {
    let mut noise = Noise::new(0x0bad_5eed);
    for round in 0..ROUNDS {
        fuzz::query_parse(&match round % 4 {
            0 => noise.bytes(40),
            1 => words(&mut noise),
            _ => damage(&mut noise, QUERIES[round % QUERIES.len()]),
        });
    }
}

/// Runs take longer than reading.
const RUNS: usize = 4_000;

#[test]
fn random_queries_give_the_same_rows_one_per_page() {
    let mut noise = Noise::new(0x5eed_0bad);
    let answered = (0..RUNS).filter(|_| {
        let choices: Vec<u8> = (0..20 + noise.below(100)).map(|_| noise.byte() & 0x7f).collect();
        fuzz::query_execute(&choices)
    });
    let answered = answered.count();
    assert!(answered > RUNS / 2, "only {answered} of {RUNS} queries had an answer");
}

#[test]
fn mutated_queries_give_the_same_rows_one_per_page() {
    let mut noise = Noise::new(0x0bad_5eed);
    for round in 0..RUNS {
        let query = match round % 3 {
            0 => words(&mut noise),
            _ => damage(&mut noise, RUNNING[round % RUNNING.len()]),
        };
        fuzz::query_execute(&[b"#", &query[..]].concat());
    }
}

const RUNNING: [&str; 7] = [
    "SELECT DISTINCT TOP 5 c.n, {\"x\": c.s, y: [1, -2.5e3]} AS z FROM c WHERE c[\"id\"] != 'x' ORDER BY c.n DESC",
    "SELECT c.n, COUNT(1) AS k, MAX(c.s) AS m FROM c JOIN t IN c.l GROUP BY c.n",
    "SELECT VALUE x FROM x IN c.l WHERE NOT x.n AND x NOT BETWEEN 1 AND 2 OR x IN (1, 2, 'é')",
    "SELECT VALUE [c.n ?? c.s ? 1 : 0x1F, c.n >>> 2 | ~1, c.s || \"b\"] FROM c OFFSET 1 LIMIT 2",
    "SELECT ARRAY(SELECT VALUE t FROM t IN c.l) AS l FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.l WHERE t = 1)",
    "SELECT VALUE s.n FROM (SELECT DISTINCT c.n FROM c) AS s WHERE IS_DEFINED(s.n) ORDER BY s.n",
    "SELECT TOP 3 c.id FROM c ORDER BY RANK FullTextScore(c.s, 'abc')",
];

#[test]
fn every_query_succeeds_before_mutation() {
    for query in RUNNING {
        assert!(fuzz::query_execute(format!("#{query}").as_bytes()), "{query}");
    }
}

#[test]
fn the_samples_parse_before_mutation() {
    for query in QUERIES {
        parse(query).unwrap();
    }
}
