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
from dataclasses import dataclass
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


PYTHON = "python/requirements.txt"
JAVASCRIPT = "js/package.json"
RUST = "rust/Cargo.toml"

# The suites, by the names of their results files; and their columns.
SDKS = {"python": "Python", "python-aio": "Python aio", "javascript": "JavaScript", "rust": "Rust"}


@dataclass(frozen=True, eq=False)
class Product:
    """A service with SDKs of its own."""

    name: str
    prefixes: tuple[str, ...]
    # For each suite that has an SDK of it: the package and its version.
    packages: dict[str, tuple[str, str]]
    note: str = ""

    def has(self, feature):
        return feature["key"].partition(".")[0] in self.prefixes


COSMOS = Product("Cosmos DB", (), {
    "python": ("azure-cosmos", version(PYTHON, r"azure-cosmos==(\S+)")),
    "python-aio": ("azure-cosmos (aio)", version(PYTHON, r"azure-cosmos==(\S+)")),
    "javascript": ("@azure/cosmos", version(JAVASCRIPT, r'"@azure/cosmos": "(.+?)"')),
    "rust": ("azure_data_cosmos", version(RUST, r'azure_data_cosmos = \{ version = "=(.+?)"')),
})  # fmt: skip

TABLES = Product("Tables", ("tables",), {
    "python": ("azure-data-tables", version(PYTHON, r"azure-data-tables==(\S+)")),
    "python-aio": ("azure-data-tables (aio)", version(PYTHON, r"azure-data-tables==(\S+)")),
    "javascript": ("@azure/data-tables", version(JAVASCRIPT, r'"@azure/data-tables": "(.+?)"')),
}, "For Rust there is none: `azure_data_tables` 0.21 is unofficial and given up by its authors.")  # fmt: skip

QUEUES = Product("Queues", ("queues",), {
    "python": ("azure-storage-queue", version(PYTHON, r"azure-storage-queue==(\S+)")),
    "python-aio": ("azure-storage-queue (aio)", version(PYTHON, r"azure-storage-queue==(\S+)")),
    "javascript": ("@azure/storage-queue", version(JAVASCRIPT, r'"@azure/storage-queue": "(.+?)"')),
    "rust": ("azure_storage_queue", version(RUST, r'azure_storage_queue = \{ version = "=(.+?)"')),
}, "That of Rust takes no account key: it is given a shared access signature of the account, or a bearer token.")  # fmt: skip

BLOBS = Product("Blobs", ("blobs",), {
    "python": ("azure-storage-blob", version(PYTHON, r"azure-storage-blob==(\S+)")),
    "python-aio": ("azure-storage-blob (aio)", version(PYTHON, r"azure-storage-blob==(\S+)")),
}, "A first slice: the suites of JavaScript and Rust are still to come.")  # fmt: skip

STORAGE = (TABLES, QUEUES, BLOBS)


def product_of(feature):
    """Features whose keys begin with no product's name are of Cosmos DB."""
    return next((product for product in STORAGE if product.has(feature)), COSMOS)


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
            if feature is None or feature.get("planned") or not can_ask(sdk, feature):
                sys.exit(f"{sdk} tested {row['feature']}, which features.toml does not expect")
    return features


def can_ask(sdk, feature):
    return sdk in product_of(feature).packages and sdk not in feature.get("absent", {})


# --- output -----------------------------------------------------------------------------------------------------

def page(results):
    features = read_features(results)
    pages = {product: [each for each in features if product_of(each) == product] for product in (COSMOS, *STORAGE)}
    storage = [part for product in STORAGE for part in storage_page(product, pages[product], results)]
    return "\n".join([INTRODUCTION, *product_page(COSMOS, pages[COSMOS], results, "##"), language(), *storage])


INTRODUCTION = """\
# Compatibility

What the official Azure SDKs, unmodified, do against Orrery's endpoints of Cosmos DB and, [at the end](#tables), of the
table, queue and blob services of Azure Storage. This page is written by `testing/sdk/compat.py` from the results of
`testing/sdk/run.sh`, so it promises only what a test has shown.

- **yes**: every test of it passed, over http and over https.
- **no**: a test of it failed.
- **planned**: not there yet, and not tested.
- **untested**: the suite of this SDK did not show it.
- **–**: this SDK has no such call.
"""


def storage_page(product, features, results):
    note = [product.note, ""] if product.note else []
    table, *sections = product_page(product, features, results, "###")
    return [f"## {product.name}", "", table, *note, *sections]


def product_page(product, features, results, heading):
    """The packages, then a table for each section."""
    sections = groupby(features, lambda feature: feature["section"])
    tables = [section(product, f"{heading} {name}", list(rows), results) for name, rows in sections]
    return [sdk_table(product), *tables]


def sdk_table(product):
    rows = [f"| {SDKS[sdk]} | `{package}` | {number} |" for sdk, (package, number) in product.packages.items()]
    return "\n".join(["| SDK | package | version |", "|---|---|---|", *rows, ""])


def section(product, title, features, results):
    columns = " | ".join(SDKS[sdk] for sdk in product.packages)
    table = [f"| | {columns} |", "|---" * (len(product.packages) + 1) + "|"]
    table += [f"| {each['title']} | {' | '.join(cells(product, each, results))} |" for each in features]
    notes = [note for each in features for note in notes_of(each)]
    return "\n".join([title, "", *table, "", *notes, *([""] if notes else [])])


def cells(product, feature, results):
    return [cell(feature, sdk, results[sdk]) for sdk in product.packages]


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
            reasons.setdefault(reason, []).append(SDKS[sdk])
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
