#!/bin/sh
# Builds the program for one target as it is published: profile `dist`, no paths of this machine inside.
#   scripts/release/build.sh TARGET        prints where the program is
# Another system's linker comes with cargo-zigbuild, which is used when the target is not this machine's
# and it is on the path. GLIBC=2.28 builds for that glibc and newer.
set -eu
target=${1:?name a target, such as x86_64-unknown-linux-musl}
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
out=${CARGO_TARGET_DIR:-$root/target}
cargo_home=${CARGO_HOME:-$HOME/.cargo}
sources=$(rustc --print sysroot)

# The same names on every machine: two builds of one commit are the same bytes.
RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$root=mendit --remap-path-prefix=$out=target"
RUSTFLAGS="$RUSTFLAGS --remap-path-prefix=$cargo_home=cargo --remap-path-prefix=$sources=rust"
CFLAGS="${CFLAGS:-} -ffile-prefix-map=$cargo_home=cargo -ffile-prefix-map=$root=mendit"
export CFLAGS RUSTFLAGS CARGO_INCREMENTAL=0
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

host=$(rustc -vV | sed -n 's/^host: //p')
command=build
wanted=$target
if [ "$target" != "$host" ] || [ -n "${GLIBC:-}" ]; then
  if command -v cargo-zigbuild >/dev/null; then
    command=zigbuild
    wanted=$target${GLIBC:+.$GLIBC}
  fi
fi
cargo "$command" --locked --features http --profile "${PROFILE:-dist}" --target "$wanted" >&2
folder=${PROFILE:-dist}
[ "$folder" = dev ] && folder=debug
program=$out/$target/$folder/mendit
echo "$program"
