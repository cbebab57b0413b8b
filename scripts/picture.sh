#!/bin/sh
# Draws docs/pictures/run.svg from a real run: a test fails, mendit finds the change that broke it and reverts it.
# The example is the fixture `py-failing-assertion`: its fix is committed, and undone again without a commit.
#   MENDIT=target/debug/mendit scripts/picture.sh        needs pytest on the PATH
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
mendit=$(realpath "${MENDIT:-$here/target/debug/mendit}")
fixture=$here/fixtures/py-failing-assertion
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/shop"
ln -s "$mendit" "$scratch/bin/mendit"
export PATH="$scratch/bin:$PATH" XDG_STATE_HOME="$scratch/state" GIT_CONFIG_GLOBAL=/dev/null
cd "$scratch/shop"
cp -R "$fixture/repo/." .
printf '__pycache__/\n.pytest_cache/\n' > .gitignore
git init --quiet
git apply "$fixture/reference.patch"
git add --all
git -c user.name=example -c user.email=example@localhost commit --quiet --message example
git apply --reverse "$fixture/reference.patch"
"$here/scripts/picture.py" "$here/docs/pictures/run.svg" --keep 10 \
  'mendit run pytest -q' 'mendit fix --undo --yes' 'pytest -q'
