"""Tensors of float16 and bfloat16: products with gradients, against float64, on hosts and devices."""

from __future__ import annotations

import copy
import pickle

import pytest

import blockspan as bs

torch = pytest.importorskip("torch")
import blockspan.torch as bt  # noqa: E402

TYPES = [getattr(torch, name) for name in ("float16", "bfloat16")]
OPS = ["n", "t", "c", "h"]
U32 = 2.0**-24


@pytest.fixture(params=["cpu", "cuda"])
def device(request: pytest.FixtureRequest) -> str:
    if request.param == "cuda":
        from cuda_arrays import Torch

        Torch()  # skips where something is missing
    return str(request.param)


@pytest.fixture(params=TYPES, ids=lambda dtype: str(dtype).removeprefix("torch."))
def dtype(request: pytest.FixtureRequest, device: str) -> torch.dtype:
    name = str(request.param).removeprefix("torch.")
    if name not in bs.show_config("host" if device == "cpu" else "cuda")["stored"]:
        pytest.skip(f"this build has no {name} (Blockspan_STORAGE_SCALARS)")
    return request.param


def random(shape, dtype, device: str, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return (2 * torch.rand(shape, generator=generator) - 1).to(dtype).to(device)


def parts(rows: int, columns: int, dtype, device: str, seed: int = 1):
    """With empty rows, unsorted and repeated entries."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(0, 9, (rows,), generator=generator)
    offsets = torch.cat([torch.zeros(1, dtype=torch.long), lengths.cumsum(0)])
    indices = torch.randint(0, columns, (int(offsets[-1]),), generator=generator)
    values = random(indices.shape, dtype, device, seed)
    return offsets.to(device), indices.to(device), values, (rows, columns)


def dense(given, values=None) -> torch.Tensor:
    """In float64, differentiable in the values."""
    offsets, indices, own, shape = given
    values = (own if values is None else values).double()
    rows = torch.repeat_interleave(torch.arange(shape[0], device=own.device), offsets.diff())
    empty = torch.zeros(shape, dtype=torch.float64, device=own.device)
    return empty.index_put((rows, indices), values, accumulate=True)


def is_near(actual, wanted, sizes, terms: int) -> None:
    """Sums in float32, one rounding to the type. sizes: of the sums of magnitudes."""
    info = torch.finfo(actual.dtype)
    of_sums = 1.01 * (terms + 3) * U32 * sizes
    bound = of_sums + info.eps / 2 * (wanted.abs() + of_sums) + info.smallest_normal * info.eps
    assert ((actual.double() - wanted).abs() <= bound).all()


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("k", [1, 5, 16, 40])
def test_products_and_gradients(dtype, device, op, k):
    given = parts(60, 40, dtype, device)
    values = given[2].clone().requires_grad_()
    A = bt.matrix((*given[:2], values, given[3]))
    rows, columns = (60, 40) if op in "nc" else (40, 60)
    X = random((columns, k), dtype, device, 2).requires_grad_()
    G = random((rows, k), dtype, device, 3)
    Y = bt.spmm(A, X, op=op)
    assert Y.dtype == dtype and Y.device == X.device
    of_x, of_values = torch.autograd.grad(Y, (X, values), G)
    assert of_x.dtype == of_values.dtype == dtype

    x, v, g = (t.detach().double() for t in (X, values, G))
    turn = (lambda D: D) if op in "nc" else (lambda D: D.T)
    D, sizes = turn(dense(given, v)), turn(dense(given, v.abs()))
    is_near(Y, D @ x, sizes @ x.abs(), len(v))
    is_near(of_x, D.T @ g, sizes.T @ g.abs(), len(v))
    at = torch.repeat_interleave(torch.arange(60, device=x.device), given[0].diff())
    ends = (at, given[1]) if op in "nc" else (given[1], at)
    products = g[ends[0]] * x[ends[1]]
    is_near(of_values, products.sum(1), products.abs().sum(1), k)


def test_second_gradients(dtype, device):
    given = parts(12, 9, dtype, device)
    values = given[2].clone().requires_grad_()
    A = bt.matrix((*given[:2], values, given[3]))
    X = random((9, 4), dtype, device, 2).requires_grad_()
    results = []
    for x, v, product in (
        (X, values, lambda x, v: bt.spmm(A, x, values=v)),
        *[
            (X.detach().double().requires_grad_(), values.detach().double().requires_grad_(), f)
            for f in [lambda x, v: dense(given, v) @ x]
        ],
    ):
        first = torch.autograd.grad((product(x, v) ** 2).sum(), (x, v), create_graph=True)
        results.append(torch.autograd.grad(sum((t**2).sum() for t in first), (x, v)))
    for got, wanted in zip(*results, strict=True):
        close = 60 * torch.finfo(dtype).eps * wanted.abs().max()
        assert (got.double() - wanted).abs().max() <= close


def test_compiles_as_one_graph(dtype, device):
    A = bt.matrix(parts(60, 40, dtype, device))
    X = random((40, 5), dtype, device, 2).requires_grad_()

    def layers(X):
        return torch.sum(torch.relu(bt.spmm(A, bt.spmm(A, X), op="t") + X))

    gradients = []
    for function in (layers, torch.compile(layers, fullgraph=True, backend="aot_eager")):
        gradients.append(torch.autograd.grad(function(X), X)[0])
    assert torch.equal(*gradients)


def test_ops_keep_the_rules_of_torch(dtype, device):
    given = parts(12, 9, dtype, device)
    A = bt.matrix(given)
    X = random((9, 3), dtype, device, 2).requires_grad_()
    G = random((12, 3), dtype, device, 3).requires_grad_()
    values = given[2].clone().requires_grad_()
    tests = ("test_schema", "test_autograd_registration", "test_faketensor")
    for op, call in (
        (torch.ops.blockspan.spmm.default, (X, values, A._id, 12, 9, "n")),
        (torch.ops.blockspan.spmm.default, (G, None, A._id, 12, 9, "h")),
        (torch.ops.blockspan.sddmm.default, (G, X, A._id, A.nnz, False)),
    ):
        found = torch.library.opcheck(op, call, test_utils=tests)
        assert set(found.values()) == {"SUCCESS"}


def test_bits_repeat(dtype, device):
    given = parts(300, 200, dtype, device)
    values = given[2].clone().requires_grad_()
    A = bt.matrix((*given[:2], values, given[3]))
    X = random((200, 7), dtype, device, 2).requires_grad_()
    G = random((300, 7), dtype, device, 3)

    def once():
        Y = A @ X
        return Y, *torch.autograd.grad(Y, (X, values), G)

    first = once()
    for _ in range(10):
        assert all(map(torch.equal, first, once()))
    assert torch.equal(first[0][:, 3], A @ X[:, 3])


def test_values_of_another_type(dtype, device):
    """The pattern stays; each type has a plan of its own."""
    given = parts(60, 40, dtype, device)
    single = given[2].to(torch.float64)
    if "float64" not in bs.show_config("host" if device == "cpu" else "cuda")["scalars"]:
        pytest.skip("this build has no float64")
    A, own = bt.matrix((*given[:2], single, given[3])), bt.matrix(given)
    X = random((40, 5), dtype, device, 2)
    assert torch.equal(bt.spmm(A, X, values=given[2]), own @ X)
    with pytest.raises(ValueError, match="of one type"):
        A @ X


def dense_training(layer, given, x, wanted, steps: int) -> list[float]:
    """Losses of the same layer as a dense one in float64, from the same parameters on."""
    weight = layer.weight.detach().double().requires_grad_()
    bias = layer.bias.detach().double().requires_grad_()
    optimizer = torch.optim.SGD([weight, bias], lr=1.0)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        y = x.double() @ dense(given, weight).T + bias
        loss = (y - wanted.double()).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_layer_is_trained(dtype, device):
    """As in float64: losses differ by some roundings u of the first."""
    torch.manual_seed(1)
    given = parts(60, 40, dtype, device)
    layer, truth = bt.SparseLinear(bt.matrix(given)), bt.SparseLinear(bt.matrix(given))
    x = random((32, 40), dtype, device, 2)
    wanted = truth(x).detach()
    layer.reset_parameters()
    exact = dense_training(layer, given, x, wanted, 40)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        loss = (layer(x) - wanted).float().square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert exact[-1] < exact[0] / 2
    u = torch.finfo(dtype).eps / 2
    assert all(abs(loss - e) <= 4 * u * exact[0] for loss, e in zip(losses, exact, strict=True))
    assert torch.equal(copy.deepcopy(layer)(x), layer(x))


def test_products_of_the_package(dtype, device):
    given = parts(60, 40, dtype, device)
    A, own = bs.matrix(given), bt.matrix(given)
    X, Z = random((40, 5), dtype, device, 2), random((60, 5), dtype, device, 3)
    assert str(A.dtype) in str(dtype)
    Y = A @ X
    assert isinstance(Y, torch.Tensor) and torch.equal(Y, own @ X)
    assert torch.equal(A @ X[:, 1], own @ X[:, 1])
    assert torch.equal(A.T @ Z, own.T @ Z)
    assert torch.equal(A @ X[::2].repeat(2, 1), own @ X[::2].repeat(2, 1))
    out = Z.clone()
    assert bs.spmm(A, X, out=out, alpha=2.0, beta=-1.0) is out
    D, sizes = dense(given), dense(given, given[2].abs())
    x, z = X.double(), Z.double()
    is_near(out, 2 * (D @ x) - z, 2 * (sizes @ x.abs()) + z.abs(), len(given[2]))
    samples = torch.as_tensor(bs.sddmm(A, Z, X))
    assert torch.equal(samples, bt.sddmm(own, Z, X))
    twin = pickle.loads(pickle.dumps(A))
    assert torch.equal(twin @ X, Y)
    plan = bs.Plan(A)
    plan.hold_transpose()
    plan.update_values(2 * given[2])
    assert torch.equal(bs.spmm(A, Z, op="t", plan=plan), A.T @ Z)
    X.requires_grad_()
    bs.spmm(A, X, alpha=2).sum().backward()
    assert X.grad.dtype == dtype


def test_what_is_refused(dtype, device):
    given = parts(40, 40, dtype, device)
    A, own = bs.matrix(given), bt.matrix(given)
    X = random((40, 2), dtype, device, 2)
    with pytest.raises(ValueError, match="float32"):
        A @ X.float()
    with pytest.raises(ValueError, match="of one type"):
        own @ X.float()
    with pytest.raises(ValueError, match=r"\(40, 2, 1\)|3 dim"):
        A @ X[:, :, None]
    with pytest.raises(ValueError, match="beta = 1"):
        bs.spmm(A, X, beta=1.0)
    with pytest.raises(ValueError, match="out|tensor"):
        bs.spmm(A, X, out=X.float())
    with pytest.raises(ValueError, match="overlap"):
        bs.spmm(A, X, out=X)
    for solve in (lambda: bs.cg(A, X), lambda: bt.cg(own, X), lambda: bs.precond.jacobi(A)):
        with pytest.raises(ValueError, match="float16.*products and sddmm alone"):
            solve()
    values = given[2].clone().requires_grad_()
    with pytest.raises((ValueError, RuntimeError), match="detach|grad"):
        bs.matrix((*given[:2], values, given[3]))
