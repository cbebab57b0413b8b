#!/usr/bin/env python3
"""How much of a fix packets show when the failing tests were run under the trace:
    scripts/traced_sight.py CASES CLONES ENVS TOOLS [--budgets 8000,16000,32000] [--only REPO,...] [--no-trace]

CASES is a folder with cases.jsonl (id, repo, commit, parent, tests, needed, command), CLONES holds clones named
owner+name, ENVS environments by the name of the repository alone: a folder with `bin` for Python, one with
`node_modules` for node, either with a `prepare.sh` that is run in the checkout first. TOOLS holds packet_eval.py, whose measure this is. The worktree is the parent of the fix
with the fix's tests in it; `mendit run` runs the command, `mendit context` makes packets of the last run.

MENDIT: the program (default target/debug/mendit). Prints a row a case and the means.
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
for name in ("cases", "clones", "envs", "tools"):
    arguments.add_argument(name)
arguments.add_argument("--budgets", default="8000,16000,32000")
arguments.add_argument("--only", default="", help="repositories or ids, with commas between")
arguments.add_argument("--no-trace", action="store_true")
arguments.add_argument("--keep", default="", help="work in folders below this one and leave them there")
asked = arguments.parse_args()
sys.path.insert(0, asked.tools)
from packet_eval import changes, seen  # noqa: E402

program = os.path.abspath(os.environ.get("MENDIT", os.path.join(ROOT, "target", "debug", "mendit")))
budgets = [int(it) for it in asked.budgets.split(",")]
sums = collections.defaultdict(list)


def git(where, *words, check=True):
    return subprocess.run(["git", *words], cwd=where, check=check, capture_output=True)


def prepared(case, where):
    """The checkout at the parent with the fix's tests, and the variables for its commands."""
    if not os.path.isdir(where):
        git(".", "clone", "-q", "--shared", "--no-checkout",
            os.path.join(os.path.abspath(asked.clones), case["repo"].replace("/", "+")), where)
        git(where, "checkout", "-q", "-f", "--detach", case["parent"])
        git(where, "checkout", "-q", case["commit"], "--", *case["tests"])
        git(where, "config", "user.email", "t@example.invalid")
        git(where, "config", "user.name", "t")
        git(where, "commit", "-q", "-m", "the tests of the fix")
    environment = os.path.join(os.path.abspath(asked.envs), case["repo"].split("/")[1])
    modules = os.path.join(environment, "node_modules")
    if os.path.isdir(modules) and not os.path.exists(os.path.join(where, "node_modules")):
        subprocess.run(["cp", "-al", modules, os.path.join(where, "node_modules")], check=True)
    prepare = os.path.join(environment, "prepare.sh")
    if os.path.exists(prepare):
        subprocess.run(["sh", prepare], cwd=where, check=True)
    state = {f"XDG_{it}_HOME": os.path.join(where + ".kept", it.lower()) for it in ("STATE", "CACHE")}
    return {**os.environ, **state, "PATH": os.path.join(environment, "bin") + os.pathsep + os.environ["PATH"],
            "PYTHONDONTWRITEBYTECODE": "1", "CI": "1"}


def measured(case, where):
    env = prepared(case, where)
    off = ["--no-trace"] if asked.no_trace else []
    began = time.time()
    shutil.rmtree(where + ".kept", ignore_errors=True)
    line = case["command"]
    if line.startswith("PYTHONPATH= ") and os.path.isdir(os.path.join(where, "src")):
        line = line.replace("PYTHONPATH= ", "PYTHONPATH=src ", 1)
    ran = subprocess.run([program, "run", "--no-why", "--out", where + ".packet", *off, line], cwd=where, env=env,
                         capture_output=True, text=True, errors="replace", timeout=900)
    seconds = time.time() - began
    want = changes(where, case["parent"], case["commit"], case["needed"])
    row = []
    for budget in budgets:
        words = [program, "context", *off, "--level", "auto", "--max-tokens", str(budget), "--format", "json"]
        told = subprocess.run(words, cwd=where, env=env, capture_output=True, text=True, timeout=300)
        try:
            files = {it["path"]: it.get("content") or "" for it in json.loads(told.stdout)["files"]}
        except ValueError:
            print(f"  {told.stderr[-200:]}", file=sys.stderr)
            files = {}
        shown = [path in files and seen(files[path], gone, around) for path, gone, around in want]
        row.append(sum(shown) / len(shown))
        sums[budget].append(row[-1])
    found = []
    for base, _, names in os.walk(where + ".kept"):
        found += [os.path.join(base, name) for name in names if name == "trace.json"]
    traced = {"failing": 0, "passing": 0, **(json.load(open(found[0]))["fact"] if found else {})}
    print(case["id"], ran.returncode, f"{seconds:.1f} s", f"traced {traced['failing']} and {traced['passing']}",
          " ".join(f"{it:.3f}" for it in row), flush=True)


scratch = asked.keep or tempfile.mkdtemp(prefix="traced-sight-")
for line in open(os.path.join(asked.cases, "cases.jsonl")):
    case = json.loads(line)
    names = asked.only.split(",")
    name = case["repo"].split("/")[1]
    known = os.path.isdir(os.path.join(asked.envs, name))
    if known and (not asked.only or case["repo"] in names or case["id"] in names):
        measured(case, os.path.join(os.path.abspath(scratch), case["id"]))
for budget in budgets:
    print(f"{budget}: sight {sum(sums[budget]) / max(1, len(sums[budget])):.3f} of {len(sums[budget])}")
if not asked.keep:
    shutil.rmtree(scratch, ignore_errors=True)
