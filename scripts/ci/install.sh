#!/bin/sh
# Gets mendit for a step of the Action: the program that is on the path, or that of the release the Action
# was named by (`uses: OWNER/NAME@v1.2.3`), or what its sources build.
#   REPOSITORY, REF    of the Action     FOLDER    where a program goes     GITHUB_PATH    the runner's file
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
releases=${RELEASES:-https://github.com/${REPOSITORY:-}/releases/download}

if command -v mendit >/dev/null; then
  exit 0
fi
mkdir -p "$FOLDER"
case ${REF:-} in
  v[0-9]*)
    installer=$FOLDER/install.sh
    if curl -fsSL "$releases/$REF/install.sh" -o "$installer" &&
      MENDIT_RELEASES=$releases/$REF MENDIT_INSTALL_DIR=$FOLDER sh "$installer"; then
      echo "$FOLDER" >> "$GITHUB_PATH"
      exit 0
    fi
    echo "hint: the release $REF has no program for this machine: building it" >&2
    ;;
esac
cargo install --locked --path "$here" --root "$FOLDER"
echo "$FOLDER/bin" >> "$GITHUB_PATH"
