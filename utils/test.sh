#!/usr/bin/env bash
# Sets up what is missing, builds, and runs all tests; ends with ctest's summary.
# Arguments go to ctest, for example: utils/test.sh -R lit
set -euo pipefail
cd "$(dirname "$0")/.."
utils/setup.sh release all wok-unittests
exec ctest --test-dir build/release --output-on-failure "$@"
