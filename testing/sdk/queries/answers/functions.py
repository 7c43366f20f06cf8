"""The built-in functions of texts, arrays, numbers, types and dates."""

import math
import re

from .matrix import Group
from .values import U, at, ids, is_string, kind, numbers, of, rows, texts, utf16, where

group = Group("functions")
q = group.q

P = " FROM c WHERE c.kind = 'product'"
H = " FROM c WHERE c.kind = 'person'"
ONE = " FROM c WHERE c.id = 'p00'"


def each(name, value):
    return lambda docs: rows(value(d) for d in of(docs, name))


def kept(condition):
    return lambda docs: ids(where(docs, condition))


def is_(name, expression, value, **options):
    """The function of constants, asked of one item so that every SDK may ask every partition."""
    q(name, f"SELECT VALUE {expression}" + ONE, lambda docs: rows([value]), **options)


# Texts.
q("upper_and_lower", "SELECT VALUE [UPPER(c.name), LOWER(c.name)]" + P,
  each("product", lambda d: [d["name"].upper(), d["name"].lower()]))
q("length_counts_utf16", "SELECT c.id, LENGTH(c.name.last) AS n" + H,
  each("person", lambda d: {"id": d["id"], "n": utf16(d["name"]["last"])}))
q("length_of_each_type", "SELECT VALUE LENGTH(c.v) FROM c", each("value", lambda d: texts(len)(at(d, "v"))))
q("concat", "SELECT VALUE CONCAT(c.name.first, ' (', c.address.city, ')')" + H,
  each("person", lambda d: f"{d['name']['first']} ({d['address']['city']})"))
q("contains", "SELECT VALUE c.id FROM c WHERE CONTAINS(c.name, 'oo')",
  kept(lambda d: "oo" in d["name"] if is_string(at(d, "name")) else U))
q("contains_in_any_case", "SELECT VALUE c.id FROM c WHERE CONTAINS(c.name, 'RA', true)",
  kept(lambda d: "ra" in d["name"].lower() if is_string(at(d, "name")) else U))
q("startswith", "SELECT VALUE c.id FROM c WHERE STARTSWITH(c.name, 'P')",
  kept(lambda d: d["name"].startswith("P") if is_string(at(d, "name")) else U))
q("startswith_in_any_case", "SELECT VALUE c.id FROM c WHERE STARTSWITH(c.sku, 'sku-00', true)",
  kept(lambda d: is_string(at(d, "sku")) and d["sku"].startswith("SKU-00")))
q("endswith", "SELECT VALUE c.id FROM c WHERE ENDSWITH(c.sku, '-B')",
  kept(lambda d: is_string(at(d, "sku")) and d["sku"].endswith("-B")))
q("stringequals", "SELECT VALUE c.id FROM c WHERE STRINGEQUALS(c.name, 'hammer', true)", lambda docs: ["p00"])
q("index_of", "SELECT VALUE INDEX_OF(c.name, 'e')" + P, each("product", lambda d: d["name"].find("e")))
is_("index_of_from", "INDEX_OF('abcabc', 'b', 2)", 4)
q("substring", "SELECT VALUE SUBSTRING(c.sku, 4, 3)" + P, each("product", lambda d: d["sku"][4:7]))
q("left_and_right", "SELECT VALUE [LEFT(c.name, 3), RIGHT(c.name, 3)]" + P + " AND c.n < 20",
  lambda docs: [[d["name"][:3], d["name"][-3:]] for d in of(docs, "product") if d["n"] < 20])
q("replace", "SELECT VALUE REPLACE(c.sku, '-', '/')" + P, each("product", lambda d: d["sku"].replace("-", "/")))
q("reverse", "SELECT VALUE REVERSE(c.sku)" + P, each("product", lambda d: d["sku"][::-1]))
is_("replicate", "REPLICATE('ab', 3)", "ababab")
is_("trim", "[TRIM('  a '), LTRIM('  a '), RTRIM('  a ')]", ["a", "a ", "  a"])
is_("stringjoin", "STRINGJOIN(['a', 'b', 'c'], '+')", "a+b+c")
is_("stringsplit", "STRINGSPLIT('a,b,,c', ',')", ["a", "b", "", "c"])
q("regexmatch", "SELECT VALUE c.id FROM c WHERE RegexMatch(c.sku, '^SKU-0[12]5-[A-C]$')",
  kept(lambda d: bool(re.search("^SKU-0[12]5-[A-C]$", d["sku"])) if is_string(at(d, "sku")) else U))
q("regexmatch_in_any_case", "SELECT VALUE c.id FROM c WHERE RegexMatch(c.name, 'ER$', 'i')",
  kept(lambda d: bool(re.search("er$", d["name"], re.I)) if is_string(at(d, "name")) else U))
q("texts_need_texts", "SELECT VALUE UPPER(c.v) FROM c", each("value", lambda d: texts(str.upper)(at(d, "v"))))

# Types made of others.
is_("tostring", "[ToString(1), ToString(1.5), ToString(true), ToString(null), ToString('a')]",
    ["1", "1.5", "true", "null", "a"])
is_("stringtonumber", "[StringToNumber('1.5'), StringToNumber('-2'), StringToNumber('1e3')]", [1.5, -2, 1000])
is_("stringtonumber_of_other_text", "StringToNumber('one')", U)
is_("stringtoboolean", "[StringToBoolean('true'), StringToBoolean('false'), StringToBoolean('yes')]", [True, False])
is_("stringtonull", "[StringToNull('null')]", [None])
is_("stringtoarray", """StringToArray('[1, "a", [true]]')""", [1, "a", [True]])
is_("stringtoobject", """StringToObject('{"a": {"b": 1}}')""", {"a": {"b": 1}})

# Arrays and objects.
q("array_length", "SELECT VALUE ARRAY_LENGTH(c.tags) FROM c", each("product", lambda d: len(d["tags"])))
q("array_length_of_each_type", "SELECT VALUE ARRAY_LENGTH(c.v) FROM c",
  each("value", lambda d: len(d["v"]) if kind(at(d, "v")) == "array" else U))
q("array_contains", "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.tags, 'eco')",
  kept(lambda d: "eco" in at(d, "tags") if kind(at(d, "tags")) == "array" else U))
q("array_contains_a_whole_object", "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.children, {name: 'Tom', age: 7})",
  lambda docs: ["h02"])
q("array_contains_part_of_an_object", "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.children, {age: 12}, true)",
  lambda docs: ["h00", "h08"])
q("array_contains_a_constant_list", "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(['p01', 'h01', 'none'], c.id)",
  lambda docs: ["p01", "h01"])
q("array_contains_any", "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS_ANY(c.tags, 'light', 'gift')",
  kept(lambda d: bool({"light", "gift"} & set(d["tags"])) if "tags" in d else U))
q("array_contains_all", "SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS_ALL(c.tags, 'new', 'eco')",
  kept(lambda d: {"new", "eco"} <= set(d["tags"]) if "tags" in d else U))
q("array_concat", "SELECT VALUE ARRAY_CONCAT(c.tags, [c.n], [])" + P, each("product", lambda d: d["tags"] + [d["n"]]))
q("array_slice", "SELECT VALUE [ARRAY_SLICE(c.v, 1), ARRAY_SLICE(c.v, 0, 2), ARRAY_SLICE(c.v, -1)] FROM c "
  "WHERE c.id = 'v14'", lambda docs: [[[2, 3], [1, 2], [3]]])
q("set_functions", "SELECT VALUE [SetIntersect(c.v, [3, 1, 9]), SetUnion(c.v, [3, 4])] FROM c WHERE c.id = 'v14'",
  lambda docs: [[[3, 1], [1, 2, 3, 4]]])
is_("objecttoarray", "ObjectToArray({a: 1, b: 'x'})", [{"k": "a", "v": 1}, {"k": "b", "v": "x"}])
is_("choose", "[CHOOSE(1, 'a', 'b'), CHOOSE(2, 'a', 'b'), CHOOSE(3, 'a', 'b')]", ["a", "b"])
q("iif", "SELECT VALUE IIF(c.active, 'on', 'off')" + P, each("product", lambda d: "on" if d["active"] else "off"))

# Numbers.
q("abs_and_sign", "SELECT VALUE [ABS(c.qty), SIGN(c.qty)]" + P,
  each("product", lambda d: [abs(d["qty"]), (d["qty"] > 0) - (d["qty"] < 0)]))
q("rounding", "SELECT VALUE [FLOOR(c.price), CEILING(c.price), TRUNC(c.price), ROUND(c.price)]" + P + " AND c.n != 2 "
  "ORDER BY c.id",
  lambda docs: [[math.floor(d["price"]), math.ceil(d["price"]), math.trunc(d["price"]), math.floor(d["price"] + 0.5)]
                for d in of(docs, "product") if d["n"] != 2], ordered=True)
is_("rounding_of_negatives", "[FLOOR(-2.4), CEILING(-2.4), TRUNC(-2.4), ROUND(-2.4), ROUND(-2.6)]",
    [-3, -2, -2, -2, -3])
is_("powers", "[POWER(2, 10), SQUARE(-3), SQRT(2.25), EXP(0), LOG10(1000), LOG(8, 2)]", [1024, 9, 1.5, 1, 3, 3],
    close=True)
is_("trigonometry", "[SIN(1), COS(1), TAN(1), ASIN(0.5), ACOS(0.5), ATAN(1), ATN2(1, 2), COT(1), DEGREES(PI()), "
    "RADIANS(180)]",
    [math.sin(1), math.cos(1), math.tan(1), math.asin(0.5), math.acos(0.5), math.atan(1), math.atan2(1, 2),
     1 / math.tan(1), 180, math.pi], close=True)
is_("log_of_a_negative_is_undefined", "[LOG(-1), SQRT(-1), 1]", [1])
q("numbers_need_numbers", "SELECT VALUE ABS(c.v) FROM c", each("value", lambda d: numbers(abs)(at(d, "v"))))
is_("integer_functions", "[IntAdd(2, 3), IntSub(2, 3), IntMul(4, 5), IntDiv(7, 2), IntMod(7, 4)]", [5, -1, 20, 3, 3])
is_("integer_bits", "[IntBitAnd(12, 10), IntBitOr(12, 10), IntBitXor(12, 10), IntBitNot(0), IntBitLeftShift(1, 4), "
    "IntBitRightShift(16, 2)]", [8, 14, 6, -1, 16, 4])
is_("numberbin", "[NumberBin(37.6, 10), NumberBin(100, 7)]", [30, 98])
is_("random_is_between_nought_and_one", "RAND() >= 0 AND RAND() < 1", True)

# Dates.
is_("datetimeadd", "[DateTimeAdd('year', 1, '2020-07-09T23:20:13.4575530Z'), "
    "DateTimeAdd('mm', -1, '2020-07-09T23:20:13.4575530Z'), DateTimeAdd('hh', 5, '2020-07-09T23:20:13.4575530Z'), "
    "DateTimeAdd('ss', 50, '2020-07-09T23:20:13.4575530Z')]",
    ["2021-07-09T23:20:13.4575530Z", "2020-06-09T23:20:13.4575530Z", "2020-07-10T04:20:13.4575530Z",
     "2020-07-09T23:21:03.4575530Z"])
q("datetimediff", "SELECT c.id, DateTimeDiff('hour', c.at, c.ends) AS hours FROM c WHERE c.kind = 'event'",
  lambda docs: [{"id": "d00", "hours": 1}, {"id": "d01", "hours": 24}, {"id": "d02", "hours": 1},
                {"id": "d03", "hours": 366 * 24}, {"id": "d04", "hours": 24}, {"id": "d05"}])
q("datetimepart", "SELECT c.id, DateTimePart('yyyy', c.at) AS y, DateTimePart('month', c.at) AS m, "
  "DateTimePart('dd', c.at) AS d, DateTimePart('ss', c.at) AS s FROM c WHERE c.kind = 'event'",
  lambda docs: [{"id": "d00", "y": 2024, "m": 1, "d": 1, "s": 0}, {"id": "d01", "y": 2024, "m": 2, "d": 29, "s": 0},
                {"id": "d02", "y": 2023, "m": 12, "d": 31, "s": 59}, {"id": "d03", "y": 1999, "m": 7, "d": 4, "s": 30},
                {"id": "d04", "y": 1970, "m": 1, "d": 1, "s": 0}, {"id": "d05"}])
is_("datetimefromparts", "[DateTimeFromParts(2020, 9, 4), DateTimeFromParts(2017, 4, 20, 13, 15, 20, 3456789)]",
    ["2020-09-04T00:00:00.0000000Z", "2017-04-20T13:15:20.3456789Z"])
q("datetimetotimestamp", "SELECT c.id, DateTimeToTimestamp(c.ends) AS ms FROM c WHERE c.id IN ('d01', 'd04')",
  lambda docs: [{"id": "d01", "ms": 1709294400000}, {"id": "d04", "ms": 86400000}])
is_("timestamptodatetime", "TimestampToDateTime(1594227912345)", "2020-07-08T17:05:12.3450000Z")
is_("ticks", "[DateTimeToTicks('1970-01-02T00:00:00.0000000Z'), TicksToDateTime(15943368134575530)]",
    [864000000000, "2020-07-09T23:20:13.4575530Z"])
is_("datetimebin", "[DateTimeBin('2021-06-28T17:24:29.2991234Z', 'hh'), "
    "DateTimeBin('2021-01-08T18:35:00.0000000Z', 'hh', 5), DateTimeBin('2021-01-08T18:35:00.0000000Z', 'dd', 7)]",
    ["2021-06-28T17:00:00.0000000Z", "2021-01-08T15:00:00.0000000Z", "2021-01-07T00:00:00.0000000Z"])
is_("current_time", "[RegexMatch(GetCurrentDateTime(), '^20[0-9]{2}-[0-9]{2}-[0-9]{2}T.*Z$'), "
    "GetCurrentTimestamp() > 1600000000000, GetCurrentTicks() > 16000000000000000]", [True, True, True])
is_("current_time_stands_still", "GetCurrentTimestampStatic() = GetCurrentTimestampStatic()", True)
q("dates_compare_as_texts", "SELECT VALUE c.id FROM c WHERE c.at >= '2024-01-01' AND c.at < '2025'",
  lambda docs: ["d00", "d01"])
