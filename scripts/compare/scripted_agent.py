"""An agent for `mendit bench real` that knows the fix and behaves as models do, so that their habits are measured
without their skill.

  mendit bench real SETS --clones CLONES --agent "python3 /ABS/scripted_agent.py HABIT --sets /ABS/SETS --clones /ABS/CLONES"

HABIT is one of
  damaged  the whole fix whatever the packet shows, written with a mistake that models make: FORMS below, one for
           each fix in turn, the next one after a refusal; `--form NAME` takes one for all
  sighted  only what the packet shows: of the fix those changes whose lines stand in the packet, with the context
           that stands there. From level 2 on, where none does or a part was tried, it asks by name for the files of
           the fix that the index names

The fix is found by what the checkout's one commit holds. Each reply's `notes` say the form.
"""

import argparse
import difflib
import json
import subprocess
import sys
from pathlib import Path

CONTEXT = 3


def git(folder, *words, given=None):
    return subprocess.run(["git", "-C", str(folder), *words], input=given, stdout=subprocess.PIPE, check=True).stdout


def blobs(folder, names):
    """The blob of each `REVISION:PATH`; `None` for one that is not there."""
    lines = git(folder, "cat-file", "--batch-check=%(objectname)", given="\n".join(names).encode() + b"\n").decode().splitlines()
    return [None if line.endswith(("missing", "ambiguous")) else line for line in lines]


def fix_here(sets, clones):
    """(clone, fix) whose broken state the checkout's only commit holds."""
    here = dict(
        reversed(row.split(" ", 2)[2].split("\t", 1))
        for row in git(".", "ls-tree", "-r", "HEAD").decode().splitlines()
    )
    for file in sorted(Path(sets).glob("*/fixes.json")):
        known = json.loads(file.read_text())
        clone = Path(clones) / known["repository"]["name"].replace("/", "+")
        for fix in known["fixes"] if clone.exists() else []:
            laid = [(fix["commit"], path) for path in fix["taken"]]
            laid += [(fix["parent"], it["path"]) for it in fix["needed"]]
            if blobs(clone, [f"{commit}:{path}" for commit, path in laid]) == [here.get(path) for _, path in laid]:
                return clone, fix
    return None


class Change:
    """A file of the fix: as it stands in the workplace, and as it has to be (`None`: it is not there)."""

    def __init__(self, clone, fix, path):
        self.path = path
        there = Path(path)
        self.old = there.read_bytes().decode() if there.exists() else None
        (blob,) = blobs(clone, [f"{fix['commit']}:{path}"])
        self.new = git(clone, "cat-file", "blob", blob).decode() if blob else None
        self.a = (self.old or "").splitlines(True)
        self.b = (self.new or "").splitlines(True)
        self.codes = [it for it in difflib.SequenceMatcher(None, self.a, self.b, autojunk=False).get_opcodes() if it[0] != "equal"]

    def hunks(self, codes=None, context=CONTEXT, shown=None):
        """(start in the old file, lines with their marks) of each hunk; context only of lines that `shown` takes."""
        shown = shown or (lambda _: True)
        groups = []
        for _, i1, i2, j1, j2 in self.codes if codes is None else codes:
            first, last = i1, i2
            while first > 0 and i1 - first < context and shown(first):
                first -= 1
            while last < len(self.a) and last - i2 < context and shown(last + 1):
                last += 1
            if groups and first <= groups[-1][1]:
                groups[-1] = (groups[-1][0], last, groups[-1][2] + [(i1, i2, j1, j2)])
            else:
                groups.append((first, last, [(i1, i2, j1, j2)]))
        for first, last, parts in groups:
            lines, at = [], first
            for i1, i2, j1, j2 in parts:
                lines += [" " + line for line in self.a[at:i1]]
                lines += ["-" + line for line in self.a[i1:i2]] + ["+" + line for line in self.b[j1:j2]]
                at = i2
            yield first, lines + [" " + line for line in self.a[at:last]]

    def diff(self, head="@@ -{},{} +{},{} @@", line=lambda text: text, **how):
        text = f"--- {'/dev/null' if self.old is None else 'a/' + self.path}\n"
        text += f"+++ {'/dev/null' if self.new is None else 'b/' + self.path}\n"
        moved = 0
        for first, lines in self.hunks(**how):
            gone, come = (sum(it[0] in marks for it in lines) for marks in (" -", " +"))
            text += head.format(first + (gone > 0), gone, first + moved + (come > 0), come) + "\n"
            moved += come - gone
            for it in lines:
                text += line(it) if it.endswith("\n") else line(it + "\n") + "\\ No newline at end of file\n"
        return text

    def blocks(self):
        for _, lines in self.hunks():
            yield tuple("".join(it[1:] for it in lines if it[0] in marks) for marks in (" -", " +"))


def wrong_numbers(change):
    return change.diff(head="@@ -{0}7,{1} +{2}9,{3} @@")


def wrong_counts(change):
    return change.diff(head="@@ -{0},4 +{2},9 @@")


def bare_heads(change):
    return change.diff(head="@@ @@")


def short_context(change):
    return change.diff(context=1, head="@@ -1,3 +1,3 @@")


def no_context(change):
    return change.diff(context=0)


def bare_context(change):
    """Context lines without the space before them, as where an answer lost its first column."""
    return change.diff(line=lambda text: text[1:] if text[0] == " " else text)


def trimmed(change):
    """White space at the ends of lines lost, so that an empty context line is an empty line."""
    return change.diff(line=lambda text: text.rstrip() + "\n")


def search_replace(change):
    body = "\n".join(f"<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE" for old, new in change.blocks())
    return f"{change.path}\n```\n{body}\n```\n"


def envelope(change):
    lines = "".join("@@\n" + "".join(lines) for _, lines in change.hunks())
    return f"*** Update File: {change.path}\n{lines}"


def fenced(change):
    return f"This mends it:\n\n```diff\n{change.diff(head='@@ ... @@')}```\n"


FORMS = [wrong_numbers, wrong_counts, bare_heads, short_context, no_context, bare_context, trimmed, search_replace, envelope, fenced]


def damaged(packet, fix, changes, form):
    number = int(fix["commit"][:6], 16) + (packet["previous"] is not None)
    form = form or FORMS[number % len(FORMS)]
    # What is made or removed has no lines to be placed by.
    texts = [(form if change.old and change.new else Change.diff)(change) for change in changes]
    text = "".join(texts)
    if form is envelope:
        new = lambda change: f"*** Add File: {change.path}\n" + "".join("+" + it for it in change.b)
        gone = lambda change: f"*** Delete File: {change.path}\n"
        texts = [it if change.old and change.new else gone(change) if change.old else new(change) for it, change in zip(texts, changes)]
        text = "*** Begin Patch\n" + "".join(texts) + "*** End Patch\n"
    return {"status": "patch", "patch": text, "notes": form.__name__}


def sighted(packet, fix, changes, _):
    files = {it["path"]: it for it in packet["fileSnapshots"]}
    patch, unseen, parts, of = "", [], 0, 0
    for change in changes:
        file = files.get(change.path)
        ranges = file["ranges"] if file else []
        whole = change.old is None or (file is not None and file["mode"] == "full")
        shown = lambda line: whole or any(first <= line <= last for first, last in ranges)

        def visible(code):
            _, i1, i2, _, _ = code
            return all(map(shown, range(i1 + 1, i2 + 1))) if i2 > i1 else shown(i1) or shown(i1 + 1)

        codes = [it for it in change.codes if visible(it)]
        parts, of = parts + len(codes), of + len(change.codes)
        if codes:
            patch += change.diff(codes=codes, shown=shown)
        if len(codes) < len(change.codes):
            unseen.append(change.path)
    named = {it["path"] for it in packet["repoIndex"]["files"]}
    asked = [path for path in unseen if path in named]
    notes = f"{parts} of {of} changes are shown"
    # A part that did not do is not sent again where the rest can be asked for.
    if asked and packet["contextLevel"] >= 2 and (packet["previous"] or not patch):
        return {"status": "request_files", "requestedFiles": asked, "notes": notes}
    if patch:
        return {"status": "patch", "patch": patch, "notes": notes}
    return {"status": "give_up", "notes": notes}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("habit", choices=["damaged", "sighted"])
    args.add_argument("--sets", required=True)
    args.add_argument("--clones", required=True)
    args.add_argument("--form", choices=[it.__name__ for it in FORMS])
    args = args.parse_args()
    packet = json.load(sys.stdin)
    found = fix_here(args.sets, args.clones)
    if found is None:
        return {"status": "give_up", "notes": "this checkout holds the broken state of no known fix"}
    clone, fix = found
    changes = [Change(clone, fix, it["path"]) for it in fix["needed"]]
    changes = [it for it in changes if it.codes or (it.old is None) != (it.new is None)]
    form = next((it for it in FORMS if it.__name__ == args.form), None)
    return {"damaged": damaged, "sighted": sighted}[args.habit](packet, fix, changes, form)


if __name__ == "__main__":
    json.dump(main(), sys.stdout)
