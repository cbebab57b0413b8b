#!/usr/bin/env bash
# What the repair loop itself costs: a test command of two seconds that fails, fails again, and
# passes with the agent's patch. Prints the wall time of each run and the part that was not the command.
#   scripts/loop.sh [RUNS]
set -euo pipefail
runs=${1:-3}
bin=$(realpath "${MENDIT:-$(dirname "$0")/../target/release/mendit}")
[ -x "$bin" ] || { echo "no program at $bin; build it, or name it with MENDIT"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
mkdir "$work/r" && cd "$work/r"
git init -q
echo 'A=41' >a.sh
echo 'sleep 2; . ./a.sh; [ "$A" = 42 ] || { echo "x.sh:1: AssertionError: $A"; exit 1; }' >x.sh
printf -- '--- a/a.sh\n+++ b/a.sh\n@@ -1 +1 @@\n-A=41\n+A=42\n' >../reply
git add -A
git -c user.name=t -c user.email=t@example.invalid commit -qm files
for run in $(seq "$runs"); do
  started=$(date +%s%N)
  "$bin" -q repair --test 'sh x.sh' --agent "cat $work/reply" --agent-protocol prompt \
    --out "$work/run$run" >"$work/said"
  ended=$(date +%s%N)
  awk -v ns=$((ended - started)) 'BEGIN { all = ns / 1e9
    printf "%.2f s, of which %.2f s (%.1f %%) are not the command\n", all, all - 6, (all - 6) / all * 100 }'
done
