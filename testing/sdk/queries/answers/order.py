"""The order of rows, and how many of them: ORDER BY, TOP, OFFSET LIMIT, DISTINCT."""

from .matrix import FALSY_DISTINCT, Group, MIXED_ORDER, NO_DISTINCT
from .values import TYPES, at, distinct, ids, kind, obj, of, rank, rows

group = Group("order")
q = group.q


def ordered(name, query, answer, **options):
    q(name, query, answer, ordered=True, **options)


def by(docs, *path, reverse=False):
    return sorted(docs, key=lambda d: rank(at(d, *path)), reverse=reverse)


def products(docs, *path, reverse=False):
    return by(of(docs, "product"), *path, reverse=reverse)


def valued(docs, *types):
    """The items whose `v` is of one of these types."""
    return [d for d in of(docs, "value") if kind(at(d, "v")) in types]


P = "SELECT VALUE c.id FROM c WHERE c.kind = 'product' "

ordered("by_id", "SELECT VALUE c.id FROM c ORDER BY c.id", lambda docs: sorted(ids(docs)))
ordered("by_number", P + "ORDER BY c.price", lambda docs: ids(products(docs, "price")))
ordered("by_number_ascending", P + "ORDER BY c.qty ASC", lambda docs: ids(products(docs, "qty")))
ordered("by_number_descending", P + "ORDER BY c.qty DESC", lambda docs: ids(products(docs, "qty", reverse=True)))
ordered("by_text", "SELECT VALUE c.name FROM c WHERE c.kind = 'product' ORDER BY c.name",
        lambda docs: [d["name"] for d in products(docs, "name")])
ordered("by_text_descending", "SELECT VALUE c.name FROM c WHERE c.kind = 'product' ORDER BY c.name DESC",
        lambda docs: [d["name"] for d in products(docs, "name", reverse=True)])
ordered("by_nested_path", "SELECT c.id, c.name.last FROM c WHERE c.kind = 'person' ORDER BY c.name.last",
        lambda docs: [obj(id=d["id"], last=d["name"]["last"]) for d in by(of(docs, "person"), "name", "last")])
ordered("whole_items", "SELECT * FROM c WHERE c.kind = 'person' ORDER BY c.age",
        lambda docs: by(of(docs, "person"), "age"))
ordered("by_what_is_not_selected", "SELECT c.name.first FROM c WHERE c.kind = 'person' ORDER BY c.age DESC",
        lambda docs: [obj(first=d["name"]["first"]) for d in by(of(docs, "person"), "age", reverse=True)])
ordered("by_date_text", "SELECT VALUE c.id FROM c WHERE c.kind = 'event' ORDER BY c.at DESC",
        lambda docs: ids(by(of(docs, "event"), "at", reverse=True)))
ordered("by_two_keys", "SELECT c.category, c.price FROM c WHERE c.kind = 'product' ORDER BY c.category, c.price",
        lambda docs: [obj(category=d["category"], price=d["price"])
                      for d in sorted(of(docs, "product"), key=lambda d: (d["category"], d["price"]))])
ordered("by_two_keys_mixed", P + "ORDER BY c.category ASC, c.price DESC",
        lambda docs: ids(sorted(of(docs, "product"), key=lambda d: (d["category"], -d["price"]))))
ordered("by_two_keys_first_descending", P + "ORDER BY c.active DESC, c.n ASC",
        lambda docs: ids(sorted(of(docs, "product"), key=lambda d: (not d["active"], d["n"]))))
ordered("by_kind_and_number", "SELECT VALUE c.id FROM c ORDER BY c.kind ASC, c.n DESC",
        lambda docs: ids(sorted(docs, key=lambda d: (d["kind"], -d["n"]))))
ordered("mixed_types_scalars", "SELECT VALUE c.n FROM c WHERE c.kind = 'value' AND "
        "(NOT IS_DEFINED(c.v) OR IS_PRIMITIVE(c.v)) ORDER BY c.v",
        lambda docs: [d["n"] for d in by(valued(docs, *TYPES[:5]), "v")],
        skip=MIXED_ORDER)
ordered("mixed_types_descending", "SELECT VALUE c.n FROM c WHERE c.kind = 'value' AND "
        "(IS_NUMBER(c.v) OR IS_STRING(c.v)) ORDER BY c.v DESC",
        lambda docs: [d["n"] for d in by(valued(docs, "number", "string"), "v", reverse=True)],
        skip=MIXED_ORDER)
ordered("a_missing_key_comes_first", "SELECT c.id, c.rank FROM c WHERE c.id IN ('h00', 'h02') ORDER BY c.rank",
        lambda docs: [{"id": "h00"}, {"id": "h02", "rank": 10}], skip=MIXED_ORDER)
ordered("order_with_a_filter_on_the_key", P + "AND c.price > 20 ORDER BY c.price",
        lambda docs: ids(d for d in products(docs, "price") if d["price"] > 20))
ordered("order_in_one_partition", "SELECT VALUE c.id FROM c ORDER BY c.id DESC",
        lambda docs: sorted(ids(docs), reverse=True), pk="k03")
ordered("order_of_objects_built",
        "SELECT VALUE {name: c.name, n: c.n} FROM c WHERE c.kind = 'product' ORDER BY c.n DESC",
        lambda docs: [{"name": d["name"], "n": d["n"]} for d in products(docs, "n", reverse=True)])
ordered("by_system_member", "SELECT VALUE IS_STRING(c.id) FROM c WHERE c.kind = 'key' ORDER BY c._ts",
        lambda docs: [True] * 4)
ordered("order_by_an_alias_of_another_name", "SELECT VALUE p.id FROM items p WHERE p.kind = 'place' ORDER BY p.city",
        lambda docs: ids(by(of(docs, "place"), "city")))

# How many.
ordered("top", "SELECT TOP 5 VALUE c.id FROM c WHERE c.kind = 'product' ORDER BY c.price",
        lambda docs: ids(products(docs, "price"))[:5])
ordered("top_more_than_there_are", "SELECT TOP 1000 VALUE c.id FROM c WHERE c.kind = 'note' ORDER BY c.id",
        lambda docs: ids(of(docs, "note")))
q("top_none", "SELECT TOP 0 VALUE c.id FROM c", lambda docs: [])
q("top_one", "SELECT TOP 1 VALUE c.kind FROM c WHERE c.kind = 'product'", lambda docs: ["product"])
q("top_without_order", "SELECT TOP 7 VALUE c.kind FROM c WHERE c.kind = 'product'", lambda docs: ["product"] * 7)
q("top_in_one_partition", "SELECT TOP 2 VALUE c.pk FROM c", lambda docs: ["k03"] * 2, pk="k03")
ordered("top_from_a_parameter", "SELECT TOP @n VALUE c.id FROM c WHERE c.kind = 'product' ORDER BY c.qty",
        lambda docs: ids(products(docs, "qty"))[:3], parameters={"@n": 3})
ordered("offset_limit", P + "ORDER BY c.price OFFSET 5 LIMIT 10", lambda docs: ids(products(docs, "price"))[5:15])
ordered("offset_limit_descending", P + "ORDER BY c.price DESC OFFSET 3 LIMIT 4",
        lambda docs: ids(products(docs, "price", reverse=True))[3:7])
ordered("offset_none", P + "ORDER BY c.price OFFSET 0 LIMIT 3", lambda docs: ids(products(docs, "price"))[:3])
q("limit_none", P + "ORDER BY c.price OFFSET 0 LIMIT 0", lambda docs: [])
q("offset_beyond_the_end", P + "ORDER BY c.price OFFSET 100 LIMIT 10", lambda docs: [])
ordered("limit_beyond_the_end", P + "ORDER BY c.price OFFSET 25 LIMIT 100",
        lambda docs: ids(products(docs, "price"))[25:])
q("offset_limit_without_order", "SELECT VALUE c.kind FROM c WHERE c.kind = 'product' OFFSET 20 LIMIT 100",
  lambda docs: ["product"] * 10)
ordered("offset_limit_from_parameters", P + "ORDER BY c.n OFFSET @skip LIMIT @take",
        lambda docs: ids(products(docs, "n"))[4:9], parameters={"@skip": 4, "@take": 5})
ordered("offset_limit_in_one_partition", "SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 1 LIMIT 1",
        lambda docs: sorted(ids(docs))[1:2], pk="k03")

# Each once.
q("distinct_value", "SELECT DISTINCT VALUE c.category FROM c WHERE c.kind = 'product'",
  lambda docs: distinct(d["category"] for d in of(docs, "product")), skip=NO_DISTINCT)
q("distinct_member", "SELECT DISTINCT c.category FROM c WHERE c.kind = 'product'",
  lambda docs: distinct({"category": d["category"]} for d in of(docs, "product")), skip=NO_DISTINCT)
q("distinct_pairs", "SELECT DISTINCT c.category, c.active FROM c WHERE c.kind = 'product'",
  lambda docs: distinct({"category": d["category"], "active": d["active"]} for d in of(docs, "product")),
  skip=NO_DISTINCT)
q("distinct_arrays", "SELECT DISTINCT VALUE c.tags FROM c WHERE c.kind = 'product'",
  lambda docs: distinct(d["tags"] for d in of(docs, "product")), skip=NO_DISTINCT)
q("distinct_of_every_type", "SELECT DISTINCT VALUE c.v FROM c",
  lambda docs: distinct(rows(at(d, "v") for d in docs)), skip=NO_DISTINCT | FALSY_DISTINCT)
q("distinct_kinds_of_everything", "SELECT DISTINCT VALUE c.kind FROM c", lambda docs: distinct(d["kind"] for d in docs),
  skip=NO_DISTINCT)
q("distinct_in_one_partition", "SELECT DISTINCT VALUE c.kind FROM c", lambda docs: distinct(d["kind"] for d in docs),
  pk="k03")
ordered("distinct_ordered", "SELECT DISTINCT VALUE c.category FROM c WHERE c.kind = 'product' ORDER BY c.category",
        lambda docs: sorted({d["category"] for d in of(docs, "product")}))
ordered("distinct_ordered_with_a_limit", "SELECT DISTINCT VALUE c.category FROM c WHERE c.kind = 'product' "
        "ORDER BY c.category DESC OFFSET 1 LIMIT 2",
        lambda docs: sorted({d["category"] for d in of(docs, "product")}, reverse=True)[1:3])
q("distinct_top", "SELECT DISTINCT TOP 100 VALUE c.category FROM c WHERE c.kind = 'product'",
  lambda docs: distinct(d["category"] for d in of(docs, "product")))
q("distinct_of_elements", "SELECT DISTINCT VALUE t FROM c JOIN t IN c.tags",
  lambda docs: distinct(t for d in of(docs, "product") for t in d["tags"]), skip=NO_DISTINCT)
