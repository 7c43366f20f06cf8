//! Parses JSON text into a tree with positions.
//!
//! `serde_json` validates the text and its depth, and locates errors. The walk afterwards only has to find
//! the positions, in text known to be valid.

use crate::node::{Data, Fault, Location, Member, Node, fault};

pub(crate) fn load(file: usize, text: &str) -> Result<Node, Fault> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str::<serde_json::Value>(text).map_err(|error| {
        let at = Location { file, line: error.line(), column: error.column() };
        let said = error.to_string();
        let said = said.split(" at line ").next().unwrap_or_default();
        Fault { at, reason: format!("this is not JSON: {said}") }
    })?;
    Walk { file, text, at: 0, line: 1, column: 1 }.value()
}

struct Walk<'t> {
    file: usize,
    text: &'t str,
    at: usize,
    line: usize,
    column: usize,
}

impl<'t> Walk<'t> {
    fn value(&mut self) -> Result<Node, Fault> {
        self.space();
        let at = self.place();
        let data = match self.peek() {
            b'{' => self.map()?,
            b'[' => self.list()?,
            b'"' => Data::Text(self.string()),
            b'n' => self.word(Data::Null),
            b't' => self.word(Data::Bool(true)),
            b'f' => self.word(Data::Bool(false)),
            _ => self.number(),
        };
        Ok(Node::new(at, data))
    }

    fn map(&mut self) -> Result<Data, Fault> {
        let mut members: Vec<Member> = Vec::new();
        self.step();
        while self.more(b'}') {
            let at = self.place();
            let name = self.string();
            if members.iter().any(|member| member.name == name) {
                return fault(at, format!("'{name}' is here twice; keep one of them"));
            }
            self.space();
            self.step();
            members.push(Member { name, at, value: self.value()? });
        }
        Ok(Data::Map(members))
    }

    fn list(&mut self) -> Result<Data, Fault> {
        let mut list = Vec::new();
        self.step();
        while self.more(b']') {
            list.push(self.value()?);
        }
        Ok(Data::List(list))
    }

    /// Skips commas, and the end if it is there.
    fn more(&mut self, end: u8) -> bool {
        self.space();
        if self.peek() == b',' {
            self.step();
            self.space();
        }
        let more = self.peek() != end && self.at < self.text.len();
        if !more {
            self.step();
        }
        more
    }

    fn string(&mut self) -> String {
        let from = self.at;
        self.step();
        while self.at < self.text.len() && self.peek() != b'"' {
            if self.peek() == b'\\' {
                self.step();
            }
            self.step();
        }
        self.step();
        serde_json::from_str(&self.text[from..self.at]).unwrap_or_default()
    }

    fn number(&mut self) -> Data {
        let from = self.at;
        while matches!(self.peek(), b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E') {
            self.step();
        }
        serde_json::from_str(&self.text[from..self.at]).map_or(Data::Null, Data::Number)
    }

    fn word(&mut self, data: Data) -> Data {
        while self.peek().is_ascii_alphabetic() {
            self.step();
        }
        data
    }

    fn space(&mut self) {
        while self.peek().is_ascii_whitespace() {
            self.step();
        }
    }

    /// 0 after the end.
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn step(&mut self) {
        match self.peek() {
            b'\n' => (self.line, self.column) = (self.line + 1, 1),
            // A continuation byte of a character.
            0x80..=0xbf => {}
            _ => self.column += 1,
        }
        self.at = (self.at + 1).min(self.text.len());
    }

    fn place(&self) -> Location {
        Location { file: self.file, line: self.line, column: self.column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn every_value_knows_its_place() {
        let node = load(0, "{\n  \"é\": [1, \"x\\\"\"],\n  \"b\": { }\n}").expect("JSON");
        assert_eq!(node.to_value(), json!({"é": [1, "x\""], "b": {}}));
        let place = |node: &Node| (node.at.line, node.at.column);
        let list = node.get("é").expect("a member");
        assert_eq!((place(&node), place(list)), ((1, 1), (2, 8)));
        let Data::List(values) = &list.data else { panic!("a list") };
        assert_eq!(values.iter().map(place).collect::<Vec<_>>(), [(2, 9), (2, 12)]);
        assert_eq!(node.get("b").map(place), Some((3, 8)));
    }

    #[test]
    fn json_errors_have_a_position() {
        let refused = |text: &str| load(0, text).expect_err(text);
        let found = refused("{\"a\": 1,\n \"b\": }");
        assert_eq!((found.at.line, found.at.column), (2, 7));
        assert_eq!(found.reason, "this is not JSON: expected value");
        assert!(refused("").reason.contains("EOF"));
        assert!(refused("{\"a\":1,\"a\":2}").reason.contains("twice"));
        assert!(refused(&"[".repeat(100_000)).reason.contains("recursion limit"));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("\\PC{0,4}", inner, 0..4)
                    .prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_walk_finds_what_serde_reads(value in any_json(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let node = load(0, &text.expect("JSON")).expect("it was made of JSON");
            prop_assert_eq!(node.to_value(), value);
        }
    }
}
