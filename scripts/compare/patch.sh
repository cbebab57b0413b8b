#!/bin/sh
# Compares `mendit check` with git apply and GNU patch, side by side on one machine. Installs
# nothing; without GNU patch its rows are left out.
# usage: patch.sh MENDIT REPOSITORY OLD NEW
#   REPOSITORY  a clone with history; OLD and NEW two of its revisions, far apart
# Prints CPU and wall seconds: one large patch against the index of OLD, its text files against the
# worktree of OLD, and 1,000 small patches in one process against as many processes of git.
set -eu
[ $# -eq 4 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2; }
mendit=$(readlink -f "$1"); repository=$(readlink -f "$2"); old=$3; new=$4
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
git clone -q --shared --no-checkout "$repository" "$work/tree"
cd "$work/tree"
git checkout -q --detach "$old"
git diff --no-renames --no-color --binary --full-index "$old" "$new" > ../large.patch
printf 'large patch: %s bytes, %s files\n' "$(wc -c < ../large.patch)" "$(grep -c '^diff --git' ../large.patch)"

timed() { # name, command...
  name=$1; shift
  python3 - "$name" "$@" <<'P'
import os, subprocess, sys, time
best = None
for _ in range(3):
    before, start = os.times(), time.time()
    code = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    best = min(best or (9e9, 9e9, 0), (cpu, time.time() - start, code))
print('%-44s CPU %7.3f s  wall %7.3f s  exit %d' % (sys.argv[1], *best))
P
}

timed 'git apply --cached --check' git apply --cached --check ../large.patch
timed 'mendit git-apply --cached --check' "$mendit" git-apply --cached --check ../large.patch
timed 'mendit check --index' "$mendit" check --index --allow-protected '**' ../large.patch

# GNU patch knows no binary patches and no index.
git diff --no-renames --no-color --numstat "$old" "$new" | awk -F '\t' '$1 != "-" { print $3 }' > ../text.paths
xargs -d '\n' git diff --no-renames --no-color --full-index "$old" "$new" -- < ../text.paths > ../text.patch
timed 'git apply --check, worktree' git apply --check ../text.patch
if command -v patch >/dev/null; then
  timed 'patch -p1 --dry-run, worktree' patch -p1 --dry-run --silent --force -i ../text.patch
fi
timed 'mendit git-apply --check, worktree' "$mendit" git-apply --check ../text.patch
timed 'mendit check, worktree' "$mendit" check --allow-protected '**' ../text.patch

# One small patch for each of up to 1,000 files, as files and as one line of JSON each.
python3 - ../large.patch .. <<'P'
import json, os, re, sys
text = open(sys.argv[1], 'rb').read().decode('utf8', 'surrogateescape')
parts = [p for p in re.split(r'(?m)^(?=diff --git )', text) if '\n@@ ' in p and 'new file' not in p and 'deleted file' not in p][:1000]
while parts and len(parts) < 1000: parts += parts[:1000 - len(parts)]
os.makedirs(sys.argv[2] + '/small')
with open(sys.argv[2] + '/small.jsonl', 'w') as lines:
    for i, part in enumerate(parts):
        open('%s/small/%d' % (sys.argv[2], i), 'wb').write(part.encode('utf8', 'surrogateescape'))
        lines.write(json.dumps({'id': i, 'patch': part.encode('utf8', 'replace').decode()}) + '\n')
P
cat > ../each.sh <<'S'
for patch in ../small/*; do git apply --cached --check "$patch" || true; done
S
timed '1,000 processes of git apply --cached --check' sh ../each.sh
timed 'mendit check --index --batch' "$mendit" check --index --batch --allow-protected '**' ../small.jsonl
