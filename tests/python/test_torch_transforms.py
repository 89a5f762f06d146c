"""Forward mode, torch.func and torch.compile: derivatives beside those of dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

torch = pytest.importorskip("torch")

import torch.autograd.forward_ad as forward_ad  # noqa: E402
from conftest import random_block  # noqa: E402
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vmap  # noqa: E402

import blockspan as bs  # noqa: E402
import blockspan.torch as bt  # noqa: E402

ROWS, COLUMNS, K, SAMPLES = 12, 9, 3, 4
S = sp.random_array((ROWS, COLUMNS), density=0.4, format="csr", rng=np.random.default_rng(1))
S.sort_indices()
OWN_ROWS = torch.as_tensor(np.repeat(np.arange(ROWS), np.diff(S.indptr)))
OWN_COLUMNS = torch.as_tensor(S.indices).long()
VALUES = torch.from_numpy(S.data.copy())
A, PLAIN = bt.matrix(S), bs.matrix(S)


def tensor(*shape: int, seed: int = 1):
    return torch.from_numpy(random_block(shape, "float64", seed))


def dense(values):
    zeros = torch.zeros(ROWS, COLUMNS, dtype=values.dtype)
    return zeros.index_put((OWN_ROWS, OWN_COLUMNS), values)


X, V, BATCH = tensor(COLUMNS, K), tensor(COLUMNS, K, seed=2), tensor(SAMPLES, COLUMNS, K, seed=3)
MORE = tensor(SAMPLES, S.nnz, seed=4)


def product(values, X):
    return bt.spmm(A, X, values=values)


def dense_product(values, X):
    return dense(values) @ X


def loss(values, X):
    return (product(values, X) ** 3).sum()


def dense_loss(values, X):
    return (dense_product(values, X) ** 3).sum()


def samples(X, Y):
    return bt.sddmm(A, X, Y)


def dense_samples(X, Y):
    return (X @ Y.mH)[OWN_ROWS, OWN_COLUMNS]


def equal(got, wanted, near=1e-11):
    torch.testing.assert_close(got, wanted, rtol=near, atol=near)


@pytest.mark.parametrize("op", ["n", "t", "c", "h"])
@pytest.mark.parametrize("matrix", [A, PLAIN], ids=["torch", "plain"])
def test_tangents_of_products(op, matrix):
    """A is linear: the tangent is A V, whatever X is."""
    spmm = bt.spmm if matrix is A else bs.spmm
    rows = COLUMNS if op in "nc" else ROWS
    x, v = tensor(rows, K), tensor(rows, K, seed=2)
    D = dense(VALUES) if op in "nc" else dense(VALUES).T
    for x, v in ((x, v), (x[:, 0], v[:, 0])):
        equal(jvp(lambda x: spmm(matrix, x, op=op), (x,), (v,))[1], D @ v)
        with forward_ad.dual_level():
            Y = spmm(matrix, forward_ad.make_dual(x, v), op=op)
            equal(forward_ad.unpack_dual(Y).tangent, D @ v)


def test_tangents_of_values_that_a_matrix_has():
    parts = torch.as_tensor(S.indptr), torch.as_tensor(S.indices)
    with forward_ad.dual_level():
        held = bt.matrix((*parts, forward_ad.make_dual(VALUES, MORE[0]), S.shape))
        equal(forward_ad.unpack_dual(held @ X).tangent, dense(MORE[0]) @ X)


@pytest.mark.parametrize(
    ("f", "wanted", "at"),
    [
        (product, dense_product, (VALUES, X)),
        (samples, dense_samples, (tensor(ROWS, K), X)),
        (
            lambda x: samples(dense(VALUES) @ x, x),
            lambda x: dense_samples(dense(VALUES) @ x, x),
            (X,),
        ),
    ],
    ids=["product", "samples", "samples_of_one"],
)
def test_directional_derivatives(f, wanted, at):
    along = tuple(tensor(*x.shape, seed=7) for x in at)
    for got, value in zip(jvp(f, at, along), jvp(wanted, at, along), strict=True):
        equal(got, value)


def test_tangents_of_complex_numbers():
    if "complex128" not in bs.show_config()["scalars"]:
        pytest.skip("this build has no complex numbers")
    C = bt.matrix(sp.csr_array(S * (1 + 0.5j)))
    x, v = (torch.from_numpy(random_block((ROWS, K), "complex128", i)) for i in (1, 2))
    equal(jvp(lambda x: bt.spmm(C, x, op="h"), (x,), (v,))[1], (dense(VALUES) * (1 + 0.5j)).mH @ v)


@pytest.mark.parametrize("argument", [0, 1])
def test_jacobians_and_hessians(argument):
    at = VALUES, X
    equal(jacfwd(product, argument)(*at), jacfwd(dense_product, argument)(*at))
    equal(jacrev(product, argument)(*at), jacrev(dense_product, argument)(*at))
    equal(hessian(loss, argument)(*at), hessian(dense_loss, argument)(*at))
    equal(jacrev(jacfwd(loss, argument), argument)(*at), hessian(dense_loss, argument)(*at))


def test_gradients_by_torch_func():
    for argument in (0, 1):
        equal(grad(loss, argument)(VALUES, X), grad(dense_loss, argument)(VALUES, X))
    equal(grad(lambda x: (PLAIN @ x).sum())(X), dense(VALUES).T @ torch.ones(ROWS, K).double())


@pytest.mark.parametrize("dims", [(None, 0), (0, None), (0, 0)])
def test_batches(dims):
    at = VALUES if dims[0] is None else MORE, X if dims[1] is None else BATCH
    equal(vmap(product, dims)(*at), vmap(dense_product, dims)(*at))
    equal(vmap(grad(loss), dims)(*at), vmap(grad(dense_loss), dims)(*at))  # a gradient a sample
    equal(vmap(grad(loss, 1), dims)(*at), vmap(grad(dense_loss, 1), dims)(*at))


def test_batches_in_other_dimensions():
    last = BATCH.permute(1, 2, 0)
    equal(
        vmap(lambda x: bt.spmm(A, x), 2, 1)(last), torch.einsum("ij,bjk->ibk", dense(VALUES), BATCH)
    )
    equal(vmap(lambda x: PLAIN @ x)(BATCH[:, :, 0]), BATCH[:, :, 0] @ dense(VALUES).T)
    Y = tensor(SAMPLES, ROWS, K, seed=8)
    equal(vmap(samples)(Y, BATCH), vmap(dense_samples)(Y, BATCH))
    equal(vmap(samples, (0, None))(Y, X), vmap(dense_samples, (0, None))(Y, X))


def test_a_gradient_of_a_layer_for_each_sample():
    layer = bt.SparseLinear(S)
    parameters = {name: p.detach() for name, p in layer.named_parameters()}

    def error(parameters, x):
        return (functional_call(layer, parameters, (x,)) ** 2).sum()

    def dense_error(parameters, x):
        return ((dense(parameters["weight"]) @ x + parameters["bias"]) ** 2).sum()

    x = tensor(SAMPLES, COLUMNS, seed=9)
    got = vmap(grad(error), (None, 0))(parameters, x)
    wanted = vmap(grad(dense_error), (None, 0))(parameters, x)
    for name in parameters:
        equal(got[name], wanted[name])


DEFINITE = sp.csr_array(S.T @ S + 3 * sp.eye_array(COLUMNS))
DEFINITE.sort_indices()
OF_DEFINITE = torch.from_numpy(DEFINITE.data.copy())
SYSTEM = bt.matrix(DEFINITE)


def solution(values, b):
    return bt.cg(SYSTEM, b, values=values, rtol=1e-13)


def dense_solution(values, b):
    rows = torch.as_tensor(np.repeat(np.arange(COLUMNS), np.diff(DEFINITE.indptr)))
    zeros = torch.zeros(COLUMNS, COLUMNS, dtype=values.dtype)
    return torch.linalg.solve(
        zeros.index_put((rows, torch.as_tensor(DEFINITE.indices).long()), values), b
    )


def test_solutions():
    b, db = X[:, 0], V[:, 0]
    for right, d_right in ((X, V), (b, db)):
        at, along = (OF_DEFINITE, right), (OF_DEFINITE, d_right)
        equal(jvp(solution, at, along)[1], jvp(dense_solution, at, along)[1], 1e-8)
        for argument in (0, 1):
            got = grad(lambda *at: (solution(*at) ** 2).sum(), argument)(*at)
            wanted = grad(lambda *at: (dense_solution(*at) ** 2).sum(), argument)(*at)
            equal(got, wanted, 1e-8)
    equal(
        vmap(solution, (None, 0))(OF_DEFINITE, BATCH),
        torch.linalg.solve(torch.from_numpy(DEFINITE.toarray()), BATCH),
        1e-8,
    )
    twice = torch.stack([OF_DEFINITE, 2 * OF_DEFINITE])
    equal(vmap(solution, (0, None))(twice, b), vmap(dense_solution, (0, None))(twice, b), 1e-8)


def test_what_has_no_tangent_is_refused():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(X[:, 0], V[:, 0])
        with pytest.raises(ValueError, match="tangent"):
            bs.cg(DEFINITE, dual)
        with pytest.raises(ValueError, match="tangent"):
            bs.lobpcg(DEFINITE, dual[:, None], largest=False)
        with pytest.raises(ValueError, match="out="):
            bs.spmm(PLAIN, dual, out=torch.empty(ROWS, dtype=torch.float64))
    with pytest.raises(NotImplementedError, match="jvp"):
        jvp(lambda v: bt.eigsh(SYSTEM, 2, values=v)[0], (OF_DEFINITE,), (OF_DEFINITE,))


def compiled(f, **options):
    torch._dynamo.reset()
    return torch.compile(f, backend="aot_eager", **options)


@pytest.mark.filterwarnings("ignore:Dynamo")
@pytest.mark.filterwarnings("ignore:.*lru_cache")
def test_compiled_code_with_matrices_of_either_kind():
    wanted = 2 * dense(VALUES) @ X
    equal(compiled(lambda x: 2 * (PLAIN @ x))(X), wanted)  # outside of the graph
    bt.spmm(PLAIN, X)  # from now on it is known to PyTorch
    equal(compiled(lambda x: 2 * bt.spmm(PLAIN, x), fullgraph=True)(X), wanted)
    slope = compiled(lambda x: grad(lambda x: bt.spmm(A, x).sum())(x))
    equal(slope(X), dense(VALUES).T @ torch.ones(ROWS, K).double())


def test_compiled_forward_mode_is_right_or_refused():
    def tangent(x, v):
        return jvp(lambda x: bt.spmm(A, x), (x,), (v,))[1]

    for options in ({}, {"fullgraph": True}):
        try:
            got = compiled(tangent, **options)(X, V)
        except Exception as error:
            assert "forward mode" in str(error), error
        else:
            equal(got, dense(VALUES) @ V)


def test_tensors_on_the_left():
    for matrix in (A, PLAIN):
        equal(X.T @ matrix.T, X.T @ dense(VALUES).T)
        equal(tensor(ROWS) @ matrix, tensor(ROWS) @ dense(VALUES))
        x = tensor(K, ROWS).requires_grad_()
        (x @ matrix).sum().backward()
        equal(x.grad, torch.ones(K, COLUMNS).double() @ dense(VALUES).T)
