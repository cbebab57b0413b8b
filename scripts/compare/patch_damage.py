#!/usr/bin/env python3
"""Real changes in the words of models that make mistakes: what the judge makes of each.

  scripts/compare/patch_damage.py --repos DIR [--changes 25] [--seed 1] [--kinds a,b] [--show N] [--second-try]

DIR holds clones (bare or not). From each, commits that change lines of one text file are taken; each
change is written down in some fifty damaged ways, and judged against the file before it. A row of the
table says how many came out right (the file after the commit, byte for byte), wrong (another file) and
refused. `place` is the share right of the kinds that can be placed at all; kinds named `refuse` have lost
what only their writer knew.

--second-try gives what was refused back to a writer that can only copy: each old line that the feedback does
not show is replaced by the line it shows that is most like it. A last row says how often that then comes out right.

Needs git and a built program: MENDIT names it, target/release/mendit if not set.
"""

import argparse
import collections
import difflib
import html
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("MENDIT") or ROOT / "target/release/mendit"

NAMES = (".py", ".ts", ".tsx", ".js", ".md", ".rst", ".json", ".toml")
KINDS = {}


def kind(what):
    """`place`: its meaning can be told; `refuse`: it cannot."""

    def keep(write):
        KINDS[write.__name__] = (what, write)
        return write

    return keep


class Judged:
    """What the program made of a patch over these files, in a folder of its own."""

    def __init__(self, files, text):
        with tempfile.TemporaryDirectory() as scratch:
            root = pathlib.Path(scratch, "files")
            for path, content in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(content.encode())
            command = [PROGRAM, "-C", root, "apply", "-", "--allow-protected", "**", "--format", "json"]
            environment = os.environ | {"XDG_STATE_HOME": scratch}
            ran = subprocess.run(command, input=text.encode(), capture_output=True, env=environment)
            self.verdict = json.loads(ran.stdout)
            after = {it.relative_to(root).as_posix(): it.read_bytes() for it in root.rglob("*") if it.is_file()}
        self.applies = ran.returncode == 0
        self.error_code, self.feedback = self.verdict["errorCode"], self.verdict["feedback"]
        self.files = {path: data for path, data in after.items() if data != files.get(path, "").encode()}
        self.files |= {path: None for path in files if path not in after}


class Change:
    """One file before and after, and the ways to speak of it that damage starts from."""

    def __init__(self, path, old, new, rng):
        self.path, self.old, self.new, self.rng = path, old, new, rng
        self.a, self.b = old.splitlines(True), new.splitlines(True)
        matcher = difflib.SequenceMatcher(None, self.a, self.b, autojunk=False)
        self.groups = list(matcher.get_grouped_opcodes(3))

    def hunks(self):
        """(old start, new start, lines with their marks) of each hunk."""
        for group in self.groups:
            lines = []
            for tag, i1, i2, j1, j2 in group:
                if tag == "equal":
                    lines += [" " + line for line in self.a[i1:i2]]
                else:
                    lines += ["-" + line for line in self.a[i1:i2]] + ["+" + line for line in self.b[j1:j2]]
            yield group[0][1], group[0][3], lines

    def diff(self, line=lambda mark, text: mark + text, head=None, old=None, new=None, order=lambda it: it):
        old = f"--- a/{self.path}\n" if old is None else old
        new = f"+++ b/{self.path}\n" if new is None else new
        text = ""
        for at, to, lines in order(list(self.hunks())):
            gone = sum(it[0] in " -" for it in lines)
            come = sum(it[0] in " +" for it in lines)
            text += (head or "@@ -{},{} +{},{} @@\n").format(at + 1, gone, to + 1, come)
            text += "".join(line(it[0], it[1:]) for it in lines)
        return old + new + text

    def blocks(self):
        """(old text, new text) of each hunk."""
        for _, _, lines in self.hunks():
            old = "".join(it[1:] for it in lines if it[0] in " -")
            yield old, "".join(it[1:] for it in lines if it[0] in " +")

    def replace(self, name=None, search="<<<<<<< SEARCH", divider="=======", end=">>>>>>> REPLACE", old=lambda it: it, new=lambda it: it):
        name = f"{self.path}\n" if name is None else name
        return "\n".join(f"{name}{search}\n{old(o)}{divider}\n{new(n)}{end}\n" for o, n in self.blocks())

    def edits(self, path="path", old="old", new="new"):
        return [{path: self.path, old: o, new: n} for o, n in self.blocks()]

    def envelope(self, name=None):
        text = f"*** Begin Patch\n*** Update File: {name or self.path}\n"
        for _, _, lines in self.hunks():
            text += "@@\n" + "".join(lines)
        return text + "*** End Patch\n"


# What surrounds a diff, and its headers.

@kind("place")
def double_spaced(c): return "".join(line + "\n" for line in c.diff().splitlines(True))

@kind("place")
def swapped_headers(c): return c.diff(old=f"+++ b/{c.path}\n", new=f"--- a/{c.path}\n")

@kind("place")
def new_header_only(c): return c.diff(old="")

@kind("place")
def old_header_only(c): return c.diff(new="")

@kind("place")
def heading_above_bare_hunks(c): return f"### {c.path}\n\n```diff\n" + c.diff(old="", new="") + "```\n"

@kind("place")
def bold_name_above_bare_hunks(c): return f"**{c.path}**\n\n```diff\n" + c.diff(old="", new="", head="@@\n") + "```\n"

@kind("place")
def backticks_around_names(c): return c.diff(old=f"--- `a/{c.path}`\n", new=f"+++ `b/{c.path}`\n")

@kind("place")
def remarks_after_names(c): return c.diff(old=f"--- a/{c.path} (original)\n", new=f"+++ b/{c.path} (modified)\n")

@kind("place")
def remark_on_new_name(c): return c.diff(new=f"+++ b/{c.path} (updated)\n")

@kind("place")
def old_and_new_folders(c): return c.diff(old=f"--- old/{c.path}\n", new=f"+++ new/{c.path}\n")

@kind("place")
def prefix_on_one_side(c): return c.diff(old=f"--- {c.path}\n")

@kind("place")
def absolute_names(c): return c.diff(old=f"--- /home/user/project/{c.path}\n", new=f"+++ /home/user/project/{c.path}\n")

@kind("place")
def dotted_names(c): return c.diff(old=f"--- ./{c.path}\n", new=f"+++ ./{c.path}\n")

@kind("place")
def names_with_lines(c): return c.diff(old=f"--- a/{c.path}:12\n", new=f"+++ b/{c.path}:12\n")

@kind("place")
def colon_after_names(c): return c.diff(old=f"--- a/{c.path}:\n", new=f"+++ b/{c.path}:\n")

@kind("place")
def words_in_heads(c): return c.diff(head="@@ line {0} @@\n")

@kind("place")
def names_in_heads(c): return c.diff(head="@@ in this function @@\n")

@kind("place")
def all_heads_alike(c): return c.diff(head="@@ -1,5 +1,5 @@\n") if len(c.groups) > 1 else None

@kind("place")
def dots_for_heads(c):
    text = c.diff(head="...\n")
    return text if len(c.groups) > 1 else None

@kind("place")
def hunks_backwards(c): return c.diff(order=lambda it: it[::-1]) if len(c.groups) > 1 else None

@kind("place")
def hunk_twice(c): return c.diff(order=lambda it: it + it[:1])

@kind("place")
def a_header_for_each_hunk(c):
    start = f"--- a/{c.path}\n+++ b/{c.path}\n"
    return start + re.sub(r"(?m)^(?=@@ )", start, c.diff(old="", new=""))[len(start):] if len(c.groups) > 1 else None

@kind("place")
def in_a_list(c): return "1. Change this:\n\n   ```diff\n" + "".join("   " + it for it in c.diff().splitlines(True)) + "   ```\n\n2. Run the tests.\n"

@kind("place")
def in_pre(c): return "<pre><code>\n" + html.escape(c.diff(), quote=False) + "</code></pre>\n"

@kind("place")
def in_a_heredoc(c): return "Run:\n```bash\ngit apply <<'EOF'\n" + c.diff() + "EOF\n```\n"

@kind("place")
def colours(c):
    paint = {"+": "32", "-": "31"}
    return "".join(f"\x1b[{paint[it[0]]}m{it[:-1]}\x1b[m\n" if it[0] in paint else it for it in c.diff().splitlines(True))

@kind("place")
def two_numbers_before_lines(c):
    old, new = 1, 1
    out = f"--- a/{c.path}\n+++ b/{c.path}\n"
    for at, to, lines in c.hunks():
        gone, come = sum(i[0] in " -" for i in lines), sum(i[0] in " +" for i in lines)
        out += f"@@ -{at + 1},{gone} +{to + 1},{come} @@\n"
        old, new = at + 1, to + 1
        for it in lines:
            left, right = (old if it[0] in " -" else ""), (new if it[0] in " +" else "")
            out += f"{left:>5} {right:>5} {it}"
            old += it[0] in " -"
            new += it[0] in " +"
    return out

# Bodies.

@kind("place")
def space_after_marks(c): return c.diff(lambda mark, text: f"{mark} {text}")

@kind("place")
def space_after_changes(c): return c.diff(lambda mark, text: f"{mark} {text}" if mark in "+-" else mark + text)

@kind("place")
def context_without_mark(c): return c.diff(lambda mark, text: text if mark == " " else mark + text)

@kind("place")
def added_before_removed(c):
    def swap(hunks):
        for at, to, lines in hunks:
            out, run = [], []
            for it in lines + [" "]:
                if it[0] == " ":
                    out += [i for i in run if i[0] == "+"] + [i for i in run if i[0] == "-"]
                    run = []
                    if it != " ": out.append(it)
                else: run.append(it)
            yield at, to, out
    return c.diff(order=swap)

@kind("place")
def patch_with_cr(c): return c.diff().replace("\n", "\r\n")

@kind("place")
def every_other_line_with_cr(c): return "".join(it[:-1] + "\r\n" if n % 2 else it for n, it in enumerate(c.diff().splitlines(True)))

@kind("place")
def no_break_spaces_in_context(c): return c.diff(lambda mark, text: mark + (text.replace("  ", "\u00a0 ") if mark == " " else text)) if "  " in c.old else None

@kind("place")
def typographic_context(c):
    odd = lambda text: re.sub(r"'([^']*)'", "\u2018\\1\u2019", re.sub(r'"([^"]*)"', "\u201c\\1\u201d", text))
    text = c.diff(lambda mark, text: mark + (odd(text) if mark in " -" else text))
    return text if text != c.diff() else None

@kind("place")
def no_blanks_at_ends(c): return c.diff(lambda mark, text: (mark + text).rstrip() + "\n")

@kind("place")
def marks_of_a_missing_newline(c): return re.sub(r"(?m)(?=^@@ |\Z)", "\\\\ No newline at end of file\n", c.diff()).replace("\\ No newline at end of file\n", "", 1)

@kind("place")
def prose_right_after(c): return c.diff() + "This keeps the old behaviour for callers.\n"

@kind("place")
def only_changed_lines(c): return c.diff(lambda mark, text: mark + text if mark != " " else "", head="@@ -{0},{1} +{2},{3} @@\n") if all("-" in "".join(i[0] for i in l) for _, _, l in c.hunks()) else None

@kind("place")
def one_context_line_missing(c):
    done = []
    def drop(mark, text):
        if mark == " " and text.strip() and len(done) == 1:
            done.append(1)
            return ""
        if mark == " " and text.strip(): done.append(1)
        return mark + text
    text = c.diff(drop)
    return text if len(done) > 1 else None

@kind("place")
def comment_lost_in_context(c):
    text = c.diff(lambda mark, text: mark + (re.sub(r"\s+(#|//) .*", "", text) if mark == " " else text))
    return text if text != c.diff() else None

@kind("place")
def typo_in_context(c):
    done = []
    def typo(mark, text):
        if mark == " " and len(text.strip()) > 12 and not done:
            done.append(1)
            return mark + text[: len(text) // 2] + text[len(text) // 2 + 1 :]
        return mark + text
    text = c.diff(typo)
    return text if done else None

@kind("refuse")
def typo_in_removed(c):
    done = []
    def typo(mark, text):
        if mark == "-" and len(text.strip()) > 12 and not done:
            done.append(1)
            return mark + text[: len(text) // 2].rstrip() + "zq" + text[len(text) // 2 + 1 :]
        return mark + text
    text = c.diff(typo)
    return text if done else None

@kind("refuse")
def cut_in_the_middle(c):
    lines = c.diff().splitlines(True)
    return "".join(lines[: len(lines) * 2 // 3]) if len(lines) > 14 and lines[len(lines) * 2 // 3 - 1][0] in "+-" else None

@kind("refuse")
def rest_elided(c):
    def elide(mark, text): return mark + text
    text = c.diff(elide).splitlines(True)
    adds = [n for n, it in enumerate(text) if it[0] == "+" and not it.startswith("+++")]
    if len(adds) < 4: return None
    text[adds[1]:adds[-1]] = [f"+    {'#' if c.path.endswith('.py') else '//'} ... rest of the code ...\n"]
    return "".join(text)

# Blocks.

@kind("place")
def blocks_of_git(c): return c.replace(search="<<<<<<< HEAD", end=">>>>>>> fix")

@kind("place")
def blocks_original_updated(c): return c.replace(search="<<<<<<< ORIGINAL", end=">>>>>>> UPDATED")

@kind("place")
def short_marks(c): return c.replace(search="<<<<< SEARCH", divider="=====", end=">>>>> REPLACE")

@kind("place")
def lower_case_marks(c): return c.replace(search="<<<<<<< search", end=">>>>>>> replace")

@kind("place")
def name_in_a_comment(c):
    sign = "#" if c.path.endswith((".py", ".toml")) else "//"
    return "\n".join(f"```\n{sign} {c.path}\n<<<<<<< SEARCH\n{o}=======\n{n}>>>>>>> REPLACE\n```\n" for o, n in c.blocks())

@kind("place")
def name_after_the_mark(c): return c.replace(name="", search=f"<<<<<<< SEARCH {c.path}")

@kind("place")
def name_on_the_fence(c): return "\n".join(f"```python:{c.path}\n<<<<<<< SEARCH\n{o}=======\n{n}>>>>>>> REPLACE\n```\n" for o, n in c.blocks())

@kind("place")
def name_once_for_all(c):
    return c.path + "\n" + c.replace(name="") if len(c.groups) > 1 else None

@kind("place")
def blank_lines_in_marks(c): return c.replace(old=lambda it: "\n" + it + "\n", new=lambda it: "\n" + it + "\n")

@kind("place")
def block_trimmed(c): return c.replace(old=lambda it: it.strip("\n") + "\n", new=lambda it: it.strip("\n") + "\n")

@kind("place")
def block_dedented(c):
    import textwrap
    def both(o, n):
        margin = len(os.path.commonprefix([re.match(r"[ ]*", i).group() for i in (o + n).splitlines() if i.strip()]))
        cut = lambda t: "".join(i[margin:] if i.strip() else i for i in t.splitlines(True))
        return cut(o), cut(n), margin
    out = [both(o, n) for o, n in c.blocks()]
    if not any(m for _, _, m in out): return None
    return "\n".join(f"{c.path}\n<<<<<<< SEARCH\n{o}=======\n{n}>>>>>>> REPLACE\n" for o, n, _ in out)

@kind("refuse")
def block_without_end(c):
    text = c.replace()
    return text[: text.rindex(">>>>>>> REPLACE")] if c.b and len(c.groups) == 1 else None

# Edits.

@kind("place")
def json_with_trailing_commas(c): return re.sub(r"\n(\s*[}\]])", r",\n\1", json.dumps({"edits": c.edits()}, indent=1))

@kind("place")
def json_with_comments(c): return "// the edits\n" + json.dumps({"edits": c.edits()}, indent=1)

@kind("place")
def python_literal(c): return repr({"edits": c.edits()})

@kind("place")
def json_with_raw_newlines(c): return json.dumps({"edits": c.edits()}).replace("\\n", "\n") if "\\" not in c.old + c.new else None

@kind("place")
def json_in_a_tag(c): return "".join(f'<tool_call>\n{json.dumps({"name": "edit", "arguments": e})}\n</tool_call>\n' for e in c.edits("file_path", "old_string", "new_string"))

@kind("place")
def json_lines(c): return "\n".join(json.dumps(e) for e in c.edits())

@kind("place")
def json_search_replace(c): return json.dumps({"file": c.path, "changes": [{"search": o, "replace": n} for o, n in c.blocks()]})

@kind("place")
def json_before_after(c): return json.dumps([{"filename": c.path, "before": o, "after": n} for o, n in c.blocks()])

@kind("place")
def json_of_a_diff(c): return json.dumps({"explanation": "fixed", "diff": c.diff()})

@kind("place")
def json_lines_of_a_diff(c): return json.dumps({"patch": c.diff().splitlines()})

@kind("place")
def tags_with_cdata(c): return "".join(f"<edit>\n<path>{c.path}</path>\n<old><![CDATA[{o}]]></old>\n<new><![CDATA[{n}]]></new>\n</edit>\n" for o, n in c.blocks())

@kind("place")
def tags_escaped(c): return "".join(f"<edit>\n<path>{c.path}</path>\n<old>{html.escape(o, False)}</old>\n<new>{html.escape(n, False)}</new>\n</edit>\n" for o, n in c.blocks()) if re.search("[<>&]", c.old) else None

@kind("place")
def search_and_replace_tags(c): return "".join(f'<file path="{c.path}">\n<search>\n{o}</search>\n<replace>\n{n}</replace>\n</file>\n' for o, n in c.blocks())

# Envelopes and whole files.

@kind("place")
def envelope_in_backticks(c): return c.envelope(f"`{c.path}`")

@kind("place")
def envelope_in_a_shell(c): return "```bash\napply_patch <<'PATCH'\n" + c.envelope() + "PATCH\n```\n"

@kind("place")
def envelope_absolute(c): return c.envelope(f"/workspace/{c.path}")

@kind("refuse")
def envelope_without_end(c): return c.envelope().replace("*** End Patch\n", "")

@kind("place")
def envelope_with_numbers(c): return c.envelope().replace("@@\n", "@@ -1,3 +1,3 @@\n") if len(c.groups) == 1 else None

@kind("place")
def whole_file_under_its_name(c): return f"{c.path}\n```\n{c.new}```\n" if "```" not in c.new and len(c.new) > 0.95 * len(c.old) else None

@kind("place")
def whole_file_by_cat(c): return f"```bash\ncat > {c.path} <<'EOF'\n{c.new}EOF\n```\n" if "```" not in c.new and len(c.new) > 0.95 * len(c.old) else None


def changes(repository, count, rng):
    git = ["git", "-C", repository]
    log = subprocess.run([*git, "log", "--no-merges", "--format=%H", "-n", "4000"], capture_output=True, text=True).stdout.split()
    rng.shuffle(log)
    for commit in log:
        if count == 0: return
        names = subprocess.run([*git, "diff-tree", "-r", "--no-commit-id", "--name-status", commit], capture_output=True, text=True).stdout
        names = [it.split("\t")[1] for it in names.splitlines() if it.startswith("M\t")]
        names = [it for it in names if it.endswith(NAMES) and " " not in it and "test" not in it.lower()]
        if not names: continue
        path = rng.choice(names)
        show = lambda at: subprocess.run([*git, "show", f"{at}:{path}"], capture_output=True).stdout
        try: old, new = show(commit + "^").decode(), show(commit).decode()
        except UnicodeDecodeError: continue
        whole = old.endswith("\n") and new.endswith("\n") and "\r" not in old + new
        if old != new and whole and 20 < old.count("\n") < 900 and abs(len(new) - len(old)) < 4000:
            count -= 1
            yield Change(path, old, new, rng)


SHOWN = re.compile(r"^ *(?:> *)?[0-9]+ \| ?(.*)$", re.M)


def copied(text, feedback):
    """The patch with its old lines taken from the feedback, as far as it shows lines like them."""
    shown = SHOWN.findall(feedback)
    out = []
    for line in text.splitlines():
        if line[:1] in (" ", "-") and not line.startswith("--- ") and line[1:] not in shown:
            near = difflib.get_close_matches(line[1:], shown, 1, 0.8)
            line = line[0] + near[0] if near else line
        out.append(line)
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", required=True)
    parser.add_argument("--changes", type=int, default=6, help="of each repository")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--show", type=int, default=0, help="print the first N that are wrong or refused, of each kind")
    parser.add_argument("--second-try", action="store_true")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    found = []
    for name in sorted(os.listdir(options.repos)):
        found += changes(os.path.join(options.repos, name), options.changes, rng)
    wanted = set(filter(None, options.kinds.split(",")))
    total = collections.Counter()
    print(f"{len(found)} changes, {len(wanted or KINDS)} kinds")
    for name, (what, write) in KINDS.items():
        if wanted and name not in wanted: continue
        counts, codes, shown = collections.Counter(), collections.Counter(), 0
        for change in found:
            text = write(change)
            if text is None: continue
            files = {change.path: change.old, "other/README.md": "x\n"}
            judged = Judged(files, text)
            if not judged.applies: outcome = "refused"
            elif what == "place" and judged.files == {change.path: change.new.encode()}: outcome = "right"
            elif judged.files in ({}, {change.path: change.old.encode()}): outcome = "refused"
            elif what == "refuse" and judged.files == {change.path: change.new.encode()}: outcome = "right"
            else: outcome = "wrong"
            counts[outcome] += 1
            total[what, outcome] += 1
            if outcome == "refused": codes[judged.error_code] += 1
            if outcome == "refused" and options.second_try:
                again = Judged(files, copied(text, judged.feedback))
                right = again.applies and again.files == {change.path: change.new.encode()}
                total["second", "right" if right else "wrong" if again.applies else "refused"] += 1
            if outcome == "wrong" or (outcome == "refused" and what == "place"):
                shown += 1
                if shown <= options.show:
                    print(f"--- {name} {outcome} {judged.error_code} {change.path}\n{text[:1500]}\n{judged.feedback[:600]}\n{[m['code'] + ' ' + m['message'] for m in judged.verdict['mends']]}")
                    if outcome == "wrong":
                        made = (judged.files.get(change.path) or b"").decode().splitlines(True)
                        print("".join(list(difflib.unified_diff(change.b, made, "meant", "made", n=1))[:40]))
        print(f"{name:30} {what:7} n={sum(counts.values()):4} right={counts['right']:4} wrong={counts['wrong']:3} refused={counts['refused']:4} {dict(codes)}")
    place = sum(total["place", it] for it in ("right", "wrong", "refused"))
    second = [total.pop(("second", it), 0) for it in ("right", "wrong", "refused")]
    everything = sum(total.values())
    wrong = total["place", "wrong"] + total["refuse", "wrong"]
    print(f"place: right {total['place', 'right']}/{place} = {total['place', 'right'] / max(place, 1):.1%}; wrong {wrong}/{everything} = {wrong / max(everything, 1):.2%}")
    if options.second_try:
        print(f"second try of {sum(second)}: right {second[0]}, wrong {second[1]}, refused again {second[2]}")


if __name__ == "__main__":
    main()
