"""One entry of the matrix: a query in SQL, and beside it the same question asked of the items in Python."""

from .values import U

# Why an SDK does not run a query. For Rust a leading number is the code it refuses with, and the suite wants that
# very code (0 is a refusal by the server's plan); for the others, and without a number, the query is left out.
NO_AGGREGATES = {"rust": "0: the SDK has no pipeline for aggregates and groups, and the plan says so as the service does"}
NO_HYBRID = {"rust": "0: the SDK has no pipeline for ranks by full text, and the plan says so as the service does"}
NO_DISTINCT = {"rust": "20125: the SDK itself refuses DISTINCT over several partitions without TOP or LIMIT"}
NO_UNDEFINED = {"rust": "the SDK has no way to send a parameter without a value"}
MIXED_ORDER = {"javascript_plan": "the SDK itself throws when sort keys of two partitions differ in type"}
FALSY_DISTINCT = {"javascript_plan": "the SDK's own DISTINCT loses null, false, 0 and the empty text"}
FALSY_MAX = {"javascript_plan": "the SDK's own MAX throws when it compares null"}
PARTIAL_AVERAGE = {"javascript_plan": "the SDK's own AVG and SUM leave out partitions whose answer is undefined"}
NOT_PLANNED = {
    "javascript_plan": "the SDK's own pipeline has no stage for it",
    "rust": "the SDK's own pipeline has no stage for it",
}


class Group:
    """The entries of one file."""

    def __init__(self, name):
        self.name, self.entries = name, []

    def q(self, name, query, answer, *, parameters=None, pk=U, ordered=False, close=False, resume=False, skip=None):
        """`answer` takes the items in scope and gives the rows.

        ordered   the rows come in this order
        close     numbers may differ in the last digits (and rows come in this order)
        resume    also asked page by page, each page by its token alone
        """
        self.entries.append(
            {
                "name": name,
                "query": query,
                "parameters": parameters or {},
                "pk": pk,
                "ordered": ordered,
                "close": close,
                "resume": resume,
                "skip": skip or {},
                "answer": answer,
            }
        )
