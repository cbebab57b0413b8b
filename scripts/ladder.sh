#!/usr/bin/env bash
# What each level of context is worth, as a Markdown table.
#
#   scripts/ladder.sh [FIXTURES]
#
# Runs the oracle, which repairs when the packet shows all that the repair needs, with the
# ladder cut off at each level. MENDIT is the program (default target/release/mendit), JOBS how many
# fixtures run at a time (default 2). Needs python3, node and tsc for all of the fixtures.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mendit=${MENDIT:-$here/target/release/mendit}
jobs=${JOBS:-2}
fixtures=${1:-$here/fixtures}
[ -x "$mendit" ] || { echo "no program at $mendit: cargo build --release" >&2; exit 2; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for level in 0 1 2 3; do
  echo "levels 0 to $level" >&2
  "$mendit" bench "$fixtures" --agent oracle --max-level "$level" --jobs "$jobs" \
    --partition all --save "$scratch/$level.json" >/dev/null
done

python3 - "$scratch" <<'PY'
import json, statistics, sys

print("| levels | fixed | of | rate | 95 % interval | bytes of packets a run, mean | median | most |")
print("|---|---:|---:|---:|---|---:|---:|---:|")
skipped = 0
for level in range(4):
    with open(f"{sys.argv[1]}/{level}.json", encoding="utf-8") as file:
        bench = json.load(file)
    run = [it for it in bench["fixtures"] if it["fixable"] and it["result"] != "skipped"]
    skipped = sum(it["result"] == "skipped" for it in bench["fixtures"])
    fixed = [it for it in run if it["repaired"]]
    # Wilson's interval, as in the totals of `mendit bench`.
    n, share, z = len(run), len(fixed) / max(len(run), 1), 1.959963985
    scale = 1 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    half = z * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5 / scale
    interval = f"{100 * (middle - half):.1f} to {100 * (middle + half):.1f}"
    # A fix without an LLM needs no packet.
    sizes = [it["packetBytes"] for it in run if not it["healed"]]
    name = "0" if level == 0 else f"0 to {level}"
    print(
        f"| {name} | {len(fixed)} | {n} | {100 * share:.1f} % | {interval} "
        f"| {statistics.mean(sizes):,.0f} | {statistics.median(sizes):,.0f} | {max(sizes):,} |"
    )
if skipped:
    print(f"\nSkipped, as a program that they need was missing: {skipped}.")
PY
