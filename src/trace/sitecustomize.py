# Notes which lines of functions below MENDIT_TRACE_ROOT run in this process and which do not, by the tests that pass
# and that fail where pytest or unittest says which one runs, and writes that into a file of its own in
# MENDIT_TRACE_OUT. Takes itself off the path and lets another sitecustomize run.
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
_OWN = sys.modules.pop("sitecustomize")
try:
    import sitecustomize  # noqa: F401
except ImportError:
    # What loads this expects it there.
    sys.modules["sitecustomize"] = _OWN


def _start():
    import atexit
    import threading
    import time
    import types

    root = os.path.realpath(os.environ["MENDIT_TRACE_ROOT"]) + os.sep
    out = os.path.join(os.environ["MENDIT_TRACE_OUT"], "%d.lines" % os.getpid())
    with open(os.environ["MENDIT_TRACE_FIRST"], encoding="utf-8") as file:
        first = set(file.read().split("\n")) - {""}
    seconds = float(os.environ["MENDIT_TRACE_SECONDS"])
    within = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    monitoring = getattr(sys, "monitoring", None)
    now = {}  # by file: the lines since a test began or ended; None for a file of others
    counts = {}  # by file: of each line the tests that fail and that pass
    failing = []
    state = {"depth": 0, "bad": False, "passing": 0, "written": time.monotonic(), "pid": os.getpid()}
    most = 200000
    calls = {}

    # By its id, or by the heading of its failure, which leaves out the file.
    def is_first(name):
        return name in first or name.partition("::")[2].replace("::", ".") in first

    def lines_of(name):
        if name not in now:
            path = os.path.realpath(name) if os.path.isabs(name) else ""
            own = path.startswith(root) and not any(
                part in ("site-packages", "node_modules", ".tox", ".venv", "venv") for part in path.split(os.sep)
            )
            now[name] = set() if own else None
        return now[name]

    # What ran since the last time goes to the test that ends, or to none.
    def close(column):
        for name, lines in list(now.items()):
            if not lines:
                continue
            rows = counts.setdefault(name, {})
            for line in list(lines):
                row = rows.get(line)
                if row is None:
                    if len(rows) > most:
                        continue
                    row = rows[line] = [0, 0]
                if column is not None:
                    row[column] += 1
            lines.clear()
        calls.clear()
        if monitoring is not None:
            monitoring.restart_events()

    def begin():
        state["depth"] += 1
        if state["depth"] == 1:
            close(None)
            state["bad"] = False

    def end(name):
        state["depth"] -= 1
        if state["depth"] == 0:
            # What fails beside those that are asked for is neither, and one that runs again is counted once.
            column = 0 if state["bad"] else 1
            if column == 0 and (name in failing or (first and not is_first(name))):
                column = None
            if column == 0:
                failing.append(name)
            elif column == 1:
                state["passing"] += 1
            close(column)
            if first and not is_first(name) and "session" in state:
                state.setdefault("others", time.monotonic())
                if time.monotonic() - state["others"] > seconds:
                    state["session"].shouldstop = "enough was seen of the other tests"
            # A run that is cut short leaves what was seen.
            if time.monotonic() - state["written"] > 3:
                write(False)
                state["written"] = time.monotonic()

    def of_functions(code):
        found = set()
        if code.co_flags & 1:
            found.update(line for _, _, line in code.co_lines() if line)
            found.discard(code.co_firstlineno)
        for inner in code.co_consts:
            if hasattr(inner, "co_lines"):
                found |= of_functions(inner)
        return found

    def idle_of(path, ran):
        try:
            with open(path, "rb") as file:
                return of_functions(compile(file.read(), path, "exec", dont_inherit=True)) - set(ran)
        except (OSError, ValueError, SyntaxError, AttributeError):
            return set()

    def write(whole=True):
        if os.getpid() != state["pid"]:
            return
        close(None)
        rows = ["@\t%d\t%d\n" % (len(failing), state["passing"])]
        for name, lines in sorted((name, counts.get(name, {})) for name, lines in now.items() if lines is not None):
            path = os.path.realpath(name)
            idle = idle_of(path, lines) if whole else ()
            ran = " ".join("%d/%d/%d" % (line, *row) if any(row) else str(line) for line, row in sorted(lines.items()))
            rows.append("%s\t%s\t%s\n" % (path[len(root):], ran, " ".join(map(str, sorted(idle)))))
        try:
            with open(out + ".new", "w", encoding="utf-8", errors="replace") as file:
                file.write("".join(rows))
            os.replace(out + ".new", out)
        except OSError:
            pass

    def pytest_plugin():
        plugin = types.ModuleType("mendit_trace", "PYTEST_DONT_REWRITE")

        # The controller of several workers is told of their tests and runs none itself.
        def pytest_runtest_logreport(report):
            if state["depth"] == 1 and report.failed and not hasattr(report, "node"):
                state["bad"] = True

        # The failing tests run first, as they would alone; then the others, whatever the command leaves out.
        def pytest_configure(config):
            if first and not within:
                config.option.maxfail = 0
                config.option.keyword = ""

        def pytest_collection_modifyitems(session, items):
            if first and not within:
                state.setdefault("session", session)
                items.sort(key=lambda item: not is_first(item.nodeid))

        pytest_collection_modifyitems.pytest_impl = {
            **dict.fromkeys(("hookwrapper", "wrapper", "optionalhook", "tryfirst"), False),
            "trylast": True,
            "specname": None,
        }
        plugin.pytest_configure = pytest_configure
        plugin.pytest_collection_modifyitems = pytest_collection_modifyitems
        plugin.pytest_runtest_logstart = lambda nodeid, location: begin()
        plugin.pytest_runtest_logreport = pytest_runtest_logreport
        plugin.pytest_runtest_logfinish = lambda nodeid, location: end(nodeid)
        sys.modules["mendit_trace"] = plugin

    def unittest_cases():
        import unittest

        run = unittest.TestCase.run

        def traced(case, result=None):
            def problems():
                return len(getattr(result, "failures", ())) + len(getattr(result, "errors", ()))

            before = problems()
            begin()
            try:
                return run(case, result)
            finally:
                state["bad"] = state["bad"] or problems() > before
                end(case.id())

        unittest.TestCase.run = traced

    pytest_plugin()
    if not within and first and not any("::" in name for name in first):
        unittest_cases()

    if monitoring is not None:
        tool = 4
        try:
            monitoring.use_tool_id(tool, "mendit")
        except ValueError:
            return

        events = monitoring.events

        # Lines are asked for in the repository's own functions alone: they are few of all that run.
        def start(code, _offset):
            if code.co_flags & 1 and lines_of(code.co_filename) is not None:
                monitoring.set_local_events(tool, code, events.LINE)
            return monitoring.DISABLE

        def line(code, number):
            now[code.co_filename].add(number)
            return monitoring.DISABLE

        monitoring.register_callback(tool, events.PY_START, start)
        monitoring.register_callback(tool, events.LINE, line)
        monitoring.set_events(tool, events.PY_START)
    else:

        def local(frame, event, _):
            if event == "line":
                now[frame.f_code.co_filename].add(frame.f_lineno)
            return local

        # A function is looked at in its first calls of a test: each line costs as much as many of its own.
        def enter(frame, _event, _):
            code = frame.f_code
            lines = now.get(code.co_filename, 0)
            if lines == 0:
                lines = lines_of(code.co_filename)
            if lines is None or not code.co_flags & 1:
                return None
            seen = calls[code] = calls.get(code, 0) + 1
            return local if seen <= 20 else None

        sys.settrace(enter)
        threading.settrace(enter)
    atexit.register(write)


try:
    _start()
except Exception:
    pass
