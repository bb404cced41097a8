"""Options of ``launch`` for the early start.

Written by `python -m tools.generate_early_options` from the declarations: change those.
"""

COMMAND = "launch"
DEVICE_VARIABLE = "CUDARUN_DEVICE"
DEFAULT_DEVICE = "0"

_GROUPS = {
    (False, "no worker"): """
        --dry-run --help --help-all --trace -h
    """,
    (False, "none"): """
        --algebra --allow-python --allow-type-mismatch --color --cooperative --equal-nan --fail-fast
        --force --graph --hot --json --list --no-color --pdl --profile --prove --quiet --raw-output
        --stateless --stats --then --verbose -q -v
    """,
    (False, "together"): """
        --together
    """,
    (True, "devices"): """
        --device -d
    """,
    (True, "no worker"): """
        --context --ctx-flags --sanitize --spec
    """,
    (True, "none"): """
        --assert --atol --baseline --baseline-block --baseline-grid --baseline-smem
        --baseline-threads --best --block --budget --buffer --bytes --cache-config --candidate
        --carveout --check --check-strength --cluster --compile-option --compiler --confine
        --cpu-engine --cpu-threads --define --detect --expect --expect-timeout --filter --flops
        --for --format --func-cache --grid --image --include --input-sets --junit --kernel --let
        --limit --max-image --params --print --priority --python --reference --repeat --rtol --save
        --schedule --schedules --seed --seeds --set --show --smem --std --swap --threads --timeout
        --times --warmup --write-spec -D -I -k
    """,
}
OPTIONS = {name: group for group, names in _GROUPS.items() for name in names.split()}
"""By name: whether the option takes a value, and its effect on early workers."""
