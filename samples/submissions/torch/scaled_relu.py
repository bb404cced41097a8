"""A rectified, weighted and scaled tensor."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, columns, scale):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(columns))
        self.scale = scale

    def forward(self, x):
        return torch.relu(x * self.weight) * self.scale


def get_inputs():
    return [torch.randn(256, 512)]


def get_init_inputs():
    return [512, 2.0]
