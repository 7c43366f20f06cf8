//! The keys that particular filters name.

use super::{KEYS_MAX, id_and_key_lookups, partition_keys};
use crate::parse::parse;
use orrery_value::Value;

fn paths(names: &[&str]) -> Vec<Vec<String>> {
    names.iter().map(|path| path.split('/').map(str::to_owned).collect()).collect()
}

fn parameters() -> Vec<(String, Value)> {
    let array = Value::parse(r#"["x","y"]"#).unwrap();
    let all = [("@p", Value::from("p")), ("@none", Value::Undefined), ("@list", array)];
    all.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// The tuples in order, undefined as `-`; `open` if the filter does not restrict them.
fn shown(keys: Option<Vec<Vec<Value>>>) -> String {
    let value = |value: &Value| if value.is_undefined() { "-".to_owned() } else { value.to_json() };
    let key = |key: &Vec<Value>| format!("({})", key.iter().map(value).collect::<Vec<_>>().join(","));
    keys.map_or("open".to_owned(), |keys| keys.iter().map(key).collect::<Vec<_>>().join(" "))
}

#[track_caller]
fn check_query(text: &str, on: &[&str], expected: &str) {
    let keys = partition_keys(&parse(text).unwrap(), &parameters(), &paths(on));
    assert_eq!(shown(keys), expected, "{text}");
}

#[track_caller]
fn check(filter: &str, expected: &str) {
    check_query(&format!("SELECT * FROM c WHERE {filter}"), &["pk"], expected);
}

#[track_caller]
fn check_levels(filter: &str, expected: &str) {
    check_query(&format!("SELECT * FROM c WHERE {filter}"), &["a", "b/c", "d"], expected);
}

#[track_caller]
fn check_lookups(filter: &str, on: &[&str], expected: &str) {
    let query = parse(&format!("SELECT * FROM c WHERE {filter}")).unwrap();
    let lookups = id_and_key_lookups(&query, &parameters(), &paths(on));
    let joined = lookups.map(|found| {
        found.into_iter().map(|(id, key)| [Value::from(id)].into_iter().chain(key).collect()).collect()
    });
    assert_eq!(shown(joined), expected, "{filter}");
}

#[test]
fn an_equality_names_one_key() {
    check("c.pk = 'a'", r#"("a")"#);
    check("'a' = c[\"pk\"]", r#"("a")"#);
    check("c.pk = @p AND c.n > 1 AND udf.f(c)", r#"("p")"#);
    check("c.pk = -1.0", "(-1)");
    check("c.pk = -0.0", "(0)");
    check("NOT (c.pk != 1)", "(1)");
    check("c.pk", "(true)");
    check("NOT c.pk", "(false)");
    check("c.pk = true", "(true)");
    check("IS_NULL(c.pk)", "(null)");
}

#[test]
fn null_is_a_key_and_undefined_another() {
    check("c.pk = null", "(null)");
    check("IS_DEFINED(c.pk) = false", "(-)");
    check("NOT is_defined(c.pk)", "(-)");
    check("IS_DEFINED(c.pk) != true", "(-)");
    check("c.pk = null OR NOT IS_DEFINED(c.pk)", "(-) (null)");
    check("IS_DEFINED(c.pk)", "open");
}

#[test]
fn nothing_equals_undefined() {
    check("c.pk = undefined", "");
    check("c.pk = @none", "");
    check("c.pk IN (undefined, 1)", "(1)");
    check("c.pk != undefined OR c.pk = 2", "open");
}

#[test]
fn arrays_and_objects_are_stored_under_the_undefined_key() {
    check("c.pk = {'x': 1}", "(-)");
    check("c.pk IN ([1], 'a')", r#"(-) ("a")"#);
}

#[test]
fn a_list_names_its_elements() {
    check("c.pk IN ('b', 'a', 'b')", r#"("a") ("b")"#);
    check("c.pk IN (1, c.x)", "open");
    check("NOT (c.pk NOT IN (1, 2))", "(1) (2)");
    check("c.pk NOT IN (1, 2)", "open");
    check("ARRAY_CONTAINS(@list, c.pk)", r#"("x") ("y")"#);
    check("_TRY_ARRAY_CONTAINS(@list, c.pk)", r#"("x") ("y")"#);
    check("ARRAY_CONTAINS(c.list, c.pk)", "open");
    check("ARRAY_CONTAINS(@list, c.pk, true)", "open");
}

#[test]
fn either_side_of_or_must_name_a_key() {
    check("c.pk = 1 OR c.pk = 2 OR c.pk = 1.0", "(1) (2)");
    check("c.pk = 1 OR c.x = 2", "open");
    check("(c.pk = 1 OR c.x = 2) AND c.pk IN (2, 3)", "(2) (3)");
    check("NOT (c.pk != 1 AND c.pk != 2)", "(1) (2)");
    check("NOT (c.pk != 1 OR c.x = 2)", "(1)");
}

#[test]
fn keys_that_exclude_each_other_leave_none() {
    check("c.pk = 1 AND c.pk = 2", "");
    check("c.pk IN (1, 2, 3) AND c.pk IN (3, 4)", "(3)");
    check("c.pk = 1 AND false", "");
    check("c.pk = 1 OR false", "(1)");
    check("true", "open");
    check("false", "");
    check("1 = 2", "");
    check("@p = 'other' AND c.x = 1", "");
    check("1 = 1", "open");
    check("1 != 1", "");
}

#[test]
fn an_absolute_value_names_two_keys() {
    check("ABS(c.pk) = 1", "(-1) (1)");
    check("1 = abs(c.pk)", "(-1) (1)");
    check("ABS(c.pk) = 0", "(0)");
    check("ABS(c.pk) = -1", "");
    check("ABS(c.pk) = 'a'", "");
    check("ABS(c.x) = 1", "open");
    check("ABS(c.pk) != 1", "open");
}

#[test]
fn there_are_two_booleans() {
    check("IS_BOOL(c.pk)", "(false) (true)");
    check("IS_BOOL(c.pk) = true AND c.pk", "(true)");
    check("NOT IS_BOOL(c.pk)", "open");
}

#[test]
fn a_pattern_without_wildcards_is_a_key() {
    check("c.pk LIKE 'a!%' ESCAPE '!'", r#"("a%")"#);
    check("c.pk LIKE 'a'", r#"("a")"#);
    check("NOT (c.pk NOT LIKE @p)", r#"("p")"#);
    for filter in ["c.pk LIKE 'a%'", "c.pk LIKE '_'", "c.pk LIKE '[ab]'", "c.pk NOT LIKE 'a'"] {
        check(filter, "open");
    }
    check("c.pk LIKE 'a' ESCAPE 'ab'", "open");
    check("c.pk LIKE c.x", "open");
}

#[test]
fn other_conditions_name_nothing() {
    for filter in ["c.pk > 1", "c.pk LIKE 'a%'", "c.pk.x = 1", "c.x = 1", "c.pk = c.x", "UPPER(c.pk) = 'A'"] {
        check(filter, "open");
    }
    check("(c.pk ?? 'a') = 'a'", "open");
    check("c.pk BETWEEN 1 AND 1", "open");
    check("EXISTS(SELECT 1 FROM t IN c.tags WHERE c.pk = 1)", "open");
    check("c.pk = @missing", "open");
}

#[test]
fn keys_are_a_prefix_of_the_levels() {
    check_levels("c.a = 1", "(1)");
    check_levels("c.a = 1 AND c.b.c = 2", "(1,2)");
    check_levels("c.a = 1 AND c.b.c = 2 AND c.d = 3", "(1,2,3)");
    check_levels("c.a = 1 AND c.d = 3", "(1)");
    check_levels("c.b.c = 2", "open");
    check_levels("c.a IN (1, 2) AND c.b.c IN (3, 4)", "(1,3) (1,4) (2,3) (2,4)");
    check_levels("c.a = 1 OR (c.a = 1 AND c.b.c = 2) OR (c.a = 2 AND c.b.c = 2)", "(1) (2,2)");
    check_levels("c.a = 1 AND NOT IS_DEFINED(c.b.c)", "(1,-)");
    check_levels("c.a = 1 AND NOT IS_DEFINED(c.b)", "(1)");
}

#[test]
fn only_the_document_has_the_key() {
    check_query("SELECT * FROM r AS c WHERE c.pk = 1", &["pk"], "(1)");
    check_query("SELECT * FROM c AS r WHERE c.pk = 1", &["pk"], "open");
    check_query("SELECT VALUE t FROM c JOIN t IN c.tags WHERE c.pk = 1 AND t.pk = 2", &["pk"], "(1)");
    check_query("SELECT VALUE t FROM t IN c.tags WHERE t.pk = 1", &["pk"], "open");
    check_query("SELECT VALUE c FROM c.part AS c WHERE c.pk = 1", &["pk"], "open");
    check_query("SELECT VALUE c FROM (SELECT VALUE d.x FROM d) AS c WHERE c.pk = 1", &["pk"], "open");
    check_query("SELECT * FROM c", &["pk"], "open");
    check_query("SELECT 1 WHERE c.pk = 1", &["pk"], "");
    check_query("SELECT 1", &["pk"], "");
}

#[test]
fn too_many_keys_count_as_none() {
    let or = |count: usize| (0..count).map(|i| format!("c.pk = {i}")).collect::<Vec<_>>().join(" OR ");
    let count = |filter: &str| {
        let query = parse(&format!("SELECT * FROM c WHERE {filter}")).unwrap();
        partition_keys(&query, &[], &paths(&["pk"])).map(|keys| keys.len())
    };
    assert_eq!(count(&or(KEYS_MAX)), Some(KEYS_MAX));
    assert_eq!(count(&or(KEYS_MAX + 1)), None);
    // Two long lists give too many pairs; the shorter list is enough.
    assert_eq!(count(&format!("({}) AND ({})", or(200), or(300))), Some(200));
}

#[test]
fn read_many_becomes_lookups() {
    check_lookups("c.id = 'i' AND c.pk = 'k'", &["pk"], r#"("i","k")"#);
    check_lookups("c.id IN ( @p, 'q' )", &["id"], r#"("p","p") ("q","q")"#);
    check_lookups("c.pk = @p AND c.id IN ('a', 'b')", &["pk"], r#"("a","p") ("b","p")"#);
    let terms = "( ( c.id = 'a' AND c.pk = 1 ) OR ( c.id = 'b' AND IS_DEFINED(c.pk) = false ) )";
    check_lookups(terms, &["pk"], r#"("a",1) ("b",-)"#);
    check_lookups("c.id = 'a' AND c.a = 1 AND c.b.c = null", &["a", "b/c"], r#"("a",1,null)"#);
    check_lookups("c.id = 'a' AND c.pk = 1 AND c.n > 2", &["pk"], r#"("a",1)"#);
}

#[test]
fn a_lookup_needs_the_id_and_the_whole_key() {
    check_lookups("c.id = 'a'", &["pk"], "open");
    check_lookups("c.pk = 'a'", &["pk"], "open");
    check_lookups("c.id = 'a' AND c.a = 1", &["a", "b"], "open");
    check_lookups("(c.id = 'a' AND c.pk = 1) OR c.pk = 2", &["pk"], "open");
    // An id is always a string.
    check_lookups("c.id = 1 AND c.pk = 1", &["pk"], "");
}

#[test]
fn a_thousand_items_are_a_thousand_lookups() {
    let term = |i| format!("( c.id = @param_id{i} AND c.pk = @param_pk{i}0 )");
    let filter = (0..1000).map(term).collect::<Vec<_>>().join(" OR ");
    let query = parse(&format!("SELECT * FROM c WHERE ( {filter} )")).unwrap();
    let ids = (0..1000).map(|i| (format!("@param_id{i}"), Value::from(format!("id{i}"))));
    let keys = (0..1000i64).map(|i| (format!("@param_pk{i}0"), Value::from(i % 7)));
    let lookups = id_and_key_lookups(&query, &ids.chain(keys).collect::<Vec<_>>(), &paths(&["pk"])).unwrap();
    assert_eq!(lookups.len(), 1000);
    assert!(lookups.contains(&("id8".to_owned(), vec![Value::from(1i64)])));
}
