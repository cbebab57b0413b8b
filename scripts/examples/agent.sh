#!/bin/sh
# An agent for `mendit fix --agent-protocol edit`: it takes the spelling that Python proposes.
# It runs in a copy of the repository, reads the prompt from stdin, and the files that it changes
# are the patch.
set -eu
proposal=$(sed -n "s/.*'\([A-Za-z_0-9]*\)'.*Did you mean: '\([A-Za-z_0-9]*\)'.*/\1 \2/p" | head -n 1)
if [ -z "$proposal" ]; then
    echo "the prompt proposes no spelling" >&2
    exit 1
fi
wrong=${proposal% *}
right=${proposal#* }
git grep -lwF -e "$wrong" -- '*.py' ':!test*' | while read -r file; do
    sed -E "s/(^|[^[:alnum:]_])$wrong([^[:alnum:]_]|\$)/\1$right\2/g" "$file" >"$file.new"
    cat "$file.new" >"$file"
    rm "$file.new"
done
