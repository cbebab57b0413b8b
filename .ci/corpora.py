"""The corpora and scorers that .ci/ledger and .ci/ablate run, and how each prints its figures.

A quarter of every corpus of the project's own is set aside by the hash of a case's name: rules are
written without looking at it, and figures are printed for both parts.
"""
import hashlib
import json
import os
import subprocess
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.path.join(ROOT, "..", "shared")
TOOLS = os.path.join(SHARED, "tools")


def unseen(name):
    """Whether nobody looks at a case of our own while writing rules."""
    return hashlib.sha256(name.encode()).digest()[0] < 64


def parts(results):
    """Of (name, right) the figures of both parts, as a line."""
    words = []
    for label, aside in (("seen", False), ("unseen", True)):
        part = [right for name, right in results if unseen(name) == aside]
        words.append(f"{label} {sum(part)}/{len(part)}")
    return ", ".join(words)


def own_logs(program):
    """The kinds of the logs of tests/logs."""
    folder = os.path.join(ROOT, "tests", "logs")
    with open(os.path.join(folder, "expected.toml"), "rb") as file:
        rows = tomllib.load(file)["log"]
    results = []
    for row in rows:
        line = [program, "diagnose", os.path.join(folder, row["file"]), "--format", "json"]
        answer = subprocess.run(line, capture_output=True, cwd="/").stdout
        try:
            kind = json.loads(answer).get("kind")
        except ValueError:
            kind = None
        results.append((row["file"], kind == row["kind"]))
    return "kinds right: " + parts(results)


def own_fixtures(program):
    """The fixtures that are repaired without a model."""
    line = [program, "bench", os.path.join(ROOT, "fixtures"), "--jobs", "2", "--format", "json"]
    answer = json.loads(subprocess.run(line, capture_output=True, cwd=ROOT).stdout)
    ran = [fixture for fixture in answer["fixtures"] if fixture["result"] != "skipped"]
    return "repaired: " + parts([(fixture["id"], fixture["repaired"]) for fixture in ran])


def scorers(program, clones=None, cases=None):
    """(name, how it runs): a function of ours, or a command with what it writes."""
    found = [("own logs", lambda: own_logs(program)), ("own fixtures", lambda: own_fixtures(program))]

    def tool(name, *words):
        line = [os.path.join(TOOLS, words[0]), "--bin", program, *words[1:]]
        if name == "ci_logs":
            line = [os.path.join(TOOLS, "ci_logs.py"), "score", "--bin", program]
        run = lambda: subprocess.run(line, capture_output=True, text=True, cwd=ROOT).stdout
        found.append((name, run))

    if os.path.isdir(TOOLS):
        tool("classify", "score_classify.py")
        tool("ci_logs", "ci_logs.py")
        tool("secrets", "secrets_eval.py")
        tool("hostile", "patch_eval.py", "--sets", "hostile")
        if cases:
            sets = ["--data", cases, "--sets", "mutation,real"]
            tool("patches", "patch_eval.py", *sets)
        if clones:
            tool("hints", "score_imports.py", "--repos", clones)
    return found
