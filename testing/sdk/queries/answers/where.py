"""Which rows a query keeps, and what the operators give: comparison, three-valued logic, arithmetic, patterns."""

import math
import re

from .matrix import Group
from .values import (
    U, and_, at, between, defined, eq, ge, gt, ids, is_in, is_number, is_string, kind, le, lt, ne, not_, numbers,
    obj, of, or_, rows, texts, where,
)

group = Group("where")
q = group.q


def kept(condition):
    """The ids of the items that satisfy the condition."""
    return lambda docs: ids(where(docs, condition))


def each(name, value):
    """The value for every item of a kind."""
    return lambda docs: rows(value(d) for d in of(docs, name))


V = "SELECT VALUE c.id FROM c WHERE "

# Comparison.
q("equal_text", V + "c.category = 'food'", kept(lambda d: eq(at(d, "category"), "food")))
q("equal_number", V + "c.price = 12.5", kept(lambda d: eq(at(d, "price"), 12.5)))
q("equal_is_the_same_for_integer_and_float", V + "c.v = 42.0", kept(lambda d: eq(at(d, "v"), 42)))
q("equal_bool", V + "c.v = true", kept(lambda d: eq(at(d, "v"), True)))
q("equal_null", V + "c.rating = null", kept(lambda d: eq(at(d, "rating"), None)))
q("equal_tells_types_apart", V + "c.v = '42'", kept(lambda d: eq(at(d, "v"), "42")))
q("equal_tells_case_apart", V + "c.v = 'A'", kept(lambda d: eq(at(d, "v"), "A")))
q("equal_array", V + "c.v = [1, 2, 3]", kept(lambda d: eq(at(d, "v"), [1, 2, 3])))
q("equal_object_in_any_order", V + "c.v = {b: [1, {c: 2}], a: 1}",
  kept(lambda d: eq(at(d, "v"), {"a": 1, "b": [1, {"c": 2}]})))
q("equal_empty_object", V + "c.v = {}", kept(lambda d: eq(at(d, "v"), {})))
q("equal_undefined_keeps_nothing", V + "c.v = undefined", lambda docs: [])
q("unequal_keeps_other_types", V + "c.v != 42", kept(lambda d: ne(at(d, "v"), 42)))
q("unequal_null", V + "c.rating != null", kept(lambda d: ne(at(d, "rating"), None)))
q("unequal_with_angles", V + "c.rating <> null", kept(lambda d: ne(at(d, "rating"), None)))
q("unequal_array", V + "c.v != [1, 2, 3]", kept(lambda d: ne(at(d, "v"), [1, 2, 3])))
q("less_number", V + "c.qty < 0", kept(lambda d: lt(at(d, "qty"), 0)))
q("less_or_equal", V + "c.qty <= 0", kept(lambda d: le(at(d, "qty"), 0)))
q("greater_text", V + "c.name > 'P'", kept(lambda d: gt(at(d, "name"), "P")))
q("greater_or_equal_bool", V + "c.v >= true", kept(lambda d: ge(at(d, "v"), True)))
q("less_bool", V + "c.v < true", kept(lambda d: lt(at(d, "v"), True)))
q("order_needs_one_type", V + "c.v > 0", kept(lambda d: gt(at(d, "v"), 0)))
q("order_of_null", V + "c.v <= null", kept(lambda d: le(at(d, "v"), None)))
q("order_of_arrays_is_undefined", V + "c.v >= [1, 2, 3]", lambda docs: [])
q("two_members_compared", V + "c.dims.w > c.dims.h", kept(lambda d: gt(at(d, "dims", "w"), at(d, "dims", "h"))))
q("literal_on_the_left", V + "80 < c.qty", kept(lambda d: lt(80, at(d, "qty"))))
q("range_on_both_sides", V + "c.price > 10 AND c.price <= 15 AND c.kind = 'product'",
  kept(lambda d: and_(gt(at(d, "price"), 10), le(at(d, "price"), 15))))
q("between", V + "c.price BETWEEN 10 AND 15", kept(lambda d: between(at(d, "price"), 10, 15)))
q("between_texts", V + "c.name BETWEEN 'A' AND 'C'", kept(lambda d: between(at(d, "name"), "A", "C")))
q("not_between", V + "c.price NOT BETWEEN 5 AND 35", kept(lambda d: not_(between(at(d, "price"), 5, 35))))
q("in_texts", V + "c.category IN ('food', 'toys')", kept(lambda d: is_in(at(d, "category"), "food", "toys")))
q("in_mixed_types", V + "c.v IN (null, 42, 'a', [])", kept(lambda d: is_in(at(d, "v"), None, 42, "a", [])))
q("in_one", V + "c.id IN ('p07')", kept(lambda d: eq(d["id"], "p07")))
q("not_in", V + "c.category NOT IN ('food', 'toys', 'tools')",
  kept(lambda d: not_(is_in(at(d, "category"), "food", "toys", "tools"))))

# Three-valued logic.
q("and", V + "c.active = true AND c.qty > 50",
  kept(lambda d: and_(eq(at(d, "active"), True), gt(at(d, "qty"), 50))))
q("or", V + "c.qty > 90 OR c.price < 5", kept(lambda d: or_(gt(at(d, "qty"), 90), lt(at(d, "price"), 5))))
q("or_with_undefined_is_true_if_one_is", V + "c.nothing = 1 OR c.kind = 'place'",
  kept(lambda d: eq(d["kind"], "place")))
q("and_with_undefined_is_not_true", V + "c.nothing = 1 AND c.kind = 'place'", lambda docs: [])
q("not", V + "NOT (c.category = 'food')", kept(lambda d: not_(eq(at(d, "category"), "food"))))
q("not_of_undefined_keeps_nothing", V + "NOT (c.nothing = 1)", lambda docs: [])
q("not_of_a_number_keeps_nothing", V + "NOT c.n", lambda docs: [])
q("a_bare_member_is_a_condition", V + "c.active", kept(lambda d: at(d, "active")))
q("not_a_bare_member", V + "NOT c.active", kept(lambda d: not_(at(d, "active"))))
q("a_text_is_no_condition", V + "c.id", lambda docs: [])
q("and_binds_closer_than_or", V + "c.kind = 'event' OR c.kind = 'place' AND c.n = 0",
  kept(lambda d: or_(eq(d["kind"], "event"), and_(eq(d["kind"], "place"), eq(d["n"], 0)))))
q("parentheses", V + "(c.kind = 'event' OR c.kind = 'place') AND c.n = 0",
  kept(lambda d: and_(is_in(d["kind"], "event", "place"), eq(d["n"], 0))))
q("truth_table_of_and", "SELECT c.n, c.v AND true AS t, c.v AND false AS f, c.v AND c.nothing AS u FROM c "
  "WHERE c.kind = 'value'",
  lambda docs: [obj(n=d["n"], t=and_(at(d, "v"), True), f=False, u=and_(at(d, "v"), U)) for d in of(docs, "value")])
q("truth_table_of_or", "SELECT c.n, c.v OR true AS t, c.v OR false AS f, c.v OR c.nothing AS u FROM c "
  "WHERE c.kind = 'value'",
  lambda docs: [obj(n=d["n"], t=True, f=or_(at(d, "v"), False), u=or_(at(d, "v"), U)) for d in of(docs, "value")])
q("not_of_each_type", "SELECT VALUE NOT c.v FROM c", each("value", lambda d: not_(at(d, "v"))))

# Being there, and types.
q("is_defined", V + "IS_DEFINED(c.rating)", kept(lambda d: defined(at(d, "rating"))))
q("is_not_defined", V + "c.kind = 'product' AND NOT IS_DEFINED(c.rating)",
  kept(lambda d: and_(eq(d["kind"], "product"), not defined(at(d, "rating")))))
q("is_null", V + "IS_NULL(c.nick)", kept(lambda d: at(d, "nick") is None))
q("is_number", V + "IS_NUMBER(c.v)", kept(lambda d: is_number(at(d, "v"))))
q("is_string", V + "IS_STRING(c.v)", kept(lambda d: is_string(at(d, "v"))))
q("is_bool", V + "IS_BOOL(c.v)", kept(lambda d: kind(at(d, "v")) == "bool"))
q("is_array", V + "IS_ARRAY(c.v)", kept(lambda d: kind(at(d, "v")) == "array"))
q("is_object", V + "IS_OBJECT(c.v)", kept(lambda d: kind(at(d, "v")) == "object"))
q("is_primitive", V + "c.kind = 'value' AND IS_PRIMITIVE(c.v)",
  kept(lambda d: d["kind"] == "value" and kind(at(d, "v")) in ("null", "bool", "number", "string")))
q("is_integer", V + "IS_INTEGER(c.v)", kept(lambda d: is_number(at(d, "v")) and at(d, "v") == int(at(d, "v"))))
q("is_finite_number", V + "IS_FINITE_NUMBER(c.v)", kept(lambda d: is_number(at(d, "v"))))

# Coalesce and the condition.
q("coalesce_takes_what_is_defined", "SELECT c.id, c.nick ?? 'none' AS nick FROM c WHERE c.kind = 'person'",
  lambda docs: [obj(id=d["id"], nick=d["nick"] if "nick" in d else "none") for d in of(docs, "person")])
q("coalesce_chain", "SELECT VALUE c.nothing ?? c.nowhere ?? c.id FROM c WHERE c.kind = 'event'",
  lambda docs: ids(of(docs, "event")))
q("condition_of_three", "SELECT c.id, (c.qty > 40 ? 'many' : c.qty > 0 ? 'some' : 'none') AS stock FROM c "
  "WHERE c.kind = 'product'",
  lambda docs: [{"id": d["id"], "stock": "many" if d["qty"] > 40 else "some" if d["qty"] > 0 else "none"}
                for d in of(docs, "product")])
q("condition_of_three_when_undefined", "SELECT VALUE (c.v ? 'yes' : 'no') FROM c WHERE c.kind = 'value'",
  each("value", lambda d: "yes" if at(d, "v") is True else "no"))

# Arithmetic.
q("add_and_multiply", "SELECT VALUE c.n + c.price * 2 FROM c WHERE c.kind = 'product'",
  each("product", lambda d: d["n"] + d["price"] * 2))
q("subtract_and_group", "SELECT VALUE (c.qty - 4) * -2 FROM c WHERE c.kind = 'product'",
  each("product", lambda d: (d["qty"] - 4) * -2))
q("divide_gives_fractions", "SELECT VALUE c.n / 4 FROM c WHERE c.kind = 'product'",
  each("product", lambda d: d["n"] / 4))
q("divide_by_zero_is_undefined", "SELECT VALUE 1 / c.n FROM c WHERE c.kind = 'event'",
  each("event", lambda d: 1 / d["n"] if d["n"] else U))
q("modulo_keeps_the_sign", "SELECT VALUE c.qty % 7 FROM c WHERE c.kind = 'product'",
  each("product", lambda d: math.fmod(d["qty"], 7)))
q("minus_of_each_type", "SELECT VALUE -c.v FROM c WHERE c.kind = 'value' AND c.n != 3",
  lambda docs: rows(numbers(lambda v: -v)(at(d, "v")) for d in of(docs, "value") if d["n"] != 3))
q("arithmetic_needs_numbers", "SELECT VALUE c.v + 1 FROM c WHERE c.kind = 'value' AND c.n != 7",
  lambda docs: rows(numbers(lambda v: v + 1)(at(d, "v")) for d in of(docs, "value") if d["n"] != 7))
q("bitwise_and_or_xor", "SELECT c.id, c.n & 6 AS a, c.n | 6 AS b, c.n ^ 6 AS c FROM c WHERE c.kind = 'product'",
  lambda docs: [{"id": d["id"], "a": d["n"] & 6, "b": d["n"] | 6, "c": d["n"] ^ 6} for d in of(docs, "product")])
q("bitwise_not", "SELECT VALUE ~c.qty FROM c WHERE c.kind = 'product'", each("product", lambda d: ~d["qty"]))
q("shifts", "SELECT VALUE [c.qty << 2, c.qty >> 1, c.qty >>> 1] FROM c WHERE c.kind = 'product'",
  each("product", lambda d: [d["qty"] << 2, d["qty"] >> 1, (d["qty"] & 0xFFFFFFFF) >> 1]))
q("concatenation", "SELECT VALUE c.name.first || ' ' || c.name.last FROM c WHERE c.kind = 'person'",
  each("person", lambda d: d["name"]["first"] + " " + d["name"]["last"]))
q("concatenation_needs_texts", "SELECT VALUE c.v || '!' FROM c",
  each("value", lambda d: texts(lambda v: v + "!")(at(d, "v"))))


# Patterns.
def like(pattern):
    return lambda value: re.fullmatch(pattern, value, re.S) is not None if is_string(value) else U


def named(pattern):
    return kept(lambda d: like(pattern)(at(d, "name")))


q("like_start", V + "c.name LIKE 'S%'", named("S.*"))
q("like_end", V + "c.name LIKE '%s'", named(".*s"))
q("like_inside", V + "c.name LIKE '%oo%'", named(".*oo.*"))
q("like_one_character", V + "c.name LIKE '_a_e'", named(".a.e"))
q("like_a_set", V + "c.name LIKE '[H-K]%'", named("[H-K].*"))
q("like_not_a_set", V + "c.name LIKE '[^A-P]%'", named("[^A-P].*"))
q("like_is_of_the_whole_text", V + "c.name LIKE 'Saw'", named("Saw"))
q("like_tells_case_apart", V + "c.name LIKE 's%'", lambda docs: [])
q("not_like", V + "c.name NOT LIKE '%e%'", kept(lambda d: not_(like(".*e.*")(at(d, "name")))))
q("like_with_escape", V + "c.sku LIKE 'SKU-00_-_' AND c.sku NOT LIKE '%!_%' ESCAPE '!'",
  kept(lambda d: like("SKU-00.-.")(at(d, "sku"))))
q("like_takes_other_signs_as_they_are", V + "c.name LIKE '%\"Blitz\"%' OR c.name LIKE 'O\\'Reilly%'",
  kept(lambda d: d["id"] in ("p22", "p24")))
