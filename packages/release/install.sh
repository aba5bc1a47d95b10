#!/bin/sh
# Installs agent-knowledge and log-memory from a release, without Rust:
#
#   sh install.sh [--from URL|DIR] [--to DIR]
#
# --from  where the release's files are: an https URL or a directory. Its SHA256SUMS must list the archive
# --to    where the programs go [default: $HOME/.local/bin]
#
# It downloads one archive, compares its SHA-256 with SHA256SUMS, and replaces the two programs in one step each. It changes
# no other file: no profile, no PATH. To remove them, delete the two programs.
set -eu

from='@URL@'
to=${HOME:?}/.local/bin

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

main() {
  while [ $# -gt 0 ]; do
    case $1 in
      --from) from=${2:?--from needs a URL or a directory} && shift 2 ;;
      --to) to=${2:?--to needs a directory} && shift 2 ;;
      -h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0" && exit ;;
      *) fail "unknown option $1; the options are --from and --to" ;;
    esac
  done
  case $from in
    @*) fail 'say where the release is: --from URL or --from DIR' ;;
  esac
  archive=agent-knowledge-$(platform).tar.gz
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  get SHA256SUMS
  # A static program runs where there is none for this C library.
  expected "$archive" || expected "${archive%-gnu.tar.gz}-musl.tar.gz" ||
    fail "this release has no $archive; build it from source, or use another machine"
  get "$archive"
  (cd "$work" && check expected) || fail "$archive differs from SHA256SUMS; nothing was installed"
  tar -xzf "$work/$archive" -C "$work"
  mkdir -p "$to"
  for program in agent-knowledge log-memory; do
    cp "$work/${archive%.tar.gz}/$program" "$to/.$program.new"
    chmod 755 "$to/.$program.new"
  done
  version=$("$to/.agent-knowledge.new" --version) || {
    rm -f "$to/.agent-knowledge.new" "$to/.log-memory.new"
    fail 'the programs do not start here (on Linux they need glibc 2.17 or later); nothing was installed'
  }
  for program in agent-knowledge log-memory; do
    mv -f "$to/.$program.new" "$to/$program"
  done
  echo "Installed $version in $to"
  case $archive in
    *-musl.tar.gz) echo 'These programs are static: they run everywhere, and take twice as long to find by meaning.' ;;
  esac
  case :$PATH: in
    *:"$to":*) ;;
    *) echo "$to is not in PATH; add it, or call the programs by their path" ;;
  esac
  echo "Next: $to/agent-knowledge init"
}

# Tells whether the release has an archive, and takes it.
expected() {
  grep " [ *]\{0,1\}$1\$" "$work/SHA256SUMS" >"$work/expected" && archive=$1
}

platform() {
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) echo "x86_64-unknown-linux-$(c_library)" ;;
    Linux-aarch64 | Linux-arm64) echo "aarch64-unknown-linux-$(c_library)" ;;
    Darwin-x86_64) echo x86_64-apple-darwin ;;
    Darwin-arm64) echo aarch64-apple-darwin ;;
    *) fail "there is no release for $(uname -s) on $(uname -m)" ;;
  esac
}

# Programs for musl are static and run everywhere, but cannot load ONNX Runtime: the model takes twice as long there.
c_library() {
  if getconf GNU_LIBC_VERSION >/dev/null 2>&1; then echo gnu; else echo musl; fi
}

get() {
  case $from in
    https://*)
      if command -v curl >/dev/null; then
        curl --proto '=https' --tlsv1.2 -fsSL -o "$work/$1" "$from/$1"
      elif command -v wget >/dev/null; then
        wget -q --https-only -O "$work/$1" "$from/$1"
      else
        fail 'curl or wget is needed'
      fi || fail "cannot download $from/$1"
      ;;
    http://*) fail "$from is not encrypted; use https" ;;
    *) cp "$from/$1" "$work/$1" || fail "cannot read $from/$1" ;;
  esac
}

check() {
  if command -v sha256sum >/dev/null; then
    sha256sum -c "$1" >/dev/null
  else
    shasum -a 256 -c "$1" >/dev/null
  fi
}

main "$@"
