#!/usr/bin/env bash
# Whole-repository import graphs, side by side: this program cold, warm, and every peer found.
#
#   scripts/compare/graph.sh [--install] REPOSITORY...
#
# Each REPOSITORY is a checkout. Prints CPU seconds (user + system), the median of RUNS (default 3).
# MENDIT is the program (default target/release/mendit). Peers: ruff (Python), madge, depcruise and
# skott (TypeScript), from PATH or PEERS (directories separated by colons); absent ones are skipped.
# --install puts them into a temporary directory first, by npm and pip, says so, and removes it
# afterwards.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mendit=${MENDIT:-$here/target/release/mendit}
runs=${RUNS:-3}
limit=${LIMIT:-300}
PATH=${PEERS:+$PEERS:}$PATH

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if [ "${1-}" = --install ]; then
  shift
  echo "installing madge, dependency-cruiser, skott and ruff into $scratch" >&2
  npm install --silent --no-fund --no-audit --prefix "$scratch/npm" madge dependency-cruiser skott typescript >&2 || echo "the npm packages could not be installed" >&2
  { python3 -m venv "$scratch/venv" && "$scratch/venv/bin/pip" install -q ruff; } >&2 || echo "ruff could not be installed" >&2
  PATH=$scratch/npm/node_modules/.bin:$scratch/venv/bin:$PATH
fi
if [ $# -eq 0 ]; then
  sed -n '2,11s/^# \{0,1\}//p' "$0"
  exit 2
fi
[ -x "$mendit" ] || { echo "no program at $mendit: cargo build --release" >&2; exit 2; }

for peer in ruff madge depcruise skott; do
  command -v "$peer" >/dev/null || echo "skipped, not in PATH: $peer" >&2
done

TIMEFORMAT='%U %S'

# median_cpu [--before COMMAND] COMMAND...: CPU seconds, or - when the command fails every time
median_cpu() {
  local before=true values=() status
  if [ "$1" = --before ]; then before=$2; shift 2; fi
  for _ in $(seq "$runs"); do
    eval "$before"
    status=0
    { time timeout "$limit" "$@" >"$scratch/out" 2>"$scratch/err"; } 2>"$scratch/time" || status=$?
    [ "$status" -le 1 ] && [ -s "$scratch/out" ] || continue
    values+=("$(awk '{ printf "%.3f", $1 + $2 }' "$scratch/time")")
  done
  [ ${#values[@]} -gt 0 ] || { echo -; return; }
  printf '%s\n' "${values[@]}" | sort -n | sed -n "$(( (${#values[@]} + 1) / 2 ))p"
}

row() { printf '| %-18s | %-12s | %9s |\n' "$@"; }
row repository tool 'CPU s'
row ------------------ ------------ --------:
for repository in "$@"; do
  cd "$repository"
  name=$(basename "$repository")
  export XDG_STATE_HOME=$scratch/state
  forget="rm -rf '$XDG_STATE_HOME'"
  row "$name" 'mendit cold' "$(median_cpu --before "$forget" "$mendit" imports --graph --format json)"
  "$mendit" imports --graph --format json >/dev/null
  row "$name" 'mendit warm' "$(median_cpu "$mendit" imports --graph --format json)"
  if [ -n "$(git ls-files '*.py' | head -1)" ] && command -v ruff >/dev/null; then
    row "$name" ruff "$(median_cpu ruff analyze graph --isolated)"
  fi
  if [ -n "$(git ls-files '*.ts' '*.tsx' | head -1)" ]; then
    config=()
    [ -f tsconfig.json ] && config=(--ts-config tsconfig.json)
    if command -v madge >/dev/null; then
      row "$name" madge "$(median_cpu madge --json --extensions ts,tsx,js,jsx,mjs,cjs "${config[@]}" .)"
    fi
    if command -v depcruise >/dev/null; then
      row "$name" depcruise "$(median_cpu depcruise --no-config --output-type json "${config[@]}" .)"
    fi
    if command -v skott >/dev/null; then
      row "$name" skott "$(median_cpu skott --displayMode=raw)"
    fi
  fi
done
