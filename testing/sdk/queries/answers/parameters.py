"""Values given beside the text, of every type."""

from .matrix import Group, NO_UNDEFINED
from .values import at, eq, ids, of, where

group = Group("parameters")
q = group.q

V = "SELECT VALUE c.id FROM c WHERE "


def same_as(value):
    return lambda docs: ids(where(docs, lambda d: eq(at(d, "v"), value)))


for name, value in {
    "text": "a", "text_empty": "", "text_of_any_script": "ü", "integer": 42, "negative": -1, "fraction": 1.5,
    "large_integer": 9007199254740991, "true": True, "false": False, "null": None, "array": [1, 2, 3],
    "array_empty": [], "object": {"b": [1, {"c": 2}], "a": 1},
}.items():
    q(name, V + "c.v = @value", same_as(value), parameters={"@value": value})

q("undefined", "SELECT c.id, @none AS x FROM c WHERE c.id = 'p00'", lambda docs: [{"id": "p00"}],
  parameters={"@none": ...}, skip=NO_UNDEFINED)
q("quotes_need_no_escape", V + "c.name.last = @last", lambda docs: ["h10"], parameters={"@last": '"Quotes" Jones'})
q("sql_in_a_value_is_text", V + "c.name = @name", lambda docs: [], parameters={"@name": "x' OR true --"})
q("several", V + "c.price > @low AND c.category = @category",
  lambda docs: ids(d for d in of(docs, "product") if d["price"] > 20 and d["category"] == "books"),
  parameters={"@low": 20, "@category": "books"})
q("one_used_twice", V + "c.qty > @n OR c.price < @n",
  lambda docs: ids(d for d in of(docs, "product") if d["qty"] > 20 or d["price"] < 20), parameters={"@n": 20})
q("selected", "SELECT c.id, @tag AS tag FROM c WHERE c.kind = 'key'",
  lambda docs: [{"id": d["id"], "tag": {"a": [1]}} for d in of(docs, "key")], parameters={"@tag": {"a": [1]}})
q("in_a_list", V + "c.id IN (@a, @b, 'p03')", lambda docs: ["p01", "p02", "p03"], parameters={"@a": "p01", "@b": "p02"})
q("an_array_to_look_in", V + "ARRAY_CONTAINS(@ids, c.id)", lambda docs: ["h03", "v03"],
  parameters={"@ids": ["h03", "v03", "none"]})
q("member_of_a_parameter", V + "c.name = @wanted.name", lambda docs: ["p00"],
  parameters={"@wanted": {"name": "Hammer"}})
q("member_by_parameter", "SELECT VALUE c[@member] FROM c WHERE c.id = 'p00'", lambda docs: ["Hammer"],
  parameters={"@member": "name"})
q("pattern", V + "c.name LIKE @pattern", lambda docs: ids(d for d in of(docs, "product") if d["name"].startswith("S")),
  parameters={"@pattern": "S%"})
q("between", V + "c.price BETWEEN @low AND @high",
  lambda docs: ids(d for d in of(docs, "product") if 10 <= d["price"] <= 12.5), parameters={"@low": 10, "@high": 12.5})
q("key", V + "c.pk = @pk", lambda docs: ids(d for d in docs if at(d, "pk") == "k03"), parameters={"@pk": "k03"})
q("in_one_partition", V + "c.kind = @kind", lambda docs: ids(of(docs, "product")), parameters={"@kind": "product"},
  pk="k03")
