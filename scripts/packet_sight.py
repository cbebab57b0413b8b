#!/usr/bin/env python3
"""How much of a fix a packet shows, at several budgets of tokens.

  packet_sight.py --cases CASES.jsonl [--level 1] [--budgets 8000,16000,32000] BIN [BIN ...]

A line of CASES is a failure in a checkout that stands as it failed:
  {"worktree": DIR, "log": FILE, "fix": COMMIT, "base": COMMIT, "needed": [PATH, ...]}
For each program a row: `files`, the share of the needed files that are in the packet in any form, and
`sight`, the share of the fix's hunks of which every removed line, or for a mere addition a line beside
it, is shown. To see what a step of packing buys, build a program without that step and name both.
"""
import argparse
import json
import subprocess


def hunks(case):
    """The removed lines and the lines around of each hunk of the fix."""
    found = []
    for path in case["needed"]:
        command = ["git", "diff", "-U1", "--no-color", "--no-ext-diff", "--no-renames"]
        command += [case["base"], case["fix"], "--", path]
        diff = subprocess.run(command, cwd=case["worktree"], capture_output=True, check=True)
        hunk = None
        for line in diff.stdout.decode("utf8", "replace").splitlines():
            if line.startswith("@@"):
                hunk = (path, [], [])
                found.append(hunk)
            elif hunk and line[:1] in "- " and line[1:].strip():
                hunk[1 if line[0] == "-" else 2].append(line[1:].strip())
    return [hunk for hunk in found if hunk[1] or hunk[2]]


def seen(content, removed, around):
    lines = {line.strip() for line in content.split("\n")}
    return all(it in lines for it in removed) if removed else any(it in lines for it in around)


def score(program, case, level, budget):
    command = [program, "context", "--level", level, "--format", "json", "--log", case["log"]]
    command += ["--max-tokens", str(budget)]
    answer = subprocess.run(command, cwd=case["worktree"], capture_output=True, check=False)
    shown = {it["path"]: it["content"] for it in json.loads(answer.stdout)["files"]}
    changes = hunks(case)
    hits = sum(path in shown and seen(shown[path], *lines) for path, *lines in changes)
    files = sum(path in shown for path in case["needed"]) / len(case["needed"])
    return files, hits / max(1, len(changes))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("programs", nargs="+", metavar="BIN")
    parser.add_argument("--cases", required=True)
    parser.add_argument("--level", default="1")
    parser.add_argument("--budgets", default="8000,16000,32000")
    given = parser.parse_args()
    with open(given.cases, encoding="utf8") as lines:
        cases = [json.loads(line) for line in lines]
    budgets = [int(budget) for budget in given.budgets.split(",")]
    print("| program | budget | cases | files | sight |\n|---|---|---|---|---|")
    for program in given.programs:
        for budget in budgets:
            scores = [score(program, case, given.level, budget) for case in cases]
            files, sight = (sum(it[at] for it in scores) / len(scores) for at in (0, 1))
            print(f"| {program} | {budget} | {len(cases)} | {files:.3f} | {sight:.3f} |", flush=True)


if __name__ == "__main__":
    main()
