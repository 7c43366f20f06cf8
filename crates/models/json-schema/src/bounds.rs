//! Bounds on the cost of a schema, computed before it is compiled.
//!
//! References let a short text cause much work: `a` references `b` twice, `b` references `c` twice, and so
//! on. So the schema is expanded along its references, once per part, and the size of the expansion is
//! limited. A reference back to a part under expansion is a recursion: it expands no further, because the
//! validator caches its result for each part and value. Only the search for violations does not cache, so the
//! fan-out of recursions is counted too (`growth`).
//!
//! A schema is one document: references may not leave it.

use crate::InvalidSchema;
use crate::limits;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The cost of a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Parts that one value and its contents may be checked against.
    pub parts: u64,
    /// Nesting depth, with references followed.
    pub levels: usize,
    /// The maximum number of times a value is checked against a recursion per check of its container; 0
    /// without recursion.
    pub growth: u64,
}

/// Checks a schema; `at` is its location in the request.
pub(crate) fn check(schema: &Value, at: &str) -> Result<Bounds, InvalidSchema> {
    let mut walk = Walk { root: schema, anchors: HashMap::new(), known: HashMap::new(), patterns: 0 };
    if nesting(schema) > limits::SCHEMA_LEVELS_MAX {
        let max = limits::SCHEMA_LEVELS_MAX;
        return Err(InvalidSchema::new(at, format!("it is nested more than {max} levels deep")));
    }
    walk.name_anchors(schema);
    let bounds = walk.unfold(schema, at, 0)?;
    if bounds.parts > limits::SCHEMA_PARTS_MAX {
        let max = limits::SCHEMA_PARTS_MAX;
        return Err(InvalidSchema::new(
            at,
            format!("it has more than {max} parts when its references are followed; name fewer parts twice"),
        ));
    }
    Ok(bounds)
}

struct Walk<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, &'a Value>,
    /// The known cost of a part, by its address; `None` while it is being expanded.
    known: HashMap<*const Value, Option<Bounds>>,
    patterns: usize,
}

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Keywords whose schemas apply to the same value.
const SAME_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const SAME: [&str; 4] = ["not", "if", "then", "else"];
const SAME_MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];
/// Keywords of which at most one applies to a given member or element.
const MEMBER: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];
const ELEMENT: [&str; 3] = ["items", "additionalItems", "unevaluatedItems"];
/// Keywords that apply to a member or element in addition to others.
const BESIDE: [&str; 2] = ["propertyNames", "contains"];
/// Containers of schemas that apply only when referenced.
const KEPT: [&str; 2] = ["$defs", "definitions"];

impl<'a> Walk<'a> {
    fn unfold(&mut self, schema: &'a Value, at: &str, above: usize) -> Result<Bounds, InvalidSchema> {
        match self.known.get(&std::ptr::from_ref(schema)) {
            Some(Some(bounds)) => return self.within(*bounds, at, above),
            Some(None) => return Ok(Bounds { parts: 1, levels: 1, growth: 1 }),
            None => {}
        }
        let leaf = Bounds { parts: 1, levels: 1, growth: 0 };
        let Some(object) = schema.as_object() else { return Ok(leaf) };
        self.within(leaf, at, above)?;
        self.known.insert(schema, None);
        self.check_keywords(schema, object, at)?;
        let bounds = self.unfold_keywords(object, at, above + 1)?;
        self.known.insert(schema, Some(bounds));
        self.within(bounds, at, above)
    }

    /// Deep reference chains would exhaust the stack.
    fn within(&self, bounds: Bounds, at: &str, above: usize) -> Result<Bounds, InvalidSchema> {
        let max = limits::SCHEMA_REFERENCE_LEVELS_MAX;
        if above + bounds.levels > max {
            let why =
                format!("schemas are more than {max} levels inside one another when references are followed");
            return Err(InvalidSchema::new(at, why));
        }
        Ok(bounds)
    }

    fn unfold_keywords(
        &mut self,
        object: &'a Map<String, Value>,
        at: &str,
        above: usize,
    ) -> Result<Bounds, InvalidSchema> {
        let (mut all, mut member, mut element) = (Sum::default(), 0, 0);
        for (keyword, value) in object {
            let at = format!("{at}/{keyword}");
            let name = keyword.as_str();
            for (inner, at) in subschemas(name, value, &at) {
                let bounds = self.unfold(inner, &at, above)?;
                if KEPT.contains(&name) {
                    continue;
                }
                all.add(bounds);
                match name {
                    "properties" => member = bounds.growth.max(member),
                    "prefixItems" => element = bounds.growth.max(element),
                    _ if MEMBER.contains(&name) => member = bounds.growth.max(member),
                    _ if ELEMENT.contains(&name) => element = bounds.growth.max(element),
                    _ => all.growth = all.growth.saturating_add(bounds.growth),
                }
            }
            if let ("$ref", Value::String(reference)) = (name, value) {
                let target = self.target(reference, &at)?;
                let bounds = self.unfold(target, &at, above)?;
                all.add(bounds);
                all.growth = all.growth.saturating_add(bounds.growth);
            }
        }
        // A value is an object or an array, not both.
        let growth = all.growth.saturating_add(member.max(element));
        Ok(Bounds { parts: all.parts.saturating_add(1), levels: all.levels + 1, growth })
    }

    /// Violations of a part by itself.
    fn check_keywords(
        &mut self,
        schema: &Value,
        object: &Map<String, Value>,
        at: &str,
    ) -> Result<(), InvalidSchema> {
        let patterns = object.get("patternProperties").and_then(Value::as_object).map_or(0, Map::len);
        self.patterns += patterns + usize::from(object.contains_key("pattern"));
        if self.patterns > limits::SCHEMA_PATTERNS_MAX {
            let max = limits::SCHEMA_PATTERNS_MAX;
            return Err(InvalidSchema::new(at, format!("the schema has more than {max} patterns")));
        }
        if let Some(dialect) = object.get("$schema")
            && dialect.as_str().map(|dialect| dialect.trim_end_matches('#')) != Some(DIALECT)
        {
            return Err(InvalidSchema::new(
                &format!("{at}/$schema"),
                format!("the only dialect is {DIALECT}"),
            ));
        }
        if object.contains_key("$id") && !std::ptr::eq(schema, self.root) {
            let why = "only the whole schema has an $id; name parts of it by $anchor or by #/$defs/…";
            return Err(InvalidSchema::new(&format!("{at}/$id"), why));
        }
        for keyword in ["$dynamicRef", "$recursiveRef"] {
            if object.contains_key(keyword) {
                let why = "a schema is one document, in which this is the same as $ref; write $ref";
                return Err(InvalidSchema::new(&format!("{at}/{keyword}"), why));
            }
        }
        Ok(())
    }

    fn target(&self, reference: &str, at: &str) -> Result<&'a Value, InvalidSchema> {
        let Some(fragment) = reference.strip_prefix('#') else {
            let why = format!("'{reference}' leads out of the schema; references begin with #");
            return Err(InvalidSchema::new(at, why));
        };
        let fragment = percent_decode_str(fragment).decode_utf8_lossy();
        let found = match &*fragment {
            "" => Some(self.root),
            pointer if pointer.starts_with('/') => self.root.pointer(pointer),
            name => self.anchors.get(name).copied(),
        };
        found.ok_or_else(|| InvalidSchema::new(at, format!("'{reference}' leads to nothing")))
    }

    fn name_anchors(&mut self, schema: &'a Value) {
        let Some(object) = schema.as_object() else { return };
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = object.get(keyword).and_then(Value::as_str) {
                self.anchors.insert(name, schema);
            }
        }
        for (keyword, value) in object {
            subschemas(keyword, value, "").into_iter().for_each(|(inner, _)| self.name_anchors(inner));
        }
    }
}

#[derive(Default)]
struct Sum {
    parts: u64,
    levels: usize,
    growth: u64,
}

impl Sum {
    fn add(&mut self, bounds: Bounds) {
        self.parts = self.parts.saturating_add(bounds.parts);
        self.levels = self.levels.max(bounds.levels);
    }
}

/// The schemas in a keyword's value, each with its location.
fn subschemas<'a>(keyword: &str, value: &'a Value, at: &str) -> Vec<(&'a Value, String)> {
    let is = |names: &[&str]| names.contains(&keyword);
    if is(&SAME) || is(&MEMBER) || is(&ELEMENT) || is(&BESIDE) {
        return vec![(value, at.to_owned())];
    }
    if is(&SAME_LISTS) || keyword == "prefixItems" {
        let list = value.as_array().into_iter().flatten();
        return list.enumerate().map(|(index, inner)| (inner, format!("{at}/{index}"))).collect();
    }
    if is(&SAME_MAPS) || is(&KEPT) || is(&["properties", "patternProperties"]) {
        let map = value.as_object().into_iter().flatten();
        return map.map(|(name, inner)| (inner, format!("{at}/{}", escaped(name)))).collect();
    }
    Vec::new()
}

/// Escapes a name for a JSON pointer.
pub fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn nesting(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(nesting).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(nesting).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bounds(schema: Value) -> (u64, u64) {
        let Bounds { parts, growth, .. } = check(&schema, "").unwrap();
        (parts, growth)
    }

    fn refusal(schema: &Value) -> String {
        check(schema, "/schema").unwrap_err().to_string()
    }

    #[test]
    fn parts_are_counted_along_references() {
        assert_eq!(bounds(json!(true)), (1, 0));
        assert_eq!(bounds(json!({"type": "object", "properties": {"a": {}, "b": {"items": {}}}})), (4, 0));
        assert_eq!(bounds(json!({"$defs": {"a": {"not": {}}}, "anyOf": [{"$ref": "#/$defs/a"}]})), (4, 0));
        assert_eq!(bounds(json!({"$defs": {"a": {"$anchor": "x"}}, "allOf": [{"$ref": "#x"}, {}]})), (4, 0));
    }

    #[test]
    fn recursions_fan_out_where_one_value_has_several() {
        let tree = json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
        assert_eq!(bounds(tree).1, 1, "a member is one of the two");
        let value = json!({"anyOf": [{"items": {"$ref": "#"}}, {"additionalProperties": {"$ref": "#"}}]});
        assert_eq!(bounds(value).1, 2);
        let twice = json!({"allOf": [{"items": {"$ref": "#"}}, {"items": {"$ref": "#"}}]});
        assert_eq!(bounds(twice).1, 2);
    }

    /// Each part references the next one twice.
    fn doubling(count: usize) -> Value {
        let mut defs = Map::new();
        for at in 0..count {
            let next = json!({"$ref": format!("#/$defs/a{}", at + 1)});
            defs.insert(format!("a{at}"), json!({"allOf": [next, next]}));
        }
        defs.insert(format!("a{count}"), json!({"type": "object"}));
        json!({"$defs": defs, "$ref": "#/$defs/a0"})
    }

    #[test]
    fn endless_expansion_is_refused() {
        assert!(check(&doubling(8), "").is_ok());
        assert!(refusal(&doubling(16)).contains("parts when its references are followed"));
        let chain: Map<String, Value> = (0..500)
            .map(|at| (format!("a{at}"), json!({"$ref": format!("#/$defs/a{}", at + 1)})))
            .chain([("a500".to_owned(), json!({}))])
            .collect();
        assert!(
            refusal(&json!({"$defs": chain, "$ref": "#/$defs/a0"})).contains("levels inside one another")
        );
    }

    #[test]
    fn errors_name_the_location() {
        let deep = (0..70).fold(json!({}), |inner, _| json!({"not": inner}));
        let patterns: Vec<Value> = (0..200).map(|at| json!({"pattern": format!("{at}")})).collect();
        for (schema, expected) in [
            (
                json!({"properties": {"a": {"$ref": "http://x/y"}}}),
                "/schema/properties/a/$ref: 'http://x/y' leads out",
            ),
            (json!({"$ref": "#/$defs/x"}), "/schema/$ref: '#/$defs/x' leads to nothing"),
            (json!({"$ref": "#x"}), "/schema/$ref: '#x' leads to nothing"),
            (
                json!({"not": {"$schema": "http://json-schema.org/draft-07/schema#"}}),
                "/schema/not/$schema: the only dialect",
            ),
            (json!({"$defs": {"a/b": {"$id": "x"}}}), "/schema/$defs/a~1b/$id: only the whole schema"),
            (json!({"$dynamicRef": "#x"}), "/schema/$dynamicRef: a schema is one document"),
            (deep, "/schema: it is nested more than"),
            (json!({"anyOf": patterns}), "more than 128 patterns"),
        ] {
            let said = refusal(&schema);
            assert!(said.contains(expected), "{said}");
        }
    }
}
