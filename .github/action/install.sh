#!/usr/bin/env bash
# Install cudarun in an environment of its own: a step of action.yml.
set -euo pipefail

extras=${INPUT_EXTRAS:+[$INPUT_EXTRAS]}
if [[ -n ${INPUT_VERSION:-} ]]; then
    requirement="cudarun$extras==$INPUT_VERSION"
else
    requirement="$GITHUB_ACTION_PATH$extras"
fi
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11) and "error: cudarun requires Python 3.11: use actions/setup-python")'
python3 -m venv "$RUNNER_TEMP/cudarun"
"$RUNNER_TEMP/cudarun/bin/python" -m pip install --quiet "$requirement"
echo "$RUNNER_TEMP/cudarun/bin" >> "$GITHUB_PATH"
"$RUNNER_TEMP/cudarun/bin/cudarun" --version
