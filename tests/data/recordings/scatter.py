"""An out-of-bounds write in the middle of a PyTorch run."""

import torch
import triton
import triton.language as tl


@triton.jit
def scatter(x, index, y, n, BLOCK: tl.constexpr):  # noqa: N803
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    where = tl.load(index + i, mask=i < n)
    tl.store(y + where, tl.load(x + i, mask=i < n), mask=i < n)


torch.manual_seed(0)
big = torch.zeros(3 << 27, device="cuda")  # 1.5 GiB in the same allocator
x = torch.randn(1000, device="cuda")
y = torch.zeros(1000, device="cuda")
for step in range(10):
    index = torch.randperm(1000, device="cuda")
    if step == 6:
        index[500] = 1 << 40
    x = torch.softmax(x, 0)
    scatter[(4,)](x, index, y, 1000, BLOCK=256)
    x = y + big[:1000]
torch.cuda.synchronize()
print(float(y.sum()))
