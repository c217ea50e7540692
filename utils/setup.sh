#!/usr/bin/env bash
# Sets up a fresh Debian 12 machine and builds Wok: utils/setup.sh [PRESET [TARGET...]]
# Installs only what is missing; with nothing to do it takes well under two seconds.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
shift || true

step() { printf '\033[1m[wok %3ds]\033[0m %s\n' "$SECONDS" "$*"; }
fail() { printf 'wok set-up: %s\n' "$*" >&2; exit 1; }

install_packages() {
  local wanted missing=() package
  mapfile -t wanted < utils/packages.txt
  if ! command -v dpkg-query >/dev/null; then
    # Not Debian: the programs and the CMake package are what counts.
    local lacking=()
    for program in clang-22 cmake ninja git python3; do
      command -v "$program" >/dev/null || lacking+=("$program")
    done
    if ((${#lacking[@]})); then
      fail "this system has no apt, and these are missing: ${lacking[*]}. Install them, MLIR 22 with its CMake files, and what utils/packages.txt names, then run this again."
    fi
    return
  fi
  local installed
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
  for package in "${wanted[@]}"; do
    grep -qx "installed $package" <<<"$installed" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null || fail "these packages are missing and there is no apt-get: ${missing[*]}"
  local sudo=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "not root and no sudo; as root, run: apt-get install ${missing[*]}"
    sudo=(sudo)
  fi
  step "installing Debian packages: ${missing[*]}"
  "${sudo[@]}" apt-get update -q
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}"
}

# A CPython 3.11 with headers and venv.
find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3.11 python3 /usr/bin/python3; do
    if "$candidate" -c 'import sys, sysconfig, os, venv, ensurepip
sys.exit(sys.version_info[:2] != (3, 11)
         or not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  fail "no CPython 3.11 with headers and venv found; set PYTHON=/path/to/python3.11"
}

make_venv() {
  local stamp=.venv/wok-requirements
  if [[ -x .venv/bin/python ]] && cmp -s utils/requirements.txt "$stamp"; then
    return
  fi
  if [[ ! -x .venv/bin/python ]]; then
    local python
    python=$(find_python)
    step "making .venv with $python"
    "$python" -m venv .venv
  fi
  step "installing Python packages (PyTorch among them; this can take minutes)"
  .venv/bin/python -m pip install --disable-pip-version-check --progress-bar off -q -r utils/requirements.txt
  cp utils/requirements.txt "$stamp"
}

build() {
  local dir=build/$preset log
  if [[ ! -f $dir/build.ninja ]]; then
    step "configuring $dir"
    mkdir -p "$dir"
    log=$dir/configure.log
    cmake --preset "$preset" >"$log" 2>&1 || { tail -n 40 "$log" >&2; fail "configuration failed; the whole log is $log"; }
  fi
  if ! ninja -C "$dir" -n "$@" | tail -n 1 | grep -q 'no work to do'; then
    step "building $dir (a first build takes some minutes)"
    NINJA_STATUS='[%f/%t %es] ' ninja -C "$dir" "$@"
  fi
}

install_packages
make_venv
build "$@"
step "ready: $preset build in build/$preset"
