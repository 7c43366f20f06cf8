//! Reads a YAML file into a tree with positions.

use crate::limits;
use crate::node::{Data, Fault, Location, Member, Node};
use orrery_yaml::{Limits, Position};

const LIMITS: Limits =
    Limits { levels_max: limits::BLUEPRINT_LEVELS_MAX, values_max: limits::BLUEPRINT_NODES_MAX };

pub(crate) fn load(file: usize, text: &str) -> Result<Node, Fault> {
    match orrery_yaml::load(text, LIMITS) {
        Ok(root) => Ok(node(file, root)),
        Err(error) => Err(Fault { at: location(file, error.at), reason: error.reason }),
    }
}

fn location(file: usize, at: Position) -> Location {
    Location { file, line: at.line, column: at.column }
}

fn node(file: usize, read: orrery_yaml::Node) -> Node {
    use orrery_yaml::Data as Yaml;
    let member = |read: orrery_yaml::Member| Member {
        name: read.name,
        at: location(file, read.at),
        value: node(file, read.value),
    };
    let data = match read.data {
        Yaml::Null => Data::Null,
        Yaml::Bool(bool) => Data::Bool(bool),
        Yaml::Number(number) => Data::Number(number),
        Yaml::Text(text) => Data::Text(text),
        Yaml::List(list) => Data::List(list.into_iter().map(|one| node(file, one)).collect()),
        Yaml::Map(members) => Data::Map(members.into_iter().map(member).collect()),
    };
    Node::new(location(file, read.at), data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_and_errors_have_the_position_of_their_file() {
        let root = load(3, "a:\n  - {b: 1}").unwrap();
        assert_eq!(root.to_value(), json!({"a": [{"b": 1}]}));
        assert_eq!(root.get("a").unwrap().at, Location { file: 3, line: 2, column: 3 });
        let fault = load(3, "a: 1\na: 2").unwrap_err();
        assert_eq!(fault.at, Location { file: 3, line: 2, column: 1 });
    }
}
