#!/bin/sh
# Installs the newest release of mendit, or that of MENDIT_VERSION, for this machine.
#   curl -fsSL https://github.com/OWNER/NAME/releases/latest/download/install.sh | sh
# MENDIT_INSTALL_DIR is where the program goes (~/.local/bin); MENDIT_RELEASES another place that has the
# archives, an address or a folder. The checksum is compared before anything is written.
set -eu

main() {
  releases=${MENDIT_RELEASES:-https://github.com/OWNER/NAME/releases}
  folder=${MENDIT_INSTALL_DIR:-$HOME/.local/bin}
  archive=mendit-$(target).tar.gz
  if [ -n "${MENDIT_RELEASES:-}" ]; then
    from=$releases
  elif [ -n "${MENDIT_VERSION:-}" ]; then
    from=$releases/download/v${MENDIT_VERSION#v}
  else
    from=$releases/latest/download
  fi
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  get "$from/$archive" "$scratch/$archive"
  get "$from/$archive.sha256" "$scratch/$archive.sha256"
  (cd "$scratch" && check "$archive.sha256") || fail "the checksum of $archive is another"
  tar -xzf "$scratch/$archive" -C "$scratch"
  mkdir -p "$folder"
  # Renamed into place: a program that runs is not written to.
  cp "$scratch/${archive%.tar.gz}/mendit" "$folder/.mendit.new"
  chmod 755 "$folder/.mendit.new"
  mv "$folder/.mendit.new" "$folder/mendit"
  "$folder/mendit" --version
  case ":$PATH:" in
    *":$folder:"*) ;;
    *) echo "hint: $folder is not on your PATH" >&2 ;;
  esac
}

target() {
  case $(uname -m) in
    x86_64 | amd64) cpu=x86_64 ;;
    aarch64 | arm64) cpu=aarch64 ;;
    *) fail "there is no program for $(uname -m): build it with cargo install" ;;
  esac
  case $(uname -s) in
    Linux) echo "$cpu-unknown-linux-musl" ;;
    Darwin) echo "$cpu-apple-darwin" ;;
    *) fail "there is no program for $(uname -s): see docs/quick-start.md" ;;
  esac
}

get() {
  case $1 in
    http://* | https://*)
      if command -v curl >/dev/null; then curl -fsSL --proto '=https,http' "$1" -o "$2"; else wget -qO "$2" "$1"; fi
      ;;
    *) cp "$1" "$2" ;;
  esac || fail "$1 cannot be had"
}

check() {
  if command -v sha256sum >/dev/null; then sha256sum -c "$1" >/dev/null; else shasum -a 256 -c "$1" >/dev/null; fi
}

fail() {
  echo "error: $1" >&2
  exit 1
}

# Nothing runs when only a part of this text arrives.
main
