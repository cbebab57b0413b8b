#!/usr/bin/env python3
"""What judging a patch costs beside git apply: CPU seconds and memory, both in one sitting.

usage: patch_cost.py MENDIT [REPOSITORY OLD NEW]

One hunk in small files and in one of 3,000 lines, 1,000 small patches in one process against as many of git,
and, of a clone, the Python and TypeScript that changed between two revisions. The least of five runs, of two
for what is large. Needs git and Python 3.
"""
import json
import os
import subprocess
import sys
import tempfile


def cost(words, folder, runs):
    """CPU seconds, MB and exit code: the cheapest run."""
    found = []
    for _ in range(runs):
        child = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        found.append((used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)))
    return min(found)


def told(name, git, ours, bound):
    ratio = ours[0] / max(git[0], 1e-9)
    print(f"{name:34} git {git[0]:8.4f} s {git[1]:6.0f} MB   mendit {ours[0]:8.4f} s {ours[1]:6.0f} MB   {ratio:5.1f} times (bar {bound}), exit {ours[2]}")


def made(folder, files):
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)) or folder, exist_ok=True)
        open(os.path.join(folder, path), "w").write(text)
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "commit", "-qm", "base"]):
        subprocess.run(["git", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def code(lines):
    return "".join(f"def f{n}(a, b):\n    c = a + {n}\n    if c > b:\n        return [c, b, {n}]\n    return {{'a': a, 'n': {n}}}\n\n\n" for n in range(lines // 7))


def hunk(path, text, row):
    rows = text.splitlines()
    body = "".join(f" {it}\n" for it in rows[row - 3:row]) + f"-{rows[row]}\n+{rows[row].replace('a + ', 'a - ')}\n" + "".join(f" {it}\n" for it in rows[row + 1:row + 4])
    return f"--- a/{path}\n+++ b/{path}\n@@ -{row - 2},7 +{row - 2},7 @@\n{body}"


def small(program):
    with tempfile.TemporaryDirectory() as folder:
        files = {"small.txt": code(210), "small.py": code(210), "large.py": code(3010), **{f"m/f{n}.py": code(140) for n in range(1000)}}
        made(folder, files)
        for path, row, bound in (("small.txt", 71, 4), ("small.py", 71, 4), ("large.py", 1401, 8)):
            name = os.path.join(folder, ".git", "x.patch")
            open(name, "w").write(hunk(path, files[path], row))
            told(path, cost(["git", "apply", "--check", name], folder, 5), cost([program, "check", name], folder, 5), bound)
        listed, each = os.path.join(folder, ".git", "all.jsonl"), os.path.join(folder, ".git", "each.sh")
        with open(listed, "w") as lines, open(each, "w") as script:
            for n in range(1000):
                name = os.path.join(folder, ".git", f"{n}.patch")
                text = hunk(f"m/f{n}.py", files[f"m/f{n}.py"], 71)
                open(name, "w").write(text)
                lines.write(json.dumps({"id": n, "patch": text}) + "\n")
                script.write(f"git apply --check {name}\n")
        told("1,000 small patches", cost(["sh", each], folder, 2), cost([program, "check", "--batch", listed], folder, 2), 1)


def large(program, repository, old, new):
    with tempfile.TemporaryDirectory() as folder:
        tree, name = os.path.join(folder, "tree"), os.path.join(folder, "x.patch")
        subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", repository, tree], check=True)
        subprocess.run(["git", "checkout", "-q", "--detach", old], cwd=tree, check=True)
        diff = ["git", "diff", "--no-renames", "--no-color", "--full-index", old, new, "--", "*.py", "*.ts", "*.tsx"]
        subprocess.run(diff, cwd=tree, check=True, stdout=open(name, "wb"))
        size = os.path.getsize(name) / 1e6
        ours = cost([program, "check", "--allow-protected", "**", name], tree, 2)
        told(f"{size:.1f} MB of {os.path.basename(repository)}", cost(["git", "apply", "--check", name], tree, 2), ours, 3)
        print(f"{'':34} memory {ours[1] / size:.1f} times the patch (bar 4)")


if len(sys.argv) not in (2, 5):
    sys.exit(__doc__)
small(os.path.abspath(sys.argv[1]))
if len(sys.argv) == 5:
    large(os.path.abspath(sys.argv[1]), *sys.argv[2:])
