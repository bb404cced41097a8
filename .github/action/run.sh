#!/usr/bin/env bash
# Run all specs, and end with the largest exit code: a step of action.yml.
set -uo pipefail
shopt -s globstar nullglob

arguments=()
while IFS= read -r word; do
    [[ -z $word ]] || arguments+=("$word")
done <<< "$INPUT_ARGUMENTS"

specs=()
while IFS= read -r pattern; do
    [[ -n $pattern ]] || continue
    if [[ -f $pattern ]]; then
        specs+=("$pattern")
        continue
    fi
    IFS='' # a glob with spaces is one pattern
    # shellcheck disable=SC2206
    found=($pattern)
    unset IFS
    if ((${#found[@]} == 0)); then
        echo "::error title=cudarun::no spec file matches the input specs"
        exit 2
    fi
    specs+=("${found[@]}")
done <<< "$INPUT_SPECS"
if ((${#specs[@]} == 0)); then
    echo "::error title=cudarun::the input specs is empty"
    exit 2
fi

mkdir -p -- "$INPUT_JUNIT" || exit 2
echo "junit=$INPUT_JUNIT" >> "$GITHUB_OUTPUT"
largest=0
declare -A reports=()
for spec in "${specs[@]}"; do
    name=${spec#./}
    stem=${name//\//-} # which a/b.toml and a-b.toml share
    report=$stem
    for ((number = 2; ${reports["$report"]:-0}; number++)); do
        report=$stem-$number
    done
    reports["$report"]=1
    echo "::group::${spec//[$'\r\n']/ }"
    cudarun launch --spec "$spec" --device "$INPUT_DEVICES" --format github --force \
        --junit "$INPUT_JUNIT/$report.xml" ${arguments[@]+"${arguments[@]}"}
    status=$?
    echo "::endgroup::"
    ((status > largest)) && largest=$status
done
exit "$largest"
