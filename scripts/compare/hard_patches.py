#!/usr/bin/env python3
"""Patches that are hard to place, with one right answer each: how many are placed, and is any placed wrong?

usage: hard_patches.py MENDIT REPOSITORY... [--seed N] [--per-kind N]

Each case is a commit of a clone, changed as models and time change patches: made for an older state (stale),
with another unit or amount of indentation, without numbers among repeats that the heading tells apart, with
blocks that build on each other, or with a part of it in the file already. Right is the file as it must be;
a refusal is none, any other content is wrong. Needs git and Python 3.
"""
import argparse
import collections
import os
import random
import re
import subprocess
import sys
import tempfile

KINDS = ["stale", "unit", "tabs", "shifted", "added in blanks", "headings", "repeats", "partly applied", "partly applied files", "built up"]


def git(folder, *words, text=None):
    done = subprocess.run(["git", "-C", folder, *words], input=text, capture_output=True, encoding="utf-8", errors="surrogateescape")
    return done.stdout if done.returncode == 0 else None


def hunks(diff):
    """Header and body lines of each hunk of a diff of one file."""
    found = []
    for line in diff.splitlines():
        if line.startswith("@@"):
            found.append((line, []))
        elif found and line[:1] in " +-":
            found[-1][1].append(line)
        elif found:
            return []
    return found


def commits(folder, rng):
    """File, texts before and after, and the diff, of commits that change one code file in few lines."""
    log = git(folder, "log", "--no-merges", "--format=%H", "-n", "3000", "--", "*.py", "*.ts", "*.js") or ""
    ids = log.split()
    rng.shuffle(ids)
    for one in ids:
        names = git(folder, "diff-tree", "--no-commit-id", "--name-status", "-r", one) or ""
        rows = [row.split("\t") for row in names.splitlines()]
        code = [row[1] for row in rows if row[0] == "M" and re.search(r"\.(py|ts|js)$", row[1])]
        if not code or len(rows) > 6:
            continue
        for path in code[:2]:
            before, after = git(folder, "show", f"{one}^:{path}"), git(folder, "show", f"{one}:{path}")
            diff = git(folder, "diff", "--no-color", f"{one}^", one, "--", path)
            if before and after and diff and "\r" not in before and "\0" not in before and len(diff) < 8000 and len(before) < 200000:
                parts = hunks(diff)
                if parts:
                    yield one, path, before, after, parts


def patch(path, parts):
    return f"--- a/{path}\n+++ b/{path}\n" + "".join(head + "\n" + "".join(line + "\n" for line in body) for head, body in parts)


def applied(before, parts):
    """The text with some hunks of a true diff of it."""
    rows, out, at = before.splitlines(True), [], 0
    for head, body in parts:
        start, count = re.match(r"@@ -(\d+)(?:,(\d+))?", head).groups()
        start = int(start) - (0 if count == "0" else 1)
        out += rows[at:start]
        at = start
        for line in body:
            if line[0] == " ":
                out.append(rows[at])
                at += 1
            elif line[0] == "-":
                at += 1
            else:
                out.append(line[1:] + "\n")
    return "".join(out + rows[at:])


def respelled(body, of):
    return [line[0] + of(line[1:]) for line in body]


def indent(line):
    return len(line) - len(line.lstrip(" "))


def once(text, lines):
    return text.count("\n" + "\n".join(lines) + "\n") == 1


def made(kind, folder, one, path, before, after, parts, rng):
    """The files as they stand, the reply, and the files as they must be; None where the commit does not serve."""
    removed = [line for _, body in parts for line in body if line[0] == "-"]
    old = [[line[1:] for line in body if line[0] != "+"] for _, body in parts]
    bare = [("@@ @@", body) for _, body in parts]
    unique = all(once("\n" + before, lines) for lines in old)
    if kind == "stale":
        later = (git(folder, "log", "--format=%H", "--reverse", "--ancestry-path", f"{one}^..HEAD", "--", path) or "").split()
        earlier = (git(folder, "log", "--format=%H", "-n", "6", f"{one}^", "--", path) or "").split()
        for number in earlier[1:]:
            base = git(folder, "show", f"{number}:{path}")
            with tempfile.TemporaryDirectory() as scratch:
                names = [os.path.join(scratch, it) for it in "abc"]
                for name, text in zip(names, (base or "", before, after)):
                    open(name, "w", encoding="utf-8", errors="surrogateescape").write(text)
                merged = subprocess.run(["git", "merge-file", "-p", names[0], names[1], names[2]], capture_output=True, encoding="utf-8", errors="surrogateescape")
                fits = subprocess.run(["patch", "-s", "-F0", "--dry-run", names[0]], input=patch(path, parts), capture_output=True, text=True).returncode == 0
            if base and merged.returncode == 0 and not fits and merged.stdout != base:
                return {path: base}, patch(path, parts), {path: merged.stdout}
        return None
    if kind in ("unit", "tabs", "shifted"):
        if not unique or not removed or any("\t" in line for line in before.splitlines()) or not all(any(indent(it) for it in lines) for lines in old):
            return None
        lines = [line[1:] for _, body in parts for line in body if line[1:].strip()]
        if kind == "shifted":
            if any(indent(it) < 4 for it in lines):
                return None
            return {path: before}, patch(path, [(h, respelled(b, lambda it: it[4:] if it.strip() else it)) for h, b in bare]), {path: after}
        unit = 4 if path.endswith(".py") else 2
        if any(indent(it) % unit for it in lines) or len({indent(it) for lines in old for it in lines if it.strip()}) < 2:
            return None
        to = "\t" if kind == "tabs" else " " * (6 - unit)
        return {path: before}, patch(path, [(h, respelled(b, lambda it: to * (indent(it) // unit) + it.lstrip(" "))) for h, b in bare]), {path: after}
    if kind == "added in blanks":
        unit = 4 if path.endswith(".py") else 2
        texts = [before, after]
        if any(indent(it) % unit for text in texts for it in text.splitlines()) or "\t" in before + after or not any(line[0] == "+" and indent(line[1:]) for _, b in parts for line in b):
            return None
        tab = lambda text: "\n".join("\t" * (indent(it) // unit) + it.lstrip(" ") for it in text.split("\n"))
        body = [(h, [line if line[0] == "+" else line[0] + tab(line[1:]) for line in b]) for h, b in parts]
        return {path: tab(before)}, patch(path, body), {path: tab(after)}
    if kind == "headings":
        if len(parts) != 1 or not unique or not path.endswith(".py"):
            return None
        head, body = parts[0]
        inner = [it for it in old[0] if it.strip()]
        heading = re.match(r"@@[^@]*@@ *(.*)", head).group(1)
        if any(indent(it) < 4 for it in inner) or not re.match(r"def \w+\(", heading):
            return None
        # Two more functions that hold the same lines.
        block = "\n".join(old[0])
        more = "".join(f"\n\ndef other_{n}(a):\n    if a:\n        pass\n{block}\n" for n in range(2))
        number = re.sub(r"-\d+", lambda it: f"-{int(it.group()[1:]) + 3}", head, count=1)
        number = re.sub(r"\+\d+", lambda it: f"+{int(it.group()[1:]) + 3}", number, count=1)
        end = "" if before.endswith("\n") else "\n"
        return {path: before + end + more}, patch(path, [(number, body)]), {path: after + end + more}
    if kind == "repeats":
        if len(parts) < 2 or not unique:
            return None
        again = parts + [parts[rng.randrange(len(parts))]]
        return {path: before}, patch(path, again), {path: after}
    if kind == "partly applied":
        if len(parts) < 2 or not unique:
            return None
        part = [it for it in parts if rng.random() < 0.5] or parts[:1]
        if len(part) == len(parts) or not all(any(len(line.strip()) > 8 and line[0] == "+" for line in b) for _, b in part):
            return None
        return {path: applied(before, part)}, patch(path, parts), {path: after}
    if kind == "partly applied files":
        extra = "def extra():\n    return 1\n"
        reply = patch(path, parts) + "--- a/more.py\n+++ b/more.py\n@@ -1,2 +1,2 @@\n def extra():\n-    return 0\n+    return 1\n"
        return {path: before, "more.py": extra}, reply, {path: after, "more.py": extra}
    if kind == "built up":
        head, body = parts[0]
        new = [line[1:] for line in body if line[0] != "-"]
        fresh = [line[1:] for line in body if line[0] == "+" and line.strip("+ ") and line[1:] not in before]
        if len(parts) != 1 or not unique or not fresh or after.count(fresh[0]) != 1:
            return None
        block = lambda a, b: f"{path}\n<<<<<<< SEARCH\n" + "".join(it + "\n" for it in a) + "=======\n" + "".join(it + "\n" for it in b) + ">>>>>>> REPLACE\n\n"
        return {path: before}, block(old[0], new) + block([fresh[0]], [fresh[0] + "  "]), {path: after.replace(fresh[0] + "\n", fresh[0] + "  \n")}
    raise ValueError(kind)


def ending(program, files, reply, right):
    with tempfile.TemporaryDirectory() as folder:
        def write(path, text):
            os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
            open(os.path.join(folder, path), "w", encoding="utf-8", errors="surrogateescape", newline="").write(text)

        for path, text in files.items():
            write(path, text)
        for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "commit", "-qm", "base"]):
            git(folder, *words)
        words = [program, "apply", "--allow-protected", "**", "-"]
        done = subprocess.run(words, cwd=folder, input=reply, capture_output=True, encoding="utf-8", errors="surrogateescape")

        def read(path):
            return open(os.path.join(folder, path), encoding="utf-8", errors="surrogateescape", newline="").read()

        if done.returncode:
            dirty = any(read(path) != text for path, text in files.items())
            code = re.findall(r"P\d{3}", done.stdout + done.stderr)
            return ("dirty" if dirty else "refused", code[0] if code else "?")
        return ("right" if all(read(path) == text for path, text in right.items()) else "wrong", "")


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("program")
    asked.add_argument("repositories", nargs="+")
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--per-kind", type=int, default=12)
    asked.add_argument("--show", help="print the reply of this case")
    asked = asked.parse_args()
    program = os.path.abspath(asked.program)
    counts = collections.defaultdict(collections.Counter)
    for folder in asked.repositories:
        rng = random.Random(f"{asked.seed} {os.path.basename(folder)}")
        most = max(1, asked.per_kind // len(asked.repositories))
        left = {kind: most for kind in KINDS}
        for number, found in enumerate(commits(folder, rng)):
            if number > 400 or not any(left.values()):
                break
            for kind in KINDS:
                case = made(kind, folder, *found, rng) if left[kind] else None
                if case is None or case[2] == case[0]:
                    continue
                left[kind] -= 1
                files, reply, right = case
                name = f"{kind}/{found[0][:10]}:{found[1]}"
                if asked.show:
                    if asked.show == name:
                        print(reply)
                    continue
                said, code = ending(program, files, reply, right)
                counts[kind][said] += 1
                if said in ("wrong", "dirty") or code:
                    print(f"{said} {code} {name}")
    total = collections.Counter()
    for kind, count in counts.items():
        total.update(count)
        print(f"{kind:22} {count['right']:3} of {sum(count.values()):3} right, {count['refused']} refused, {count['wrong']} wrong, {count['dirty']} dirty")
    print(f"{'all':22} {total['right']:3} of {sum(total.values()):3} right, {total['refused']} refused, {total['wrong']} wrong, {total['dirty']} dirty")


main()
