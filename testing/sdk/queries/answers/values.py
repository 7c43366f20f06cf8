"""What a query's values do, said a second time: undefined, three-valued logic, the one order of all values.

The answers of the matrix are written with these few words and plain Python. Nothing here reads SQL.
"""

import functools
import json


class Undefined:
    def __repr__(self):
        return "undefined"

    def __bool__(self):
        raise TypeError("undefined is neither true nor false")


U = Undefined()


def at(value, *path):
    """The value at a path of member names and places; undefined where there is none."""
    for step in path:
        if isinstance(step, str):
            value = value[step] if isinstance(value, dict) and step in value else U
        else:
            value = value[step] if isinstance(value, list) and 0 <= step < len(value) else U
    return value


def kind(value):
    """A word for the type, as the language tells types apart."""
    if value is U:
        return "undefined"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    return {int: "number", float: "number", str: "string", list: "array", dict: "object"}[type(value)]


def is_number(value):
    return kind(value) == "number"


def is_string(value):
    return kind(value) == "string"


def defined(value):
    return value is not U


# --- comparison -------------------------------------------------------------------------------------------------

def same(a, b):
    """Deep equality of defined values. Python's own takes True for 1, so types come first."""
    if kind(a) != kind(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    return a == b


def eq(a, b):
    return U if a is U or b is U else same(a, b)


def ne(a, b):
    return not_(eq(a, b))


def _ordered(test):
    def compare(a, b):
        comparable = kind(a) == kind(b) and kind(a) in ("null", "bool", "number", "string")
        return test(rank(a), rank(b)) if comparable else U
    return compare


lt = _ordered(lambda a, b: a < b)
le = _ordered(lambda a, b: a <= b)
gt = _ordered(lambda a, b: a > b)
ge = _ordered(lambda a, b: a >= b)


def between(value, low, high):
    return and_(ge(value, low), le(value, high))


def is_in(value, *choices):
    return or_(*(eq(value, each) for each in choices))


TYPES = ["undefined", "null", "bool", "number", "string", "array", "object"]


def rank(value):
    """A key that sorts scalars as ORDER BY does."""
    name = kind(value)
    assert name in TYPES[:5], f"{name} has no order here"
    within = {"undefined": 0, "null": 0}.get(name, value)
    return TYPES.index(name), within.encode() if name == "string" else within


# --- logic ------------------------------------------------------------------------------------------------------

def and_(*sides):
    if any(side is False for side in sides):
        return False
    return True if all(side is True for side in sides) else U


def or_(*sides):
    if any(side is True for side in sides):
        return True
    return False if all(side is False for side in sides) else U


def not_(side):
    return not side if isinstance(side, bool) else U


# --- arithmetic and text ----------------------------------------------------------------------------------------

def numbers(operation):
    """The operation on numbers; undefined for anything else."""
    @functools.wraps(operation)
    def applied(*operands):
        return operation(*operands) if all(map(is_number, operands)) else U
    return applied


def texts(operation):
    """The operation on strings; undefined for anything else."""
    @functools.wraps(operation)
    def applied(*operands):
        return operation(*operands) if all(map(is_string, operands)) else U
    return applied


def utf16(text):
    """How many UTF-16 code units the text has: what LENGTH counts."""
    return len(text.encode("utf-16-le")) // 2


# --- rows -------------------------------------------------------------------------------------------------------

def obj(**members):
    """A row of a select list: undefined members are left out."""
    return {name: value for name, value in members.items() if value is not U}


def arr(*elements):
    return [element for element in elements if element is not U]


def rows(values):
    """The rows of SELECT VALUE: undefined ones are left out."""
    return [value for value in values if value is not U]


def where(docs, condition):
    return [doc for doc in docs if condition(doc) is True]


def of(docs, name):
    """The documents of one kind."""
    return [doc for doc in docs if doc["kind"] == name]


def one(docs, id):
    return [doc for doc in docs if doc["id"] == id]


def ids(docs):
    return [doc["id"] for doc in docs]


def distinct(values):
    found = []
    for value in values:
        if not any(same(value, each) for each in found):
            found.append(value)
    return found


def groups(docs, *keys):
    """The documents by the values of these functions: [((value, …), documents), …]."""
    found = {}
    for doc in docs:
        values = tuple(key(doc) for key in keys)
        found.setdefault(json.dumps([repr(v) for v in values]), (values, []))[1].append(doc)
    return list(found.values())


# --- aggregates -------------------------------------------------------------------------------------------------

def total(values):
    """SUM: undefined as soon as one defined value is no number; 0 of none."""
    given = rows(values)
    return sum(given) if all(map(is_number, given)) else U


def average(values):
    given = rows(values)
    return sum(given) / len(given) if given and all(map(is_number, given)) else U


def least(values):
    return _extreme(values, min)


def most(values):
    return _extreme(values, max)


def _extreme(values, choose):
    given = rows(values)
    if not given or any(kind(value) in ("array", "object") for value in given):
        return U
    return choose(given, key=rank)
