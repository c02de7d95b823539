"""A BERT sentence encoder (Devlin et al., 2019) with mean pooling, read from safetensors, and a linear head over it.
Only the shape that all-MiniLM-L6-v2 has is read: learned positions, layer norm after, GELU."""

import json
from pathlib import Path

import tokenizers
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional as F

MAX_TOKENS = 128


class Block(nn.Module):
    def __init__(self, width: int, inner: int, heads: int, epsilon: float):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.attn_norm, self.ffn_norm = nn.LayerNorm(width, epsilon), nn.LayerNorm(width, epsilon)

    def forward(self, x: Tensor, mask: Tensor, dropout: float) -> Tensor:
        batch, length, width = x.shape
        q, k, v = (f(x).view(batch, length, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        heard = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        heard = self.o(heard.transpose(1, 2).reshape(batch, length, width))
        x = self.attn_norm(x + F.dropout(heard, dropout, self.training))
        return self.ffn_norm(x + F.dropout(self.down(F.gelu(self.up(x))), dropout, self.training))


class Encoder(nn.Module):
    """Token ids, padded with 0, to one vector of length 1 each."""

    def __init__(self, folder: Path, layers: int):
        super().__init__()
        config = json.loads((folder / "config.json").read_text())
        width, epsilon = config["hidden_size"], config["layer_norm_eps"]
        self.config = config | {"num_hidden_layers": layers}
        self.words = nn.Embedding(config["vocab_size"], width, padding_idx=0)
        self.positions = nn.Embedding(config["max_position_embeddings"], width)
        self.types = nn.Embedding(config["type_vocab_size"], width)
        self.norm = nn.LayerNorm(width, epsilon)
        self.blocks = nn.ModuleList(
            Block(width, config["intermediate_size"], config["num_attention_heads"], epsilon) for _ in range(layers)
        )
        self.dropout = 0.1
        self.load_state_dict({ours(k): v for k, v in load_file(folder / "model.safetensors").items() if keep(k, layers)})
        # What is known of words that the lines never use must stay as it was.
        self.words.weight.requires_grad_(False)

    def forward(self, ids: Tensor) -> Tensor:
        real = ids != 0
        x = self.words(ids) + self.positions.weight[: ids.shape[1]] + self.types.weight[0]
        x = F.dropout(self.norm(x), self.dropout, self.training)
        mask = real[:, None, None, :]
        for block in self.blocks:
            x = block(x, mask, self.dropout)
        weights = real[:, :, None].to(x.dtype)
        return F.normalize(((x * weights).sum(1) / weights.sum(1)).float(), dim=-1)


class Gate(nn.Module):
    """Logits of the classes: the encoder's vector, and a line through it."""

    def __init__(self, folder: Path, layers: int, classes: int):
        super().__init__()
        self.encoder = Encoder(folder, layers)
        self.head = nn.Linear(self.encoder.config["hidden_size"], classes)
        # The vector has length 1: logits need room to grow.
        self.scale = 12.0

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.encoder(ids)) * self.scale


def averaged(folder: Path, layers: int, classes: int, runs: list[Path]) -> Gate:
    """A gate whose weights are the means of those that several runs from the same encoder found: better than each of
    them, and no dearer (Wortsman et al., 2022, "Model soups")."""
    found = [torch.load(run / "gate.pt", weights_only=True) for run in runs]
    gate = Gate(folder, layers, classes)
    gate.load_state_dict({name: torch.stack([one[name] for one in found]).mean(0) for name in found[0]})
    return gate.eval()


def fast_floats():
    """Half the bits where this processor multiplies them natively; where it only imitates that, all are faster."""
    native = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
    return torch.autocast("cpu", torch.bfloat16, enabled=native)


def tokenizer(folder: Path) -> tokenizers.Tokenizer:
    read = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    read.no_padding()
    read.enable_truncation(MAX_TOKENS)
    return read


def padded(lines: list[list[int]]) -> Tensor:
    width = max(map(len, lines))
    return torch.tensor([line + [0] * (width - len(line)) for line in lines])


NAMES = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "o",
    "attention.output.LayerNorm": "attn_norm",
    "intermediate.dense": "up",
    "output.dense": "down",
    "output.LayerNorm": "ffn_norm",
}


def keep(name: str, layers: int) -> bool:
    if name.startswith("encoder.layer."):
        return int(name.split(".")[2]) < layers
    return name.startswith("embeddings.") and not name.endswith("position_ids")


def ours(name: str) -> str:
    if name.startswith("encoder.layer."):
        _, _, layer, *rest = name.split(".")
        return f"blocks.{layer}.{NAMES['.'.join(rest[:-1])]}.{rest[-1]}"
    return (
        name.removeprefix("embeddings.")
        .replace("word_embeddings", "words")
        .replace("position_embeddings", "positions")
        .replace("token_type_embeddings", "types")
        .replace("LayerNorm", "norm")
    )
