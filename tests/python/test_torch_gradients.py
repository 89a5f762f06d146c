"""The ops of blockspan.torch: values, gradients of any order, compiled, deterministic."""

from __future__ import annotations

import copy
import gc
import io
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import SCALARS, random_block

import blockspan as bs

torch = pytest.importorskip("torch")
import blockspan.torch as bt  # noqa: E402

DOUBLES = [scalar for scalar in SCALARS if scalar in ("float64", "complex128")]
OPS = ["n", "t", "c", "h"]


def sparse(shape: tuple[int, int], scalar: str, seed: int = 1) -> sp.csr_array:
    """With an empty row, and entries that are stored twice."""
    S = sp.random_array(shape, density=0.3, format="csr", rng=seed).astype(scalar)
    S = sp.vstack([S[:2], sp.csr_array((1, shape[1]), dtype=scalar), S[3:]], format="csr")
    twice = np.concatenate([S.indices[:1], S.indices])
    offsets = np.concatenate([[0], S.indptr[1:] + 1]).astype(np.int32)
    return sp.csr_array((random_block(twice.shape, scalar, seed), twice, offsets), S.shape)


def parts(S: sp.csr_array, values):
    return torch.from_numpy(S.indptr), torch.from_numpy(S.indices), values, S.shape


def block(rows: int, k: int, scalar: str, seed: int):
    return torch.from_numpy(random_block((rows, k), scalar, seed)).requires_grad_()


@pytest.mark.parametrize("scalar", DOUBLES)
@pytest.mark.parametrize("op", OPS)
def test_gradients_are_those_of_finite_differences(scalar, op):
    S = sparse((7, 5), scalar)
    values = torch.from_numpy(S.data).requires_grad_()
    A = bt.matrix(parts(S, values))
    X = block(7 if op in "th" else 5, 3, scalar, 2)
    product = lambda X, values: bt.spmm(A, X, values=values, op=op)  # noqa: E731
    assert torch.autograd.gradcheck(product, (X, values))
    assert torch.autograd.gradgradcheck(product, (X, values))
    constant = bt.matrix(S)
    assert torch.autograd.gradcheck(lambda X: bt.spmm(constant, X, op=op), (X,))


@pytest.mark.parametrize("scalar", DOUBLES)
@pytest.mark.parametrize("transposed", [False, True])
def test_gradients_of_sampled_products(scalar, transposed):
    S = sparse((7, 5), scalar)
    A = bt.matrix(S).T if transposed else bt.matrix(S)
    X, Y = block(A.shape[0], 3, scalar, 2), block(A.shape[1], 3, scalar, 3)
    product = lambda X, Y: bt.sddmm(A, X, Y)  # noqa: E731
    assert torch.autograd.gradcheck(product, (X, Y))
    assert torch.autograd.gradgradcheck(product, (X, Y))


@pytest.mark.parametrize("op", OPS)
def test_equals_scipy(scalar, op):
    S = sparse((40, 30), scalar)
    wanted = {"n": S, "t": S.T, "c": S.conj(), "h": S.conj().T}[op]
    A = bt.matrix(S)
    view = {"n": A, "t": A.T, "c": A.T.H, "h": A.H}[op]
    X = random_block((wanted.shape[1], 6), scalar, 3)
    near = {"rtol": 0, "atol": 400 * np.finfo(scalar).eps}
    for x in (torch.from_numpy(X), torch.from_numpy(np.asfortranarray(X))):
        np.testing.assert_allclose(bt.spmm(A, x, op=op).numpy(), wanted @ X, **near)
        np.testing.assert_allclose((view @ x).numpy(), wanted @ X, **near)
    np.testing.assert_allclose((view @ x[:, 2]).numpy(), wanted @ X[:, 2], **near)
    np.testing.assert_allclose((view @ x.conj()).numpy(), wanted @ X.conj(), **near)
    one = torch.ones(1, 1, dtype=x.dtype).expand(wanted.shape[1], 4)
    np.testing.assert_allclose((view @ one).numpy(), wanted @ one.numpy(), **near)


def test_a_product_of_the_package_has_a_gradient(scalar):
    S = sparse((40, 30), scalar)
    X = block(30, 4, scalar, 2)
    A = bs.matrix(S)
    for _ in range(2):
        X.grad = None
        bs.spmm(A, X, alpha=2).real.sum().backward()
        wanted = 2 * np.repeat((S.conj().T @ np.ones(40))[:, None], 4, axis=1)
        np.testing.assert_allclose(X.grad.numpy(), wanted, rtol=0, atol=1e-4)
        S.data *= 3  # seen, for the memory is shared
    with pytest.raises(ValueError, match="detach"):
        bs.spmm(A, X, out=torch.empty((40, 4), dtype=X.dtype))


def test_changed_constants_are_seen(scalar):
    S = sparse((40, 30), scalar)
    A, X = bt.matrix(S), torch.from_numpy(random_block((40, 3), scalar, 2))
    first = A.H @ X
    A.values.mul_(2)
    assert torch.equal(A.H @ X, 2 * first)
    S.data *= 2
    A.update_values()
    assert torch.equal(A.H @ X, 4 * first)


def test_values_of_another_type():
    """The pattern stays; each type has a plan of its own."""
    S = sparse((12, 9), SCALARS[0])
    A = bt.matrix(S)
    for scalar in SCALARS[1:]:
        values = torch.from_numpy(random_block((S.nnz,), scalar, 4))
        X, G = block(9, 2, scalar, 2), block(12, 2, scalar, 3)
        other = sp.csr_array((values.numpy(), S.indices, S.indptr), S.shape)
        near = {"rtol": 0, "atol": 200 * np.finfo(scalar).eps}
        np.testing.assert_allclose(
            bt.spmm(A, X, values=values).detach().numpy(), other @ X.detach().numpy(), **near
        )
        samples = bs.sddmm(bs.matrix(other), G.detach().numpy(), X.detach().numpy())
        assert np.array_equal(bt.sddmm(A, G, X).detach().numpy(), samples)
        with pytest.raises(ValueError, match="of one type"):
            A @ X


@pytest.mark.parametrize("trained", [False, True])
def test_compiles_as_one_graph(scalar, trained):
    S = sparse((40, 30), scalar)
    values = torch.from_numpy(S.data.copy()).requires_grad_(trained)
    A = bt.matrix(parts(S, values))
    X = block(30, 5, scalar, 2)

    def layers(X):
        return torch.sum(torch.abs(bt.spmm(A, bt.spmm(A, X), op="h") + X) ** 2)

    gradients = []
    for function in (layers, torch.compile(layers, fullgraph=True, backend="aot_eager")):
        inputs = (X, A.values) if trained else (X,)
        gradients.append(torch.autograd.grad(function(X), inputs))
    for eager, compiled in zip(*gradients, strict=True):
        assert torch.equal(eager, compiled)


def test_ops_keep_the_rules_of_torch(scalar):
    S = sparse((12, 9), scalar)
    A = bt.matrix(S)
    X, G = block(9, 3, scalar, 2), block(12, 3, scalar, 3)
    values = torch.from_numpy(S.data.copy()).requires_grad_()
    tests = (
        "test_schema",
        "test_autograd_registration",
        "test_faketensor",
        "test_aot_dispatch_static",
    )
    for op, call in (
        (torch.ops.blockspan.spmm.default, (X, values, A._id, 12, 9, "n")),
        (torch.ops.blockspan.spmm.default, (G, None, A._id, 12, 9, "h")),
        (torch.ops.blockspan.sddmm.default, (G, X, A._id, A.nnz, False)),
        (
            torch.ops.blockspan.spmm_without_gradient.default,
            (X.detach(), values.detach(), A._id, 12, 9, "n"),
        ),
    ):
        found = torch.library.opcheck(op, call, test_utils=tests)
        assert set(found.values()) == {"SUCCESS"}


def test_bits_repeat(scalar):
    S = sparse((300, 200), scalar)
    X, G = block(200, 7, scalar, 2), torch.from_numpy(random_block((300, 7), scalar, 3))
    values = torch.from_numpy(S.data.copy()).requires_grad_()
    A = bt.matrix(parts(S, values))

    def once():
        return torch.autograd.grad(A @ X, (X, values), G)

    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        first = once()
        for _ in range(20):
            assert all(map(torch.equal, first, once()))
    finally:
        torch.use_deterministic_algorithms(before)


def test_inference_mode(scalar):
    S = sparse((40, 30), scalar)
    X = torch.from_numpy(random_block((40, 3), scalar, 2))
    wanted = bt.matrix(S).H @ X
    with torch.inference_mode():
        assert torch.equal(bt.matrix(S).H @ X.clone(), wanted)


def test_is_found_by_its_name():
    assert bs.torch is bt and not hasattr(bs, "another")


def test_values_gradient_takes_no_dense_matrix():
    """n x n would be 80 GB."""
    n = 100_000
    S = sp.diags_array([np.ones(n), np.ones(n - 1)], offsets=[0, 1], format="csr")
    values = torch.from_numpy(S.data).requires_grad_()
    X = torch.ones(n, 2, dtype=torch.float64, requires_grad=True)
    (bt.matrix(parts(S, values)) @ X).sum().backward()
    assert torch.equal(values.grad, torch.full((S.nnz,), 2.0, dtype=torch.float64))


def test_a_matrix_lives_until_the_backward_pass():
    X = torch.ones(3, 1, dtype=torch.float64, requires_grad=True)
    Y = bt.matrix(sp.csr_array(2 * np.eye(3))) @ X
    gc.collect()
    Y.sum().backward()
    assert torch.equal(X.grad, 2 * torch.ones_like(X))
    with pytest.raises(ValueError, match="is gone"):
        torch.ops.blockspan.spmm(X, None, 10**9, 3, 3, "n")


def test_what_is_refused(scalar):
    S = sparse((4, 5), scalar)
    A, X = bt.matrix(S), torch.from_numpy(random_block((5, 2), scalar))
    with pytest.raises(
        ValueError, match=r"\(4, 2\) torch.*wanted for op 'n' are 5 x k and .* 4 x 5"
    ):
        A @ X[:4]
    with pytest.raises(ValueError, match="int32"):
        A @ X.real.int()
    with pytest.raises(ValueError, match="op 'x'"):
        bt.spmm(A, X, op="x")
    with pytest.raises(ValueError, match=f"{A.nnz} values"):
        bt.spmm(A, X, values=X[:, 0])
    with pytest.raises(ValueError, match="wanted are 4 x k and 5 x k of one type"):
        bt.sddmm(A, X, X)
    with pytest.raises(ValueError, match="3 dimensions|wanted for op"):
        A @ X[None]


def test_sparse_linear(scalar):
    S = sparse((6, 8), scalar)
    layer = bt.SparseLinear(S)
    dense = torch.nn.Linear(8, 6, dtype=layer.weight.dtype)
    with torch.no_grad():
        dense.weight.copy_(torch.from_numpy(S.toarray()))
        dense.bias.copy_(layer.bias.copy_(torch.from_numpy(random_block((6,), scalar, 4))))
    x = torch.from_numpy(random_block((3, 4, 8), scalar, 2)).requires_grad_()
    eps = 200 * np.finfo(scalar).eps
    results = []
    for module in (dense, layer):
        y = module(x)
        G = torch.from_numpy(random_block(tuple(y.shape), scalar, 3))
        results.append((y, *torch.autograd.grad(y, (x, module.bias, module.weight), G)))
    (y, of_x, of_bias, of_dense), (*ours, of_weight) = results
    for wanted, got in zip((y, of_x, of_bias), ours, strict=True):
        assert torch.allclose(wanted, got, rtol=0, atol=eps)
    rows = np.repeat(np.arange(6), np.diff(S.indptr))
    assert torch.allclose(of_dense[rows, S.indices], of_weight, rtol=0, atol=eps)
    assert bt.SparseLinear(S, bias=False).bias is None
    assert f"entries={S.nnz}" in repr(layer)


def test_sparse_linear_is_a_module(scalar):
    layer = bt.SparseLinear(sparse((6, 8), scalar))
    layer.reset_parameters()
    lengths = np.diff(layer.matrix._base._source[0])
    assert (layer.bias.abs() <= 2**0.5 / torch.from_numpy(np.sqrt(np.maximum(lengths, 1)))).all()
    x = torch.from_numpy(random_block((4, 8), scalar, 2))
    wanted = layer(x)
    twin = copy.deepcopy(layer)
    with torch.no_grad():
        layer.weight.zero_()
    assert torch.equal(twin(x), wanted)
    file = io.BytesIO()
    torch.save(twin.state_dict(), file)
    file.seek(0)
    layer.load_state_dict(torch.load(file))
    assert torch.equal(layer(x), wanted)
    wide = {"float32": "float64", "complex64": "complex128"}.get(scalar)
    if wide in SCALARS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of complex modules
            layer.double() if wide == "float64" else layer.to(torch.complex128)
        assert torch.allclose(layer(x.to(layer.weight.dtype)).to(x.dtype), wanted, atol=1e-5)
