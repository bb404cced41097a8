"""The ``.target`` and ``.version`` that each instruction requires.

The table was recorded from ptxas 13.0 for every form in the tables, PTX 9.1 from ptxas 13.5. The
opcode is followed by the architecture, the version of PTX and the words that require them: ``bf16``
for one word, ``rn+tf32`` for two in combination, nothing for the whole instruction. A row without
an opcode belongs to the one above. Everything else is available in PTX 6.0 and on sm_50.

The driver of an H200 enforces every row: the chapter ``accepted-ptx`` of ``tools.hardware`` asks.
"""

from __future__ import annotations

from functools import lru_cache

_TABLE = """
abs            53 6.5 f16 f16x2
               80 7.0 bf16 bf16x2
activemask     50 6.2
add            53 6.0 f16 f16x2
               90 7.8 bf16 bf16x2
               90 8.0 s16x2 u16x2
alloca         53 7.3
atom           50 7.8 shared::cta
               60 6.0 cta f64 gpu sys
               60 6.2 noftz
               70 6.0 acq_rel acquire relaxed release
               70 6.3 b16 f16
               80 7.4 L2::cache_hint
               90 7.8 bf16 bf16x2 cluster shared::cluster
               90 8.1 v2 v4 v8
               90 8.3 b128
               90 8.4 b128+sys
barrier        90 7.8 cluster
bmsk           70 7.6
cp             80 7.0
               80 7.4 L2::128B L2::256B L2::64B L2::cache_hint
               80 7.8 mbarrier+shared::cta
               90 8.0 bulk
               90 8.6 bulk+global+mbarrier::complete_tx::bytes+shared::cta
createpolicy   80 7.4
cvt            72 6.5 b32 pack
               75 6.5 s2+pack s4+pack u2+pack u4+pack
               80 7.0 bf16 bf16x2 f16x2 relu rna tf32
               70 8.1 satfinite
               89 8.1 e4m3x2 e5m2x2
               90 7.8 bf16+f16 bf16+f64 bf16+s8 bf16+s16 bf16+s32 bf16+s64 bf16+u8 bf16+u16
               90 7.8 bf16+u32 bf16+u64 relu+tf32 rn+tf32 rz+tf32
cvta           50 7.8 shared::cta
               70 7.7 param
               70 8.3 param::entry
               90 7.8 shared::cluster
dp2a           61 6.0
dp4a           61 6.0
elect          90 8.0
ex2            75 7.0 f16 f16x2
               90 7.8 bf16 bf16x2
fence          70 6.0
               70 7.5 proxy
               90 7.8 cluster
               90 8.0 async mbarrier_init
               90 8.3 tensormap::generic
               90 8.6 sync_restrict::shared::cluster sync_restrict::shared::cta
fma            53 6.0 f16 f16x2
               80 7.0 bf16 bf16x2 relu
               90 8.1 oob
getctarank     90 7.8
griddepcontrol 90 7.8
isspacep       50 7.8 shared::cta
               70 7.7 param
               70 8.3 param::entry
               90 7.8 shared::cluster
ld             50 7.8 shared::cta
               50 8.2 mmio
               50 8.3 param::entry param::func
               70 6.0 cta gpu sys weak
               70 7.4 L1::evict_first L1::evict_last L1::evict_normal L1::evict_unchanged
               70 7.4 L1::no_allocate
               70 8.3 b128
               50 9.1 volatile+local
               70 8.4 b128+sys
               75 7.4 L2::128B L2::64B
               80 7.4 L2::256B L2::cache_hint
               90 7.8 cluster shared::cluster
ldmatrix       75 6.5
               75 7.8 shared::cta
ldu            70 8.3 b128
lop3           70 8.2 and or
mapa           90 7.8
match          70 6.0
max            80 7.0 NaN bf16 bf16x2 f16 f16x2
               86 7.2 xorsign
               90 8.0 relu s16x2 u16x2
mbarrier       80 7.0
               80 7.1 parity
               80 7.8 shared::cta
               80 8.0 acquire release
               90 7.8 try_wait
               90 8.0 expect_tx complete_tx cluster shared::cluster
               90 8.6 arrive+relaxed arrive_drop+relaxed relaxed+test_wait relaxed+try_wait
membar         60 7.5 proxy
min            80 7.0 NaN bf16 bf16x2 f16 f16x2
               86 7.2 xorsign
               90 8.0 relu s16x2 u16x2
mma            70 6.4
               75 6.5 m16n8k8 m8n8k16 m8n8k32
               75 7.0 m8n8k128
               80 7.0 bf16 m16n8k16 m16n8k32 m16n8k64 m16n8k128 m16n8k256 f64+m8n8k4 tf32
               80 7.1 and sp
               80 8.5 sp::ordered_metadata
               89 8.4 e4m3 e5m2
               89 8.7 e4m3+f16 e4m3+m16n8k16 e5m2+f16 e5m2+m16n8k16
               90 7.8 f64+m16n8k16 f64+m16n8k4 f64+m16n8k8
mov            70 8.3 b128
movmatrix      75 7.8
mul            53 6.0 f16 f16x2
               90 7.8 bf16 bf16x2
nanosleep      70 6.2
neg            53 6.0 f16 f16x2
               80 7.0 bf16 bf16x2
prefetch       80 7.4 L2::evict_last L2::evict_normal
               90 8.0 tensormap
red            50 7.8 shared::cta
               60 6.0 cta f64 gpu sys
               60 6.2 noftz
               70 6.0 relaxed release
               70 6.3 f16
               80 7.4 L2::cache_hint
               90 7.8 bf16 bf16x2 cluster shared::cluster
               90 8.1 async v2 v4 v8
redux          80 7.0
set            53 6.0 f16 f16x2
               90 7.8 bf16 bf16x2
setp           53 6.0 f16 f16x2
               90 7.8 bf16 bf16x2
st             50 7.8 shared::cta
               50 8.2 mmio
               50 8.3 param::func
               70 6.0 relaxed weak
               70 7.4 L1::evict_first L1::evict_last L1::evict_normal L1::evict_unchanged
               70 7.4 L1::no_allocate
               70 8.3 b128
               70 8.4 b128+sys
               50 9.1 volatile+local
               80 7.4 L2::cache_hint
               90 7.8 cluster shared::cluster
               90 8.1 async
stackrestore   53 7.3
stacksave      53 7.3
stmatrix       90 7.8
sub            53 6.0 f16 f16x2
               90 7.8 bf16 bf16x2
sured          50 8.1 b64 max+s64 max+u64 min+s64 min+u64
szext          70 7.6
tanh           75 7.0
               90 7.8 bf16 bf16x2
tex            53 6.0 f16 f16x2
tensormap      90 8.3
wgmma          90 8.0
               90 8.2 sp
               90 8.4 s8+u8
wmma           70 6.0
               70 6.3 aligned
               70 7.8 shared::cta
               72 6.3 s32 s8 u8
               75 6.3 m8n8k32 m8n8k128
               80 7.0 bf16 m16n16k8 m8n8k4
               80 7.1 and
"""

Version = tuple[int, int]


def _rows() -> dict[str, list[tuple[frozenset[str], int, Version]]]:
    rows: dict[str, list[tuple[frozenset[str], int, Version]]] = {}
    opcode = ""
    for line in _TABLE.strip("\n").splitlines():
        opcode = line[:15].strip() or opcode
        target, version, *words = line[15:].split()
        major, _, minor = version.partition(".")
        for together in words or [""]:
            needed = frozenset(together.split("+")) - {""}
            rows.setdefault(opcode, []).append((needed, int(target), (int(major), int(minor))))
    return rows


_SINCE = _rows()


@lru_cache(maxsize=4096)
def requirements(opcode: str, modifiers: tuple[str, ...]) -> tuple[int, Version]:
    """Return the architecture (``90`` for ``sm_90``) and PTX version that the driver demands."""
    given, target, version = set(modifiers), 0, (0, 0)
    for words, architecture, number in _SINCE.get(opcode, ()):
        if words <= given:
            target, version = max(target, architecture), max(version, number)
    return target, version
