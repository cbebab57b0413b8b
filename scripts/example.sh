#!/bin/sh
# Diagnoses the failing log of an example project and packs what an agent would get. The example is laid
# out as a repository of its own below the build's folder; nothing else is touched.
set -eu
cd "$(dirname "$0")/.."
cargo build --locked
build=${CARGO_TARGET_DIR:-target}
example=$build/example
rm -rf "$example"
mkdir -p "$example"
cp -R fixtures/f1-missing-import/repo/. "$example"
git -C "$example" init --quiet
git -C "$example" add --all
git -C "$example" -c user.name=example -c user.email=example@localhost commit --quiet --message example
cp fixtures/f1-missing-import/failure.log "$example/.git/failure.log"
"$build/debug/mendit" -C "$example" context --log .git/failure.log
