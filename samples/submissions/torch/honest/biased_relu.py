import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

SOURCE = r"""
__global__ void biased_relu(const float* x, const float* bias, float* y, int n, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i] + bias[i % columns], 0.0f);
}

torch::Tensor forward(torch::Tensor x, torch::Tensor bias) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    biased_relu<<<(n + 255) / 256, 256>>>(
        x.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), n, x.size(1));
    return y;
}
"""
module = load_inline(
    "biased_relu",
    "torch::Tensor forward(torch::Tensor x, torch::Tensor bias);",
    SOURCE,
    functions=["forward"],
)


class ModelNew(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return module.forward(x, self.bias)
