"""Arrays on CUDA devices for tests, of PyTorch and of CuPy by one interface; tests that use it are
skipped, with the reason, where there is no device, package or module."""

from __future__ import annotations

import importlib.util
import pathlib
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp


class Arrays:
    package = ""
    folder = pathlib.Path(__file__).parent

    def __init__(self) -> None:
        if importlib.util.find_spec("blockspan._cuda") is None:
            pytest.skip("blockspan is installed without its module for CUDA")
        if importlib.util.find_spec(self.package) is None:
            pytest.skip(f"{self.package} is not installed")


class Torch(Arrays):
    package = "torch"

    def __init__(self) -> None:
        super().__init__()
        import torch

        self.torch = torch
        if not torch.cuda.is_available():
            pytest.skip("PyTorch sees no CUDA device")

    def array(self, X: np.ndarray) -> Any:
        return self.torch.from_numpy(np.ascontiguousarray(X)).cuda()

    def columns(self, X: np.ndarray) -> Any:
        return self.array(X.T).T

    def slices(self, X: np.ndarray) -> Any:
        wide = self.torch.zeros((2 * X.shape[0], 3 * X.shape[1] + 1), dtype=self.array(X[:1]).dtype)
        wide = wide.cuda()
        view = wide[::2, 1 : 3 * X.shape[1] + 1 : 3]
        view.copy_(self.array(X))
        return view

    def csr(self, S: sp.csr_array) -> Any:
        parts = (self.array(part) for part in (S.indptr, S.indices, S.data))
        return self.torch.sparse_csr_tensor(*parts, S.shape)

    def parts(self, T: Any) -> tuple[Any, ...]:
        return T.crow_indices(), T.col_indices(), T.values()

    def numpy(self, X: Any) -> np.ndarray:
        return X.resolve_conj().cpu().numpy()

    def owns(self, X: Any) -> bool:
        return isinstance(X, self.torch.Tensor) and X.is_cuda

    def is_column_major(self, X: Any) -> bool:
        return X.ndim == 2 and X.stride(0) == 1 and X.stride(1) > 1

    def streams(self) -> list[Any]:
        return [
            self.torch.cuda.default_stream(),
            self.torch.cuda.Stream(),
            self.torch.cuda.Stream(),
        ]

    def using(self, stream: Any) -> Any:
        return self.torch.cuda.stream(stream)

    def delay(self) -> None:
        self.torch.cuda._sleep(200_000_000)  # 0.1 s or so

    def is_busy(self, stream: Any) -> bool:
        return not stream.query()

    def synchronize(self, stream: Any) -> None:
        stream.synchronize()


class Cupy(Arrays):
    package = "cupy"

    def __init__(self) -> None:
        super().__init__()
        import cupy

        self.cupy = cupy
        try:
            devices = cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError:
            devices = 0
        if devices == 0:
            pytest.skip("CuPy sees no CUDA device")
        self._sleep = cupy.RawKernel(
            'extern "C" __global__ void wait() { long long t = clock64();'
            " while (clock64() - t < 200000000LL) {} }",
            "wait",
        )

    def array(self, X: np.ndarray) -> Any:
        return self.cupy.asarray(X, order="C")

    def columns(self, X: np.ndarray) -> Any:
        return self.cupy.asarray(X, order="F")

    def slices(self, X: np.ndarray) -> Any:
        wide = self.cupy.zeros((2 * X.shape[0], 3 * X.shape[1] + 1), X.dtype)
        view = wide[::-2, 1 : 3 * X.shape[1] + 1 : 3]  # negative strides too
        view[...] = self.array(X)
        return view

    def csr(self, S: sp.csr_array) -> Any:
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix(sp.csr_matrix(S))

    def parts(self, T: Any) -> tuple[Any, ...]:
        return T.indptr, T.indices, T.data

    def numpy(self, X: Any) -> np.ndarray:
        return X.get()

    def owns(self, X: Any) -> bool:
        return isinstance(X, self.cupy.ndarray)

    def is_column_major(self, X: Any) -> bool:
        return bool(X.flags.f_contiguous and not X.flags.c_contiguous)

    def streams(self) -> list[Any]:
        cuda = self.cupy.cuda
        return [cuda.Stream.null, cuda.Stream(non_blocking=True), cuda.Stream()]

    def using(self, stream: Any) -> Any:
        return stream

    def delay(self) -> None:
        self._sleep((1,), (1,), ())

    def is_busy(self, stream: Any) -> bool:
        return not stream.done

    def synchronize(self, stream: Any) -> None:
        stream.synchronize()


KINDS = {"torch": Torch, "cupy": Cupy}
