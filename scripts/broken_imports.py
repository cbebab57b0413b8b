#!/usr/bin/env python3
"""Breaks imports of real packages, one place each, and has `mendit repair` mend them under the real tests, without an agent.

  broken_imports.py --repos DIR --bin target/debug/mendit --python VENV/bin/python [--each 12] [--seed 1] [--only click,flask]

DIR holds git clones, with or without a work tree, of which those in REPOS are used. A state is one of: a module of the
package misspelt in an import, a name misspelt in one, a name that `__init__` no longer passes on, a module that has another
name now. The broken tree is the only commit, so that history does not hold the answer. A state counts when the tests that
pass without it fail with it. Mended: the run is `fixed` and the tests pass with the patch alone; wrong: `fixed`, and they
do not, or a test was changed; the same: the files are as they were before they were broken. With --json each state is a line.
"""
import argparse
import ast
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile

# The clone, its package, and tests that need nothing but the package and pytest.
REPOS = {
    "pallets+click": ("src/click", ["tests/test_basic.py", "tests/test_options.py", "tests/test_arguments.py"]),
    "pytest-dev+pluggy": ("src/pluggy", ["testing"]),
    "pallets+werkzeug": ("src/werkzeug", ["tests/test_datastructures.py", "tests/test_routing.py", "tests/test_http.py"]),
    "pallets+jinja": ("src/jinja2", ["tests/test_api.py", "tests/test_filters.py", "tests/test_imports.py"]),
    "pallets+flask": ("src/flask", ["tests/test_basic.py", "tests/test_blueprints.py", "tests/test_config.py"]),
    "un33k+python-slugify": ("slugify", ["test.py"]),
    "encode+httpx": ("httpx", ["tests/models", "tests/test_config.py"]),
    "encode+starlette": ("starlette", ["tests/test_datastructures.py", "tests/test_routing.py", "tests/test_requests.py"]),
    "psf+requests": ("src/requests", ["tests/test_structures.py", "tests/test_utils.py", "tests/test_hooks.py"]),
}
KINDS = ("module", "member", "reexport", "moved")


def run(*command, cwd=None, env=None, timeout=300):
    return subprocess.run(command, cwd=cwd, env=env, timeout=timeout, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def git(root, *words):
    return run("git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", *words, cwd=root)


def misspelt(name, pick):
    """One slip: two letters in each other's place, or one too few."""
    at = [i for i in range(1, len(name) - 1) if name[i].isalpha() and name[i + 1].isalpha() and name[i] != name[i + 1]]
    if len(name) < 5 or not at:
        return None
    i = pick.choice(at)
    return name[:i] + name[i + 1] + name[i] + name[i + 2:] if pick.random() < 0.5 else name[:i] + name[i + 1:]


def states(root, package, tests, pick):
    """(kind, what, edits): a path and its new text, None where it goes."""
    folders = {root / test.split("/")[0] for test in tests}
    tested = [it.read_text(encoding="utf8") for folder in folders for it in ([folder] if folder.is_file() else folder.rglob("*.py"))]
    files = sorted((root / package).rglob("*.py"))
    own = {path.stem for path in files}
    found = []
    for path in files:
        name, text = str(path.relative_to(root)), path.read_text(encoding="utf8")
        lines = text.splitlines(keepends=True)
        for node in ast.parse(text).body:
            local = isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] == pathlib.Path(package).name)
            if not local or node.lineno != node.end_lineno:
                continue
            line = lines[node.lineno - 1]
            put = lambda new: {name: "".join(lines[: node.lineno - 1]) + new + "".join(lines[node.lineno:])}
            last = (node.module or "").split(".")[-1]
            slip = misspelt(last, pick)
            if slip and slip not in own and line.count(last) == 1:
                found.append(("module", f"{name}: {last} -> {slip}", put(line.replace(last, slip))))
            one = pick.choice(node.names)
            slip = misspelt(one.name, pick)
            if slip and len(node.names) == 1 and line.count(one.name) == 1 and not one.asname:
                found.append(("member", f"{name}: {one.name} -> {slip}", put(line.replace(one.name, slip))))
            if path.name == "__init__.py" and len(node.names) == 1:
                found.append(("reexport", f"{name}: {one.name}", put("")))
        # What tests themselves name by its place has no other place for them.
        named = any(path.stem in text for text in tested)
        if path.stem != "__init__" and path.stem != "__main__" and not named:
            to = str(path.with_name(path.stem + pick.choice(["_impl", "_core", "lib"]) + ".py").relative_to(root))
            found.append(("moved", f"{name} -> {to}", {name: None, to: text}))
    return found


def lay(root, edits):
    for name, text in edits.items():
        path = root / name
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(text, encoding="utf8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--each", type=int, default=12, help="states of a repository")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    asked = parser.parse_args()
    program, python = os.path.abspath(asked.bin), os.path.abspath(asked.python)
    total, rows = collections.defaultdict(collections.Counter), []
    for repo, (package, tests) in REPOS.items():
        bare = pathlib.Path(asked.repos) / repo
        if not bare.exists() or (asked.only and not any(it in repo for it in asked.only.split(","))):
            continue
        pick = random.Random(f"{asked.seed} {repo}")
        with tempfile.TemporaryDirectory(prefix="broken-") as scratch:
            root = pathlib.Path(scratch) / "work"
            run("git", "clone", "-q", str(bare), str(root))
            shutil.rmtree(root / ".git")
            environment = {**os.environ, "PYTHONPATH": str(root / pathlib.Path(package).parent), "PYTHONDONTWRITEBYTECODE": "1"}
            environment["XDG_STATE_HOME"] = scratch + "/state"
            line = [python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
            passes = lambda: run(*line, cwd=root, env=environment).returncode == 0
            if not passes():
                print(f"{repo}: its tests do not pass here, skipped", flush=True)
                continue
            pool = states(root, package, tests, pick)
            pick.shuffle(pool)
            taken = collections.Counter()
            for kind, what, edits in pool:
                if sum(taken.values()) >= asked.each:
                    break
                if taken[kind] >= -(-asked.each // len(KINDS)):
                    continue
                before = {name: (root / name).read_text(encoding="utf8") if (root / name).exists() else None for name in edits}
                lay(root, edits)
                if passes():
                    lay(root, before)
                    continue
                taken[kind] += 1
                for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "broken"]):
                    git(root, *words)
                out = pathlib.Path(scratch) / f"out{len(rows)}"
                command = " ".join([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests])
                repaired = run(
                    program, "repair", "--test", command, "--env", "PYTHONPATH", "--env", "PYTHONDONTWRITEBYTECODE",
                    "--out", str(out), "--apply", cwd=root, env=environment, timeout=900,
                )
                try:
                    result = json.loads((out / "result.json").read_text())
                except (OSError, ValueError):
                    result = {"status": "none", "stopReason": repaired.stderr[-300:]}
                changed = git(root, "status", "--porcelain", "--untracked-files=all").stdout.splitlines()
                in_tests = [it for it in changed if it[3:].split("/")[0] in {test.split("/")[0] for test in tests}]
                fixed = result.get("status") == "fixed"
                good = fixed and passes() and not in_tests
                same = all((root / name).exists() == (text is not None) and (text is None or (root / name).read_text() == text) for name, text in before.items())
                row = {"repo": repo, "kind": kind, "what": what, "fixed": fixed, "mended": good, "same": same, "tests": in_tests, "reason": result.get("stopReason")}
                rows.append(row)
                for key in ((kind,), ("all",)):
                    total[key].update(states=1, mended=good, wrong=fixed and not good, same=same, tests=bool(in_tests))
                mark = "mended" if good else "WRONG" if fixed else "left"
                print(f"{mark:7} {kind:9} {repo:22} {what}  {'' if good else result.get('stopReason')}", flush=True)
                git(root, "checkout", "-q", "-f", ".")
                git(root, "clean", "-qfd")
                shutil.rmtree(root / ".git")
                lay(root, before)
    for (kind,), one in sorted(total.items()):
        share = 100 * one["mended"] / one["states"]
        print(f"{kind:9} states {one['states']:4} mended {one['mended']:4} {share:5.1f} %  wrong {one['wrong']}  the same files {one['same']:4}  tests touched {one['tests']}")
    if asked.json:
        pathlib.Path(asked.json).write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
