#!/usr/bin/env bash
# Everything of `cudarun launch` that only a GPU can show; see hardware_launch.py.
exec "${PYTHON:-python3}" "$(dirname "$0")/hardware_launch.py" "$@"
