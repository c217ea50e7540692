#!/usr/bin/env bash
# Sets up what is missing, builds, and shows Wok at work on PyTorch and NumPy code.
set -euo pipefail
cd "$(dirname "$0")/.."
utils/setup.sh release
PYTHONPATH=build/release/python exec .venv/bin/python examples/demo.py "$@"
