"""Arrays of NumPy, PyTorch and CuPy: their memory, and how to make results of the same kind."""

from __future__ import annotations

import atexit
import importlib
import os
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blockspan import _host
from blockspan.arguments import require_unmasked
from blockspan.errors import Error

Array = NDArray[Any]

_TYPES = ("float16", "float32", "float64", "complex64", "complex128", "int32", "int64")


def is_bfloat16(X: Any) -> bool:
    """Whether X is a bfloat16 tensor or that type, which NumPy does not have."""
    dtype = getattr(X, "dtype", X)
    return type(dtype).__module__ == "torch" and str(dtype) == "torch.bfloat16"


def type_named(name: str) -> Any:
    """The NumPy or PyTorch type with the module's name."""
    return importlib.import_module("torch").bfloat16 if name == "bfloat16" else np.dtype(name)


class Kind:
    """The arrays of one package, in the memory of the host or of one device."""

    name = "in host memory"
    on_cuda = False
    has_gradients = False  #: whether arrays have the attribute requires_grad
    native: Any = _host  #: the module that computes with them

    def array(self, X: Any) -> Array:
        """X as an array of this kind with strides that the library supports."""
        if hasattr(X, "is_cuda") and not X.is_sparse:
            refuse_followed(X)
        require_unmasked(X)
        try:
            return np.asarray(X)
        except TypeError:
            if not is_bfloat16(X):
                raise
            raise Error(
                "blockspan: a tensor of torch.bfloat16, which products and sddmm alone take"
            ) from None

    def numbers(self, X: Any) -> Any:
        """The same for values and blocks of products, where bfloat16 tensors are kept."""
        if not is_bfloat16(X):
            return self.array(X)
        refuse_followed(X)
        if not self.on_cuda:
            host_tensors().require_reading(X)
        return X

    def argument(self, X: Array) -> Any:
        """X in the form that the module accepts."""
        return X

    def operand(self, X: Any) -> tuple[Any, tuple[int, ...]]:
        """X of this kind in the form that a product reads, without a gradient, and its shape."""
        if X.ndim and min(X.strides) < 0:
            X = X.copy()
        return X, X.shape

    def target(self, where: str, out: Any) -> Any:
        """`out` in the form that the module accepts. Raises Error if it cannot be written."""
        if type(out) is not np.ndarray or not out.flags.writeable:
            raise Error(f"{where}: out is no NumPy array that can be written ({type(out)})")
        return out

    def lent(self, block: Any) -> Array:
        """A block of the module, passed to a callback."""
        return block  # type: ignore[no-any-return]

    def dtype(self, X: Array) -> np.dtype[Any]:
        return X.dtype

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Array:
        if is_bfloat16(dtype):
            import torch

            return torch.empty(shape, dtype=dtype)  # type: ignore[no-any-return]
        return np.empty(shape, dtype)

    def result(self, X: Any, source: Any, rows: int) -> Array:
        """A new block for a product with X, column-major if X is; source: result of `operand`."""
        return np.empty((rows, X.shape[1]), X.dtype, "F" if X.flags.fnc else "C")

    def cast(self, X: Array, dtype: Any) -> Array:
        """X in that type, row-major and aligned; without a copy if it already is."""
        return np.require(X, dtype, ["C", "ALIGNED"])

    def numpy(self, X: Array) -> Array:
        """X in host memory, copied if it is elsewhere."""
        return X

    def stream(self) -> int:
        """The caller's current stream."""
        return 0


HOST = Kind()


class _Device(Kind):
    """The common part of the packages with arrays on CUDA devices."""

    on_cuda = True

    def __init__(self, package: str, device: int) -> None:
        self.name = f"of {package} on CUDA device {device}"
        self.native = cuda_module(f"an array {self.name}")
        self.native.start(device)  # unless it runs, on whatever device
        self.device = device
        self._package = importlib.import_module(package)
        _DEVICES.append(self)

    def refuse(self) -> int:
        """Replaces :meth:`stream` in a forked process, so that the error is ours."""
        self.native.start(self.device)  # raises Error
        return 0

    def operand(self, X: Any) -> tuple[Any, tuple[int, ...]]:
        description = self.argument(self.array(X))
        return description, description[2]

    def target(self, where: str, out: Any) -> Any:
        return self.argument(out)

    def lent(self, block: Any) -> Array:
        return self._from_interface(_Lent(block))

    def _from_interface(self, lent: Any) -> Array:
        raise NotImplementedError


_DEVICES: list[_Device] = []


class _Torch(_Device):
    has_gradients = True

    def __init__(self, device: int) -> None:
        super().__init__("torch", device)
        self._types = {getattr(self._package, name): np.dtype(name) for name in _TYPES}
        self._names = {kind: (dtype.itemsize, dtype.name) for kind, dtype in self._types.items()}
        self._stream = self._package._C._cuda_getCurrentRawStream

    def array(self, X: Any) -> Array:
        refuse_followed(X)
        return X.resolve_conj().resolve_neg() if X.is_conj() or X.is_neg() else X  # type: ignore[no-any-return]

    def argument(self, X: Any) -> Any:
        dtype = X.dtype
        unit, name = self._names.get(dtype) or (dtype.itemsize, str(dtype).removeprefix("torch."))
        return X, X.data_ptr(), X.shape, X.stride(), unit, name, X.get_device()

    def operand(self, X: Any) -> tuple[Any, tuple[int, ...]]:
        description = self.argument(X)
        if X.is_neg() or (description[5][0] == "c" and X.is_conj()):
            description = self.argument(X.resolve_conj().resolve_neg())
        return description, description[2]

    def dtype(self, X: Any) -> np.dtype[Any]:
        dtype = self._types.get(X.dtype)
        if dtype is None:
            raise Error(f"blockspan: a tensor of {X.dtype}, which the library does not know")
        return dtype

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Array:
        kind = dtype if is_bfloat16(dtype) else getattr(self._package, np.dtype(dtype).name)
        return self._package.empty(shape, dtype=kind, device=self.device)  # type: ignore[no-any-return]

    def result(self, X: Any, source: Any, rows: int) -> Array:
        return _tensor_like(X, rows, source[2], source[3])

    def cast(self, X: Any, dtype: Any) -> Array:
        return X.to(getattr(self._package, np.dtype(dtype).name)).contiguous()  # type: ignore[no-any-return]

    def numpy(self, X: Any) -> Array:
        return X.cpu().numpy()  # type: ignore[no-any-return]

    def stream(self) -> int:
        return self._stream(self.device)  # type: ignore[no-any-return]

    def _from_interface(self, lent: Any) -> Array:
        return self._package.as_tensor(lent, device=self.device)  # type: ignore[no-any-return]


class _Cupy(_Device):
    def __init__(self, device: int) -> None:
        super().__init__("cupy", device)
        self._names = {np.dtype(name).char: name for name in _TYPES}
        self._current = self._package.cuda.get_current_stream

    def array(self, X: Any) -> Array:
        return X.copy() if X.size and min(X.strides, default=0) < 0 else X  # type: ignore[no-any-return]

    def argument(self, X: Any) -> Any:
        name = self._names.get(X.dtype.char) or X.dtype.name
        return X, X.data.ptr, X.shape, X.strides, 1, name, self.device

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Array:
        return self._package.empty(shape, dtype)  # type: ignore[no-any-return]

    def result(self, X: Any, source: Any, rows: int) -> Array:
        order = "F" if X.flags.f_contiguous and not X.flags.c_contiguous else "C"
        return self._package.ndarray((rows, X.shape[1]), X.dtype, order=order)  # type: ignore[no-any-return]

    def cast(self, X: Any, dtype: Any) -> Array:
        return self._package.ascontiguousarray(X, dtype)  # type: ignore[no-any-return]

    def numpy(self, X: Any) -> Array:
        return X.get()  # type: ignore[no-any-return]

    def stream(self) -> int:
        return self._current().ptr  # type: ignore[no-any-return]

    def _from_interface(self, lent: Any) -> Array:
        return self._package.asarray(lent)  # type: ignore[no-any-return]


class _Lent:
    """Memory of the library that is valid during a call."""

    def __init__(self, block: tuple[Any, ...]) -> None:
        _, address, shape, strides, unit, name, _ = block
        self.__cuda_array_interface__ = {
            "version": 2,
            "data": (address, False),
            "shape": shape,
            "strides": tuple(stride * unit for stride in strides),
            "typestr": np.dtype(name).str,
        }


def _tensor_like(X: Any, rows: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    if strides[0] < strides[1] and 1 not in shape:
        return X.new_empty_strided((rows, shape[1]), (1, rows))  # type: ignore[no-any-return]
    return X.new_empty(rows, shape[1])  # type: ignore[no-any-return]


class HostTensors(Kind):
    """PyTorch tensors in host memory, as blocks of products; elsewhere they are arrays."""

    has_gradients = True

    def __init__(self) -> None:
        import torch

        self.are_read = _host.reads(torch.Tensor)  #: by the module itself (PyTorch 2.10)
        self._bfloat16, self._strided = torch.bfloat16, torch.strided

    def operand(self, X: Any) -> tuple[Any, tuple[int, ...]]:
        if X.is_conj() or X.is_neg():
            X = X.resolve_conj().resolve_neg()
        if X.dtype is self._bfloat16:
            self.require_reading(X)
        return self._memory("blockspan.spmm: X", X), X.shape

    def target(self, where: str, out: Any) -> Any:
        if not hasattr(out, "is_cuda") or out.requires_grad or out.is_conj() or out.is_neg():
            raise Error(
                f"{where}: out is no dense tensor that can be written ({type(out).__name__})"
            )
        return self._memory(f"{where}: out", out)

    def result(self, X: Any, source: Any, rows: int) -> Array:
        if X.dtype is self._bfloat16:
            return X.new_empty(rows, X.shape[1])  # type: ignore[no-any-return]
        return _tensor_like(X, rows, X.shape, X.stride())

    def _memory(self, name: str, tensor: Any) -> Any:
        """X itself or, if the module cannot read it, a NumPy array that shares its memory."""
        if tensor.layout is self._strided and tensor.is_cpu:
            return tensor if self.are_read else tensor.numpy()
        raise Error(
            f"{name} is a {type(tensor).__name__} ({tensor.layout} {tensor.device}); wanted is a "
            "dense tensor in host memory"
        )

    def require_reading(self, X: Any) -> None:
        if not self.are_read:
            raise Error(f"blockspan: {X.dtype} in host memory needs PyTorch 2.10 or newer")


_torch = cache(_Torch)
_cupy = cache(_Cupy)
host_tensors = cache(HostTensors)


def is_plain(X: Array) -> bool:
    """Whether the module reads a NumPy array in place: aligned, strides >= 0 in whole elements."""
    return X.flags.aligned and all(s >= 0 and s % X.itemsize == 0 for s in X.strides)


def refuse_followed(X: Any) -> None:
    if is_followed(X):
        raise Error(
            "blockspan: a tensor requires a gradient (or a tangent, or is one of a batch): pass its "
            "detach(), or see blockspan.torch"
        )


@cache
def _transforms() -> tuple[Any, Any]:
    import torch

    return torch.autograd.forward_ad, torch._C._functorch.is_functorch_wrapped_tensor


def is_followed(X: Any) -> bool:
    """Whether PyTorch tracks a tensor for a gradient, a tangent or a transform of torch.func."""
    if X.requires_grad:
        return True
    forward, is_wrapped = _transforms()
    in_forward_mode = forward._current_level >= 0
    return is_wrapped(X) or (in_forward_mode and forward.unpack_dual(X).tangent is not None)


def kind_of(X: Any) -> Kind:
    """The kind of an array; HOST for everything that NumPy can convert."""
    is_cuda = getattr(X, "is_cuda", None)  # tensors have it
    if is_cuda:
        return _torch(X.get_device())
    if is_cuda is None and type(X).__module__.partition(".")[0] == "cupy":
        return _cupy(X.data.device_id)
    return HOST


def common_kind(where: str, A: Any, *arrays: Any) -> Kind:
    """The kind of the arrays, or that of the matrix A if there are none. Raises Error where operands
    are of two kinds, or one is in host memory and another on a device."""
    kinds = [kind_of(X) for X in arrays if X is not None]
    own: Kind | None = getattr(A, "_kind", None)
    if own is None and kind_of(A) is not HOST:  # a dense matrix
        own = kind_of(A)
    kind = kinds[0] if kinds else own or HOST
    for other in kinds if own is None else (*kinds, own):
        if other is not kind and (other is not own or other.on_cuda != kind.on_cuda):
            raise Error(f"{where}: one operand is {other.name}, another {kind.name}: move one")
    return kind


def cuda_module(what: str) -> Any:
    """The module for CUDA devices, imported on first use."""
    try:
        return _cuda()
    except ImportError as reason:
        raise Error(
            f"blockspan: {what}: this installation has no module for CUDA: pip install "
            f"./src/python/cuda in a checkout ({reason})"
        ) from None


@cache
def _cuda() -> Any:
    module = importlib.import_module("blockspan._cuda")
    register(module)
    os.register_at_fork(after_in_child=_forget_devices)  # once the module knows
    return module


def register(module: Any) -> None:
    """Registers the module's handlers for forks and for exit."""
    os.register_at_fork(
        before=module.before_fork,
        after_in_parent=module.after_fork,
        after_in_child=module.after_fork_in_child,
    )
    atexit.register(module.hold_back_daemons)


def _forget_devices() -> None:
    """In a forked process: discards the kinds on devices, so that their next use raises Error."""
    _torch.cache_clear()
    _cupy.cache_clear()
    for kind in _DEVICES:
        kind.stream = kind.refuse  # type: ignore[method-assign]
