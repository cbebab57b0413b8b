#!/bin/sh
# Clones the repositories of sets of real fixes, bare, into a folder: real_clones.sh SETS CLONES [FROM]
# FROM is a folder with clones that are there already, as OWNER+NAME; they are borrowed from.
set -eu
sets=$1
clones=$2
from=${3:-}
mkdir -p "$clones"
for file in "$sets"/*/fixes.json; do
  name=$(sed -n 's/^    "name": "\(.*\)",$/\1/p' "$file" | head -1)
  url=$(sed -n 's/^    "url": "\(.*\)",$/\1/p' "$file" | head -1)
  folder=$(echo "$name" | tr / +)
  if [ -e "$clones/$folder" ]; then
    continue
  fi
  if [ -n "$from" ] && [ -e "$from/$folder" ]; then
    git clone --quiet --bare --shared "$from/$folder" "$clones/$folder"
  else
    git clone --quiet --bare "$url" "$clones/$folder"
  fi
  echo "$clones/$folder"
done
