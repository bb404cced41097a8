import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * n + i, mask=i < n, other=-float("inf"))
    e = tl.exp(row - tl.max(row, axis=0))
    tl.store(y + tl.program_id(0) * n + i, e / tl.sum(e, axis=0), mask=i < n)


class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        softmax[(x.shape[0],)](x, y, x.shape[1], triton.next_power_of_2(x.shape[1]))
        return y
