#!/usr/bin/env python3
"""Packs a program into the archive that is published, and names its checksum.

  scripts/release/archive.py TARGET PROGRAM [--out DIR] [--runnable PROGRAM]

Writes `mendit-TARGET.tar.gz` and its `.sha256` to DIR (target/release-files).
The folder inside holds the program, licences, README, CHANGELOG, and the completions that the program itself
prints; for a target that does not run here, `--runnable` names a program of the same version.
The same inputs give the same bytes.
"""

import argparse
import gzip
import hashlib
import io
import os
import pathlib
import subprocess
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXTS = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"]
SHELLS = {"bash": "mendit.bash", "zsh": "_mendit", "fish": "mendit.fish"}


def contents(program, runnable):
    """Names inside the folder, with their bytes and modes."""
    files = {program.name: (program.read_bytes(), 0o755)}
    for name in TEXTS:
        files[name] = ((ROOT / name).read_bytes(), 0o644)
    for shell, name in SHELLS.items():
        text = subprocess.run([runnable, "completions", shell], check=True, stdout=subprocess.PIPE).stdout
        files[f"completions/{name}"] = (text, 0o644)
    return files


def tar_gz(folder, files, when):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, (data, mode) in sorted(files.items()):
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mode, entry.mtime = len(data), mode, when
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), mtime=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "target/release-files")
    parser.add_argument("--runnable", type=pathlib.Path)
    options = parser.parse_args()
    runnable = (options.runnable or options.program).resolve()
    files = contents(options.program.resolve(), runnable)
    folder = f"mendit-{options.target}"
    when = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    options.out.mkdir(parents=True, exist_ok=True)
    name, data = f"{folder}.tar.gz", tar_gz(folder, files, when)
    (options.out / name).write_bytes(data)
    (options.out / f"{name}.sha256").write_text(f"{hashlib.sha256(data).hexdigest()}  {name}\n")
    print(options.out / name)


if __name__ == "__main__":
    main()
