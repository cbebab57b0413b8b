#!/bin/sh
# Builds a wheel that holds the judge as a Python module, and tests it in an environment of its own.
#   scripts/package/python.sh [DIR]     the wheel goes to DIR, target/package if not given
# PROFILE=dev builds it faster, to try the script.
# Needs python3 with venv, maturin on the path, Rust and a C compiler.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-$root/target/package}
mkdir -p "$out"
(cd "$here/python" && CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target/bindings}" maturin build --locked --profile "${PROFILE:-release}" --out "$out")
wheel=$(ls -t "$out"/mendit_judge-*.whl | head -n 1)
clean=$(mktemp -d)
trap 'rm -rf "$clean"' EXIT
python3 -m venv "$clean"
"$clean/bin/python" -m pip install --quiet --no-index --disable-pip-version-check "$wheel"
"$clean/bin/python" "$here/python/tests/test_judge.py"
# Types come with it.
unzip -l "$wheel" | grep -q 'mendit_judge/__init__.pyi'
unzip -l "$wheel" | grep -q 'mendit_judge/py.typed'
ls -l "$wheel"
