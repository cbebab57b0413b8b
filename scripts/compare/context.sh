#!/usr/bin/env bash
# Which files a fix needs, side by side: this program, repomix and aider's repository map.
#
#   scripts/compare/context.sh [--install] REPOSITORY...
#
# Each REPOSITORY is a clone with its history. Of its latest COMMITS fixes (default 10) that change
# tests and source code, the tests are the targets and what the fix adds to them is the log; the
# tool sees the state before. Printed: recall of the changed source files that BUDGET bytes (default
# 131072) of its answer hold, median CPU seconds (user + system) and that as a multiple of ours.
# repomix packs everything, so its answer is cut at the budget, from the front or from the end,
# whichever holds more. The map names files by their signatures, so a file counts when it is named.
#
# MENDIT is the program (default target/release/mendit). Peers come from PATH or PEERS (directories
# separated by colons); absent ones are skipped. --install puts repomix (npm) and aider-chat (pip)
# into a temporary directory first, says so, and removes it afterwards. Nothing is sent anywhere.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mendit=${MENDIT:-$here/target/release/mendit}
commits=${COMMITS:-10}
budget=${BUDGET:-131072}
limit=${LIMIT:-300}
PATH=${PEERS:+$PEERS:}$PATH

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if [ "${1-}" = --install ]; then
  shift
  echo "installing repomix into $scratch/npm" >&2
  npm install --silent --no-fund --no-audit --prefix "$scratch/npm" repomix >&2 || echo "repomix could not be installed" >&2
  echo "installing aider-chat into $scratch/venv" >&2
  { python3 -m venv "$scratch/venv" && "$scratch/venv/bin/pip" install -q aider-chat; } >&2 || echo "aider-chat could not be installed" >&2
  PATH=$scratch/npm/node_modules/.bin:$scratch/venv/bin:$PATH
fi
if [ $# -eq 0 ]; then
  sed -n '2,17s/^# \{0,1\}//p' "$0"
  exit 2
fi
[ -x "$mendit" ] || { echo "no program at $mendit: cargo build --release" >&2; exit 2; }
for peer in repomix aider; do
  command -v "$peer" >/dev/null || echo "skipped, not in PATH: $peer" >&2
done

is_test='(^|/)(tests?|__tests__|testing|spec|e2e)/|(^|/)test_[^/]*$|_test\.py$|\.(test|spec|test-d)\.'
is_source='\.(py|ts|tsx|js|jsx|mjs|cjs|vue)$'
is_apart='(^|/)(docs?|docs_src|examples?|fixtures?|playground|dist|vendor|bench(mark)?s?)/|\.config\.|(^|/)setup\.py$'
TIMEFORMAT='%U %S'

# timed NAME COMMAND...: runs it, its output in $scratch/out, its CPU seconds added to NAME's
timed() {
  local name=$1; shift
  { time timeout "$limit" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null; } 2>"$scratch/time" || true
  tail -1 "$scratch/time" | awk '{ printf "%.3f\n", $1 + $2 }' >>"$scratch/$name.cpu"
}

# held NAME: which share of $scratch/needed is in $scratch/held
held() {
  awk 'NR == FNR { have[$0] = 1; next } { n++; hit += ($0 in have) } END { printf "%.4f\n", hit / n }' \
    "$scratch/held" "$scratch/needed" >>"$scratch/$1.recall"
}

# Paths of a packed file whose contents lie wholly in the first BUDGET bytes, or in the last.
packed() {
  python3 - "$scratch/packed.xml" "$budget" "$scratch/needed" <<'PY'
import re, sys
text, budget = open(sys.argv[1], 'rb').read(), int(sys.argv[2])
needed = set(open(sys.argv[3]).read().split('\n'))
files = [(m[1].decode('utf8', 'replace'), m.start(), m.end()) for m in re.finditer(rb'<file path="([^"]*)">.*?</file>', text, re.S)]
base = files[0][1] if files else 0
front = [p for p, a, b in files if b - base <= budget]
back = [p for p, a, b in files if files[-1][2] - a <= budget]
print('\n'.join(max(front, back, key=lambda side: len(needed & set(side)))))
PY
}

one_fix() {
  local commit=$1 targets=() before=$scratch/before target
  git diff --name-only --diff-filter=M "$commit^" "$commit" >"$scratch/changed"
  mapfile -t targets < <(grep -E "$is_test" "$scratch/changed" | grep -E "$is_source")
  grep -E "$is_source" "$scratch/changed" | grep -Ev "$is_test|$is_apart" >"$scratch/needed" || return 0
  [ ${#targets[@]} -gt 0 ] || return 0
  git diff -U0 "$commit^" "$commit" -- "${targets[@]}" | sed -n '/^+++/d;s/^+//p' >"$scratch/log"
  [ -s "$scratch/log" ] || return 0

  local flags=()
  for target in "${targets[@]}"; do flags+=("$target"); done
  timed mendit "$mendit" context --rev "$commit^" --level 2 --format json --log "$scratch/log" \
    --max-total-bytes "$budget" "${flags[@]}"
  python3 -c 'import json, sys; print("\n".join(json.load(sys.stdin)["filesIncluded"]))' <"$scratch/out" >"$scratch/held"
  held mendit

  git worktree add -q --detach "$before" "$commit^"
  if command -v repomix >/dev/null; then
    timed repomix repomix --quiet --style xml -o "$scratch/packed.xml" "$before"
    packed >"$scratch/held"
    held repomix
  fi
  if command -v aider >/dev/null; then
    pushd "$before" >/dev/null
    timed aider aider --show-repo-map --map-tokens $((budget / 4)) --map-refresh files --model gpt-4o \
      --openai-api-key none --no-check-update --no-show-release-notes --no-show-model-warnings \
      --analytics-disable --no-gitignore --yes-always --no-pretty "${targets[@]}"
    popd >/dev/null
    head -c "$budget" "$scratch/out" | sed -n 's/^\([^ ].*\):$/\1/p' >"$scratch/held"
    held aider
  fi
  git worktree remove --force "$before"
}

row() { printf '| %-18s | %-8s | %5s | %6s | %7s | %6s |\n' "$@"; }
median() { sort -n "$1" | sed -n "$(( ($(wc -l <"$1") + 1) / 2 ))p"; }
row repository tool fixes recall 'CPU s' times
row ------------------ -------- ----: -----: ------: -----:
for repository in "$@"; do
  cd "$repository"
  rm -f "$scratch"/*.cpu "$scratch"/*.recall
  while read -r commit; do
    one_fix "$commit"
    [ "$(cat "$scratch/mendit.recall" 2>/dev/null | wc -l)" -lt "$commits" ] || break
  done < <(git log --no-merges --format='%H %s' -n 3000 | grep -iE '^[0-9a-f]+ .*\bfix' | cut -d' ' -f1)
  for tool in mendit repomix aider; do
    [ -s "$scratch/$tool.recall" ] || continue
    cpu=$(median "$scratch/$tool.cpu")
    ours=$(median "$scratch/mendit.cpu")
    row "$(basename "$repository")" "$tool" "$(wc -l <"$scratch/$tool.recall")" \
      "$(awk '{ n++; s += $1 } END { printf "%.3f", s / n }' "$scratch/$tool.recall")" \
      "$cpu" "$(awk -v a="$cpu" -v b="$ours" 'BEGIN { if (b > 0) printf "%.0f", a / b; else print "-" }')"
  done
done
