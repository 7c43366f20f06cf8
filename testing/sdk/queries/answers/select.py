"""What a query gives back: select lists, values, aliases, names that need quotes, comments, literals."""

from .matrix import Group
from .values import arr, at, eq, gt, obj, of, one, rows, where

group = Group("select")
q = group.q

ADA = "k00"

q("star", "SELECT * FROM c", lambda docs: docs)
q("star_of_one_partition", "SELECT * FROM c", lambda docs: docs, pk="k05")
q("star_of_a_kind", "SELECT * FROM c WHERE c.kind = 'place'", lambda docs: of(docs, "place"))
q("whole_item_by_name", "SELECT c FROM c WHERE c.id = 'p01'", lambda docs: [{"c": d} for d in one(docs, "p01")])
q("whole_item_as_value", "SELECT VALUE c FROM c WHERE c.kind = 'person'", lambda docs: of(docs, "person"))
q("any_name_for_the_source", "SELECT VALUE root.id FROM root WHERE root.kind = 'note'",
  lambda docs: [d["id"] for d in of(docs, "note")])
q("source_with_as", "SELECT VALUE p.name FROM products AS p WHERE p.kind = 'product'",
  lambda docs: [d["name"] for d in of(docs, "product")])
q("source_with_a_bare_alias", "SELECT VALUE p.name FROM products p WHERE p.kind = 'product' AND p.n < 4",
  lambda docs: [d["name"] for d in of(docs, "product") if d["n"] < 4])
q("list_of_members", "SELECT c.id, c.name, c.price FROM c WHERE c.kind = 'product'",
  lambda docs: [obj(id=d["id"], name=d["name"], price=d["price"]) for d in of(docs, "product")])
q("list_leaves_out_undefined", "SELECT c.id, c.rating FROM c WHERE c.kind = 'product'",
  lambda docs: [obj(id=d["id"], rating=at(d, "rating")) for d in of(docs, "product")])
q("list_of_nothing_defined_is_an_empty_object", "SELECT c.nothing FROM c WHERE c.id = 'p00'", lambda docs: [{}])
q("value_leaves_out_undefined", "SELECT VALUE c.rating FROM c WHERE c.kind = 'product'",
  lambda docs: rows(at(d, "rating") for d in of(docs, "product")))
q("value_of_every_type", "SELECT VALUE c.v FROM c", lambda docs: rows(at(d, "v") for d in docs))
q("alias_with_as", "SELECT c.name AS title, c.price AS cost FROM c WHERE c.id IN ('p03', 'p04')",
  lambda docs: [obj(title=d["name"], cost=d["price"]) for d in docs if d["id"] in ("p03", "p04")])
q("alias_without_as", "SELECT c.name title FROM c WHERE c.id = 'p03'", lambda docs: [{"title": "Kite"}])
q("nested_path", "SELECT c.name.first, c.address.city FROM c WHERE c.kind = 'person'",
  lambda docs: [obj(first=d["name"]["first"], city=d["address"]["city"]) for d in of(docs, "person")])
q("path_through_what_is_not_there", "SELECT VALUE c.dims.w FROM c WHERE c.kind = 'product'",
  lambda docs: rows(at(d, "dims", "w") for d in of(docs, "product")))
q("path_through_a_text_is_undefined", "SELECT VALUE c.sku.length FROM c", lambda docs: [])
q("element_of_an_array", "SELECT c.id, c.tags[0] AS first, c.tags[1] AS second FROM c WHERE c.kind = 'product'",
  lambda docs: [obj(id=d["id"], first=at(d, "tags", 0), second=at(d, "tags", 1)) for d in of(docs, "product")])
q("element_beyond_the_end", "SELECT VALUE c.tags[9] FROM c", lambda docs: [])
q("computed_members_are_numbered", "SELECT c.n + 1, c.n * 2 FROM c WHERE c.id = 'p05'",
  lambda docs: [{"$1": 6, "$2": 10}])
q("arithmetic_with_alias", "SELECT c.id, c.price * c.qty AS worth FROM c WHERE c.kind = 'product'",
  lambda docs: [obj(id=d["id"], worth=d["price"] * d["qty"]) for d in of(docs, "product")])
q("quoted_member", 'SELECT VALUE c["full name"] FROM c', lambda docs: ["Ada King"])
q("quoted_member_of_dashes", 'SELECT VALUE c["a-b"]["c d"][1] FROM c', lambda docs: [2])
q("quoted_member_with_an_apostrophe", 'SELECT VALUE c["o\'brien"] FROM c', lambda docs: [1])
q("quoted_member_is_a_keyword", 'SELECT VALUE c["select"] FROM c WHERE IS_DEFINED(c["select"])',
  lambda docs: ["kept", "navy"])
q("quoted_member_beyond_the_basic_plane", 'SELECT VALUE c["😀"] FROM c', lambda docs: ["smile"])
q("single_quotes_around_a_member", "SELECT VALUE c['name']['first'] FROM c WHERE c.id = 'h01'", lambda docs: ["Alan"])
q("escapes_in_a_text", r"""SELECT VALUE c.id FROM c WHERE c.name.last = "\"Quotes\" Jones" """, lambda docs: ["h10"])
q("escaped_apostrophe", r"SELECT VALUE c.id FROM c WHERE c.name.last = 'O\'Brien'", lambda docs: ["h08"])
q("escaped_control_characters", r"SELECT VALUE c.id FROM c WHERE c.name.last = 'Tab\tLine\nBreak'",
  lambda docs: ["h12"])
q("escaped_code_point", r"SELECT VALUE c.id FROM c WHERE c.name.first = 'Zo\u00eb'", lambda docs: ["h03"])
q("text_of_any_script", "SELECT VALUE c.id FROM c WHERE c.name = '日本語の本'", lambda docs: ["p25"])
q("comment_to_the_end_of_the_line",
  "SELECT VALUE c.id -- the id\nFROM c -- everything\nWHERE c.id = 'p00' -- one", lambda docs: ["p00"])
q("keywords_in_any_case", "select value c.id from c where c.kind = 'event' And not (c.n > 1)",
  lambda docs: ["d00", "d01"])
q("member_names_keep_their_case", "SELECT VALUE c.Name FROM c", lambda docs: [])
q("line_breaks_and_tabs_are_spaces", "SELECT\n\tVALUE c.id\nFROM\tc\nWHERE\n\tc.id = 'h00'", lambda docs: ["h00"])
q("object_literal", "SELECT VALUE {'id': c.id, 'size': {w: c.dims.w, h: c.dims.h}} FROM c WHERE c.kind = 'product'",
  lambda docs: [{"id": d["id"], "size": obj(w=at(d, "dims", "w"), h=at(d, "dims", "h"))} for d in of(docs, "product")])
q("array_literal", "SELECT VALUE [c.id, c.rating, c.n] FROM c WHERE c.kind = 'product'",
  lambda docs: [arr(d["id"], at(d, "rating"), d["n"]) for d in of(docs, "product")])
q("literals_of_every_type", "SELECT null AS a, true AS b, false AS c, 1 AS d, -2.5e3 AS e, 'x' AS f, [] AS g, {} AS h "
  "FROM r WHERE r.id = 'p00'",
  lambda docs: [{"a": None, "b": True, "c": False, "d": 1, "e": -2500.0, "f": "x", "g": [], "h": {}}])
q("undefined_is_left_out", "SELECT VALUE [1, undefined, {a: undefined}] FROM c WHERE c.id = 'p00'",
  lambda docs: [[1, {}]])
q("no_source", "SELECT VALUE 1 + 1", lambda docs: [2], pk=ADA)
q("no_source_list", "SELECT 'a' AS x, 2 AS y", lambda docs: [{"x": "a", "y": 2}], pk=ADA)
q("integers_keep_their_digits", "SELECT VALUE c.v FROM c WHERE c.v = 9007199254740991",
  lambda docs: [9007199254740991])
q("system_members_are_there", "SELECT VALUE IS_NUMBER(c._ts) AND IS_STRING(c._etag) AND IS_STRING(c._rid) "
  "AND IS_STRING(c._self) FROM c WHERE c.kind = 'key'", lambda docs: [True for d in of(docs, "key")])
q("timestamp_is_of_this_age", "SELECT VALUE COUNT(1) FROM c WHERE c._ts > 1600000000", lambda docs: [len(docs)],
  pk="k05")
q("condition_as_a_value", "SELECT VALUE c.price > 20 FROM c WHERE c.kind = 'product'",
  lambda docs: [gt(d["price"], 20) for d in of(docs, "product")])
q("undefined_condition_is_no_row", "SELECT VALUE c.nick = 'Timmy' FROM c WHERE c.kind = 'person'",
  lambda docs: rows(eq(at(d, "nick"), "Timmy") for d in of(docs, "person")))
q("source_is_a_member", "SELECT * FROM c.address", lambda docs: rows(at(d, "address") for d in docs))
q("source_is_a_member_with_alias", "SELECT VALUE a.city FROM c.address a",
  lambda docs: rows(at(d, "address", "city") for d in docs))
q("no_rows", "SELECT * FROM c WHERE false", lambda docs: [])
q("a_partition_nobody_wrote", "SELECT * FROM c", lambda docs: [], pk="nobody")
q("partition_of_a_number", "SELECT VALUE c.id FROM c", lambda docs: ["x00"], pk=7)
q("partition_of_a_boolean", "SELECT VALUE c.id FROM c", lambda docs: ["x01"], pk=True)
q("partition_of_null", "SELECT VALUE c.id FROM c", lambda docs: ["x02"], pk=None)
q("key_equal_in_the_filter", "SELECT VALUE c.id FROM c WHERE c.pk = 'k03'",
  lambda docs: [d["id"] for d in where(docs, lambda d: eq(at(d, "pk"), "k03"))])
q("key_in_a_list", "SELECT VALUE c.id FROM c WHERE c.pk IN ('k03', 'v04', 'nobody', 7)",
  lambda docs: [d["id"] for d in docs if at(d, "pk") in ("k03", "v04", "nobody", 7) and at(d, "pk") is not True])
q("key_of_one_partition_or_another", "SELECT VALUE c.id FROM c WHERE c.pk = 'k01' OR c.pk = 'k02'",
  lambda docs: [d["id"] for d in docs if at(d, "pk") in ("k01", "k02")])
q("key_that_cannot_be_both", "SELECT VALUE c.id FROM c WHERE c.pk = 'k01' AND c.pk = 'k02'", lambda docs: [])
q("key_missing", "SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.pk)", lambda docs: ["x03"])
q("key_null", "SELECT VALUE c.id FROM c WHERE c.pk = null", lambda docs: ["x02"])
