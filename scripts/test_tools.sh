#!/bin/sh
# Installs pytest into FOLDER, for the tests that need it: scripts/test_tools.sh FOLDER && TEST_TOOLS=FOLDER .ci/run
set -eu
folder=${1:?usage: scripts/test_tools.sh FOLDER}
python3 -m venv "$folder/py"
"$folder/py/bin/pip" install --quiet --disable-pip-version-check 'pytest>=8,<9'
