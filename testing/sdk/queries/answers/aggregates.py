"""COUNT, SUM, AVG, MIN, MAX and their kin, over everything and by group."""

from .matrix import FALSY_MAX, Group, NO_AGGREGATES, NOT_PLANNED, PARTIAL_AVERAGE
from .values import at, average, distinct, groups, gt, kind, least, most, obj, of, rows, total, where

group = Group("aggregates")


def q(name, query, answer, skip=None, **options):
    """Over several partitions the Rust SDK refuses every one of these; in one partition none."""
    over_one = "pk" in options
    group.q(name, query, answer, skip=({} if over_one else NO_AGGREGATES) | (skip or {}), **options)


def over(name, path, aggregate):
    """One value: the aggregate of a member over the items of a kind; no row if it is undefined."""
    return lambda docs: rows([aggregate([at(d, *path) for d in of(docs, name)])])


P = " FROM c WHERE c.kind = 'product'"

# One value.
q("count", "SELECT VALUE COUNT(1) FROM c", lambda docs: [len(docs)])
q("count_filtered", "SELECT VALUE COUNT(1)" + P, lambda docs: [len(of(docs, "product"))])
q("count_of_the_item", "SELECT VALUE COUNT(c) FROM c", lambda docs: [len(docs)])
q("count_counts_what_is_defined", "SELECT VALUE COUNT(c.rating) FROM c",
  lambda docs: [len(rows(at(d, "rating") for d in docs))])
q("count_of_nothing", "SELECT VALUE COUNT(1) FROM c WHERE false", lambda docs: [0])
q("count_in_one_partition", "SELECT VALUE COUNT(1) FROM c", lambda docs: [len(docs)], pk="k03")
q("count_in_lower_case", "select value count(1) from c", lambda docs: [len(docs)])
q("countif", "SELECT VALUE COUNTIF(c.qty > 40) FROM c", lambda docs: [len(where(docs, lambda d: gt(at(d, "qty"), 40)))])
q("sum", "SELECT VALUE SUM(c.price) FROM c", over("product", ["price"], total))
q("sum_of_negatives", "SELECT VALUE SUM(c.qty)" + P, over("product", ["qty"], total))
q("sum_of_an_expression", "SELECT VALUE SUM(c.price * c.qty)" + P,
  lambda docs: [sum(d["price"] * d["qty"] for d in of(docs, "product"))])
q("sum_of_nested", "SELECT VALUE SUM(c.dims.w) FROM c", over("product", ["dims", "w"], total))
q("sum_of_mixed_types_is_undefined", "SELECT VALUE SUM(c.v) FROM c", over("value", ["v"], total))
q("sum_in_one_partition", "SELECT VALUE SUM(c.n) FROM c", lambda docs: [sum(d["n"] for d in docs)], pk="k03")
q("avg", "SELECT VALUE AVG(c.price) FROM c", over("product", ["price"], average))
q("avg_of_integers", "SELECT VALUE AVG(c.age) FROM c", over("person", ["age"], average))
q("avg_leaves_out_undefined", "SELECT VALUE AVG(c.dims.h) FROM c", over("product", ["dims", "h"], average))
q("avg_of_nothing_is_no_row", "SELECT VALUE AVG(c.nothing) FROM c", lambda docs: [])
q("avg_of_mixed_types_is_undefined", "SELECT VALUE AVG(c.rating) FROM c", over("product", ["rating"], average),
  skip=PARTIAL_AVERAGE)
q("min", "SELECT VALUE MIN(c.price) FROM c", over("product", ["price"], least))
q("min_of_negatives", "SELECT VALUE MIN(c.qty) FROM c", over("product", ["qty"], least))
q("min_of_texts", "SELECT VALUE MIN(c.category) FROM c", over("product", ["category"], least))
q("min_of_nothing_is_no_row", "SELECT VALUE MIN(c.nothing) FROM c", lambda docs: [])
q("min_of_mixed_scalars", "SELECT VALUE MIN(c.v) FROM c WHERE IS_NUMBER(c.v) OR IS_STRING(c.v)", lambda docs: [-1])
q("max", "SELECT VALUE MAX(c.price) FROM c", over("product", ["price"], most))
q("max_of_texts", "SELECT VALUE MAX(c.at) FROM c", over("event", ["at"], most))
q("max_of_mixed_scalars", "SELECT VALUE MAX(c.v) FROM c WHERE IS_PRIMITIVE(c.v)",
  lambda docs: rows([most(at(d, "v") for d in docs if kind(at(d, "v")) not in ("array", "object"))]), skip=FALSY_MAX)
q("max_in_one_partition", "SELECT VALUE MAX(c.id) FROM c", lambda docs: [max(d["id"] for d in docs)], pk="k03")

# Objects.
q("count_with_alias", "SELECT COUNT(1) AS n FROM c", lambda docs: [{"n": len(docs)}])
q("count_without_alias", "SELECT COUNT(1) FROM c", lambda docs: [{"$1": len(docs)}])
q("several", "SELECT COUNT(1) AS n, SUM(c.price) AS s, AVG(c.price) AS a, MIN(c.price) AS lo, MAX(c.price) AS hi" + P,
  lambda docs: [(lambda prices: {"n": len(prices), "s": sum(prices), "a": sum(prices) / len(prices),
                                 "lo": min(prices), "hi": max(prices)})([d["price"] for d in of(docs, "product")])])
q("several_in_one_partition", "SELECT COUNT(1) AS n, MIN(c.id) AS first, MAX(c.id) AS last FROM c",
  lambda docs: [{"n": len(docs), "first": min(d["id"] for d in docs), "last": max(d["id"] for d in docs)}], pk="k03")
q("several_of_nothing", "SELECT COUNT(1) AS n, MIN(c.n) AS lo FROM c WHERE c.kind = 'nobody'", lambda docs: [{"n": 0}])
q("aggregates_in_an_expression", "SELECT VALUE MAX(c.n) - MIN(c.n) + 1 FROM c",
  lambda docs: [max(d["n"] for d in docs) - min(d["n"] for d in docs) + 1], pk="k03")
q("aggregates_in_an_object", "SELECT VALUE {lo: MIN(c.n), hi: MAX(c.n)} FROM c",
  lambda docs: [{"lo": min(d["n"] for d in docs), "hi": max(d["n"] for d in docs)}], pk="k03")


# Groups.
def grouped(*keys, source="product", **aggregates):
    """A row for each group: the keys by their names, and each aggregate of its documents."""
    def answer(docs):
        found = groups(of(docs, source) if source else docs, *(lambda d, k=k: at(d, *k.split(".")) for k in keys))
        names = [k.split(".")[-1] for k in keys]
        return [obj(**dict(zip(names, values)), **{n: f(members) for n, f in aggregates.items()})
                for values, members in found]
    return answer


def each(path, aggregate):
    return lambda members: aggregate([at(d, *path.split(".")) for d in members])


G = " FROM c WHERE c.kind = 'product' GROUP BY c.category"

q("group_count", "SELECT c.category, COUNT(1) AS n" + G, grouped("category", n=len))
q("group_sum", "SELECT c.category, SUM(c.price) AS s" + G, grouped("category", s=each("price", total)))
q("group_avg", "SELECT c.category, AVG(c.qty) AS a" + G, grouped("category", a=each("qty", average)))
q("group_min", "SELECT c.category, MIN(c.price) AS lo" + G, grouped("category", lo=each("price", least)))
q("group_max", "SELECT c.category, MAX(c.name) AS hi" + G, grouped("category", hi=each("name", most)))
q("group_several", "SELECT c.category, COUNT(1) AS n, SUM(c.qty) AS s, AVG(c.qty) AS a, MIN(c.qty) AS lo, "
  "MAX(c.qty) AS hi" + G,
  grouped("category", n=len, s=each("qty", total), a=each("qty", average), lo=each("qty", least),
          hi=each("qty", most)))
q("group_by_two", "SELECT c.category, c.active, COUNT(1) AS n" + G + ", c.active", grouped("category", "active", n=len))
q("group_by_nested", "SELECT c.dims.unit, COUNT(1) AS n FROM c WHERE IS_DEFINED(c.dims) GROUP BY c.dims.unit",
  lambda docs: grouped("dims.unit", n=len)([d for d in docs if "dims" in d]))
q("group_by_kind_of_everything", "SELECT c.kind, COUNT(1) AS n FROM c GROUP BY c.kind",
  grouped("kind", source=None, n=len))
q("group_by_an_expression", "SELECT c.n % 3 AS r, COUNT(1) AS n FROM c WHERE c.kind = 'product' GROUP BY c.n % 3",
  lambda docs: [{"r": r, "n": 10} for r in range(3)])
q("group_by_a_function", "SELECT LEFT(c.sku, 5) AS start, COUNT(1) AS n" + P + " GROUP BY LEFT(c.sku, 5)",
  lambda docs: [{"start": values[0], "n": len(found)} for values, found
                in groups(of(docs, "product"), lambda d: d["sku"][:5])])
q("group_without_aggregate", "SELECT c.category" + G, grouped("category"))
q("group_value_without_aggregate", "SELECT VALUE c.category" + G,
  lambda docs: distinct(d["category"] for d in of(docs, "product")))
q("group_value_of_an_aggregate", "SELECT VALUE COUNT(1)" + G, lambda docs: [6] * 5)
q("group_key_not_selected", "SELECT COUNT(1) AS n" + G, lambda docs: [{"n": 6}] * 5)
q("group_of_what_is_missing", "SELECT c.rating, COUNT(1) AS n FROM c WHERE c.kind = 'product' AND "
  "(NOT IS_DEFINED(c.rating) OR c.rating = null) GROUP BY c.rating",
  lambda docs: [{"n": len([d for d in of(docs, "product") if "rating" not in d])},
                {"rating": None, "n": len([d for d in of(docs, "product") if at(d, "rating") is None])}])
q("group_of_filtered", "SELECT c.category, COUNT(1) AS n FROM c WHERE c.price > 30 GROUP BY c.category",
  lambda docs: grouped("category", n=len)([d for d in of(docs, "product") if d["price"] > 30]))
q("group_of_joined", "SELECT t AS tag, COUNT(1) AS n FROM c JOIN t IN c.tags GROUP BY t",
  lambda docs: [{"tag": values[0], "n": len(found)} for values, found
                in groups([{"t": t} for d in of(docs, "product") for t in d["tags"]], lambda d: d["t"])])
q("group_in_one_partition", "SELECT c.kind, COUNT(1) AS n FROM c GROUP BY c.kind", grouped("kind", source=None, n=len),
  pk="k03")
q("group_countif", "SELECT c.category, COUNTIF(c.active) AS n" + G,
  grouped("category", n=lambda members: len([d for d in members if d["active"]])))
q("group_of_nothing", "SELECT c.category, COUNT(1) AS n FROM c WHERE false GROUP BY c.category", lambda docs: [])
q("count_of_distinct", "SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.category FROM c WHERE c.kind = 'product')",
  lambda docs: [5], skip=NOT_PLANNED)
