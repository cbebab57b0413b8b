#!/usr/bin/env python3
"""Sets the version: in Cargo.toml and Cargo.lock, and as a heading of CHANGELOG.md.

  scripts/release/version.py 0.2.0 [--date 2026-01-31] [--repository OWNER/NAME] [--tag]

--repository writes the address that `cargo binstall` and crates.io read. --tag commits all that and tags the
commit `v0.2.0`; the release workflow runs when the tag is pushed. Fails when the changelog has nothing new.
"""

import argparse
import datetime
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOCKS = ["Cargo.lock", "fuzz/Cargo.lock"]
OWN = r'(name = "mendit"\nversion = )"[^"]*"'


def replaced(path, pattern, to, count=1):
    file = ROOT / path
    text, found = re.subn(pattern, to, file.read_text(), count=count, flags=re.M)
    if not found:
        sys.exit(f"{path}: nothing matches {pattern}")
    file.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--repository", metavar="OWNER/NAME")
    parser.add_argument("--tag", action="store_true")
    options = parser.parse_args()
    version = options.version.removeprefix("v")
    if not re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", version):
        sys.exit(f"{version} is no version such as 1.2.3")
    changes = (ROOT / "CHANGELOG.md").read_text()
    new = re.search(r"^## Unreleased\n(.*?)(?=^## |\Z)", changes, re.M | re.S)
    if not new or not new[1].strip():
        sys.exit("CHANGELOG.md has nothing under Unreleased")
    replaced("Cargo.toml", r'^version = "[^"]*"', f'version = "{version}"')
    for path in filter(lambda it: (ROOT / it).exists(), LOCKS):
        replaced(path, OWN, rf'\g<1>"{version}"', count=0)
    replaced("CHANGELOG.md", r"^## Unreleased\n", f"## Unreleased\n\n## {version} ({options.date})\n")
    if options.repository:
        line = f'repository = "https://github.com/{options.repository}"\n'
        text = re.sub(r'^repository = .*\n', "", (ROOT / "Cargo.toml").read_text(), flags=re.M)
        (ROOT / "Cargo.toml").write_text(text.replace('readme = "README.md"\n', f'readme = "README.md"\n{line}', 1))
    if options.tag:
        for command in (["add", "-u"], ["commit", "-m", f"Release {version}"], ["tag", "-a", f"v{version}", "-m", version]):
            subprocess.run(["git", *command], cwd=ROOT, check=True)
    print(version)


if __name__ == "__main__":
    main()
