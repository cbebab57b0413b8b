#!/usr/bin/env bash
# Runs every fuzz target for a time: scripts/fuzz.sh [SECONDS=600] [FOLDER=fuzz/corpus]
# Needs cargo-fuzz (`cargo install cargo-fuzz`) and a C++ compiler; a stable compiler will do.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600} folder=${2:-fuzz/corpus}
command -v cargo-fuzz >/dev/null || { echo "fuzz: cargo-fuzz is not installed, nothing was run"; exit 0; }

# Coverage needs unstable flags, memory errors a sanitizer of nightly: the code has no unsafe blocks
# of its own to watch, so it goes without one.
export RUSTC_BOOTSTRAP=1
cargo fuzz build -s none
# What the fixtures hold, so that no target starts from nothing.
seeds=$(mktemp -d); trap 'rm -rf "$seeds"' EXIT
find fixtures -type f -size -20k | while read -r file; do
  cp "$file" "$seeds/$(sha256sum "$file" | cut -c1-16)"
done
for target in $(cargo fuzz list); do
  mkdir -p "$folder/$target"
  echo "== $target"
  cargo fuzz run -s none "$target" "$folder/$target" "$seeds" -- \
    -max_total_time="$seconds" -timeout=25 -rss_limit_mb=4096 2>&1 | tail -n 1
done
