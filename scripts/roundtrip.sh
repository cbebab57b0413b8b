#!/usr/bin/env bash
# Real commits as patches, there and back: each must give exactly the commit's tree, its reverse
# exactly the parent's, or be refused.
#   scripts/roundtrip.sh REPO [COUNT] [SEED]
# REPO is a git repository with history. Prints counts, each refusal's code, and every wrong tree.
set -euo pipefail
repo=$(realpath "$1")
count=${2:-100}
seed=${3:-1}
bin=$(realpath "${MENDIT:-$(dirname "$0")/../target/release/mendit}")
[ -x "$bin" ] || { echo "no program at $bin; build it, or name it with MENDIT"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q --shared --no-checkout "$repo" "$work/r"
cd "$work/r"
export GIT_CONFIG_GLOBAL=/dev/null
flags=("" "-M" "-C -C" "--no-renames" "-U0" "-U1 -M" "-U10" "--patience" "--full-index" "-M -B")

git log --no-merges --min-parents=1 --format='%H %P' |
  awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand(), $0 }' | LC_ALL=C sort -n |
  awk -v count="$count" 'NR <= count' | cut -d' ' -f2- >../commits

# One way: the tree that comes of the patch must be that of the expected commit.
try() {
  local commit=$1 flag=$2 expected=$3 tree
  shift 3
  if ! "$bin" apply --allow-protected '**' --tree "$@" ../patch >../said 2>&1; then
    refused=$((refused + 1))
    { grep -om1 '[PU][0-9][0-9][0-9]' ../said || echo "without a code"; } >>../codes
    echo "refused $commit '$flag' $*: $(grep -m1 '[PU][0-9][0-9][0-9]' ../said || true)" >>../refusals
    return
  fi
  tree=$(tail -n 1 ../said)
  if [ "$tree" = "$(git rev-parse "$expected^{tree}")" ]; then
    right=$((right + 1))
  else
    wrong=$((wrong + 1))
    echo "WRONG $commit '$flag' $*: $tree"
  fi
}

right=0 wrong=0 refused=0 number=0
while read -r commit parent; do
  number=$((number + 1))
  # shellcheck disable=SC2086 # several flags
  git diff --binary ${flags[number % ${#flags[@]}]} "$parent" "$commit" >../patch
  [ -s ../patch ] || continue
  flag=${flags[number % ${#flags[@]}]}
  try "$commit" "$flag" "$commit" --rev "$parent"
  try "$commit" "$flag" "$parent" --rev "$commit" -R
done <../commits
echo "$number commits: $right right, $refused refused, $wrong wrong"
[ ! -e ../codes ] || sort ../codes | uniq -c
[ ! -e ../refusals ] || head -n 20 ../refusals
[ "$wrong" = 0 ]
