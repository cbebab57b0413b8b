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
    for name in spec["new"]:
        # What a new file would hide from every import.
        sys.modules.pop(name, None)
        try:
            if not spec["marked"]:
                __import__(name)
        except Exception:
            pass
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
        if not spec["history"]:
            os.environ["GIT_DIR"] = os.devnull
    module = type(sys)(name)
    module.__file__ = where
    sys.modules[name] = module
    exec(compile(text, where, "exec"), module.__dict__)
    said = {"passed": 0, "failed": 0, "skipped": 0, "partly": False}
    if "autouse" in text or any(needs_runner(module, names) for names in spec["tests"]):
        del sys.modules[name]
        return by_runner(spec, here, text, own, said)
    for names in spec["tests"]:
        said[one(module, names, own)] += 1
    return said


def is_runner(name):
    return name.split(".")[0] in ("unittest", "pytest", "_pytest", "pluggy")


def needs_runner(module, names):
    """Whether a test is given more than a table has, or its module or folder prepares something."""
    found = module
    for name in names:
        found = getattr(found, name)
    code = getattr(getattr(found, "__func__", found), "__code__", None)
    given = set(code.co_varnames[: code.co_argcount]) if code else set()
    for mark in getattr(found, "pytestmark", []):
        if mark.name == "parametrize":
            columns = mark.args[0]
            given -= {it.strip() for it in (columns.split(",") if isinstance(columns, str) else columns)}
        if mark.name == "usefixtures":
            return True
    if given - {"self"}:
        return True
    folder = os.path.dirname(os.path.abspath(module.__file__))
    while folder != os.path.dirname(folder):
        path = os.path.join(folder, "conftest.py")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                if "autouse" in file.read():
                    return True
        if folder == os.getcwd():
            break
        folder = os.path.dirname(folder)
    return False


def by_runner(spec, here, text, own, said):
    """pytest runs the tests, without the names and variables that it leaves."""
    import pytest

    target = spec["file"]
    if not own:
        target = os.path.join(os.path.dirname(target), "entry.py")
        if os.path.exists(target):
            return said
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
    said["partly"] = True

    class Plain:
        @pytest.hookimpl(hookwrapper=True)
        def pytest_pyfunc_call(self, pyfuncitem):
            inner = getattr(pyfuncitem.obj, "__func__", pyfuncitem.obj)
            if not spec["marked"]:
                sys.argv = ["entry"]
                for key in list(os.environ):
                    if key.startswith("PYTEST"):
                        del os.environ[key]
                if hasattr(inner, "__code__") and not hasattr(inner, "__wrapped__") and not own:
                    inner.__code__ = inner.__code__.replace(co_name="entry")
            yield

        def pytest_runtest_logreport(self, report):
            if report.when == "call" or report.outcome != "passed":
                said[report.outcome if report.when == "call" else "skipped"] += 1

    if spec["marked"]:
        sys.argv = ["/usr/bin/pytest", spec["file"]]
    tests = ["::".join([target, *names]) for names in spec["tests"]]
    pytest.main(["-q", "-p", "no:cacheprovider", *tests], plugins=[Plain()])
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
            hidden = {} if own else {name: sys.modules.pop(name) for name in list(sys.modules) if is_runner(name)}
            try:
                value = function(**row)
                if hasattr(value, "__await__"):
                    import asyncio
                    asyncio.run(value)
            finally:
                sys.modules.update(hidden)
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
