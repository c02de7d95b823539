"""
What makes another person of the embedded voice: additions to its weights, zero at initialisation.

Matrices get one of low rank, U · V with U = 0; biases, norms and depthwise convolutions get one each of their own; and so do the
embeddings of symbols that another language adds. The sum
is a network of the same form, so that a person costs no more time than the voice does, and the weights of the voice
itself stay what they are.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from network import Voice


class Adapter(nn.Module):
    def __init__(self, voice: Voice, rank: int, symbols: Sequence[int] = ()) -> None:
        """
        @param rank: 0 for additions of full rank.
        @param symbols: ids of phonemes whose embeddings are learnt whole: low rank cannot hold what the voice was never taught.
        """
        super().__init__()
        self.base = {name: value.detach() for name, value in voice.named_parameters()}
        self.symbols = torch.tensor(symbols, dtype=torch.long)
        self.full, self.u, self.v, self.rows = (nn.ParameterDict() for _ in range(4))
        for name, value in self.base.items():
            key, (rows, *rest) = name.replace(".", "/"), value.shape
            columns = torch.Size(rest).numel()
            if rank == 0 or min(rows, columns) <= 2 * rank or "dw.weight" in name:
                self.full[key] = nn.Parameter(torch.zeros_like(value))
            else:
                self.u[key] = nn.Parameter(torch.zeros(rows, rank))
                self.v[key] = nn.Parameter(torch.randn(rank, columns) / columns**0.5)
                if name.endswith("emb.weight") and len(symbols) > 0:
                    self.rows[key] = nn.Parameter(torch.zeros(len(symbols), columns))

    def weights(self) -> dict[str, Tensor]:
        """The voice's weights with what this adapter adds."""
        merged = {}
        for name, value in self.base.items():
            key = name.replace(".", "/")
            added = self.full[key] if key in self.full else (self.u[key] @ self.v[key]).view(value.shape)
            if key in self.rows:
                added = added.index_add(0, self.symbols, self.rows[key])
            merged[name] = value + added
        return merged

    @torch.no_grad()
    def begin_near(self, near: Mapping[int, Sequence[int]]) -> None:
        """Lets each of the symbols begin at the mean embedding of others."""
        for key, rows in self.rows.items():
            table = self.base[key.replace("/", ".")]
            for row, symbol in zip(rows, self.symbols.tolist(), strict=True):
                row.copy_(table[list(near[symbol])].mean(0) - table[symbol])
