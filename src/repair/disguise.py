"""Calls tests as plain functions. `spec.json` beside this file says which; what came of it is left there, too."""
import json
import os
import sys


def call(spec):
    here = os.getcwd()
    folder = os.path.dirname(os.path.join(here, spec["file"]))
    base = folder
    while os.path.exists(os.path.join(base, "__init__.py")):
        base = os.path.dirname(base)
    sys.path[0:1] = [base, here]
    sys.path.append(os.path.join(here, "src"))
    with open(os.path.join(here, spec["file"]), encoding="utf-8") as file:
        text = file.read()
    own = spec["marked"] or spec["keeps"]
    stem = os.path.splitext(os.path.basename(spec["file"]))[0]
    name = stem if own else "entry"
    where = os.path.join(here, spec["file"]) if own else os.path.join(here, "entry.py")
    if spec["marked"]:
        sys.argv = ["/usr/bin/pytest", spec["file"]]
        os.environ["PYTEST_CURRENT_TEST"] = spec["file"] + "::test (call)"
        os.environ["PYTEST_VERSION"] = "8"
        import unittest  # noqa: F401
        try:
            import pytest  # noqa: F401
        except ImportError:
            pass
    else:
        sys.argv = ["entry"]
        for key in list(os.environ):
            if key.startswith("PYTEST"):
                del os.environ[key]
    module = type(sys)(name)
    module.__file__ = where
    sys.modules[name] = module
    exec(compile(text, where, "exec"), module.__dict__)
    said = {"passed": 0, "failed": 0, "skipped": 0}
    for names in spec["tests"]:
        said[one(module, names, own)] += 1
    return said


def one(module, names, own):
    found = module
    for name in names[:-1]:
        found = getattr(found, name)
    holder = found
    case = None
    if isinstance(found, type):
        plain = "unittest" not in sys.modules or not issubclass(found, sys.modules["unittest"].TestCase)
        case = found() if plain else found(names[-1])
        holder = case
    function = getattr(holder, names[-1])
    inner = getattr(function, "__func__", function)
    if not own and hasattr(inner, "__code__") and not hasattr(inner, "__wrapped__"):
        inner.__code__ = inner.__code__.replace(co_name="entry")
    before, after = ("setUp", "tearDown") if hasattr(case, "setUp") else ("setup_method", "teardown_method")
    count = inner.__code__.co_argcount - (case is not None) if hasattr(inner, "__code__") else 0
    given = inner.__code__.co_varnames[case is not None:][:count] if count else ()
    rows = [{}]
    for mark in getattr(inner, "pytestmark", []):
        if mark.name == "skip" or mark.name == "skipif":
            return "skipped"
        if mark.name == "parametrize":
            columns, values = mark.args[:2]
            columns = [it.strip() for it in columns.split(",")] if isinstance(columns, str) else list(columns)
            cells = [getattr(value, "values", value) if hasattr(value, "marks") else value for value in values]
            cells = [tuple(cell) if len(columns) > 1 or hasattr(value, "marks") else (cell,)
                     for cell, value in zip(cells, values)]
            rows = [{**row, **dict(zip(columns, cell))} for row in rows for cell in cells]
    if set(given) - set(rows[0]):
        return "skipped"
    ended = "passed"
    for row in rows:
        try:
            if hasattr(type(case), "setUpClass"):
                type(case).setUpClass()
            if hasattr(case, before):
                getattr(case, before)()
            value = function(**row)
            if hasattr(value, "__await__"):
                import asyncio
                asyncio.run(value)
            if hasattr(case, after):
                getattr(case, after)()
            if hasattr(case, "doCleanups"):
                case.doCleanups()
        except BaseException as error:
            if type(error).__name__ in ("SkipTest", "Skipped"):
                return "skipped"
            ended = "failed"
    return ended


def begin():
    here = os.path.dirname(os.path.abspath(__file__))
    path = os.path.join(here, "spec.json")
    with open(path, encoding="utf-8") as file:
        spec = json.load(file)
    os.remove(path)
    said = call(spec)
    sys.stdout.flush()
    with open(os.path.join(here, "said.json"), "w", encoding="utf-8") as file:
        json.dump(said, file)


begin()
