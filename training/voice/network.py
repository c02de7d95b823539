"""The embedded voice's three networks in PyTorch, with the weights of the shipped graphs (voices/heart/split)."""

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn import functional as F

HEART = Path(__file__).parents[2] / "voices" / "heart"
SPLIT = HEART / "split"
VOCABULARY = HEART / "vocab.json"
BINS = 601
CONTEXT_FRAMES = 27
"""Frames that the decoder sees before and after the one it describes."""


class ConvNeXt(nn.Module):
    def __init__(self, channels: int, width: int, hidden: int, dilation: int = 1) -> None:
        super().__init__()
        padding = dilation * (width // 2)
        self.dw = nn.Conv1d(channels, channels, width, padding=padding, dilation=dilation, groups=channels)
        self.norm = nn.LayerNorm(channels)
        self.pw1 = nn.Linear(channels, hidden)
        self.pw2 = nn.Linear(hidden, channels)
        self.gamma = nn.Parameter(torch.ones(channels))

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.dw(x).transpose(1, 2))
        return x + (self.gamma * self.pw2(F.gelu(self.pw1(y)))).transpose(1, 2)


class Attention(nn.Module):
    """One layer, applied several times over with the same weights."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(channels)
        self.self_attn = nn.MultiheadAttention(channels, 2, batch_first=True)
        self.norm2 = nn.LayerNorm(channels)
        self.linear1 = nn.Linear(channels, 2 * channels)
        self.linear2 = nn.Linear(2 * channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        attention, (batch, length, channels) = self.self_attn, x.shape
        projected = F.linear(self.norm1(x), attention.in_proj_weight, attention.in_proj_bias)
        q, k, v = projected.view(batch, length, 3, 2, channels // 2).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
        x = x + F.linear(mixed, attention.out_proj.weight, attention.out_proj.bias)
        return x + self.linear2(F.gelu(self.linear1(self.norm2(x))))


class Text(nn.Module):
    def __init__(self, channels: int, passes: int) -> None:
        super().__init__()
        self.emb = nn.Embedding(178, channels)
        self.convs = nn.Sequential(*(ConvNeXt(channels, 5, 2 * channels) for _ in range(2)))
        self.attn = Attention(channels)
        self.passes = passes
        self.norm = nn.LayerNorm(channels)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.convs(self.emb(ids).transpose(1, 2)).transpose(1, 2)
        for _ in range(self.passes):
            x = self.attn(x)
        return self.norm(x).transpose(1, 2)


class Planner(nn.Module):
    """Phonemes to durations, and those, stretched, to pitch and energy."""

    def __init__(self) -> None:
        super().__init__()
        self.text = Text(192, 6)
        self.dur = nn.Sequential(nn.Conv1d(192, 192, 3, padding=1), nn.GELU(), nn.Conv1d(192, 1, 1))
        self.pro_in = nn.Conv1d(192, 192, 1)
        self.pro = nn.Sequential(*(ConvNeXt(192, 7, 384, dilation) for dilation in (1, 2, 4, 8, 1, 2)))
        self.pro_out = nn.Conv1d(192, 4, 1)

    def log_durations(self, encoded: Tensor) -> Tensor:
        """[batch, phonemes]: log(1 + steps of 25 ms)."""
        return self.dur(encoded)[:, 0]

    def intone(self, steps: Tensor) -> tuple[Tensor, Tensor]:
        """[batch, 192, steps] to pitch in hertz and energy, each [batch, 2 · steps]."""
        out = self.pro_out(self.pro(self.pro_in(steps)))
        batch, _, length = out.shape
        pitch, energy = out.view(batch, 2, 2, length).transpose(2, 3).reshape(batch, 2, 2 * length).unbind(1)
        return 100 * pitch, 5 * energy


class Decoder(nn.Module):
    """Phonemes, pitch and energy to the description of spectral frames."""

    def __init__(self) -> None:
        super().__init__()
        self.text = Text(128, 4)
        self.dec_in = nn.Conv1d(130, 256, 7, padding=3)
        self.dec = nn.Sequential(*(ConvNeXt(256, 7, 768) for _ in range(8)))
        self.dec_norm = nn.LayerNorm(256)
        self.head = nn.Linear(256, 5 * BINS)

    def describe(self, frames: Tensor, pitch_hz: Tensor, energy: Tensor) -> Tensor:
        """[batch, 128, frames] and two of [batch, frames] to [batch, frames, 3005]."""
        told = torch.stack([(1 + pitch_hz.relu()).log() / 5, energy / 5], 1)
        x = self.dec(self.dec_in(torch.cat([frames, told], 1)))
        return self.head(self.dec_norm(x.transpose(1, 2)))


class Voice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.pn = Planner()
        self.m = Decoder()

    @torch.no_grad()
    def plan(self, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Durations in steps of 25 ms, pitch and energy of one sentence [phonemes]."""
        encoded = self.pn.text(ids[None])
        steps = (self.pn.log_durations(encoded)[0].exp() - 1).round().clamp(min=1).long()
        pitch, energy = self.pn.intone(encoded.repeat_interleave(steps, 2))
        return steps, pitch[0], energy[0]

    def describe(self, ids: Tensor, steps: Tensor, pitch_hz: Tensor, energy: Tensor) -> Tensor:
        """Frames [frames, 3005] of one planned sentence."""
        frames = self.m.text(ids[None]).repeat_interleave(2 * steps, 2)
        return self.m.describe(frames, pitch_hz[None], energy[None])[0]


def shipped() -> Voice:
    """The voice with the weights of the graphs, as float32."""
    voice = Voice()
    voice.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in weights().items()})
    return voice.eval()


def weights() -> dict[str, np.ndarray]:
    """By their names in training."""
    found: dict[str, np.ndarray] = {}
    for part in ("text", "prosody", "decoder"):
        graph = onnx.load(SPLIT / f"{part}.onnx").graph
        stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
        for name, constant, is_matrix in graph_names(graph):
            array = stored[constant]
            if is_matrix:
                array = (array.astype(np.float32) * stored[scale_of(constant)]).T
            found[name] = array
    return found


def scale_of(constant: str) -> str:
    """An int8 matrix's scale."""
    return constant.removesuffix("_quantized") + "_scale"


def graph_names(graph: onnx.GraphProto) -> list[tuple[str, str, bool]]:
    """
    Names in training, those of the constants in the graph, and whether that is an int8 matrix, which is transposed. Such a
    one has lost its own name: it is multiplied by its scale, then something by it, and then a bias is added, which has kept
    it.
    """
    names = [(tensor.name, tensor.name, False) for tensor in graph.initializer if tensor.name.startswith(("m.", "pn."))]
    by_output = {output: node for node in graph.node for output in node.output}
    matrices: dict[str, str] = {}
    for node in graph.node:
        bias = next((name for name in node.input if name.endswith("bias")), None)
        product = next((by_output[name] for name in node.input if name in by_output), None)
        if node.op_type == "Add" and bias and product and product.op_type == "MatMul":
            scaled = by_output[product.input[1]]
            matrices[bias.removesuffix("bias") + "weight"] = by_output[scaled.input[0]].input[0]
    return names + [(name, constant, True) for name, constant in matrices.items()]
