#!/bin/sh
# Builds an npm package that holds the judge as WebAssembly, for node and for bundlers, and tests it.
#   scripts/package/wasm.sh [DIR]     the package goes to DIR, target/package/npm/mendit-judge if not given
# PROFILE=dev builds it faster, to try the script.
# Needs node, Rust with the target wasm32-unknown-unknown, clang, and wasm-bindgen of the version that
# wasm/Cargo.toml names.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-$root/target/package/npm/mendit-judge}
target=${CARGO_TARGET_DIR:-$root/target/bindings}
profile=${PROFILE:-release}
cd "$here/wasm"
# The parsers are C, and the target has no headers of its own.
headers=$(cargo metadata --locked --format-version 1 --filter-platform wasm32-unknown-unknown | node -e '
  const { packages } = JSON.parse(require("fs").readFileSync(0, "utf8"));
  const one = packages.find((it) => it.name === "tree-sitter-language");
  console.log(require("path").join(one.manifest_path, "../wasm/include"));')
CC_wasm32_unknown_unknown=${CC_wasm32_unknown_unknown:-clang}
CFLAGS_wasm32_unknown_unknown="-I$headers"
export CC_wasm32_unknown_unknown CFLAGS_wasm32_unknown_unknown
CARGO_TARGET_DIR=$target cargo build --locked --profile "$profile" --target wasm32-unknown-unknown
folder=$profile
[ "$profile" = dev ] && folder=debug
for kind in nodejs bundler; do
  wasm-bindgen --target $kind --out-dir "$out/$kind" "$target/wasm32-unknown-unknown/$folder/mendit_judge.wasm"
  # The documents' own types, beside those that name them.
  cp "$root/docs/types/mendit.d.ts" "$out/$kind/mendit.d.ts"
done
echo '{"type": "commonjs"}' > "$out/nodejs/package.json"
node "$here/wasm/package.mjs" "$out"
PACKAGE=$out node --test "$here/wasm/tests/judge.test.mjs"
ls -l "$out/nodejs/mendit_judge_bg.wasm"
