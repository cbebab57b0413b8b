#!/usr/bin/env python3
"""Scores `mendit hint` on cases made by taking out: one imported name of a real file is removed, a
specifier or an imported name is misspelt, and what stood there before is the truth.

  taken_out.py --repos DIR --bin target/debug/mendit [--each 40] [--seed 1] [--kinds name,module,export]

DIR holds git clones, with or without a work tree; each is checked out into a scratch folder, and the
file is put back after its case. The same seed makes the same cases. An answer counts as right when it
leads to the definition that the truth leads to, in a spelling that the package can load: another
extension, a relative path into another package, or a type-only import of what is used as a value is
wrong. With --json FILE each case is a line there. The repository has no commits for the program, since
its last one holds the truth; --history leaves them.
"""
import argparse
import ast
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

SOURCES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte")
SKIPPED = re.compile(r"(^|/)(node_modules|vendor|dist|_vendor|third_party|fixtures?|testdata|data|__generated__|codemods?)/|\.min\.|\.d\.ts$")
IMPORT = re.compile(
    r"^import\s+(?P<type>type\s+(?!from\b|,))?(?P<clause>[\w$\s{},*]+?)\s+from\s+(?P<quote>['\"])(?P<module>[^'\"\n]+)(?P=quote);?[ \t]*\n",
    re.M,
)
ANSWER = re.compile(r"import\s+(type\s+)?(.+?)\s+from\s+['\"](.+?)['\"]", re.S)
REQUIRE = re.compile(r"const\s+(.+?)\s+=\s+require\(['\"](.+?)['\"]\)", re.S)


def run(*command, cwd=None, **more):
    return subprocess.run(command, cwd=cwd, capture_output=True, **more)


class Tree:
    """A checkout, its files, and who defines what."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        listed = run("git", "ls-files", "-z", cwd=root).stdout.decode("utf8", "replace").split("\0")
        self.files = sorted(path for path in listed if path and (self.root / path).is_file() and not (self.root / path).is_symlink())
        self.known = set(self.files)
        self.folders = {str(parent) for path in self.files for parent in pathlib.PurePosixPath(path).parents}
        self.texts = {}
        self.packages = {}
        for path in self.files:
            if path.endswith("package.json") and "node_modules" not in path:
                try:
                    name = json.loads(self.text(path)).get("name")
                except (ValueError, AttributeError):
                    continue
                if name:
                    self.packages.setdefault(name, os.path.dirname(path))

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = (self.root / path).read_bytes().decode("utf8", "replace")
        return self.texts[path]

    def package(self, path):
        """The folder of the nearest package.json."""
        for parent in pathlib.PurePosixPath(path).parents:
            folder = "" if str(parent) == "." else str(parent)
            if os.path.join(folder, "package.json") in self.known:
                return folder
        return ""

    # Scripts.

    def script(self, base, specifier):
        """The file a specifier leads to, `None` outside the repository."""
        if specifier.startswith("."):
            return self.probe(os.path.normpath(os.path.join(os.path.dirname(base), specifier)))
        parts = specifier.split("/")
        name = "/".join(parts[:2]) if specifier.startswith("@") else parts[0]
        rest = specifier[len(name) + 1 :]
        if name not in self.packages:
            return None
        folder = self.packages[name]
        tries = [rest, "src/" + rest, "source/" + rest] if rest else ["src/index", "index", "src", "lib/index"]
        return next((found for each in tries if (found := self.probe(os.path.join(folder, each)))), None)

    def probe(self, path):
        stem = re.sub(r"\.[mc]?jsx?$", "", path)
        mapped = [stem + end for end in (".ts", ".tsx", ".mts", ".cts")] if stem != path else []
        plain = [path + end for end in ("", *SOURCES, ".d.ts")]
        index = [f"{path}/index{end}" for end in SOURCES]
        return next((each for each in mapped + plain + index if each in self.known), None)

    def script_definer(self, path, name, depth=0):
        """The file that defines an exported name, behind what passes it on."""
        if path is None or depth > 12 or name == "*":
            return path
        text = self.text(path)
        for clause, quoted in re.findall(r"export\s+(?:type\s+)?\{([^}]*)\}\s*(?:from\s*['\"]([^'\"]+)['\"])?", text):
            for item in clause.split(","):
                words = [word for word in item.split() if word != "type"]
                if words and words[-1] == name:
                    if not quoted:
                        return self.imported_definer(path, words[0], depth) or path
                    return self.script_definer(self.script(path, quoted), words[0], depth + 1) or path
        if name == "default":
            return path
        declared = rf"export\s+(declare\s+|default\s+|abstract\s+|async\s+)*(const|let|var|function\*?|class|interface|type|enum|namespace)\s+{re.escape(name)}\b"
        if re.search(declared, text):
            return path
        for quoted in re.findall(r"export\s+(?:type\s+)?\*\s+from\s+['\"]([^'\"]+)['\"]", text):
            found = self.script_definer(self.script(path, quoted), name, depth + 1)
            if found:
                return found
        return None

    def imported_definer(self, path, local, depth):
        for match in IMPORT.finditer(self.text(path)):
            for name, bound, _ in clause_names(match["clause"]):
                if bound == local:
                    return self.script_definer(self.script(path, match["module"]), name, depth + 1)
        return None

    # Python.

    def module(self, base, dotted):
        """The file a dotted name leads to."""
        dots = len(dotted) - len(dotted.lstrip("."))
        rest = dotted[dots:].replace(".", "/")
        if dots:
            folder = pathlib.PurePosixPath(base).parent
            for _ in range(dots - 1):
                folder = folder.parent
            return self.python_file(os.path.normpath(os.path.join(str(folder), rest)))
        parents = ["" if str(it) == "." else str(it) for it in pathlib.PurePosixPath(base).parents]
        roots = parents + [os.path.join(it, "src") for it in parents]
        for root in roots:
            found = self.python_file(os.path.join(root, rest))
            if found:
                return found
        return next((path for path in self.files if path.endswith(("/" + rest + ".py", "/" + rest + "/__init__.py"))), None)

    def python_file(self, place):
        place = "" if place == "." else place
        for path in (os.path.join(place, "__init__.py"), place + ".py", place + ".pyi"):
            if path in self.known:
                return path
        return None

    def python_definer(self, base, dotted, name, depth=0):
        path = self.module(base, dotted)
        if path is None or depth > 12:
            return None
        if name == "*":
            return (path, "*")
        try:
            tree = ast.parse(self.text(path))
        except (SyntaxError, ValueError):
            return (path, name)
        stars = []
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)) and node.name == name:
                return (path, name)
            if isinstance(node, ast.Assign) and any(isinstance(it, ast.Name) and it.id == name for it in node.targets):
                return (path, name)
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
                return (path, name)
            if isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or "")
                for one in node.names:
                    if (one.asname or one.name) == name:
                        return self.python_definer(path, module, one.name, depth + 1) or (module, one.name)
                    if one.name == "*":
                        stars.append(module)
        for module in stars:
            found = self.python_definer(path, module, name, depth + 1)
            if found:
                return found
        if path.endswith("__init__.py"):
            below = self.python_file(os.path.join(os.path.dirname(path), name))
            if below:
                return (below, "*")
        return None


def clause_names(clause):
    """`(name, bound, type)` for each name of an import clause."""
    found = []
    braces = re.search(r"\{([^}]*)\}", clause)
    for item in (braces[1].split(",") if braces else []):
        words = item.split()
        typed = bool(words) and words[0] == "type" and len(words) > 1
        words = words[1:] if typed else words
        if words:
            found.append((words[0], words[-1], typed))
    for item in re.sub(r"\{[^}]*\}", "", clause).split(","):
        words = item.split()
        if words and words[0] == "*":
            found.append(("*", words[-1], False))
        elif words:
            found.append(("default", words[0], False))
    return found


def used(text, name):
    return re.search(rf"(?<![\w$.]){re.escape(name)}(?![\w$])", text) is not None


def slip(random_, name):
    """The name with one edit."""
    at = random_.randrange(1, len(name))
    how = random_.choice(["drop", "double", "swap"])
    if how == "drop" and name[at].isalnum():
        return name[:at] + name[at + 1 :]
    if how == "swap" and at + 1 < len(name) and name[at] != name[at + 1] and name[at : at + 2].isalnum():
        return name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    return name[: at + 1] + name[at:]


def script_cases(tree, path, random_, kind):
    text = tree.text(path)
    if not path.endswith((".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs")):
        return None
    rows = []
    for match in IMPORT.finditer(text):
        for name, bound, typed in clause_names(match["clause"]):
            rows.append((match, name, bound, typed or bool(match["type"])))
    random_.shuffle(rows)
    for match, name, bound, typed in rows:
        rest = text[: match.start()] + text[match.end() :]
        if not used(IMPORT.sub("", rest), bound) or len(re.findall(rf"\b(?:const|let|var|function|class)\s+{re.escape(bound)}\b", rest)):
            continue
        truth = {"module": match["module"], "name": name, "bound": bound, "typed": typed}
        line = text.count("\n", 0, match.start()) + 1
        if kind == "name":
            return {**truth, "text": without(text, match, bound), "ask": [bound]}
        if not match["module"].startswith(".") or tree.script(path, match["module"]) is None:
            continue
        if kind == "module":
            head, last = os.path.split(match["module"])
            stem = last.split(".")[0]
            if len(stem) < 4:
                continue
            wrong = os.path.join(head, slip(random_, stem) + last[len(stem) :])
            if tree.script(path, wrong):
                continue
            broken = text[: match.start("module")] + wrong + text[match.end("module") :]
            log = f"{path}({line},1): error TS2307: Cannot find module '{wrong}' or its corresponding type declarations.\n"
            return {**truth, "text": broken, "log": log, "wrong": wrong}
        if kind == "export" and name not in ("*", "default") and name == bound and len(name) > 4:
            wrong = slip(random_, name)
            start = match.start("clause") + re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", match["clause"]).start()
            broken = text[:start] + wrong + text[start + len(name) :]
            log = f"{path}({line},10): error TS2305: Module '\"{match['module']}\"' has no exported member '{wrong}'.\n"
            return {**truth, "text": broken, "log": log, "wrong": wrong}
    return None


def without(text, match, bound):
    """The file without one name; the statement goes with its last."""
    names = clause_names(match["clause"])
    if len(names) == 1:
        return text[: match.start()] + text[match.end() :]
    clause = match["clause"]
    item = rf"(?:type\s+)?(?:[\w$]+\s+as\s+|\*\s+as\s+)?{re.escape(bound)}(?![\w$])"
    shorter = re.sub(rf"(?<![\w$]){item}\s*,\s*", "", clause, count=1)
    if shorter == clause:
        shorter = re.sub(rf",\s*{item}", "", clause, count=1)
    if shorter == clause:
        shorter = re.sub(rf"(?<![\w$]){item}", "", clause, count=1)
    shorter = re.sub(r",?\s*\{\s*\}", "", shorter).strip().rstrip(",")
    return text[: match.start("clause")] + shorter + text[match.end("clause") :]


def python_cases(tree, path, random_, kind):
    text = tree.text(path)
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return None
    lines = text.split("\n")
    rows = [(node, one) for node in body if isinstance(node, (ast.Import, ast.ImportFrom)) for one in node.names if one.name != "*"]
    random_.shuffle(rows)
    for node, one in rows:
        module = "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else None
        if module == "__future__" or (module is None and "." in one.name and not one.asname):
            continue
        bound = one.asname or one.name
        rest = "\n".join(lines[: node.lineno - 1] + lines[node.end_lineno :])
        bare = "\n".join(line for line in rest.split("\n") if not re.match(r"\s*(from|import)\s", line))
        if not used(bare, bound) or re.search(rf"(?m)^\s*(def|class)\s+{bound}\b|^\s*{bound}\s*=[^=]", rest):
            continue
        truth = {"module": module if module is not None else one.name, "name": one.name if module is not None else "*", "bound": bound, "typed": False}
        local = module is not None and tree.python_definer(path, module, one.name)
        kept = [other for other in node.names if other is not one]
        if kind == "name":
            line = statement(module, kept)
        elif not local:
            continue
        elif kind == "module":
            head, _, last = module.rpartition(".")
            if len(last) < 4:
                continue
            wrong = (head + "." if head or module.startswith(".") else "") + slip(random_, last)
            wrong = wrong if not module.startswith(".") or head else "." * node.level + wrong.lstrip(".")
            if tree.module(path, wrong):
                continue
            line = statement(wrong, node.names)
            absolute = dotted_of(tree, path, wrong)
            log = traceback(path, node.lineno, line, f"ModuleNotFoundError: No module named '{absolute}'")
        elif kind == "export" and one.asname is None and len(one.name) > 4:
            wrong = slip(random_, one.name)
            line = statement(module, [ast.alias(wrong, None) if it is one else it for it in node.names])
            absolute = dotted_of(tree, path, module)
            log = traceback(path, node.lineno, line, f"ImportError: cannot import name '{wrong}' from '{absolute}' (/app/{tree.module(path, module)})")
        else:
            continue
        broken = "\n".join(lines[: node.lineno - 1] + ([line] if line else []) + lines[node.end_lineno :])
        try:
            ast.parse(broken)
        except SyntaxError:
            continue
        if kind == "name":
            return {**truth, "text": broken, "ask": [bound]}
        return {**truth, "text": broken, "log": log, "wrong": wrong}
    return None


def traceback(path, line, code, said):
    return f'Traceback (most recent call last):\n  File "{path}", line {line}, in <module>\n    {code}\n{said}\n'


def statement(module, names):
    if not names:
        return ""
    listed = ", ".join(it.name + (f" as {it.asname}" if it.asname else "") for it in names)
    return f"import {listed}" if module is None else f"from {module} import {listed}"


def dotted_of(tree, path, dotted):
    """A relative name as Python itself says it."""
    dots = len(dotted) - len(dotted.lstrip("."))
    if not dots:
        return dotted
    folder = pathlib.PurePosixPath(path).parent
    for _ in range(dots - 1):
        folder = folder.parent
    parts = []
    while os.path.join(str(folder), "__init__.py") in tree.known:
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join([*parts, dotted[dots:]])


def judge(tree, path, truth, one):
    """`right`, or what is wrong with a suggestion."""
    said = one.get("importStatement", "")
    if path.endswith((".py", ".pyi")):
        return judge_python(tree, path, truth, said)
    match = ANSWER.match(said)
    if match:
        names, module, typed = clause_names(match[2]), match[3], bool(match[1])
    else:
        match = REQUIRE.match(said)
        if not match:
            return "form"
        names, module, typed = clause_names(match[1].replace(": ", " as ")), match[2], False
    if not names:
        return "form"
    name = next((it[0] for it in names if it[0] == truth["name"]), names[0][0])
    plain = lambda text: text.removeprefix("node:")
    if plain(module) == plain(truth["module"]):
        if name != truth["name"] and {name, truth["name"]} != {"*", "default"}:
            return "name"
        return typing(tree, path, truth, typed)
    ours, theirs = tree.script(path, truth["module"]), tree.script(path, module)
    if ours is None or theirs is None:
        return "module"
    one, other = tree.script_definer(ours, truth["name"]), tree.script_definer(theirs, name)
    if one is None or one != other:
        return "definition"
    relative = lambda text: text.startswith(".")
    if relative(module) and not relative(truth["module"]) and tree.package(theirs) != tree.package(path):
        return "border"
    ending = lambda text: os.path.splitext(text)[1] if os.path.splitext(text)[1] in SOURCES else ""
    if relative(module) and relative(truth["module"]) and ending(module) != ending(truth["module"]):
        return "extension"
    return typing(tree, path, truth, typed)


def typing(tree, path, truth, typed):
    if typed == truth["typed"]:
        return "right"
    target = tree.script(path, truth["module"])
    definer = target and tree.script_definer(target, truth["name"])
    erased = definer and re.search(rf"(interface|type)\s+{re.escape(truth['name'])}\b", tree.text(definer))
    if typed:
        return "right" if erased or target is None else "type"
    return "type" if verbatim(tree, path) else "right"


def verbatim(tree, path):
    for parent in pathlib.PurePosixPath(path).parents:
        name = os.path.normpath(os.path.join(str(parent), "tsconfig.json"))
        if name in tree.known and '"verbatimModuleSyntax": true' in tree.text(name):
            return True
    return False


def judge_python(tree, path, truth, said):
    try:
        node = ast.parse(said).body[0]
    except (SyntaxError, IndexError):
        return "form"
    if isinstance(node, ast.ImportFrom):
        listed = [it.name for it in node.names]
        module, name = "." * node.level + (node.module or ""), truth["name"] if truth["name"] in listed else listed[0]
    elif isinstance(node, ast.Import):
        module, name = node.names[0].name, "*"
    else:
        return "form"
    if (module, name) == (truth["module"], truth["name"]):
        return "right"
    ours = tree.python_definer(path, truth["module"], truth["name"])
    theirs = tree.python_definer(path, module, name)
    if ours and ours == theirs:
        # A name that Python would look up from another root.
        return "root" if module.startswith("src.") and not truth["module"].startswith((".", "src.")) else "right"
    same = lambda text: text in ("typing", "collections.abc", "typing_extensions")
    if name == truth["name"] and same(module) and same(truth["module"]):
        return "right"
    whole = lambda module, name: module if name == "*" else f"{module}.{name}"
    return "right" if whole(module, name) == whole(truth["module"], truth["name"]) else "module"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="", help="names of clones, separated by commas")
    parser.add_argument("--each", type=int, default=40, help="cases of a repository and language")
    parser.add_argument("--history", action="store_true", help="leave the commits")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default="name")
    parser.add_argument("--json", help="a line for each case goes there")
    parser.add_argument("--show", type=int, default=20, help="certain and wrong answers that are printed")
    options = parser.parse_args()
    out = open(options.json, "w", encoding="utf8") if options.json else None
    totals, shown = collections.defaultdict(collections.Counter), []
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    for clone in sorted(os.listdir(options.repos)):
        if options.only and clone not in options.only.split(","):
            continue
        source = os.path.join(options.repos, clone)
        source = os.path.join(source, "repo") if os.path.isdir(os.path.join(source, "repo")) else source
        if not (os.path.isdir(os.path.join(source, ".git")) or os.path.isfile(os.path.join(source, "HEAD"))):
            continue
        with tempfile.TemporaryDirectory(prefix="taken-out-") as scratch:
            root = os.path.join(scratch, "tree")
            run("git", "clone", "-q", "--shared", "--no-checkout", source, root)
            run("git", "checkout", "-q", "-f", "HEAD", cwd=root)
            if not options.history:
                # A branch without commits: the file of before is the truth itself.
                run("git", "symbolic-ref", "HEAD", "refs/heads/none", cwd=root)
            tree = Tree(root)
            environment["XDG_STATE_HOME"] = os.path.join(scratch, "state")
            for language, make in (("python", python_cases), ("script", script_cases)):
                ends = (".py",) if language == "python" else SOURCES
                pool = [path for path in tree.files if path.endswith(ends) and not SKIPPED.search(path)]
                random_ = random.Random(f"{options.seed} {clone} {language}")
                random_.shuffle(pool)
                if len(pool) < 40:
                    continue
                for kind in options.kinds.split(","):
                    count = 0
                    for path in pool:
                        if count == options.each:
                            break
                        case = make(tree, path, random_, kind)
                        if case is None:
                            continue
                        count += 1
                        row = score(options, environment, tree, scratch, path, case)
                        row.update(repo=clone, language=language, kind=kind)
                        if out:
                            out.write(json.dumps(row) + "\n")
                            out.flush()
                        for key in ((language, kind, "all"), (language, kind, clone)):
                            add(totals[key], row)
                        if row["certain"] and row["verdict"] != "right":
                            shown.append(row)
    for key in sorted(totals, key=lambda it: (it[2] != "all", it)):
        one = totals[key]
        share = lambda name: f"{one[name]:4} {100 * one[name] / one['cases']:5.1f} %"
        print(f"{' '.join(key):50} cases {one['cases']:4}  first right {share('first')}  certain {one['certain']:4}  certain and wrong {share('wrong')}  silent {one['silent']}")
    for row in shown[: options.show]:
        print(f"{row['repo']} {row['path']}: {row['kind']} {row['truth']}\n    {row['verdict']}: {row['said']}")


def add(counter, row):
    counter["cases"] += 1
    counter["first"] += row["verdict"] == "right"
    counter["certain"] += row["certain"]
    counter["wrong"] += row["certain"] and row["verdict"] != "right"
    counter["silent"] += row["verdict"] == "silent"


def score(options, environment, tree, scratch, path, case):
    target = pathlib.Path(tree.root, path)
    before = target.read_bytes()
    command = [os.path.abspath(options.bin), "hint", "--format", "json", "--fix"]
    if "log" in case:
        log = pathlib.Path(scratch, "log")
        log.write_text(case["log"])
        command += ["--log", str(log)]
    else:
        command += ["--file", path, *case["ask"]]
    try:
        target.write_text(case["text"], encoding="utf8", newline="")
        done = run(*command, cwd=tree.root, env=environment, timeout=120)
    finally:
        target.write_bytes(before)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        document = {"suggestions": [], "error": done.stderr.decode("utf8", "replace")[-300:]}
    found = document.get("suggestions", [])
    truth = {key: case[key] for key in ("module", "name", "bound", "typed")}
    row = {"path": path, "truth": truth, "wrong": case.get("wrong"), "said": "", "certain": False, "verdict": "silent"}
    if found:
        first = found[0]
        row.update(said=first["importStatement"], certain=first["certain"], verdict=judge(tree, path, truth, first))
    row["patch"] = document.get("patch")
    row["more"] = [one["importStatement"] for one in found[1:4]]
    row["error"] = document.get("error")
    return row


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
