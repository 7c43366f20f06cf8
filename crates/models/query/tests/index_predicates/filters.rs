//! Random filters of the sort that indexes serve: a path of the document, an operator, a constant. The names are
//! those of the random documents.

use crate::random::Random;

const NUMBERS: [&str; 8] = ["-1", "0", "0.5", "1", "1.0", "2", "3", "7"];
const TEXTS: [&str; 10] = ["''", "'A'", "'a'", "'b'", "'ab'", "'Ab'", "'B'", "'a%b'", "'é'", "' a '"];
const OTHERS: [&str; 8] =
    ["null", "true", "false", "undefined", "[]", "{}", "[1, 'a']", "{'x': 1, 'y': 'a'}"];
const PATTERNS: [&str; 10] = [
    "'%'",
    "'a%'",
    "'_b'",
    "'ab'",
    "'[ab]%'",
    "'a[%]b'",
    "'a!%%' ESCAPE '!'",
    "'' ESCAPE '!!'",
    "'%b'",
    "null",
];
const OPERATORS: [&str; 6] = ["=", "!=", "<", "<=", ">", ">="];
const CHECKS: [&str; 9] = [
    "IS_DEFINED",
    "IS_NULL",
    "IS_BOOL",
    "IS_NUMBER",
    "IS_STRING",
    "IS_ARRAY",
    "IS_OBJECT",
    "IS_PRIMITIVE",
    "IS_INTEGER",
];
const SEARCHES: [&str; 4] = ["STARTSWITH", "StringEquals", "CONTAINS", "ENDSWITH"];

/// Where a filter stands: the paths it may name, and how deep it still may go.
#[derive(Clone, Copy)]
struct Scope<'a> {
    scalars: &'a [&'a str],
    lists: &'a [&'a str],
    depth: usize,
}

const DOCUMENT: Scope<'static> = Scope {
    scalars: &[
        "c.a",
        "c.a",
        "c.b",
        "c.s",
        "c.s",
        "c.t",
        "c.flag",
        "c.n",
        "c.n.x",
        "c[\"n\"].y",
        "c.tags[0]",
        "c.kids[1].a",
        "c.none",
        "c.tags",
    ],
    lists: &["c.tags", "c.tags", "c.kids", "c.kids", "c.kids", "c.kids[0].tags", "c.a"],
    depth: 3,
};

pub fn query(random: &mut Random) -> String {
    let element = Scope { scalars: &["t", "t", "c.a", "c.s"], lists: &["t", "c.tags"], depth: 2 };
    let kid = Scope { scalars: &["k.a", "k.s", "k.a", "k"], lists: &["k.tags"], depth: 2 };
    let nested = Scope { scalars: &["t", "k.a", "c.a"], lists: &["k.tags"], depth: 2 };
    let part = Scope { scalars: &["n.x", "n.y", "n"], lists: &["n.x"], depth: 2 };
    let (from, scope) = match random.below(10) {
        0 => ("c JOIN t IN c.tags".to_owned(), element),
        1 => ("k IN c.kids".to_owned(), kid),
        2 => ("c JOIN k IN c.kids JOIN t IN k.tags".to_owned(), nested),
        3 => ("c.n".to_owned(), part),
        4 => {
            let inner = Scope { scalars: &["x", "c.b"], lists: &["c.tags"], depth: 1 };
            let inner = filter(random, inner);
            (format!("c JOIN (SELECT VALUE x FROM x IN c.tags WHERE {inner}) AS t"), element)
        }
        5 => ("c JOIN t IN (SELECT VALUE c.tags)".to_owned(), element),
        6 => ("c JOIN (SELECT VALUE COUNT(1) FROM x IN c.tags) AS t".to_owned(), element),
        _ => ("c".to_owned(), DOCUMENT),
    };
    format!("SELECT VALUE 1 FROM {from} WHERE {}", filter(random, scope))
}

fn filter(random: &mut Random, scope: Scope<'_>) -> String {
    if scope.depth == 0 {
        return condition(random, scope);
    }
    let inner = Scope { depth: scope.depth - 1, ..scope };
    match random.below(12) {
        0..3 => format!("({} AND {})", filter(random, inner), filter(random, inner)),
        3..5 => format!("({} OR {})", filter(random, inner), filter(random, inner)),
        5 => format!("NOT ({})", filter(random, inner)),
        6 => choice(random, inner),
        7 => exists(random, inner),
        _ => condition(random, scope),
    }
}

/// One of two conditions, or one that is compared with a boolean.
fn choice(random: &mut Random, scope: Scope<'_>) -> String {
    let (a, b) = (filter(random, scope), filter(random, scope));
    match random.below(4) {
        0 => format!("(({a}) ? ({b}) : ({}))", filter(random, scope)),
        1 => format!("IIF({a}, {b}, {})", filter(random, scope)),
        2 => format!("(({a}) ?? ({b}))"),
        _ => format!("({a}) {} {}", random.pick(&["=", "!="]), random.pick(&["true", "false"])),
    }
}

fn exists(random: &mut Random, scope: Scope<'_>) -> String {
    let list = random.pick(scope.lists);
    let inner = Scope { scalars: &["e", "e.a", "e.s", "c0"], lists: &["e.tags", "e"], depth: scope.depth };
    let filter = filter(random, inner).replace("c0", random.pick(scope.scalars));
    let select = random.pick(&["VALUE e", "VALUE 1", "e.a", "VALUE e.a", "VALUE COUNT(1)"]);
    format!("EXISTS(SELECT {select} FROM e IN {list} WHERE {filter})")
}

fn condition(random: &mut Random, scope: Scope<'_>) -> String {
    let (path, list) = (random.pick(scope.scalars), random.pick(scope.lists));
    let value = constant(random);
    match random.below(14) {
        0 | 1 => format!("{path} {} {value}", random.pick(&OPERATORS)),
        2 | 3 => format!("{value} {} {path}", random.pick(&OPERATORS)),
        4 => format!("{path} {}IN ({value}, {})", not(random), constant(random)),
        5 => format!("{path} {}BETWEEN {value} AND {}", not(random), constant(random)),
        6 => format!("{path} {}LIKE {}", not(random), random.pick(&PATTERNS)),
        7 => format!("{}({path}, {}{})", random.pick(&SEARCHES), random.pick(&TEXTS), flag(random)),
        8 => format!("{}({path})", random.pick(&CHECKS)),
        9 => format!("ARRAY_CONTAINS({list}, {}{})", element(random), flag(random)),
        10 => format!("ARRAY_CONTAINS([{value}, {}], {path}{})", element(random), flag(random)),
        11 => {
            let name = random.pick(&["ARRAY_CONTAINS_ANY", "ARRAY_CONTAINS_ALL"]);
            format!("{name}({list}, {value}, {})", element(random))
        }
        12 => format!("{path} {} {}", random.pick(&OPERATORS), random.pick(scope.scalars)),
        _ => path.to_owned(),
    }
}

fn not(random: &mut Random) -> &'static str {
    if random.chance(30) { "NOT " } else { "" }
}

fn flag(random: &mut Random) -> &'static str {
    random.pick(&["", "", ", true", ", true", ", false", ", undefined"])
}

fn constant(random: &mut Random) -> &'static str {
    match random.below(10) {
        0..4 => random.pick(&NUMBERS),
        4..8 => random.pick(&TEXTS),
        _ => random.pick(&OTHERS),
    }
}

/// What an array may have as an element; some kids have no more than these members.
fn element(random: &mut Random) -> &'static str {
    match random.below(10) {
        0 | 1 => "{'a': 1}",
        2 | 3 => "{'s': 'a'}",
        4 => "{'a': 2, 's': 'b'}",
        5 => "{'tags': ['a']}",
        _ => constant(random),
    }
}
