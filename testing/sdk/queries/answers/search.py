"""Places, vectors and words: what is near, inside, alike, and about."""

import math

from .matrix import Group, NO_HYBRID
from .values import ids, of

group = Group("search")
q = group.q

EUROPE = "{'type': 'Polygon', 'coordinates': [[[-10, 36], [30, 36], [30, 60], [-10, 60], [-10, 36]]]}"
LONDON = "{'type': 'Point', 'coordinates': [-0.1276, 51.5072]}"

# Places. London to Paris is about 344 km, London to Berlin about 930 km.
q("st_distance_near", f"SELECT VALUE c.city FROM c WHERE ST_DISTANCE(c.location, {LONDON}) < 500000",
  lambda docs: ["London", "Paris"])
q("st_distance_is_in_metres",
  f"SELECT VALUE c.city FROM c WHERE ST_DISTANCE(c.location, {LONDON}) BETWEEN 340000 AND 350000",
  lambda docs: ["Paris"])
q("st_distance_of_itself", f"SELECT VALUE ST_DISTANCE(c.location, {LONDON}) FROM c WHERE c.city = 'London'",
  lambda docs: [0], close=True)
q("st_within", f"SELECT VALUE c.city FROM c WHERE ST_WITHIN(c.location, {EUROPE})",
  lambda docs: ["London", "Paris", "Berlin"])
q("st_intersects", f"SELECT VALUE c.city FROM c WHERE ST_INTERSECTS(c.location, {EUROPE})",
  lambda docs: ["London", "Paris", "Berlin"])
q("st_isvalid", "SELECT c.city, ST_ISVALID(c.location) AS ok FROM c WHERE c.kind = 'place'",
  lambda docs: [{"city": d["city"], "ok": d["city"] != "Bad"} for d in of(docs, "place")])
q("st_isvaliddetailed", "SELECT VALUE ST_ISVALIDDETAILED(c.location).valid FROM c WHERE c.city IN ('Paris', 'Bad')",
  lambda docs: [True, False])


# Vectors.
def cosine(a, b):
    dot = sum(x * y for x, y in zip(a, b))
    return dot / math.sqrt(sum(x * x for x in a)) / math.sqrt(sum(y * y for y in b))


def near(docs, to, count):
    """The ids of the notes whose embeddings point most the same way."""
    return ids(sorted(of(docs, "note"), key=lambda d: -cosine(d["embedding"], to))[:count])


q("vectordistance_as_a_value", "SELECT VALUE VectorDistance(c.embedding, [1, 0, 0]) FROM c WHERE c.id = 't09'",
  lambda docs: [0.6], close=True)
q("vectordistance_euclidean", "SELECT VALUE VectorDistance(c.embedding, [1, 0, 0], true, "
  "{'distanceFunction': 'euclidean'}) FROM c WHERE c.id = 't02'", lambda docs: [math.sqrt(2)], close=True)
q("vectordistance_orders", "SELECT TOP 3 VALUE c.id FROM c WHERE c.kind = 'note' "
  "ORDER BY VectorDistance(c.embedding, [1, 0, 0])", lambda docs: near(docs, [1, 0, 0], 3), ordered=True)
q("vectordistance_orders_with_its_score", "SELECT TOP 4 c.id, VectorDistance(c.embedding, @to) AS score FROM c "
  "WHERE c.kind = 'note' ORDER BY VectorDistance(c.embedding, @to)",
  lambda docs: [{"id": d["id"], "score": cosine(d["embedding"], [0.2, 0.9, 0.1])}
                for d in sorted(of(docs, "note"), key=lambda d: -cosine(d["embedding"], [0.2, 0.9, 0.1]))[:4]],
  parameters={"@to": [0.2, 0.9, 0.1]}, close=True)
q("vectordistance_with_a_window", "SELECT VALUE c.id FROM c WHERE c.kind = 'note' "
  "ORDER BY VectorDistance(c.embedding, [1, 0, 0]) OFFSET 1 LIMIT 2",
  lambda docs: near(docs, [1, 0, 0], 3)[1:], ordered=True)


# Words.
def about(*words, every=True):
    test = all if every else any
    return lambda docs: ids(d for d in of(docs, "note") if test(w in d["text"].split() for w in words))


q("fulltextcontains", "SELECT VALUE c.id FROM c WHERE FullTextContains(c.text, 'fox')", about("fox"))
q("fulltextcontains_in_any_case", "SELECT VALUE c.id FROM c WHERE FullTextContains(c.text, 'CAT')", about("cat"))
q("fulltextcontains_a_phrase", "SELECT VALUE c.id FROM c WHERE FullTextContains(c.text, 'brown fox')",
  lambda docs: ["t00"])
q("fulltextcontainsall", "SELECT VALUE c.id FROM c WHERE FullTextContainsAll(c.text, 'cat', 'dog')",
  about("cat", "dog"))
q("fulltextcontainsany", "SELECT VALUE c.id FROM c WHERE FullTextContainsAny(c.text, 'rust', 'vector')",
  about("rust", "vector", every=False))
q("fulltextscore_ranks", "SELECT TOP 2 c.id FROM c WHERE FullTextContains(c.text, 'fox') "
  "ORDER BY RANK FullTextScore(c.text, 'fox')", lambda docs: [{"id": "t04"}, {"id": "t00"}], ordered=True,
  skip=NO_HYBRID)
q("rrf_ranks_words_and_vectors", "SELECT TOP 1 c.id FROM c WHERE c.kind = 'note' "
  "ORDER BY RANK RRF(FullTextScore(c.text, 'fox'), VectorDistance(c.embedding, [0, 0, 1]))",
  lambda docs: [{"id": "t04"}], ordered=True, skip=NO_HYBRID)
