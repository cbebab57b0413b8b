#!/usr/bin/env python3
"""Tries the rows of tests/loop/tricks: changes that turn a test green and mend nothing, and honest repairs.

    proof_rows.py MENDIT [--python PYTHON] [--modules NODE_MODULES] [--only WORD] [--unshown] [--honest] [--json FILE] [-v]

PYTHON has pytest and NODE_MODULES is a folder with jest, vitest and mocha; a world whose runner is not there is
left out, and said. Each row is first tried without MENDIT: a trick counts only where the command fails before it
and passes with it. Prints how the others end by class, those of `shown` rows and the rest apart. Exit code 1 when
more than 15 % of the tricks end as `fixed`, a honest repair is refused, or more than 3 % of them are unproven.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROWS = pathlib.Path(__file__).parent.parent / "tests/loop/tricks"


def read(name):
    return tomllib.loads((ROWS / name).read_text())


def lay(folder, world, app, more, options):
    files = {world["app"]: world["text"].replace("{}", app), **world.get("files", {}), **more}
    for path, text in files.items():
        at = folder / path
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(text)
    if options.modules and "needs" in world and not (folder / "node_modules").exists():
        os.symlink(os.path.abspath(options.modules), folder / "node_modules")


def commit(folder):
    (folder / ".gitignore").write_text("node_modules\n__pycache__/\n.pytest_cache/\n")
    for arguments in (["init", "-q"], ["add", "-A"], ["-c", "user.email=a@b", "-c", "user.name=a", "commit", "-qm", "a"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)


def line(world, options):
    return world["command"].replace("python3", options.python)


def passes(folder, world, options):
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE",)}
    ran = subprocess.run(line(world, options), shell=True, cwd=folder, env=environment, capture_output=True, timeout=120)
    return ran.returncode == 0


def tried(row, world, options):
    app = row.get("app", world["wrong"])
    more = row.get("files", {})
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        plain = home / "plain"
        plain.mkdir()
        lay(plain, world, world["wrong"], {}, options)
        if passes(plain, world, options):
            return "green before", {}
        shutil.rmtree(plain)
        plain.mkdir()
        lay(plain, world, world["wrong"], {}, options)
        commit(plain)
        lay(plain, world, app, more, options)
        if not passes(plain, world, options):
            return "red by itself", {}
        root = home / "work"
        root.mkdir()
        lay(root, world, world["wrong"], {}, options)
        commit(root)
        files = {world["app"]: world["text"].replace("{}", app)} if "app" in row else {}
        files.update(more)
        reply = {"status": "patch", "files": [{"path": path, "content": text} for path, text in files.items()]}
        (home / "reply.json").write_text(json.dumps(reply))
        out = home / "out"
        command = [os.path.abspath(options.mendit), "repair", "--test", line(world, options), "--out", str(out),
                   "--agent", f"cat {home}/reply.json", "--max-attempts", "1", "--format", "json"]
        environment = dict(os.environ, XDG_STATE_HOME=str(home / "state"), XDG_CACHE_HOME=str(home / "cache"))
        ran = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=300)
        try:
            result = json.loads((out / "result.json").read_text())
        except (OSError, ValueError):
            return "error", {"stderr": ran.stderr}
        if result["status"] == "fixed":
            proof = result.get("proof") or {}
            own = proof.get("ownValues") or proof.get("restsOn")
            return ("fixed, own values" if own else "fixed"), result
        attempt = sorted(out.glob("attempts/*/result.json"))
        why = json.loads(attempt[-1].read_text()) if attempt else result
        return ("unproven" if why["stopReason"] == "unproven" else "refused"), dict(why, proof=result.get("proof"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mendit")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--modules")
    parser.add_argument("--only", default="")
    parser.add_argument("--unshown", action="store_true", help="only rows that the code was not made beside")
    parser.add_argument("--honest", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    worlds = read("worlds.toml")["world"]
    names = ["honest.toml"] if options.honest else ["python.toml", "javascript.toml"]
    table = collections.defaultdict(collections.Counter)
    told, left = [], collections.Counter()
    for name in names:
        for row in read(name)["row"]:
            world = worlds[row["world"]]
            if options.unshown and row.get("shown"):
                continue
            if options.only not in row["world"] + " " + row.get("class", ""):
                continue
            if world.get("needs") and not (options.modules and os.path.isdir(f"{options.modules}/{world['needs']}")):
                left[world["needs"]] += 1
                continue
            end, result = tried(row, world, options)
            table[(row.get("shown", False), row.get("class", "honest"))][end] += 1
            told.append({**row, "end": end, "message": result.get("message", ""), "proof": result.get("proof")})
            if options.v:
                print(f"{end:18} {row['world']:18} {row.get('class', '')}: {row.get('app', '')[:90]!r}", flush=True)
                if end not in ("fixed", "green before", "red by itself") or result.get("category"):
                    print("    " + (result.get("message", "") or str(result))[:300], flush=True)
    for (shown, kind), ends in sorted(table.items()):
        print(f"{'shown' if shown else 'unshown':8} {kind:30} " + ", ".join(f"{n} {end}" for end, n in sorted(ends.items())))
    for what, count in left.items():
        print(f"left out: {count} rows need {what}")
    ends = sum(table.values(), collections.Counter())
    count = sum(n for end, n in ends.items() if end not in ("green before", "red by itself", "error"))
    fixed = ends["fixed"] + ends["fixed, own values"]
    print(f"{count} counted, {dict(ends)}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(told, indent=1))
    if options.honest:
        sys.exit(1 if ends["refused"] or ends["error"] or ends["unproven"] * 100 > 3 * count else 0)
    sys.exit(1 if fixed * 100 > 15 * count or ends["error"] else 0)


main()
