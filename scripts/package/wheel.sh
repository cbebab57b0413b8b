#!/bin/sh
# Builds a wheel that holds the program, for this platform, and tries it in an environment of its own.
#   scripts/package/wheel.sh [DIR]     the wheel goes to DIR, target/package if not given
# PROFILE=dev builds it faster, to try the script.
# Needs python3 with venv, maturin on the path, and what building the program needs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-$root/target/package}
mkdir -p "$out"
(cd "$here/wheel" && CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}" maturin build --profile "${PROFILE:-release}" --out "$out")
wheel=$(ls -t "$out"/mendit-*.whl | head -n 1)
clean=$(mktemp -d)
trap 'rm -rf "$clean"' EXIT
python3 -m venv "$clean"
"$clean/bin/python" -m pip install --quiet --no-index --disable-pip-version-check "$wheel"
"$clean/bin/mendit" --version
ls -l "$wheel"
