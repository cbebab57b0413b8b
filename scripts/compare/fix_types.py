#!/usr/bin/env python3
"""Whether what `mendit hint --fix` writes type-checks: an import of a real file is taken out, the
patch is applied, and a type checker reads the file as it stood and as it is now.

  fix_types.py --repos DIR --bin target/release/mendit [--each 10] [--seed 1] [--only a+a,b+b]

Cases are those of scripts/taken_out.py, of the kind `name`. Counted as bad is a diagnostic about
names, modules, types and values that the file did not have as it stood. Nothing of the repository is
installed, so what lies outside it is unknown both times. The checkers are npm's `typescript@5` and
`pyright` in NODE_MODULES (a directory); `npm install typescript@5 pyright` in any directory makes
one. A checker that is not there is said, and its language left out.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import taken_out

TYPESCRIPT = r"""
const [modules, jobs] = process.argv.slice(1)
const fs = require('fs'), path = require('path')
const ts = require(path.join(modules, 'typescript'))
const told = new Set([1361, 1371, 1484, 1485, 2300, 2304, 2305, 2306, 2307, 2440, 2451, 2459, 2503, 2552, 2613, 2614, 2659,
  2686, 2693, 2694, 2724, 2749, 2834, 2835, 2846, 5097, 18042])
const services = new Map()
function service(file) {
  const config = ts.findConfigFile(path.dirname(file), ts.sys.fileExists) ?? ''
  if (services.has(config)) return services.get(config)
  const parsed = config && ts.getParsedCommandLineOfConfigFile(config, {}, { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} })
  const edited = new Map(), roots = new Set()
  const host = {
    ...ts.sys,
    getScriptFileNames: () => [...roots],
    getScriptVersion: (name) => String(edited.get(name)?.version ?? 0),
    getScriptSnapshot: (name) => {
      const text = edited.get(name)?.text ?? ts.sys.readFile(name)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => path.dirname(config || file),
    getCompilationSettings: () => ({ allowJs: true, ...(parsed?.options ?? {}), noEmit: true, checkJs: true }),
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    useCaseSensitiveFileNames: () => true,
  }
  const made = { edited, roots, tool: ts.createLanguageService(host) }
  services.set(config, made)
  return made
}
const rows = JSON.parse(fs.readFileSync(jobs, 'utf8')).map(({ file, texts }) => {
  const { edited, roots, tool } = service(file)
  roots.add(file)
  return texts.map((text) => {
    edited.set(file, { text, version: (edited.get(file)?.version ?? 0) + 1 })
    const found = [...tool.getSyntacticDiagnostics(file), ...tool.getSemanticDiagnostics(file).filter((it) => told.has(it.code))]
    return found.map((it) => `TS${it.code} ${ts.flattenDiagnosticMessageText(it.messageText, ' ').slice(0, 160)}`)
  })
})
console.log(JSON.stringify(rows))
"""
PYRIGHT = {"reportUndefinedVariable", "reportAttributeAccessIssue", "reportMissingImports", "reportPossiblyUnbound", "reportRedeclaration"}


def typescript(modules, root, jobs):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as listed:
        json.dump([{"file": os.path.join(root, job["path"]), "texts": job["texts"]} for job in jobs], listed)
        listed.flush()
        done = subprocess.run(["node", "--max-old-space-size=3000", "-e", TYPESCRIPT, modules, listed.name], capture_output=True)
    if done.returncode:
        sys.exit(done.stderr.decode("utf8", "replace"))
    return json.loads(done.stdout)


def pyright(modules, root, jobs):
    """Every file as it stood, then as it was broken, then as it is now."""
    found = [[] for _ in jobs]
    for at in range(3):
        for job in jobs:
            pathlib.Path(root, job["path"]).write_text(job["texts"][at], encoding="utf8", newline="")
        command = ["node", os.path.join(modules, "pyright/index.js"), "--outputjson", *(job["path"] for job in jobs)]
        said = json.loads(subprocess.run(command, cwd=root, capture_output=True).stdout)
        by_file = collections.defaultdict(list)
        for one in said["generalDiagnostics"]:
            if one.get("rule") in PYRIGHT or (one["severity"] == "error" and "rule" not in one):
                by_file[os.path.relpath(one["file"], root)].append(f"{one.get('rule', 'syntax')} {one['message'][:160]}")
        for job, rows in zip(jobs, found):
            rows.append(by_file[job["path"]])
    for job in jobs:
        pathlib.Path(root, job["path"]).write_text(job["texts"][0], encoding="utf8", newline="")
    return found


def patched(options, environment, root, path, case):
    """The file with the patch; `None` without one."""
    target = pathlib.Path(root, path)
    before = target.read_bytes()
    try:
        target.write_text(case["text"], encoding="utf8", newline="")
        command = [os.path.abspath(options.bin), "hint", "--fix", "--format", "json", "--file", path, *case["ask"]]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, timeout=300)
        patch = json.loads(done.stdout or b"{}").get("patch")
        if patch is None:
            return None
        applied = subprocess.run(["git", "apply", "-"], cwd=root, input=patch.encode(), capture_output=True)
        if applied.returncode:
            sys.exit(f"{path}: {applied.stderr.decode()}")
        return target.read_bytes().decode("utf8")
    finally:
        target.write_bytes(before)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--only", default="", help="names of clones, separated by commas")
    parser.add_argument("--each", type=int, default=10, help="cases of a repository and language")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--languages", default="python,script")
    options = parser.parse_args()
    modules = os.path.abspath(os.environ.get("NODE_MODULES", "node_modules"))
    checkers = {
        "python": (taken_out.python_cases, (".py",), "pyright", pyright),
        "script": (taken_out.script_cases, (".ts", ".tsx", ".mts"), "typescript", typescript),
    }
    total = collections.defaultdict(collections.Counter)
    for clone in sorted(os.listdir(options.repos)):
        if options.only and clone not in options.only.split(","):
            continue
        with tempfile.TemporaryDirectory(prefix="fix-types-") as scratch:
            root = os.path.join(os.path.realpath(scratch), "tree")
            taken_out.run("git", "clone", "-q", "--shared", "--no-checkout", os.path.join(options.repos, clone), root)
            taken_out.run("git", "checkout", "-q", "-f", "HEAD", cwd=root)
            tree = taken_out.Tree(root)
            environment = {**os.environ, "XDG_STATE_HOME": os.path.join(scratch, "state")}
            for language in options.languages.split(","):
                make, ends, package, check = checkers[language]
                if not os.path.isdir(os.path.join(modules, package)):
                    print(f"{language} is left out: {package} is not in {modules}")
                    continue
                pool = [path for path in tree.files if path.endswith(ends) and not taken_out.SKIPPED.search(path)]
                random_ = random.Random(f"{options.seed} {clone} {language}")
                random_.shuffle(pool)
                if len(pool) < 40:
                    continue
                jobs, cases = [], 0
                for path in pool:
                    if cases == options.each:
                        break
                    case = make(tree, path, random_, "name")
                    if case is None:
                        continue
                    cases += 1
                    after = patched(options, environment, root, path, case)
                    if after is not None:
                        jobs.append({"path": path, "case": case, "texts": [tree.text(path), case["text"], after]})
                row = total[language]
                row["cases"] += cases
                row["patched"] += len(jobs)
                for job, (stood, broken, now) in zip(jobs, check(modules, root, jobs) if jobs else []):
                    more = list((collections.Counter(now) - collections.Counter(stood)).elements())
                    row["seen"] += bool(collections.Counter(broken) - collections.Counter(stood))
                    row["bad"] += bool(more)
                    if more:
                        module, name = job["case"]["module"], job["case"]["name"]
                        print(f"{clone} {job['path']}: {name} of {module}: {'; '.join(more[:3])}")
                print(f"{clone} {language}: cases {cases}, patched {len(jobs)}", flush=True)
    for language, row in sorted(total.items()):
        print(
            f"{language}: cases {row['cases']}, patched {row['patched']}, "
            f"of which the checker saw the gap {row['seen']} and finds something new {row['bad']}"
        )


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
