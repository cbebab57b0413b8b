#!/usr/bin/env python3
"""Replies that make two changes in two forms: is either half ever dropped in silence?

usage: two_forms.py MENDIT

Each reply changes f.py and does one thing more, in another form, in both orders and with several kinds of
words around the two. Right is both, or a refusal that changes nothing; exit 0 with one of them is half
applied. Needs git and Python 3.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile

FILES = {
    "f.py": "def one():\n    return 1\n\n\ndef two():\n    return 2\n",
    "src/g.py": "def three():\n    return 3\n\n\ndef four():\n    return 4\n",
    "old.py": "def gone():\n    return 0\n",
}


def diff(path, old, new):
    return f"--- a/{path}\n+++ b/{path}\n@@ -2,1 +2,1 @@\n-    {old}\n+    {new}\n"


def block(path, old, new):
    return f"{path}\n<<<<<<< SEARCH\n    {old}\n=======\n    {new}\n>>>>>>> REPLACE\n"


def envelope(path, old, new):
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n-    {old}\n+    {new}\n*** End Patch\n"


def edit(path, old, new):
    return json.dumps({"name": "Edit", "input": {"file_path": path, "old_string": old, "new_string": new}}) + "\n"


def tags(path, old, new):
    return f"<edit>\n<path>{path}</path>\n<old_str>    {old}</old_str>\n<new_str>    {new}</new_str>\n</edit>\n"


def after(path, old, new):
    return FILES[path].replace(old, new)


def whole(path, old, new):
    return f"{path}\n```python\n{after(path, old, new)}```\n"


def heredoc(path, old, new):
    return f"```bash\ncat > {path} <<'EOF'\n{after(path, old, new)}EOF\n```\n"


def call(path, old, new):
    return json.dumps({"path": path, "content": after(path, old, new)}) + "\n"


# Forms that change a line of a file.
CHANGES = [diff, block, envelope, edit, tags, whole, heredoc, call]
G = ("src/g.py", "return 3", "return 33")
# What else a reply may do: name, text, and what the tree must have then (None: not there).
OTHERS = {
    **{f"change by {form.__name__}": (form(*G), {"src/g.py": after(*G)}) for form in CHANGES},
    "delete by a diff": ("--- a/old.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-def gone():\n-    return 0\n", {"old.py": None}),
    "delete by an envelope": ("*** Begin Patch\n*** Delete File: old.py\n*** End Patch\n", {"old.py": None}),
    "delete by a call": (json.dumps({"name": "delete_file", "arguments": {"path": "old.py"}}) + "\n", {"old.py": None}),
    "delete by tags": ("<delete_file>\n<path>old.py</path>\n</delete_file>\n", {"old.py": None}),
    "delete by a command": ("```bash\ngit rm old.py\n```\n", {"old.py": None}),
    "delete by a bare command": ("rm old.py\n", {"old.py": None}),
    "delete by a shell call": (json.dumps({"name": "bash", "arguments": {"command": "rm old.py"}}) + "\n", {"old.py": None}),
    "move by a command": ("$ git mv old.py src/new.py\n", {"old.py": None, "src/new.py": FILES["old.py"]}),
    "move by words in backticks": ("Then run `git mv old.py src/new.py`.\n", {"old.py": None, "src/new.py": FILES["old.py"]}),
    "move by a call": (json.dumps({"name": "move_file", "arguments": {"source": "old.py", "destination": "src/new.py"}}) + "\n",
                       {"old.py": None, "src/new.py": FILES["old.py"]}),
    "edit by sed": ("```sh\nsed -i 's/return 3/return 33/' src/g.py\n```\n", {"src/g.py": after(*G)}),
    "append by echo": ("```sh\necho 'X = 1' >> src/g.py\n```\n", {"src/g.py": FILES["src/g.py"] + "X = 1\n"}),
    "a notebook": (json.dumps({"name": "NotebookEdit", "input": {"notebook_path": "n.ipynb", "cell_id": "a", "new_source": "x = 1"}}) + "\n", {"n.ipynb": ""}),
    "an undo": (json.dumps({"command": "undo_edit", "path": "src/g.py"}) + "\n", {"src/g.py": ""}),
    "a symbol": (json.dumps({"name": "replace_symbol_body", "arguments": {"relative_path": "src/g.py", "name_path": "three", "body": "def three():\n    return 33\n"}}) + "\n", {"src/g.py": after(*G)}),
    "an edit without new text": (json.dumps({"path": "src/g.py", "old": "return 3"}) + "\n", {"src/g.py": ""}),
    "a function in a fence": ("```python\ndef three():\n    return 33\n```\n", {"src/g.py": after(*G)}),
    "a function under its file": ("src/g.py\n```python\ndef three():\n    return 33\n```\n", {"src/g.py": after(*G)}),
    "lines of a diff without headers": ("```diff\n-    return 3\n+    return 33\n```\n", {"src/g.py": after(*G)}),
    "a quoted diff": ("".join(f"> {line}\n" for line in diff(*G).splitlines()), {"src/g.py": after(*G)}),
}
AROUND = ["{a}\n{b}", "First:\n\n{a}\nAnd then:\n\n{b}\nThat is all.\n"]


def replies():
    for form, name in itertools.product(CHANGES, OTHERS):
        if name in (f"change by {form.__name__}", "change by call") and form in (call, edit):
            continue
        first = form("f.py", "return 1", "return 11")
        text, tree = OTHERS[name]
        for number, around in enumerate(AROUND):
            for a, b in ((first, text), (text, first)):
                order = "first" if a is first else "last"
                yield f"{form.__name__} {order}, {name}, {number}", around.format(a=a, b=b), {"f.py": after("f.py", "return 1", "return 11"), **tree}
        # In the call of a tool, beside a message.
        content = [{"type": "text", "text": text}]
        if form is edit:
            content.append({"type": "tool_use", "id": "1", **json.loads(first)})
            yield f"message beside a call, {name}", json.dumps({"content": content}), {"f.py": after("f.py", "return 1", "return 11"), **tree}


def run(program, reply, tree):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in FILES.items():
            os.makedirs(os.path.dirname(os.path.join(folder, path)) or folder, exist_ok=True)
            open(os.path.join(folder, path), "w").write(text)
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid"]
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "base"]):
            subprocess.run(git + command, cwd=folder, check=True)
        done = subprocess.run([program, "apply", "-"], cwd=folder, input=reply.encode(), capture_output=True)

        def now(path):
            path = os.path.join(folder, path)
            return open(path).read() if os.path.exists(path) else None

        paths = {*FILES, *tree}
        if done.returncode:
            return "refused" if all(now(path) == FILES.get(path) for path in paths) else "dirty"
        right = all(now(path) == tree.get(path, FILES.get(path)) for path in paths)
        return "both" if right else "half"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    counts = {}
    for name, reply, tree in replies():
        ending = run(program, reply, tree)
        counts[ending] = counts.get(ending, 0) + 1
        if ending in ("half", "dirty"):
            print(f"{ending}: {name}")
    print(f"{sum(counts.values())} replies:", ", ".join(f"{count} {ending}" for ending, count in sorted(counts.items())))
    sys.exit(1 if counts.get("half") or counts.get("dirty") else 0)


main()
