#!/usr/bin/env python3
"""The query matrix: writes each group's queries with the rows they must give, worked out from items.json.

    expect.py            writes select.json, where.json, … beside items.json
    expect.py --check    fails when one of them says something else

Every entry of `answers/` has its SQL and, beside it, the same question asked of the items in Python; no server
and no SQL take part here. A written entry has:

    name, query    the query's own
    parameters     [{"name": "@p", "value": …}]; one without a value is undefined
    scope          "cross", or {"pk": key} for one partition
    ordered        whether rows come in the order given; otherwise each as often as given, in any order
    close          numbers may differ in the last digits
    resume         also asked page by page, each page by its token alone
    splits         the rows of a part of the items are a part of the rows, so ranges may be asked one by one
    expect         the rows
    skip           {suite: why it does not run this}; see answers/matrix.py
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from answers import aggregates, functions, join, order, paging, parameters, search, select, where  # noqa: E402
from answers.values import U, at, same  # noqa: E402

GROUPS = [each.group for each in (select, where, order, join, aggregates, functions, parameters, search, paging)]


def main(arguments):
    if arguments == ["--check"]:
        return check()
    if arguments:
        sys.exit(__doc__)
    for path, text in pages():
        path.write_text(text)
    return 0


def check():
    """Whether every file says what the answers say; the names of those that do not go to the error output."""
    stale = [path.name for path, text in pages() if not path.exists() or path.read_text() != text]
    if stale:
        print(f"not what the answers say: {', '.join(stale)}; run testing/sdk/queries/expect.py", file=sys.stderr)
    return 1 if stale else 0


def pages():
    items = json.loads((HERE / "items.json").read_text())
    for group in GROUPS:
        names = [entry["name"] for entry in group.entries]
        assert len(set(names)) == len(names), f"two queries of {group.name} have one name"
        entries = [written(entry, items) for entry in group.entries]
        yield HERE / f"{group.name}.json", "[\n" + ",\n".join(map(page_entry, entries)) + "\n]\n"


def written(entry, items):
    docs = [item for item in items if entry["pk"] is U or same(at(item, "pk"), entry["pk"])]
    rows = list(entry["answer"](docs))
    out = {"name": entry["name"], "query": entry["query"]}
    if entry["parameters"]:
        out["parameters"] = [parameter(*each) for each in entry["parameters"].items()]
    out["scope"] = "cross" if entry["pk"] is U else {"pk": entry["pk"]}
    out["ordered"] = entry["ordered"] or entry["close"]
    out |= {flag: True for flag in ("close", "resume") if entry[flag]}
    if entry["pk"] is U and not entry["ordered"] and splits(entry["answer"], docs, rows):
        out["splits"] = True
    if entry["skip"]:
        out["skip"] = entry["skip"]
    return out | {"expect": rows}


def parameter(name, value):
    return {"name": name} if value is ... else {"name": name, "value": value}


def splits(answer, docs, rows):
    """Whether asking each item alone gives the same rows as asking all: then any split of the items does."""
    try:
        parts = [row for doc in docs for row in answer([doc])]
    except (ValueError, IndexError, ZeroDivisionError):
        return False
    return as_texts(parts) == as_texts(rows)


def as_texts(rows):
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def page_entry(entry):
    """One member a line, one row a line: readable, and small in a diff."""
    lines = [f"    {json.dumps(name)}: {compact(value)}" for name, value in entry.items() if name != "expect"]
    rows = ",\n".join(f"      {compact(row)}" for row in entry["expect"])
    lines.append('    "expect": [' + (f"\n{rows}\n    ]" if rows else "]"))
    return "  {\n" + ",\n".join(lines) + "\n  }"


def compact(value):
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
