"""Layers with sparse weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from blockspan.errors import Error
from blockspan.torch.products import Matrix, matrix, spmm


class SparseLinear(torch.nn.Module):
    """y = x A^T + b with a trained sparse A: ``torch.nn.Linear`` at the stored entries only.

    S: out x in, what :func:`matrix` takes; its values, copied, are the initial weights
    (:meth:`reset_parameters` draws others). x: (..., in), y: (..., out), of the type of the weights.
    Parameters ``weight`` (nnz) and ``bias`` (out, zeros at first). Raises Error as :func:`spmm`.

    >>> import scipy.sparse as sp, torch, blockspan.torch
    >>> layer = blockspan.torch.SparseLinear(sp.csr_array([[1.0, 2.0], [0.0, 3.0]]))
    >>> layer(torch.ones(5, 2, dtype=torch.float64)).shape
    torch.Size([5, 2])
    """

    def __init__(self, S: Any, bias: bool = True) -> None:
        super().__init__()
        given = matrix(S)
        if given._op != "n":
            raise Error("blockspan.torch.SparseLinear: wanted is a matrix, not a view of one")
        self.matrix = Matrix(given._base, given.values.detach(), hold=False)
        self.out_features, self.in_features = given.shape
        self.weight = torch.nn.Parameter(given.values.detach().clone())
        zeros = self.weight.new_zeros(self.out_features, requires_grad=False)
        self.bias = torch.nn.Parameter(zeros) if bias else None

    def reset_parameters(self) -> None:
        """Weights and bias uniform in (-b, b), b = 1 / sqrt(entries of their row)."""
        lengths = torch.as_tensor(self.matrix._base._source[0]).diff().long()
        bounds = 1 / torch.sqrt(torch.clamp(lengths, min=1).to(self.weight.real.dtype))
        with torch.no_grad():
            self.weight.uniform_(-1, 1).mul_(torch.repeat_interleave(bounds, lengths))
            if self.bias is not None:
                self.bias.uniform_(-1, 1).mul_(bounds)

    def forward(self, x: Tensor) -> Tensor:
        """x A^T + b."""
        flat = x.reshape(-1, x.shape[-1])
        y = spmm(self.matrix, flat.T, values=self.weight).T
        if self.bias is not None:
            y = y + self.bias
        return y.reshape(*x.shape[:-1], self.out_features)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"entries={self.matrix.nnz}, bias={self.bias is not None}"
        )
