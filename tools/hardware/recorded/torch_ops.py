"""Operators of PyTorch. Usage: torch_ops.py eager | graph | compiled."""

from __future__ import annotations

import sys

import torch


def eager() -> None:
    """Kernels of PyTorch and of cuBLAS, which are machine code only."""
    torch.manual_seed(1)
    x = torch.randn(512, 1024, device="cuda")
    spare = torch.randn(4 << 20, device="cuda")  # a segment that softmax does not read
    torch.softmax(x, 1)
    torch.nn.functional.layer_norm(x, (1024,))
    torch.mm(x.half(), x.half().T)
    torch.cuda.synchronize()
    assert spare[0] == spare[0]


def graph() -> None:
    """A captured graph, which is launched three times with other inputs."""
    static = torch.zeros(1024, 1024, device="cuda")

    def step() -> torch.Tensor:
        return torch.softmax(static * 2 + 1, 1)

    with torch.cuda.stream(torch.cuda.Stream()):
        step()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        result = step()
    for number in range(3):
        static.copy_(torch.randn(1024, 1024, device="cuda") + number)
        captured.replay()
        torch.cuda.synchronize()
        torch.testing.assert_close(result, torch.softmax(static * 2 + 1, 1))


def compiled() -> None:
    """Triton kernels in a graph that ``torch.compile`` captures."""

    @torch.compile(mode="reduce-overhead")
    def step(x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(torch.relu(x) * 2 + 1, 1)

    for _ in range(4):
        x = torch.randn(512, 512, device="cuda")
        result = step(x)
        torch.cuda.synchronize()
    torch.testing.assert_close(result, torch.softmax(torch.relu(x) * 2 + 1, 1))


{"eager": eager, "graph": graph, "compiled": compiled}[sys.argv[1]]()
print("done")
