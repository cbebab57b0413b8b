#!/usr/bin/env python3
"""Writes what package managers need from the archives of a release.

  scripts/release/channels.py --archives DIR --repository OWNER/NAME [--out DIR]

`SHA256SUMS`, a Homebrew formula (`homebrew/mendit.rb`), the manifest of the MCP
registry (`server.json`) and `install.sh` with the repository's name in it. The version is that of Cargo.toml; DIR holds what
`archive.py` wrote. A target without an archive is left out, and said.
"""

import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BREW = [
    ("on_macos", "on_arm", "aarch64-apple-darwin"),
    ("on_macos", "on_intel", "x86_64-apple-darwin"),
    ("on_linux", "on_arm", "aarch64-unknown-linux-musl"),
    ("on_linux", "on_intel", "x86_64-unknown-linux-musl"),
]


def manifest(name):
    return re.search(rf'^{name} = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.M)[1]


def formula(sums, url):
    lines = [
        "class Mendit < Formula",
        f'  desc "{manifest("description").split(":")[0]}"',
        f'  homepage "{url.split("/releases")[0]}"',
        f'  version "{manifest("version")}"',
        '  license any_of: ["MIT", "Apache-2.0"]',
    ]
    for system in ("on_macos", "on_linux"):
        rows = [(cpu, target) for it, cpu, target in BREW if it == system]
        # The glibc program replaces a missing musl one.
        rows = [(cpu, one) for cpu, musl in rows for one in (musl, musl.replace("musl", "gnu")) if f"mendit-{one}.tar.gz" in sums]
        rows = list({cpu: target for cpu, target in reversed(rows)}.items())
        if not rows:
            continue
        lines += ["", f"  {system} do"]
        for cpu, target in rows:
            name = f"mendit-{target}.tar.gz"
            lines += [f"    {cpu} do", f'      url "{url}/{name}"', f'      sha256 "{sums[name]}"', "    end"]
        lines.append("  end")
    lines += [
        "",
        "  def install",
        '    bin.install "mendit"',
        '    bash_completion.install "completions/mendit.bash" => "mendit"',
        '    zsh_completion.install "completions/_mendit"',
        '    fish_completion.install "completions/mendit.fish"',
        "  end",
        "",
        "  test do",
        '    assert_match version.to_s, shell_output("#{bin}/mendit --version")',
        "  end",
        "end",
    ]
    return "\n".join(lines) + "\n"


def server(owner, repository):
    """What the MCP registry reads; the npm package names the same server as its `mcpName`."""
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": f"io.github.{owner}/mendit",
        "description": "Diagnoses failing tests, packs context for repairs, judges and applies patches",
        "version": manifest("version"),
        "repository": {"url": f"https://github.com/{repository}", "source": "github"},
        "packages": [
            {
                "registryType": "npm",
                "identifier": "mendit",
                "version": manifest("version"),
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "mcp"}],
            }
        ],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archives", type=pathlib.Path, required=True)
    parser.add_argument("--repository", required=True, metavar="OWNER/NAME")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    out = options.out or options.archives
    owner = options.repository.split("/")[0]
    url = f"https://github.com/{options.repository}/releases/download/v{manifest('version')}"
    sums = {}
    for file in sorted(options.archives.glob("mendit-*.sha256")):
        digest, name = file.read_text().split()
        sums[name] = digest
    if not sums:
        sys.exit(f"{options.archives} holds no archives: scripts/release/archive.py writes them")
    for target in [it[2] for it in BREW]:
        if not any(target in name for name in sums):
            print(f"left out: {target} has no archive", file=sys.stderr)
    texts = {"SHA256SUMS": "".join(f"{digest}  {name}\n" for name, digest in sums.items())}
    texts["homebrew/mendit.rb"] = formula(sums, url)
    texts["server.json"] = json.dumps(server(owner, options.repository), indent=2) + "\n"
    installer = (ROOT / "scripts/release/install.sh").read_text()
    texts["install.sh"] = installer.replace("OWNER/NAME", options.repository)
    for name, text in texts.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text)
        print(out / name)


if __name__ == "__main__":
    main()
