#!/usr/bin/env bash
# Build the programs of kernels.toml on all cores, run each under the recorder, and keep the PTX beside the recordings.
# SOURCES has the checkouts cutlass, flash-attention and ThunderKittens; Triton and PyTorch are installed.
set -uo pipefail
sources=$(realpath "$1") to=$(realpath -m "$2") here=$(dirname "$(realpath "$0")")
mkdir -p "$to/bin" "$to/log"
cc -shared -fPIC -O1 -w -o "$to/recorder.so" "$here/recorder.c" -ldl
export here sources to

build() {
    local name=$1 kind=$2 architecture=$3 source=$4
    shift 4
    local cutlass=$sources/cutlass code="[compute_$architecture,sm_$architecture]"
    [[ $architecture == 80 ]] && code="[compute_80,sm_90]"
    [[ $architecture == 89 ]] && code=compute_89
    local flags=(-std=c++17 -O3 -w --expt-relaxed-constexpr --expt-extended-lambda -DNDEBUG)
    case $kind in
    cutlass) flags+=(-I"$cutlass/include" -I"$cutlass/tools/util/include" -I"$cutlass/examples/common") source=$cutlass/examples/$source ;;
    fa2) flags+=(-I"$cutlass/include" -I"$here/programs/stubs" -I"$sources/flash-attention/csrc/flash_attn/src"
        -DFLASHATTENTION_DISABLE_{DROPOUT,ALIBI,LOCAL,SOFTCAP,UNEVEN_K}) source=$here/programs/$source ;;
    fa3) flags+=(-I"$cutlass/include" -I"$sources/flash-attention/hopper" -DCUTLASS_ENABLE_GDC_FOR_SM90
        -DCUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED
        -DFLASHATTENTION_DISABLE_{LOCAL,SOFTCAP,PAGEDKV,APPENDKV,VARLEN,SPLIT,SM8x}) source=$here/programs/$source ;;
    thunderkittens) flags=(-std=c++20 -O3 -w --use_fast_math --expt-extended-lambda --expt-relaxed-constexpr -DNDEBUG
        -DKITTENS_HOPPER -Xcompiler=-fno-strict-aliasing -I"$sources/ThunderKittens/include") source=$sources/ThunderKittens/kernels/$source ;;
    own) source=$here/programs/$source ;;
    esac
    nvcc "${flags[@]}" "$@" -I"$(dirname "$source")" -gencode "arch=compute_$architecture,code=$code" \
        -o "$to/bin/$name" "$source" -lcuda >"$to/log/$name.build" 2>&1 || echo "not built: $name"
}

record() {
    local name=$1 match=$2 count=$3
    shift 3
    RECORD_TO=$to/$name RECORD_MATCH=$match RECORD_COUNT=$count LD_PRELOAD=$to/recorder.so timeout 60 "$@" \
        >"$to/log/$name.run" 2>&1 || echo "failed: $name"
}

export -f build
python3 - "$here/kernels.toml" 3>"$to/builds" >"$to/records.sh" <<'PYTHON'
import os, shlex, sys, tomllib

builds = os.fdopen(3, "w")

for each in tomllib.load(open(sys.argv[1], "rb"))["program"]:
    name, kind = each["name"], each["kind"]
    if kind in ("numba", "warp"):
        continue
    run = [name, each["kernel"], str(each.get("launches", 1))]
    if kind == "triton":
        command = f"TRITON_CACHE_DIR=$to/cache/{name} PYTORCH_NO_CUDA_MEMORY_CACHING=1 record {shlex.join(run)} "
        command += f"python3 $here/programs/triton_kernels.py {name.removeprefix('triton_')}; "
        print(f"{command} find $to/cache/{name} -name '*.ptx' -exec cp {{}} $to/{name}/ ';'")
        continue
    built = each.get("program", name)
    if built == name or each.get("arguments") == ["0"]:
        build = [built, kind, each["architecture"], each["source"], *each.get("flags", [])]
        print(f"build {shlex.join(build)}", file=builds)
    print(f"record {shlex.join(run)} $to/bin/{built} {shlex.join(each.get('arguments', []))}")
PYTHON
xargs --delimiter='\n' --max-procs="$(nproc)" -I{} bash -c {} <"$to/builds"
# shellcheck source=/dev/null
source "$to/records.sh"
