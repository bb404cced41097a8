#!/usr/bin/env bash
# Install cudarun for a job of tests.yml: BINDINGS is 12.9 or 13, EXTRAS is all or none.
set -euo pipefail

case $BINDINGS in
    12.9) bindings='cuda-bindings==12.9.*' extra=test12 ;;
    13) bindings='cuda-bindings==13.*' extra=test ;;
    *) echo "unknown bindings: $BINDINGS" >&2 && exit 2 ;;
esac
case $EXTRAS in
    all) python -m pip install -q -e ".[$extra]" "$bindings" ;;
    none) python -m pip install -q . "$bindings" ;;
    *) echo "unknown extras: $EXTRAS" >&2 && exit 2 ;;
esac
python -m pip list
