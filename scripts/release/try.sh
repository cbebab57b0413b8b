#!/bin/sh
# Tries a built program on an example: diagnoses its log, finds the import, validates and applies the patch.
#   scripts/release/try.sh PROGRAM               RUNNER='qemu-aarch64-static' runs one for another machine
#   scripts/release/try.sh --image PROGRAM       in the image that is published, made with buildah
# Needs git. Nothing outside a temporary folder is touched; the image is removed.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
image=no
[ "${1-}" = --image ] && { image=yes; shift; }
program=$(readlink -f "${1:?name a built program}")
fixture=$root/fixtures/f1-missing-import
scratch=$(mktemp -d)
container=
tidy() {
  if [ -n "$container" ]; then
    buildah rm "$container" >/dev/null
    buildah rmi mendit-try >/dev/null
  fi
  rm -rf "$scratch"
}
trap tidy EXIT

example=$scratch/example
cp -R "$fixture/repo" "$example"
cp "$fixture/failure.log" "$fixture/reference.patch" "$scratch"
git -C "$example" init --quiet
git -C "$example" add --all
git -C "$example" -c user.name=example -c user.email=example@localhost commit --quiet --message example

if [ $image = yes ]; then
  case $(uname -m) in x86_64) machine=amd64 ;; aarch64) machine=arm64 ;; *) machine=$(uname -m) ;; esac
  mkdir "$scratch/mendit-$machine"
  cp "$program" "$scratch/mendit-$machine/mendit"
  cp "$root"/LICENSE-* "$scratch/mendit-$machine"
  buildah build --isolation chroot --build-arg "TARGETARCH=$machine" --quiet \
    -f "$root/scripts/release/Containerfile" -t mendit-try "$scratch" >/dev/null
  container=$(buildah from mendit-try)
  there=/try
  run() { buildah run --isolation chroot -v "$scratch:/try" --workingdir /try/example "$container" -- /mendit "$@"; }
else
  there=$scratch
  # Words of the runner are to be split.
  run() { (cd "$example" && ${RUNNER-} "$program" "$@"); }
fi
# What a command must say: `says WORD COMMAND...`
says() {
  word=$1; shift
  said=$(run "$@")
  case $said in *"$word"*) echo "ok: $*" ;; *) echo "no \`$word\`: $*: $said" >&2; exit 1 ;; esac
}

says "mendit " --version
says formatMoney diagnose "$there/failure.log"
says "./money" hint formatMoney --file src/invoice.ts
says src/invoice.ts check "$there/reference.patch"
says src/invoice.ts apply "$there/reference.patch"
git -C "$example" diff >"$scratch/applied"
sed '/^index /d' "$scratch/applied" | cmp - "$fixture/reference.patch"
echo "ok: the patch stands in the file"
