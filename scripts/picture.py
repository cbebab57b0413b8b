#!/usr/bin/env python3
"""Draws a terminal session as an SVG that follows the reader's light or dark theme.

    scripts/picture.py OUT.svg 'mendit run pytest' 'mendit fix --yes'

Runs each command with a shell in the current folder, on a terminal of 112 columns, and draws the last `--keep` lines
of its output. `scripts/picture.sh` draws the picture in the README.
"""

import argparse
import html
import os
import pty
import re
import struct
import subprocess
import fcntl
import termios

COLUMNS = 112
STYLE = """
svg{--text:#1f2328;--back:#f6f8fa;--soft:#59636e;--c1:#b00020;--c2:#1a6b2b;--c3:#8a5300;--c4:#0550ae;--c5:#8250df;--c6:#0a6a75}
@media(prefers-color-scheme:dark){svg{--text:#e6edf3;--back:#161b22;--soft:#9198a1;--c1:#ff8a95;--c2:#7fd690;--c3:#f0b65b;--c4:#79c0ff;--c5:#d2a8ff;--c6:#76e3ea}}
rect{fill:var(--back)}text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:var(--text);white-space:pre}
.b{font-weight:bold}.d{fill:var(--soft)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}.c6{fill:var(--c6)}
"""


def shown(command):
    """Returns the lines that a command prints on a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    environment = dict(os.environ, TERM="xterm-256color")
    environment.pop("NO_COLOR", None)
    child = subprocess.Popen(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    text = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        text += chunk
    child.wait()
    lines = text.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    # Progress lines are redrawn in place: only the last state counts.
    return [re.split(r"\r|\x1b\[2?K", line.rstrip("\r"))[-1] for line in lines]


def spans(line):
    """Yields pieces of a line with the CSS classes of their colors."""
    classes = set()
    for part in re.split(r"(\x1b\[[0-9;?]*[A-Za-z])", line):
        if part.startswith("\x1b["):
            for code in part[2:-1].split(";") if part.endswith("m") else []:
                code = int(code or 0)
                if code == 0:
                    classes = set()
                elif code == 1:
                    classes.add("b")
                elif code == 2:
                    classes.add("d")
                elif code in (22, 39):
                    classes -= {"b", "d"} if code == 22 else {name for name in classes if name[0] == "c"}
                elif 30 <= code <= 37 or 90 <= code <= 97:
                    classes = {name for name in classes if name[0] != "c"}
                    if code % 10 not in (0, 7):
                        classes.add(f"c{code % 10}")
        elif part:
            yield part, " ".join(sorted(classes))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("out")
    options.add_argument("commands", nargs="+")
    options.add_argument("--keep", type=int, default=16, help="lines of each command's output (16)")
    said = options.parse_args()
    rows = []
    for command in said.commands:
        if rows:
            rows.append("")
        rows.append(f"\x1b[2m$\x1b[0m \x1b[1m{command}\x1b[0m")
        lines = shown(command)
        while lines and not lines[-1].strip():
            lines.pop()
        if len(lines) > said.keep:
            rows.append(f"\x1b[2m  … {len(lines) - said.keep} more lines\x1b[0m")
        rows += lines[-said.keep :]
    height = 20 * len(rows) + 24
    lengths = [len(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", row)) for row in rows]
    width = int(7.85 * max([COLUMNS, *lengths])) + 24
    drawn = []
    for at, row in enumerate(rows):
        inner = "".join(
            f'<tspan class="{classes}">{html.escape(part)}</tspan>' if classes else html.escape(part)
            for part, classes in spans(row)
        )
        if inner:
            drawn.append(f'<text x="12" y="{26 + 20 * at}">{inner}</text>')
    title = html.escape(" ; ".join(said.commands))
    with open(said.out, "w", encoding="utf-8") as out:
        out.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">\n'
            f"<title>{title}</title>\n<style>{STYLE}</style>\n"
            f'<rect width="{width}" height="{height}" rx="8"/>\n' + "\n".join(drawn) + "\n</svg>\n"
        )


if __name__ == "__main__":
    main()
