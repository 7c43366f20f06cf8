//! Derives documents and queries from arbitrary bytes: each byte is a choice, and after the last the first
//! alternative is taken.
//!
//! The queries follow the grammar and most are valid; the members they use (`c.n`, `c.s`, `c.l`, `c.o`) are
//! missing about as often as present.

use crate::bind::bound::AggregateFunction;
use crate::functions;

/// The nesting depth of documents and expressions.
const LEVELS_MAX: usize = 3;

pub(super) struct Choices<'a>(pub &'a [u8]);

impl Choices<'_> {
    fn below(&mut self, limit: usize) -> usize {
        let Some((byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*byte) % limit.max(1)
    }

    /// True once in this many times, and never after the bytes have ended.
    fn once_in(&mut self, many: usize) -> bool {
        !self.0.is_empty() && self.below(many) == many - 1
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }

    /// Up to six documents.
    pub fn documents(&mut self) -> Vec<String> {
        let count = self.below(7);
        (0..count).map(|i| format!(r#"{{"id":"{i}"{}}}"#, self.members())).collect()
    }

    fn members(&mut self) -> String {
        let names = ["n", "s", "l", "o", "m"];
        let mut members = String::new();
        for name in names {
            if !self.once_in(3) {
                let value = match name {
                    "n" => self.number(),
                    "s" => self.string(),
                    "l" => self.array(1),
                    "o" => format!(r#"{{"n":{},"l":{}}}"#, self.number(), self.array(2)),
                    _ => self.json(1),
                };
                members.push_str(&format!(r#","{name}":{value}"#));
            }
        }
        members
    }

    fn number(&mut self) -> String {
        self.one_of(&["1", "0", "2", "-1", "1.0", "2.5", "3", "1e3", "-0.0", "9007199254740993", "1e308"])
            .to_owned()
    }

    fn string(&mut self) -> String {
        self.one_of(&[
            "\"a\"",
            "\"\"",
            "\"b\"",
            "\"abc\"",
            "\"é😀\"",
            "\"2024-01-02T03:04:05.678Z\"",
            "\"%_[\"",
            "\"1\"",
        ])
        .to_owned()
    }

    fn array(&mut self, level: usize) -> String {
        let count = self.below(5);
        let items: Vec<String> = (0..count).map(|_| self.json(level + 1)).collect();
        format!("[{}]", items.join(","))
    }

    fn json(&mut self, level: usize) -> String {
        match self.below(if level < LEVELS_MAX { 7 } else { 5 }) {
            0 => self.number(),
            1 => self.string(),
            2 => "null".to_owned(),
            3 => "true".to_owned(),
            4 => "false".to_owned(),
            5 => self.array(level),
            _ => format!(r#"{{"n":{}, "s" : {}}}"#, self.json(level + 1), self.string()),
        }
    }

    pub fn query(&mut self) -> String {
        let (from, names) = self.from();
        let filter = if self.once_in(2) { format!(" WHERE {}", self.expr(&names, 0)) } else { String::new() };
        if self.once_in(4) {
            return self.grouped(&from, &filter, &names);
        }
        let distinct = if self.once_in(3) { "DISTINCT " } else { "" };
        let (top, window) = self.window();
        let select = self.select(&names);
        let order = if self.once_in(3) { self.order(&names) } else { String::new() };
        format!("SELECT {distinct}{top}{select} FROM {from}{filter}{order}{window}")
    }

    fn from(&mut self) -> (String, Vec<&'static str>) {
        let (mut from, mut names) = match self.below(8) {
            0..=4 => ("c".to_owned(), vec!["c"]),
            5 => ("c IN c.l".to_owned(), vec!["c"]),
            6 => ("(SELECT c.n, c.s, c.l, c.o FROM c WHERE IS_DEFINED(c.n)) AS c".to_owned(), vec!["c"]),
            _ => ("(SELECT DISTINCT VALUE {\"n\": c.n, \"l\": c.l} FROM c) AS c".to_owned(), vec!["c"]),
        };
        for name in ["x", "y"] {
            if self.once_in(3) {
                let of = self.one_of(&["IN c.l", "IN c.o.l", "IN c.m", "IN (SELECT VALUE c.l)"]);
                from.push_str(&format!(" JOIN {name} {of}"));
                names.push(name);
            }
        }
        if self.once_in(5) {
            from.push_str(" JOIN (SELECT DISTINCT VALUE e FROM e IN c.l) AS z");
            names.push("z");
        }
        (from, names)
    }

    fn window(&mut self) -> (String, String) {
        match self.below(6) {
            4 => (format!("TOP {} ", self.below(5)), String::new()),
            5 => (String::new(), format!(" OFFSET {} LIMIT {}", self.below(4), self.below(5))),
            _ => (String::new(), String::new()),
        }
    }

    fn select(&mut self, names: &[&str]) -> String {
        match self.below(4) {
            0 if names.len() == 1 => "*".to_owned(),
            0 | 1 => format!("VALUE {}", self.expr(names, 0)),
            2 => format!("{} AS a, {} AS b", self.expr(names, 0), self.expr(names, 1)),
            _ => format!("VALUE {{\"a\": {}, \"b\": {}}}", self.path(names), self.expr(names, 1)),
        }
    }

    fn order(&mut self, names: &[&str]) -> String {
        let mut key = || format!("{}{}", self.path(names), self.one_of(&["", " DESC", " ASC"]));
        let first = key();
        let second = key();
        if self.once_in(3) { format!(" ORDER BY {first}, {second}") } else { format!(" ORDER BY {first}") }
    }

    fn grouped(&mut self, from: &str, filter: &str, names: &[&str]) -> String {
        let (key, one, other) = (self.path(names), self.aggregate(names), self.aggregate(names));
        let distinct = if self.once_in(5) { "DISTINCT " } else { "" };
        let (top, window) = self.window();
        match self.below(3) {
            0 => format!("SELECT {distinct}VALUE {one} FROM {from}{filter}"),
            1 => format!(
                "SELECT {distinct}{top}{key} AS k, {one} AS a, {other} AS b FROM {from}{filter} GROUP BY {key}{window}"
            ),
            _ => format!(
                "SELECT {distinct}{top}VALUE {one} FROM {from}{filter} GROUP BY {key}, {}{window}",
                self.path(names)
            ),
        }
    }

    fn aggregate(&mut self, names: &[&str]) -> String {
        let (name, _) = AggregateFunction::ALL[self.below(AggregateFunction::ALL.len())];
        format!("{name}({})", self.expr(names, 1))
    }

    fn path(&mut self, names: &[&str]) -> String {
        let name = names[self.below(names.len())];
        let steps = [".n", ".s", ".l", ".o", "", ".l[0]", ".o.n", ".m", "[\"s\"]", ".id", ".l[1].n"];
        format!("{name}{}", self.one_of(&steps))
    }

    fn expr(&mut self, names: &[&str], level: usize) -> String {
        if level >= LEVELS_MAX {
            return self.leaf(names);
        }
        let next = level + 1;
        match self.below(14) {
            0..=2 => self.leaf(names),
            3 | 4 => {
                let ops = [
                    "=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "AND", "OR", "??", "||", "&",
                    "|", "^", "<<", ">>", ">>>",
                ];
                format!("({} {} {})", self.expr(names, next), self.one_of(&ops), self.expr(names, next))
            }
            5 => format!("({} {})", self.one_of(&["NOT", "-", "~", "+"]), self.expr(names, next)),
            6 | 7 => self.call(names, next),
            8 => format!("({} IN ({}, {}))", self.leaf(names), self.leaf(names), self.expr(names, next)),
            9 => format!("({} BETWEEN {} AND {})", self.leaf(names), self.leaf(names), self.leaf(names)),
            10 => format!("({} LIKE {})", self.path(names), self.string()),
            11 => format!("({} ? {} : {})", self.expr(names, next), self.leaf(names), self.leaf(names)),
            12 => format!("[{}, {{\"n\": {}}}]", self.expr(names, next), self.leaf(names)),
            _ => self.subquery(names, next),
        }
    }

    fn leaf(&mut self, names: &[&str]) -> String {
        match self.below(6) {
            0..=2 => self.path(names),
            3 => self.number(),
            4 => self.string(),
            _ => self.one_of(&["null", "true", "undefined", "[]", "[1, 1.0, \"a\"]"]).to_owned(),
        }
    }

    fn call(&mut self, names: &[&str], level: usize) -> String {
        let all: Vec<&functions::Function> = functions::all().collect();
        // There are fewer functions than byte values, but that may change.
        let function = all[(self.below(256) * 256 + self.below(256)) % all.len()];
        let count = function.args_min
            + self.below(function.args_max.min(function.args_min + 2) - function.args_min + 1);
        let args: Vec<String> = (0..count).map(|_| self.expr(names, level)).collect();
        format!("{}({})", function.name, args.join(", "))
    }

    fn subquery(&mut self, names: &[&str], level: usize) -> String {
        let of = self.one_of(&["c.l", "c.o.l", "c.m"]);
        let within: Vec<&str> = names.iter().copied().chain(["e"]).collect();
        let (select, filter) = (self.expr(&within, level), self.expr(&within, level));
        match self.below(4) {
            0 => format!("EXISTS(SELECT VALUE {select} FROM e IN {of} WHERE {filter})"),
            1 => format!("ARRAY(SELECT VALUE {select} FROM e IN {of})"),
            2 => format!("ARRAY(SELECT DISTINCT VALUE {select} FROM e IN {of} WHERE {filter})"),
            _ => format!("(SELECT VALUE COUNT({select}) FROM e IN {of})"),
        }
    }
}
