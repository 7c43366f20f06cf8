#!/usr/bin/env python3
"""COMPAT.md, from features.toml and what the suites recorded.

    compat.py              writes COMPAT.md
    compat.py --check      fails when COMPAT.md differs from what the results say
    compat.py --summary    prints `N passed, M failed`, and fails when one failed or none ran

A cell says yes only if every test of its feature passed, over http and over https. What nobody tested says so.
What the query language knows is asked of the server binary itself (ORRERY_BIN, else the newer of target/release
and target/debug), and a function is listed only where a golden case calls it.
"""

import difflib
import json
import os
import re
import subprocess
import sys
import tomllib
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COMPAT = ROOT / "COMPAT.md"
CASES = ROOT / "crates/models/query/cases"
TRANSPORTS = {"http", "https"}


def main(arguments):
    results = {sdk: read_results(sdk) for sdk in SDKS}
    match arguments:
        case []:
            COMPAT.write_text(page(results))
        case ["--check"]:
            return check(page(results))
        case ["--summary"]:
            return summary(results)
        case _:
            return fail(__doc__)
    return 0


# --- the SDKs ---------------------------------------------------------------------------------------------------

def version(path, pattern):
    return re.search(pattern, (HERE / path).read_text())[1]


PYTHON = version("python/requirements.txt", r"azure-cosmos==(\S+)")
JAVASCRIPT = version("js/package.json", r'"@azure/cosmos": "(.+?)"')
RUST = version("rust/Cargo.toml", r'azure_data_cosmos = \{ version = "=(.+?)"')

# Name of the results file: (column, package, version).
SDKS = {
    "python": ("Python", "azure-cosmos", PYTHON),
    "python-aio": ("Python aio", "azure-cosmos (aio)", PYTHON),
    "javascript": ("JavaScript", "@azure/cosmos", JAVASCRIPT),
    "rust": ("Rust", "azure_data_cosmos", RUST),
}


# --- input ------------------------------------------------------------------------------------------------------

def read_results(sdk):
    path = HERE / "results" / f"{sdk}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def read_tables():
    return tomllib.loads((HERE / "features.toml").read_text())


def read_features(results):
    features = read_tables()["feature"]
    known = {feature["key"]: feature for feature in features}
    for sdk, rows in results.items():
        for row in rows:
            feature = known.get(row["feature"])
            if feature is None or feature.get("planned") or sdk in feature.get("absent", {}):
                sys.exit(f"{sdk} tested {row['feature']}, which features.toml does not expect")
    return features


# --- output -----------------------------------------------------------------------------------------------------

def page(results):
    features = read_features(results)
    sections = [section(name, list(rows), results) for name, rows in groupby(features, lambda f: f["section"])]
    return "\n".join([INTRODUCTION, sdk_table(), *sections, language()])


INTRODUCTION = """\
# Compatibility

What the official Azure SDKs, unmodified, do against Orrery's Cosmos DB endpoint. This page is written by
`testing/sdk/compat.py` from the results of `testing/sdk/run.sh`, so it promises only what a test has shown.

- **yes**: every test of it passed, over http and over https.
- **no**: a test of it failed.
- **planned**: not there yet, and not tested.
- **untested**: the suite of this SDK did not show it.
- **–**: this SDK has no such call.
"""


def sdk_table():
    rows = [f"| {column} | `{package}` | {number} |" for column, package, number in SDKS.values()]
    return "\n".join(["| SDK | package | version |", "|---|---|---|", *rows, ""])


def section(name, features, results):
    columns = " | ".join(column for column, _, _ in SDKS.values())
    table = [f"| | {columns} |", "|---" * (len(SDKS) + 1) + "|"]
    table += [f"| {each['title']} | {' | '.join(cells(each, results))} |" for each in features]
    notes = [note for each in features for note in notes_of(each)]
    return "\n".join([f"## {name}", "", *table, "", *notes, *([""] if notes else [])])


def cells(feature, results):
    return [cell(feature, sdk, results[sdk]) for sdk in SDKS]


def cell(feature, sdk, rows):
    if sdk in feature.get("absent", {}):
        return "–"
    if feature.get("planned"):
        return "planned"
    shown = [row for row in rows if row["feature"] == feature["key"]]
    if not all(row["ok"] for row in shown):
        return "**no**"
    return "yes" if {row["transport"] for row in shown} == TRANSPORTS else "untested"


def notes_of(feature):
    reasons = {}
    for sdk, reason in feature.get("absent", {}).items():
        if reason:
            reasons.setdefault(reason, []).append(SDKS[sdk][0])
    notes = [feature["note"]] if "note" in feature else []
    notes += [f"{', '.join(columns)}: {reason}" for reason, columns in reasons.items()]
    return [f"- *{feature['title']}*: {note}." for note in notes]


# --- the query language -----------------------------------------------------------------------------------------

LANGUAGE = """\
## The query language

The same for every SDK. The server binary says what is here: each query below was given to `orrery query
--explain`, and the functions are those of `orrery query --functions`.
"""

FUNCTIONS = """\
Each function is called by at least one golden case; the folder of [cases](crates/models/query/cases) that calls it most
is its family. Names are found whatever their case. Those that begin with `_` are for the plans that clients run.
"""


def language():
    binary = server_binary()
    return "\n".join([LANGUAGE, clause_table(binary), FUNCTIONS, function_table(binary)])


def server_binary():
    if "ORRERY_BIN" in os.environ:
        return os.environ["ORRERY_BIN"]
    built = [path for kind in ("release", "debug") if (path := ROOT / "target" / kind / "orrery").exists()]
    if not built:
        sys.exit("no server binary: build it (cargo build --release) or set ORRERY_BIN")
    return max(built, key=lambda path: path.stat().st_mtime)


def orrery(binary, *arguments):
    return subprocess.run([binary, "query", *arguments], capture_output=True, text=True, check=False)


def clause_table(binary):
    rows = [clause_row(binary, clause) for clause in read_tables()["clause"]]
    return "\n".join(["| clause | for example | |", "|---|---|---|", *rows, ""])


def clause_row(binary, clause):
    said = orrery(binary, "--explain", clause["query"])
    code = re.match(r"orrery: (SC\d+)", said.stderr)
    if clause.get("refused"):
        verdict = f"refused ({code[1]})" if code else "**accepted**"
    else:
        verdict = "yes" if said.returncode == 0 else "**no**"
    title, query = (clause[name].replace("|", "\\|") for name in ("title", "query"))
    return f"| {title} | `{query}` | {verdict} |"


def function_table(binary):
    listed = [line.split("\t") for line in orrery(binary, "--functions").stdout.splitlines()]
    if not listed:
        sys.exit(f"{binary} lists no functions; build it again")
    families = {}
    for name, _, kind in listed:
        families.setdefault("aggregates" if kind == "aggregate" else family(name), []).append(f"`{name}`")
    rows = [f"| {title} | {', '.join(names)} |" for title, names in sorted(families.items())]
    return "\n".join(["| family | functions |", "|---|---|", *rows, ""])


def family(name):
    calls = re.compile(rf"(?<!\w){re.escape(name)}\s*\(", re.IGNORECASE)
    folders = [folder for folder in (CASES / "functions").iterdir() if folder.is_dir()]
    counts = {folder.name: len(calls.findall(case_text(folder))) for folder in folders}
    most = max(sorted(counts), key=counts.get)
    if counts[most] == 0:
        sys.exit(f"no case in {CASES / 'functions'} calls {name}")
    return most.replace("_", " ")


def case_text(folder):
    lines = [line for path in folder.glob("*.case") for line in path.read_text().splitlines()]
    return "\n".join(line for line in lines if not line.startswith("#"))


# --- verdicts ---------------------------------------------------------------------------------------------------

def check(expected):
    actual = COMPAT.read_text() if COMPAT.exists() else ""
    if actual == expected:
        return 0
    sys.stdout.writelines(
        difflib.unified_diff(
            actual.splitlines(keepends=True), expected.splitlines(keepends=True), "COMPAT.md", "the results"
        )
    )
    return fail("COMPAT.md is not what the results say; run testing/sdk/compat.py")


def summary(results):
    verdicts = [row["ok"] for rows in results.values() for row in rows]
    print(f"{verdicts.count(True)} passed, {verdicts.count(False)} failed")
    return 0 if verdicts and all(verdicts) else 1


def fail(message):
    print(message, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
