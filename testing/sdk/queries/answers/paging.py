"""Long answers in pages: every row once, in order, whatever the page size, and each page by its token alone."""

from .matrix import Group, NO_AGGREGATES, NO_DISTINCT
from .values import distinct, groups, ids, of

group = Group("paging")


def q(name, query, answer, **options):
    group.q(name, query, answer, resume=True, **options)


q("everything", "SELECT * FROM c", lambda docs: docs)
q("everything_by_id", "SELECT VALUE c.id FROM c ORDER BY c.id", lambda docs: sorted(ids(docs)), ordered=True)
q("everything_by_id_descending", "SELECT * FROM c ORDER BY c.id DESC",
  lambda docs: sorted(docs, key=lambda d: d["id"], reverse=True), ordered=True)
q("ties_in_the_order", "SELECT VALUE c.category FROM c WHERE c.kind = 'product' ORDER BY c.category",
  lambda docs: sorted(d["category"] for d in of(docs, "product")), ordered=True)
q("two_keys", "SELECT VALUE c.id FROM c WHERE c.kind = 'product' ORDER BY c.category ASC, c.price DESC",
  lambda docs: ids(sorted(of(docs, "product"), key=lambda d: (d["category"], -d["price"]))), ordered=True)
q("filtered", "SELECT c.id, c.qty FROM c WHERE c.qty >= 0",
  lambda docs: [{"id": d["id"], "qty": d["qty"]} for d in of(docs, "product") if d["qty"] >= 0])
q("few_among_many", "SELECT VALUE c.id FROM c WHERE c.n = 5", lambda docs: ids(d for d in docs if d["n"] == 5))
q("joined", "SELECT c.id, t FROM c JOIN t IN c.tags",
  lambda docs: [{"id": d["id"], "t": t} for d in of(docs, "product") for t in d["tags"]])
q("joined_many_rows_of_one_item", "SELECT VALUE [a, b] FROM c JOIN a IN c.v JOIN b IN c.v WHERE c.id = 'v14'",
  lambda docs: [[a, b] for a in (1, 2, 3) for b in (1, 2, 3)])
q("window", "SELECT VALUE c.id FROM c ORDER BY c.id OFFSET 20 LIMIT 40", lambda docs: sorted(ids(docs))[20:60],
  ordered=True)
q("top", "SELECT TOP 25 VALUE c.id FROM c ORDER BY c.id DESC", lambda docs: sorted(ids(docs), reverse=True)[:25],
  ordered=True)
q("top_without_order", "SELECT TOP 25 VALUE c.kind FROM c WHERE c.kind = 'product'", lambda docs: ["product"] * 25)
q("distinct", "SELECT DISTINCT VALUE c.n FROM c WHERE c.n > 0",
  lambda docs: distinct(d["n"] for d in docs if d["n"] > 0), skip=NO_DISTINCT)
q("distinct_ordered", "SELECT DISTINCT VALUE c.n FROM c WHERE c.n > 0 ORDER BY c.n",
  lambda docs: sorted({d["n"] for d in docs if d["n"] > 0}), ordered=True)
q("groups", "SELECT c.n, COUNT(1) AS many FROM c GROUP BY c.n",
  lambda docs: [{"n": values[0], "many": len(found)} for values, found in groups(docs, lambda d: d["n"])],
  skip=NO_AGGREGATES)
q("one_partition", "SELECT * FROM c", lambda docs: docs, pk="k03")
q("one_partition_in_order", "SELECT VALUE c.id FROM c ORDER BY c.id DESC", lambda docs: sorted(ids(docs), reverse=True),
  ordered=True, pk="k06")
