"""A transformer encoder block's forward with a print in the middle and a branch on data."""

import torch
from torch import nn
from torch.nn import functional as F


class EncoderBlock(nn.Module):
    """Pre-norm self-attention and feed-forward. Input and output: [batch, tokens, width] of f32."""

    def __init__(self, width=256, heads=4, hidden=1024):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)

    def attention(self, x):
        batch, tokens, width = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (
            t.reshape(batch, tokens, self.heads, width // self.heads).transpose(1, 2)
            for t in (q, k, v)
        )
        scores = q @ k.transpose(-2, -1) * (width // self.heads) ** -0.5
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))

    def forward(self, x, log=print):
        x = x + self.attention(self.norm1(x))
        log("    (printed by the block) mean", round(float(x.mean()), 4))
        y = self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))
        if y.abs().max() > 1e4:
            y = y.clamp(-1e4, 1e4)
        return x + y
