#!/usr/bin/env python3
"""Applies a patch while one system call after another fails for good, and looks at what is left.

  scripts/write_faults.py BIN [--error EIO] [--calls openat,write,...] [--once]

For each call and each N, `mendit apply` runs with that call failing from the Nth time on (with --once: only
then). Right is: the worktree as before, or as the patch makes it and exit 0, or something between with a
journal, after which `mendit apply --recover` gives one of the two. A table says how many runs ended how.

Needs strace and git, on Linux.
"""

import argparse
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CALLS = "openat,write,pwrite64,renameat,renameat2,rename,unlinkat,unlink,linkat,mkdirat,mkdir,fsync,fdatasync,fchmod,fchmodat,ftruncate,symlinkat,flock,fcntl,statx,getdents64"
MOST = 400
BEFORE = {"a.py": "a = 1\n", "pkg/b.py": "b = 1\n", "gone.txt": "x\n", "old.txt": "one\ntwo\nthree\nfour\n"}
PATCH = """\
--- a/a.py
+++ b/a.py
@@ -1 +1 @@
-a = 1
+a = 2
--- a/pkg/b.py
+++ b/pkg/b.py
@@ -1 +1,2 @@
 b = 1
+c = 1
--- /dev/null
+++ b/new/deep/c.py
@@ -0,0 +1 @@
+d = 1
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/old.txt b/moved/new.txt
similarity index 75%
rename from old.txt
rename to moved/new.txt
--- a/old.txt
+++ b/moved/new.txt
@@ -1,4 +1,4 @@
 one
-two
+2
 three
 four
"""
AFTER = {"a.py": "a = 2\n", "pkg/b.py": "b = 1\nc = 1\n", "new/deep/c.py": "d = 1\n", "moved/new.txt": "one\n2\nthree\nfour\n"}


def state(root):
    files = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [it for it in folders if it not in (".git", ".mendit")]
        for name in names:
            path = pathlib.Path(folder, name)
            files[str(path.relative_to(root))] = path.read_text()
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--error", default="EIO")
    parser.add_argument("--calls", default=CALLS)
    parser.add_argument("--once", action="store_true")
    options = parser.parse_args()
    if not shutil.which("strace"):
        sys.exit("strace is missing")
    program = options.bin.resolve()
    total, wrong = collections.Counter(), []
    for call in options.calls.split(","):
        counts = collections.Counter()
        for number in range(1, MOST):
            with tempfile.TemporaryDirectory() as scratch:
                root, home = pathlib.Path(scratch, "repo"), pathlib.Path(scratch, "home")
                root.mkdir(), home.mkdir()
                for name, text in BEFORE.items():
                    (root / name).parent.mkdir(exist_ok=True)
                    (root / name).write_text(text)
                subprocess.run("git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm x", shell=True, cwd=root, check=True)
                patch, log = pathlib.Path(scratch, "x.patch"), pathlib.Path(scratch, "log")
                patch.write_text(PATCH)
                env = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "XDG_CACHE_HOME": str(home / "cache")}
                when = f"{number}" if options.once else f"{number}+"
                inject = f"inject={call}:error={options.error}:when={when}"
                ran = subprocess.run(["strace", "-f", "-qq", "-o", log, "-e", f"trace={call}", "-e", inject, program, "apply", patch], cwd=root, env=env, capture_output=True)
                if "(INJECTED)" not in log.read_text(errors="replace"):
                    break
                left = state(root)
                if left == AFTER:
                    end = "applied" if ran.returncode == 0 else "applied, exit not 0"
                elif left == BEFORE:
                    end = "as before" if ran.returncode != 0 else "WRONG: exit 0, nothing changed"
                else:
                    recovered = subprocess.run([program, "apply", "--recover"], cwd=root, env=env, capture_output=True)
                    mended = state(root) in (BEFORE, AFTER) and recovered.returncode == 0
                    end = "between, recovered" if mended else "WRONG: between"
                counts[end] += 1
                if end.startswith("WRONG"):
                    wrong.append(f"{call} {number}: {end}: {ran.stderr.decode()[-300:]} left {sorted(left)}")
        print(f"{call:12} {sum(counts.values()):4} {dict(counts)}", flush=True)
        total += counts
    print(f"{'all':12} {sum(total.values()):4} {dict(total)}")
    print("\n".join(wrong[:10]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
