"""Rows from inside an item: JOIN, iteration, and subqueries of every shape."""

from .matrix import Group, NO_AGGREGATES
from .values import U, at, average, ids, kind, most, obj, of

group = Group("join")
q = group.q


def members(doc, *path):
    """The elements of the array at the path; none where there is no array."""
    value = at(doc, *path)
    return value if kind(value) == "array" else []


def children(docs):
    return [(d, k) for d in docs for k in members(d, "children")]


def pets(docs):
    return [(d, k, p) for d, k in children(docs) for p in members(k, "pets")]


q("join", "SELECT c.id, k.name FROM c JOIN k IN c.children",
  lambda docs: [{"id": d["id"], "name": k["name"]} for d, k in children(docs)])
q("join_of_texts", "SELECT c.id, t AS tag FROM c JOIN t IN c.tags WHERE c.kind = 'product'",
  lambda docs: [{"id": d["id"], "tag": t} for d in of(docs, "product") for t in d["tags"]])
q("join_gives_nothing_for_an_empty_array", "SELECT VALUE k FROM c JOIN k IN c.children WHERE c.id = 'h05'",
  lambda docs: [])
q("join_gives_nothing_for_what_is_no_array", "SELECT VALUE x FROM c JOIN x IN c.v",
  lambda docs: [x for d in of(docs, "value") for x in members(d, "v")])
q("join_with_filter", "SELECT VALUE k.name FROM c JOIN k IN c.children WHERE k.age >= 10",
  lambda docs: [k["name"] for d, k in children(docs) if k["age"] >= 10])
q("join_with_filter_on_both", "SELECT VALUE k.name FROM c JOIN k IN c.children WHERE k.age < 10 AND c.age > 50",
  lambda docs: [k["name"] for d, k in children(docs) if k["age"] < 10 and d["age"] > 50])
q("join_twice", "SELECT c.name.first AS parent, k.name AS child, p.name AS pet "
  "FROM c JOIN k IN c.children JOIN p IN k.pets",
  lambda docs: [{"parent": d["name"]["first"], "child": k["name"], "pet": p["name"]} for d, k, p in pets(docs)])
q("join_twice_with_filter", "SELECT VALUE p FROM c JOIN k IN c.children JOIN p IN k.pets WHERE p.type = 'dog'",
  lambda docs: [p for d, k, p in pets(docs) if p["type"] == "dog"])
q("join_two_arrays_is_their_product", "SELECT c.id, a AS a, b AS b FROM c JOIN a IN c.tags JOIN b IN c.tags "
  "WHERE c.kind = 'product' AND a < b",
  lambda docs: [{"id": d["id"], "a": a, "b": b} for d in of(docs, "product") for a in d["tags"] for b in d["tags"]
                if a < b])
q("join_whole_items", "SELECT VALUE {item: c.id, kid: k} FROM c JOIN k IN c.children WHERE IS_DEFINED(k.pets)",
  lambda docs: [{"item": d["id"], "kid": k} for d, k in children(docs) if "pets" in k])
q("join_star_keeps_every_source", "SELECT c.id, k FROM c JOIN k IN c.children WHERE k.name = 'Tom'",
  lambda docs: [{"id": "h02", "k": {"name": "Tom", "age": 7}}])
q("join_ordered", "SELECT c.id, k.name FROM c JOIN k IN c.children WHERE c.id IN ('h02', 'h09') ORDER BY c.id",
  lambda docs: [{"id": "h02", "name": "Tom"}, {"id": "h09", "name": "Seryozha"}], ordered=True)
q("join_in_one_partition", "SELECT VALUE k.name FROM c JOIN k IN c.children",
  lambda docs: [k["name"] for d, k in children(docs)], pk="k00")
q("iterate_an_array", "SELECT * FROM k IN c.children", lambda docs: [k for d, k in children(docs)])
q("iterate_values", "SELECT VALUE t FROM t IN c.tags",
  lambda docs: [t for d in docs for t in members(d, "tags")])
q("iterate_with_filter", "SELECT VALUE k.name FROM k IN c.children WHERE k.age = 12",
  lambda docs: [k["name"] for d, k in children(docs) if k["age"] == 12])
q("iterate_a_deep_array", "SELECT VALUE n FROM n IN c['a-b']['c d']", lambda docs: [1, 2, 3])
q("iterate_and_count", "SELECT VALUE COUNT(1) FROM k IN c.children", lambda docs: [len(children(docs))],
  skip=NO_AGGREGATES)
q("join_a_subquery", "SELECT c.id, k.name FROM c JOIN (SELECT VALUE k FROM k IN c.children WHERE k.age > 10) AS k",
  lambda docs: [{"id": d["id"], "name": k["name"]} for d, k in children(docs) if k["age"] > 10])
q("join_a_constant_list", "SELECT c.id, f FROM c JOIN f IN (SELECT VALUE ['a', 'b']) WHERE c.kind = 'key'",
  lambda docs: [{"id": d["id"], "f": f} for d in of(docs, "key") for f in ("a", "b")])

# Subqueries.
q("scalar_subquery", "SELECT c.id, (SELECT VALUE c.price * 2) AS twice FROM c WHERE c.kind = 'product'",
  lambda docs: [{"id": d["id"], "twice": d["price"] * 2} for d in of(docs, "product")])
q("scalar_subquery_names_a_value", "SELECT c.id, s.area FROM c JOIN (SELECT c.dims.w * c.dims.h AS area) AS s "
  "WHERE s.area > 400",
  lambda docs: [{"id": d["id"], "area": d["dims"]["w"] * d["dims"]["h"]} for d in docs
                if "dims" in d and d["dims"]["w"] * d["dims"]["h"] > 400])
q("count_in_a_subquery", "SELECT c.id, (SELECT VALUE COUNT(1) FROM k IN c.children) AS kids FROM c "
  "WHERE c.kind = 'person'",
  lambda docs: [{"id": d["id"], "kids": len(members(d, "children"))} for d in of(docs, "person")])
q("count_in_a_filter", "SELECT VALUE c.id FROM c WHERE (SELECT VALUE COUNT(1) FROM k IN c.children) >= 2",
  lambda docs: ids(d for d in docs if len(members(d, "children")) >= 2))
q("aggregates_in_a_subquery", "SELECT c.id, (SELECT MAX(k.age) AS oldest, AVG(k.age) AS mean FROM k IN c.children) "
  "AS s FROM c WHERE ARRAY_LENGTH(c.children) > 0",
  lambda docs: [{"id": d["id"], "s": obj(oldest=most([k["age"] for k in d["children"]]),
                                         mean=average([k["age"] for k in d["children"]]))}
                for d in docs if members(d, "children")])
q("subquery_in_arithmetic", "SELECT VALUE c.n + (SELECT VALUE COUNT(1) FROM t IN c.tags) FROM c "
  "WHERE c.kind = 'product'",
  lambda docs: [d["n"] + len(d["tags"]) for d in of(docs, "product")])
q("exists", "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE k FROM k IN c.children WHERE k.age > 15)",
  lambda docs: ids(d for d in docs if any(k["age"] > 15 for k in members(d, "children"))))
q("not_exists", "SELECT VALUE c.id FROM c WHERE c.kind = 'person' AND NOT EXISTS(SELECT VALUE k FROM k IN c.children)",
  lambda docs: ids(d for d in of(docs, "person") if not members(d, "children")))
q("exists_two_levels_down", "SELECT VALUE c.id FROM c WHERE EXISTS("
  "SELECT VALUE p FROM k IN c.children JOIN p IN k.pets WHERE p.type = 'cat')",
  lambda docs: [d["id"] for d in docs
                if any(p["type"] == "cat" for k in members(d, "children") for p in members(k, "pets"))])
q("exists_as_a_value", "SELECT c.id, EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = 'eco') AS eco FROM c "
  "WHERE c.kind = 'product'",
  lambda docs: [{"id": d["id"], "eco": "eco" in d["tags"]} for d in of(docs, "product")])
q("array_of_a_subquery", "SELECT c.id, ARRAY(SELECT VALUE k.name FROM k IN c.children) AS names FROM c "
  "WHERE c.kind = 'person'",
  lambda docs: [{"id": d["id"], "names": [k["name"] for k in members(d, "children")]} for d in of(docs, "person")])
q("array_of_a_filtered_subquery", "SELECT VALUE ARRAY(SELECT k.name, k.age FROM k IN c.children WHERE k.age < 10) "
  "FROM c WHERE IS_DEFINED(c.children)",
  lambda docs: [[{"name": k["name"], "age": k["age"]} for k in d["children"] if k["age"] < 10] for d in docs
                if "children" in d])
q("array_in_a_filter", "SELECT VALUE c.id FROM c WHERE ARRAY_LENGTH(ARRAY(SELECT VALUE t FROM t IN c.tags "
  "WHERE t LIKE '%e%')) = 2",
  lambda docs: ids(d for d in of(docs, "product") if len([t for t in d["tags"] if "e" in t]) == 2))
q("source_is_a_subquery", "SELECT VALUE s.name FROM (SELECT c.name, c.price FROM c WHERE c.kind = 'product') AS s "
  "WHERE s.price < 10",
  lambda docs: [d["name"] for d in of(docs, "product") if d["price"] < 10])
q("source_is_a_subquery_of_values", "SELECT VALUE p FROM (SELECT VALUE c.price FROM c WHERE c.category = 'food') AS p",
  lambda docs: [d["price"] for d in of(docs, "product") if d["category"] == "food"])
q("subquery_without_rows_is_undefined", "SELECT c.id, (SELECT VALUE k FROM k IN c.children WHERE k.age > 99) AS none "
  "FROM c WHERE c.id = 'h00'", lambda docs: [{"id": "h00"}])
q("join_the_array_of_a_subquery", "SELECT c.id, t FROM c JOIN t IN (SELECT VALUE ARRAY(SELECT VALUE t FROM t IN c.tags "
  "WHERE t != 'eco')) WHERE c.kind = 'product'",
  lambda docs: [{"id": d["id"], "t": t} for d in of(docs, "product") for t in d["tags"] if t != "eco"])
q("exists_needs_a_defined_row", "SELECT VALUE [EXISTS(SELECT VALUE undefined), EXISTS(SELECT undefined)] FROM c "
  "WHERE c.kind = 'key'", lambda docs: [[False, True] for d in of(docs, "key")])
q("member_of_a_subquery", "SELECT c.id, (SELECT c.name WHERE c.price > 35).name AS dear FROM c "
  "WHERE c.kind = 'product'",
  lambda docs: [obj(id=d["id"], dear=d["name"] if d["price"] > 35 else U) for d in of(docs, "product")])
