# Notes which lines of functions below MENDIT_TRACE_ROOT run in this process and which do not, and writes both into
# a file of its own in MENDIT_TRACE_OUT when it ends. Takes itself off the path and lets another sitecustomize run.
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
del sys.modules["sitecustomize"]
try:
    import sitecustomize  # noqa: F401
except ImportError:
    pass


def _start():
    import atexit
    import threading

    root = os.path.realpath(os.environ["MENDIT_TRACE_ROOT"]) + os.sep
    out = os.environ["MENDIT_TRACE_OUT"]
    seen = {}
    most = 200000

    def lines_of(name):
        if name in seen:
            return seen[name]
        path = os.path.realpath(name) if os.path.isabs(name) else ""
        own = path.startswith(root) and not any(
            part in ("site-packages", "node_modules", ".tox", ".venv", "venv") for part in path.split(os.sep)
        )
        seen[name] = set() if own else None
        return seen[name]

    def of_functions(code):
        found = set()
        if code.co_flags & 1:
            found.update(line for _, _, line in code.co_lines() if line)
            found.discard(code.co_firstlineno)
        for inner in code.co_consts:
            if hasattr(inner, "co_lines"):
                found |= of_functions(inner)
        return found

    def write():
        found = {}
        for name, lines in list(seen.items()):
            if lines is None:
                continue
            path = os.path.realpath(name)
            try:
                with open(path, "rb") as file:
                    idle = of_functions(compile(file.read(), path, "exec", dont_inherit=True)) - lines
            except (OSError, ValueError, SyntaxError, AttributeError):
                idle = set()
            found[path[len(root):]] = (lines, idle)
        try:
            with open(os.path.join(out, "%d.lines" % os.getpid()), "w", encoding="utf-8") as file:
                for name, both in sorted(found.items()):
                    rows = [" ".join(map(str, sorted(lines))) for lines in both]
                    file.write("%s\t%s\t%s\n" % (name, *rows))
        except OSError:
            pass

    monitoring = getattr(sys, "monitoring", None)
    if monitoring is not None:
        tool = 4
        try:
            monitoring.use_tool_id(tool, "mendit")
        except ValueError:
            return

        def line(code, number):
            lines = lines_of(code.co_filename)
            if lines is not None and code.co_flags & 1 and len(lines) < most:
                lines.add(number)
            return monitoring.DISABLE

        monitoring.register_callback(tool, monitoring.events.LINE, line)
        monitoring.set_events(tool, monitoring.events.LINE)
    else:

        def local(frame, event, _):
            if event == "line":
                lines = lines_of(frame.f_code.co_filename)
                if lines is not None and len(lines) < most:
                    lines.add(frame.f_lineno)
            return local

        def enter(frame, _event, _):
            code = frame.f_code
            if lines_of(code.co_filename) is None or not code.co_flags & 1:
                return None
            return local

        sys.settrace(enter)
        threading.settrace(enter)
    atexit.register(write)


try:
    _start()
except Exception:
    pass
