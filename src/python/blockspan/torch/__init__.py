"""Sparse products and solves with gradients for PyTorch: ``import blockspan.torch``.

The ops ``blockspan::spmm`` and ``blockspan::sddmm`` of CPU and CUDA tensors are differentiable any number of
times, work under ``torch.compile(fullgraph=True)``, and have the same bits in every run. The
gradient of X is a product with the adjoint, that of the values a product at the stored entries only.
"""

from blockspan.torch.layers import SparseLinear
from blockspan.torch.products import Matrix, matrix, sddmm, spmm
from blockspan.torch.solves import cg, eigsh

__all__ = ["Matrix", "SparseLinear", "cg", "eigsh", "matrix", "sddmm", "spmm"]
