#!/usr/bin/env bash
# Sets up a fresh Debian 12 machine and builds Wok: utils/setup.sh [PRESET [TARGET...]]
# Installs only what is missing; with nothing to do it takes well under two seconds. What apt, pip
# and CMake say is in files under build/, and is shown where they fail.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-release}
shift || true
logs=build/logs

step() { printf '\033[1m[wok %3ds]\033[0m %s\n' "$SECONDS" "$*"; }
fail() { printf 'wok set-up: %s\n' "$*" >&2; exit 1; }

# quietly NAME HELP COMMAND...: the command's output goes to a file; HELP is for when it fails.
quietly() {
  local log=$logs/$1.log help=$2
  shift 2
  mkdir -p "$logs"
  "$@" >"$log" 2>&1 || { tail -n 20 "$log" >&2; fail "$help The whole log is $log."; }
}

# Not Debian: the programs and the CMake package are what counts.
check_other_system() {
  local lacking=() program
  for program in clang-22 clang++-22 cmake ninja git; do
    command -v "$program" >/dev/null || lacking+=("$program")
  done
  if [[ -z ${MLIR_DIR:-} && ! -e /usr/lib/llvm-22/lib/cmake/mlir/MLIRConfig.cmake ]]; then
    lacking+=("MLIR 22 with its CMake files (MLIR_DIR says where)")
  fi
  ((${#lacking[@]} == 0)) || fail "there is no apt here, so please install by hand: $(
    printf '%s, ' "${lacking[@]}")and what else utils/packages.txt names; then run this again."
}

install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    check_other_system
    return
  fi
  local wanted missing=() package installed
  mapfile -t wanted < utils/packages.txt
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
  for package in "${wanted[@]}"; do
    grep -qx "installed $package" <<<"$installed" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local sudo=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "not root and no sudo; as root, run: apt-get install ${missing[*]}"
    sudo=(sudo)
    sudo -v || fail "sudo was refused; as root, run: apt-get install ${missing[*]}"
  fi
  step "installing Debian packages: ${missing[*]}"
  quietly apt-update "apt-get update failed; is there a network?" "${sudo[@]}" apt-get update
  quietly apt-install "these packages could not be installed (Debian 12 has them): ${missing[*]}." \
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}"
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
  local stamp=.venv/wok-requirements python
  if [[ -x .venv/bin/python ]] && cmp -s utils/requirements.txt "$stamp"; then
    return
  fi
  if [[ ! -x .venv/bin/python ]]; then
    python=$(find_python)
    step "making .venv with $python"
    "$python" -m venv .venv
  fi
  step "installing Python packages into .venv (PyTorch among them; this can take minutes)"
  quietly pip "the packages of utils/requirements.txt could not be installed; is there a network?" \
    .venv/bin/python -m pip install --disable-pip-version-check --progress-bar off \
    -r utils/requirements.txt
  cp utils/requirements.txt "$stamp"
}

build() {
  local dir=build/$preset
  if [[ ! -f $dir/build.ninja ]]; then
    step "configuring $dir"
    quietly "configure-$preset" "configuration failed." cmake --preset "$preset"
  fi
  if [[ -e $dir/.ninja_log ]]; then
    step "bringing $dir up to date"
  else
    step "building $dir (some minutes)"
  fi
  NINJA_STATUS='[%f/%t %es] ' ninja -C "$dir" "$@"
}

install_packages
make_venv
build "$@"
step "ready: $preset build in build/$preset"
