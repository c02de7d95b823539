"""The language model of a GGUF file in PyTorch, its weights frozen, with a low-rank adapter (Hu et al., 2021) beside
every matrix of its upper blocks. What the lower blocks give never changes in training, so it is computed once. Only
the Llama shape that SmolLM2-135M has is read."""

from pathlib import Path

import gguf
import numpy as np
import tokenizers
import torch
from tokenizers import decoders, models, pre_tokenizers
from torch import Tensor, nn
from torch.nn import functional as F

# Half the bits where this processor multiplies them natively; where it only imitates that, they are slower than all of them.
IS_HALF_NATIVE = torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
FLOATS = torch.bfloat16 if IS_HALF_NATIVE else torch.float32

ADAPTED = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")


class Matrix(nn.Module):
    """y = W x + (alpha / rank) B A x, with W frozen in FLOATS, A and B kept in float32. Rank 0: W alone."""

    def __init__(self, weight: Tensor, rank: int, alpha: float, dropout: float):
        super().__init__()
        rows, columns = weight.shape
        self.register_buffer("weight", weight.to(FLOATS), persistent=False)
        self.rank = rank
        if rank == 0:
            return
        self.a = nn.Parameter(torch.randn(rank, columns) / columns**0.5)
        self.b = nn.Parameter(torch.zeros(rows, rank))
        self.scale = alpha / rank
        self.dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        if self.rank == 0:
            return F.linear(x, self.weight)
        # Dropout after A and not before it: sixteen numbers a token instead of hundreds.
        low = F.dropout(F.linear(x, self.a.to(x.dtype)), self.dropout, self.training)
        return F.linear(x, self.weight) + F.linear(low, (self.b * self.scale).to(x.dtype))


class Block(nn.Module):
    def __init__(self, tensors: dict[str, Tensor], prefix: str, config: dict, **lora):
        super().__init__()
        for name in ADAPTED:
            setattr(self, name, Matrix(tensors[f"{prefix}.{name}.weight"], **lora))
        for name in ("attn_norm", "ffn_norm"):
            self.register_buffer(name, tensors[f"{prefix}.{name}.weight"], persistent=False)
        self.heads, self.kv_heads, self.epsilon = config["heads"], config["kv_heads"], config["epsilon"]

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        batch, length, width = x.shape
        h = rms_norm(x, self.attn_norm, self.epsilon)
        size = width // self.heads
        q = rotate(self.attn_q(h).view(batch, length, self.heads, size), cos, sin)
        k = rotate(self.attn_k(h).view(batch, length, self.kv_heads, size), cos, sin)
        v = self.attn_v(h).view(batch, length, self.kv_heads, size)
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        repeats = self.heads // self.kv_heads
        k, v = k.repeat_interleave(repeats, 1), v.repeat_interleave(repeats, 1)
        heard = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attn_output(heard.transpose(1, 2).reshape(batch, length, width))
        h = rms_norm(x, self.ffn_norm, self.epsilon)
        return x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))


class Llama(nn.Module):
    def __init__(self, path: Path, first: int, rank: int, alpha: float, dropout: float):
        """`first` is the lowest block that is adapted."""
        super().__init__()
        reader = gguf.GGUFReader(path)
        tensors = {t.name: torch.from_numpy(np.array(gguf.dequantize(t.data, t.tensor_type))) for t in reader.tensors}
        field = lambda name: reader.fields[f"llama.{name}"].contents()
        self.config = {
            "heads": field("attention.head_count"),
            "kv_heads": field("attention.head_count_kv"),
            "epsilon": field("attention.layer_norm_rms_epsilon"),
        }
        size = field("rope.dimension_count")
        # GGUF keeps rotated pairs side by side: dimensions 2i and 2i + 1 turn together (Su et al., 2021).
        angles = torch.outer(torch.arange(2048).float(), field("rope.freq_base") ** (-torch.arange(0, size, 2) / size))
        self.register_buffer("cos", angles.cos()[None, :, None], persistent=False)
        self.register_buffer("sin", angles.sin()[None, :, None], persistent=False)
        embedding = tensors["token_embd.weight"].to(FLOATS)
        self.register_buffer("embedding", embedding, persistent=False)
        self.register_buffer("norm", tensors["output_norm.weight"], persistent=False)
        self.first = first
        self.blocks = nn.ModuleList(
            Block(tensors, f"blk.{n}", self.config, rank=rank if n >= first else 0, alpha=alpha, dropout=dropout)
            for n in range(field("block_count"))
        )

    @torch.no_grad()
    def below(self, ids: Tensor) -> Tensor:
        """(batch, length) tokens to (batch, length, width), as the lowest adapted block receives them."""
        return self.through(F.embedding(ids, self.embedding), self.blocks[: self.first])

    def above(self, x: Tensor) -> Tensor:
        """What `below` gave, through the adapted blocks and the last norm."""
        return rms_norm(self.through(x, self.blocks[self.first :]), self.norm, self.config["epsilon"])

    def through(self, x: Tensor, blocks: nn.ModuleList) -> Tensor:
        cos, sin = self.cos[:, : x.shape[1]], self.sin[:, : x.shape[1]]
        for block in blocks:
            x = block(x, cos, sin)
        return x

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.embedding)


def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + epsilon) * weight).to(x.dtype)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    even, odd = x.float().unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2).to(x.dtype)


def tokenizer_of(path: Path) -> tokenizers.Tokenizer:
    """The file's own byte-pair tokenizer ("smollm": digits alone, then GPT-2's pieces), without its special tokens."""
    fields = gguf.GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"].contents()]
    tokenizer = tokenizers.Tokenizer(models.BPE({token: id for id, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def read_adapter(path: Path, blocks: nn.ModuleList) -> None:
    """What `write_adapter` wrote, into blocks of the same rank."""
    for tensor in gguf.GGUFReader(path).tensors:
        _, number, name, _, part = tensor.name.split(".")
        values = torch.from_numpy(np.array(tensor.data, dtype=np.float32))
        getattr(getattr(blocks[int(number)], name), part.removeprefix("lora_")).data.copy_(values)


def write_adapter(path: Path, blocks: nn.ModuleList, rank: int, alpha: float) -> None:
    """A GGUF adapter as llama.cpp reads one: `X.lora_a` (rank, in) and `X.lora_b` (out, rank) in 16-bit floats."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, alpha)
    for number, block in enumerate(blocks):
        for name in ADAPTED:
            matrix = getattr(block, name)
            if matrix.rank == 0:
                continue
            for part, values in (("lora_a", matrix.a), ("lora_b", matrix.b)):
                tensor = values.detach().numpy().astype(np.float16)
                writer.add_tensor(f"blk.{number}.{name}.weight.{part}", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
