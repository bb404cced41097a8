"""The image ``builtin`` for context scripts: small kernels and variables."""

from __future__ import annotations

from cudarun.session.image.image import Image

PTX = """\
// counter (u32, 5 at first): a variable; every context and every module has its own
// shared_counter (u32, 7 at first): managed, at one address everywhere
// bump(u32 k): adds k to both
// store(u64 p, u32 v): writes v to the address p
// spin(): never ends
.version 7.0
.target sm_70
.address_size 64

.visible .global .align 4 .u32 counter = 5;
.visible .global .attribute(.managed) .align 4 .u32 shared_counter = 7;

.visible .entry bump(.param .u32 k)
{
    .reg .u32 %r<4>;
    .reg .u64 %rd<3>;
    ld.param.u32 %r1, [k];
    mov.u64 %rd1, counter;
    atom.global.add.u32 %r2, [%rd1], %r1;
    mov.u64 %rd2, shared_counter;
    atom.global.add.u32 %r3, [%rd2], %r1;
    ret;
}

.visible .entry store(.param .u64 p, .param .u32 v)
{
    .reg .u32 %r<2>;
    .reg .u64 %rd<3>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [v];
    cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], %r1;
    ret;
}

.visible .entry spin()
{
    .reg .u32 %r<2>;
    .reg .u64 %rd<2>;
    mov.u64 %rd1, counter;
again:
    ld.volatile.global.u32 %r1, [%rd1];
    bra again;
}
"""


def builtin_image() -> Image:
    """Return the image in the same form as one read from a file."""
    from cudarun.images.reader import read_image

    data = PTX.encode()
    return Image("builtin", data, read_image(data, "builtin"))
