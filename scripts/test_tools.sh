#!/bin/sh
# Makes a folder of tools with which tests build real projects without the network, with pytest in py/bin:
#   scripts/test_tools.sh FOLDER && TEST_TOOLS=FOLDER cargo test --test workplace set_ups
# Needs python3, npm and the two registries, once.
set -eu
folder=${1:?usage: scripts/test_tools.sh FOLDER}
mkdir -p "$folder/wheels" "$folder/js"
folder=$(cd "$folder" && pwd)

python3 -m venv "$folder/py"
"$folder/py/bin/pip" install --quiet --disable-pip-version-check \
    'poetry>=2,<3' 'uv>=0.8' 'tox>=4,<5' 'nox>=2025' 'pytest>=8,<9'
# What the projects install, and the build backends that the installs need.
"$folder/py/bin/pip" download --quiet --disable-pip-version-check --dest "$folder/wheels" \
    pip 'setuptools>=77,<81' wheel 'hatchling>=1.27' editables poetry-core \
    'pytest>=8,<9' 'django>=5.2,<6'

cd "$folder/js"
[ -f package.json ] || echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund 'pnpm@9' 'yarn@1'
# Fills a cache from which `npm install --offline` takes the runners.
mkdir -p prime && cd prime
[ -f package.json ] || echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund --cache "$folder/npm" 'vitest@3' 'jest@29'
