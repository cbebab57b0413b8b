#!/usr/bin/env python3
"""How often `mendit why` names the change that was put in: scripts/why_causes.py CLONES [--count 10] [--seed 1]
    [--modules FOLDER]

CLONES holds clones (or bare repositories, or folders with one called `repo`) named owner+name, of projects
whose tests run here; FOLDER holds theirs by the same names with `node_modules` installed. For each a stretch
of its own history is taken: the files of a commit, with the product changes of the commits after it either not
committed (form `worktree`) or as commits (form `commits`), the tests as they are at the end. A line of product
code that stood before is then broken where a test notices, among those innocent changes. Right: exactly that
line is named. `unknown` is no wrong answer.

MENDIT: the program (default target/debug/mendit). Prints a row a case and the sums.
"""
import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# name of the clone: product (pathspecs), tests (pathspec and their names), the command of one file
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
VITEST = ["node_modules/.bin/vitest", "run"]
MOCHA = ["node_modules/.bin/mocha", "--require", "test/support/env", "--reporter", "spec", "--check-leaks"]
IN_PYTHON = r"test_\w+\.py$|test\.py$"
BESIDE = ":(exclude,glob)**/*.test.ts*"
PROJECTS = {
    "pallets+click": (["src/click"], "tests", IN_PYTHON, PYTEST),
    "pallets+flask": (["src/flask"], "tests", IN_PYTHON, PYTEST),
    "pallets+jinja": (["src/jinja2"], "tests", IN_PYTHON, PYTEST),
    "encode+httpx": (["httpx"], "tests", IN_PYTHON, PYTEST),
    "encode+starlette": (["starlette"], "tests", IN_PYTHON, PYTEST),
    "psf+requests": (["src/requests"], "tests", IN_PYTHON, PYTEST),
    "pallets+werkzeug": (["src/werkzeug"], "tests", IN_PYTHON, PYTEST),
    "pallets+itsdangerous": (["src/itsdangerous"], "tests", IN_PYTHON, PYTEST),
    "pytest-dev+pluggy": (["src/pluggy"], "testing", IN_PYTHON, PYTEST),
    "un33k+python-slugify": (["slugify"], "test.py", IN_PYTHON, PYTEST),
    "immerjs+immer": (["src"], "__tests__", r"__tests__/[\w-]+\.[jt]sx?$", VITEST),
    "pmndrs+zustand": (["src"], "tests", r"\.test\.tsx?$", VITEST),
    "honojs+hono": (["src", BESIDE], "src", r"\.test\.tsx?$", [*VITEST, "--coverage.enabled=false"]),
    "tj+commander.js": (["lib", "index.js"], "tests", r"\.test\.js$", ["node", "--test"]),
    "koajs+koa": (["lib"], "__tests__", r"\.test\.js$", ["node", "--test"]),
    "expressjs+express": (["lib"], "test", r"test/[\w.]+\.js$", MOCHA),
}
BREAKS = {
    ".py": [
        (r" == ", " != "), (r" != ", " == "), (r" < ", " >= "), (r" > ", " <= "), (r" is not None", " is None"),
        (r" is None", " is not None"), (r" and ", " or "), (r"\bTrue\b", "False"), (r"\bFalse\b", "True"),
        (r" \+ 1\b", " + 2"), (r" not in ", " in "), (r"\bif not ", "if "), (r"\breturn (?=[a-z])", "return not "),
    ],
    ".js": [
        (r" === ", " !== "), (r" !== ", " === "), (r" < ", " >= "), (r" > (?!=)", " <= "), (r" && ", " || "),
        (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r" \+ 1\b", " + 2"), (r"\bif \(!", "if ("),
        (r"\breturn (?=[a-z])", "return !"), (r" \|\| ", " && "), (r" \?\? ", " && "),
    ],
}
arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("clones")
arguments.add_argument("--count", type=int, default=10, help="cases for each project and form")
arguments.add_argument("--seed", type=int, default=1)
arguments.add_argument("--modules", default="", help="folder of checkouts with `node_modules`")
arguments.add_argument("--only", default="", help="names of clones, with commas between")
arguments.add_argument("--forms", default="worktree,commits")
arguments.add_argument("--keep", action="store_true", help="keep the folders of wrong cases")
asked = arguments.parse_args()
program = os.path.abspath(os.environ.get("MENDIT", os.path.join(ROOT, "target", "debug", "mendit")))
ENV = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PYTHONDONTWRITEBYTECODE": "1",
       **{f"GIT_{who}_{what}": "t@example.invalid" if what == "EMAIL" else "t"
          for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}}


def git(where, *words, text=True, check=True):
    return subprocess.run(["git", *words], cwd=where, env=ENV, check=check, capture_output=True, text=text).stdout


def run_tests(where, project, test):
    """The exit code and the output of one file of tests; None when it takes more than a minute."""
    product, _, _, command = project
    env = {**ENV, "PYTHONPATH": os.path.join(where, os.path.dirname(product[0])), "CI": "1"}
    command = [*command, test]
    with subprocess.Popen(command, cwd=where, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as running:
        try:
            out, err = running.communicate(timeout=60)
            return subprocess.CompletedProcess(command, running.returncode, out, err)
        except subprocess.TimeoutExpired:
            # What it started goes with it.
            os.killpg(running.pid, signal.SIGKILL)
            return None


def passes(where, project, test):
    ran = run_tests(where, project, test)
    return ran is not None and ran.returncode == 0


def hunks(where, base, product):
    return git(where, "diff", "-U0", base, "--", *product).count("\n@@ ")


def extension(path):
    return next((own for own, all in {".py": [".py"], ".js": [".js", ".ts", ".tsx"]}.items()
                 if os.path.splitext(path)[1] in all), None)


def broken(rng, where, project, test):
    """A line of product code that a test notices when it is broken: path, number, old, new."""
    files = [f for f in git(where, "ls-files", *project[0]).split() if extension(f) and ".d.ts" not in f]
    loads = r"(?m)^ERROR |SyntaxError|Failed Suites|Cannot find module|error: Could not find"
    for _ in range(60):
        path = rng.choice(files)
        lines = open(os.path.join(where, path), encoding="utf8").read().split("\n")
        number = rng.randrange(len(lines))
        old = lines[number]
        fits = [row for row in BREAKS[extension(path)] if re.search(row[0], old)]
        if not fits or old.strip().startswith(("#", '"', "'", "@", "*", "/")) or lines.count(old) > 1:
            continue
        pattern, to = rng.choice(fits)
        new = re.sub(pattern, to, old, count=1)
        lines[number] = new
        with open(os.path.join(where, path), "w", encoding="utf8") as file:
            file.write("\n".join(lines))
        ran = run_tests(where, project, test)
        if ran is not None and 0 < ran.returncode < 99 and not re.search(loads, ran.stdout + ran.stderr):
            return path, number + 1, old, new
        git(where, "checkout-index", "-f", "--", path)
    return None


def case(rng, name, clone, project, form, where):
    """Makes a case in `where`: the line that is broken and the test, or None."""
    product, tests, names, _ = project
    commits = git(clone, "rev-list", "--first-parent", "HEAD", "--", *product).split()
    head = commits[rng.randrange(0, min(40, len(commits) - 1))]
    line = git(clone, "rev-list", "--first-parent", "--max-count=51", head).split()
    shutil.rmtree(where, ignore_errors=True)
    git(clone, "clone", "-q", "--shared", "--no-checkout", clone, where)
    git(where, "update-ref", "--no-deref", "HEAD", head)
    git(where, "reset", "-q", "--hard")
    modules = os.path.join(os.path.abspath(asked.modules), name, "node_modules")
    if project[3] is not PYTEST:
        # Links to the same files, as pnpm lays them.
        subprocess.run(["cp", "-al", modules, os.path.join(where, "node_modules")], check=True)
    found = [f for f in git(where, "ls-files", tests).split() if re.search(names, f)]
    for _ in range(12):
        test = rng.choice(found)
        back = rng.randrange(5, len(line)) if form == "worktree" else len(line) - 1
        base = line[back]
        if form == "worktree" and not 3 <= hunks(where, base, product) <= 60:
            continue
        # The test must hold on the old product as well.
        git(where, "checkout", "-q", base, "--", *product)
        held = passes(where, project, test)
        git(where, "reset", "-q", "--hard")
        if not (held and passes(where, project, test)):
            continue
        return arrange(rng, where, project, test, form, line[: back + 1], head)
    return None


def arrange(rng, where, project, test, form, line, head):
    product = project[0]
    hit = broken(rng, where, project, test)
    if hit is None:
        return None
    path, number, old, new = hit
    whole = open(os.path.join(where, path), encoding="utf8").read()
    if form == "worktree":
        base = line[-1]
        stood = subprocess.run(["git", "show", f"{base}:{path}"], cwd=where, env=ENV, capture_output=True, text=True)
        if old not in stood.stdout.split("\n"):
            # What is broken would be one hunk with what is new.
            return None
        git(where, "reset", "-q", "--soft", base)
        git(where, "reset", "-q", "--", *product)
        git(where, "commit", "-q", "--allow-empty", "-m", "base with the tests of the end")
        git(where, "reset", "-q")
        return path, old, new, test, hunks(where, "HEAD", product)
    # The line is broken in one of the commits and stays so.
    commits = list(reversed(line))
    holds = [at for at, commit in enumerate(commits)
             if old in (subprocess.run(["git", "show", f"{commit}:{path}"], cwd=where, env=ENV,
                                       capture_output=True, text=True).stdout or "").split("\n")]
    at = next((at for at in holds if at > 0 and all(it in holds for it in range(at, len(commits)))), None)
    if at is None:
        return None
    at = rng.randrange(at, len(commits))
    parent = commits[0]
    bad = None
    for index, commit in enumerate(commits[1:], 1):
        git(where, "read-tree", commit)
        if index >= at:
            text = git(where, "show", f"{commit}:{path}").replace(f"\n{old}\n", f"\n{new}\n", 1)
            blob = subprocess.run(["git", "hash-object", "-w", "--stdin"], cwd=where, env=ENV, input=text,
                                  capture_output=True, text=True).stdout.strip()
            git(where, "update-index", "--cacheinfo", f"100644,{blob},{path}")
        tree = git(where, "write-tree").strip()
        parent = git(where, "commit-tree", "-p", parent, "-m", f"step {index}", tree).strip()
        bad = bad or (parent if index >= at else None)
    git(where, "update-ref", "--no-deref", "HEAD", parent)
    git(where, "reset", "-q", "--hard")
    if open(os.path.join(where, path), encoding="utf8").read() != whole or passes(where, project, test):
        return None
    return path, old, new, test, len(commits), bad


def why(where, project, test, line):
    env = {**ENV, "PYTHONPATH": os.path.dirname(project[0][0]) or ".", "XDG_STATE_HOME": os.path.join(where, "..", "state"),
           "XDG_CACHE_HOME": os.path.join(where, "..", "cache")}
    since = ["--since", line] if line else []
    command = ["python" if it == sys.executable else it for it in project[3]]
    words = [program, "why", *since, "--format", "json", "--env", "PYTHONPATH", "--", *command, test]
    began = time.time()
    ran = subprocess.run(words, cwd=where, env=env, capture_output=True, text=True, timeout=900)
    try:
        return json.loads(ran.stdout), time.time() - began
    except ValueError:
        return {"verdict": "error", "message": ran.stderr[-300:], "cause": []}, time.time() - began


rows = []
scratch = tempfile.mkdtemp(prefix="why-causes-")
for name, project in PROJECTS.items():
    clone = os.path.join(os.path.abspath(asked.clones), name)
    clone = next((c for c in (os.path.join(clone, "repo"), clone) if os.path.isdir(c)), None)
    lacks = project[3] is not PYTEST and not os.path.isdir(os.path.join(asked.modules, name, "node_modules"))
    if clone is None or lacks or (asked.only and name not in asked.only.split(",")):
        continue
    for form in asked.forms.split(","):
        rng = random.Random(f"{asked.seed} {name} {form}")
        made = tries = 0
        while made < asked.count and tries < asked.count * 4:
            tries += 1
            where = os.path.join(scratch, f"{name}-{form}-{tries}")
            try:
                found = case(rng, name, clone, project, form, where)
            except (subprocess.CalledProcessError, UnicodeDecodeError, IndexError, ValueError) as error:
                print(f"  no case: {error}", file=sys.stderr)
                continue
            if found is None:
                continue
            made += 1
            path, old, new, test, size, *bad = found
            base = git(where, "rev-list", "--first-parent", "--max-count=51", "HEAD").split()[-1] if bad else None
            before = git(where, "status", "--porcelain")
            document, seconds = why(where, project, test, base)
            places = [(it["path"], it["diff"]) for it in document["cause"]]
            right = len(places) == 1 and places[0][0] == path and f"+{new.rstrip()}\n" in places[0][1]
            if bad:
                right = right and document["cause"][0]["commit"] == bad[0]
            touched = git(where, "status", "--porcelain") != before
            wrong = document["verdict"] == "caused" and not right
            rows.append((form, right, wrong, document.get("runs", 0), document.get("wholeRuns", 0), seconds, touched))
            rank = next((at for at, it in enumerate(document.get("suspects", []), 1)
                         if it["path"] == path and f"+{new.rstrip()}\n" in it["diff"]), None)
            word = "right" if right else "WRONG" if wrong else document["verdict"]
            print(f"{name} {form} {size} {word} runs {document.get('runs')}+{document.get('wholeRuns')} {seconds:.1f} s rank {rank} "
                  f"{path}: {document['message'][:150]}", flush=True)
            if not (asked.keep and not right):
                shutil.rmtree(where, ignore_errors=True)
            else:
                print(f"  kept {where} {test}: {old.strip()} -> {new.strip()}")
if not asked.keep:
    shutil.rmtree(scratch, ignore_errors=True)
for form in asked.forms.split(","):
    of_form = [row for row in rows if row[0] == form]
    if of_form:
        runs = sorted(row[3] + row[4] for row in of_form)
        print(f"{form}: {sum(r[1] for r in of_form)} of {len(of_form)} named, wrong {sum(r[2] for r in of_form)}, "
              f"median {runs[len(runs) // 2]} runs, at most {runs[-1]}; worktree touched {sum(r[6] for r in of_form)}")
