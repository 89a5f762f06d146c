"""Sparse products and solves with gradients for PyTorch: ``import blockspan.torch``.

Products (:func:`spmm`, :func:`sddmm`) of CPU and CUDA tensors are differentiable any number of times,
in reverse and forward mode, by ``torch.func`` (``grad``, ``jvp``, ``vmap`` and what is made of them)
too, work under ``torch.compile(fullgraph=True)`` (without forward mode), and have the same bits in
every run. The gradient of X is a product with the adjoint, that of the values a product at the
stored entries only. ``cg`` has all of these but compilation, ``eigsh`` reverse mode.
"""

from blockspan.torch.layers import SparseLinear
from blockspan.torch.products import Matrix, matrix, sddmm, spmm
from blockspan.torch.solves import cg, eigsh

__all__ = ["Matrix", "SparseLinear", "cg", "eigsh", "matrix", "sddmm", "spmm"]
