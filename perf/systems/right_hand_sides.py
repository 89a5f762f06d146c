"""Right-hand sides that solvers of blocks stumble over, and their files."""

import numpy as np

KINDS = ["random", "known", "duplicate", "dependent", "zero", "scaled"]
SPREAD = 200  # decades, either way


def make(kind, A, columns, seed):
    """B with `columns` columns (at least two where they depend on each other): random; of a known
    solution; a quarter of them, repeated; combinations of a quarter; every third one zero; of norms
    from 1e-200 to 1e200."""
    random = np.random.default_rng(seed)

    def normal(*shape):
        if not np.iscomplexobj(A):
            return random.standard_normal(shape)
        return random.standard_normal(shape) + 1j * random.standard_normal(shape)

    rows = A.shape[0]
    if kind in ("duplicate", "dependent"):
        columns = max(columns, 2)
        rank = (columns + 3) // 4
        B = normal(rows, rank)
        return B[:, np.arange(columns) % rank] if kind == "duplicate" else B @ normal(rank, columns)
    B = normal(rows, columns)
    if kind == "known":
        return A @ B
    if kind == "zero":
        B[:, ::3] = 0
    if kind == "scaled":
        B *= 10.0 ** np.linspace(-SPREAD, SPREAD, columns)
    return B


def write(path, B):
    """As a Matrix Market array, in digits that give back the same bits."""
    def words(value):
        return f"{value.real!r} {value.imag!r}" if isinstance(value, complex) else repr(value)
    field = "complex" if np.iscomplexobj(B) else "real"
    lines = [f"%%MatrixMarket matrix array {field} general", f"{B.shape[0]} {B.shape[1]}"]
    lines += map(words, B.T.ravel().tolist())
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
