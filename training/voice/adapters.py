"""
What makes another person of the embedded voice: additions to its weights, zero at initialisation.

Matrices get one of low rank, U · V with U = 0; biases, norms and depthwise convolutions get one each of their own. The sum
is a network of the same form, so that a person costs no more time than the voice does, and the weights of the voice
itself stay what they are.
"""

import torch
from torch import Tensor, nn

from network import Voice


class Adapter(nn.Module):
    def __init__(self, voice: Voice, rank: int) -> None:
        """@param rank: 0 for additions of full rank."""
        super().__init__()
        self.base = {name: value.detach() for name, value in voice.named_parameters()}
        self.full, self.u, self.v = nn.ParameterDict(), nn.ParameterDict(), nn.ParameterDict()
        for name, value in self.base.items():
            key, (rows, *rest) = name.replace(".", "/"), value.shape
            columns = torch.Size(rest).numel()
            if rank == 0 or min(rows, columns) <= 2 * rank or "dw.weight" in name:
                self.full[key] = nn.Parameter(torch.zeros_like(value))
            else:
                self.u[key] = nn.Parameter(torch.zeros(rows, rank))
                self.v[key] = nn.Parameter(torch.randn(rank, columns) / columns**0.5)

    def weights(self) -> dict[str, Tensor]:
        """The voice's weights with what this adapter adds."""
        merged = {}
        for name, value in self.base.items():
            key = name.replace(".", "/")
            added = self.full[key] if key in self.full else (self.u[key] @ self.v[key]).view(value.shape)
            merged[name] = value + added
        return merged
