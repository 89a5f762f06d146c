"""Hermitian positive definite matrices as SciPy has them: files, and generator specs of Blockspan
made of Kronecker products. No code of Blockspan's generators is used, so what is judged by these
matrices confirms the generators too."""

import functools
import os

import numpy as np
import scipy.io
import scipy.sparse as sp

FILES = [
    "bcsstk15", "bcsstk13", "Trefethen_2000", "bcsstk26", "msc01050", "bcsstk21", "mhd1280b",
    "bcsstk10", "bcsstm12", "bcsstk09", "mhd3200b", "nos3", "bcsstm25", "bcsstk08", "bcsstk07",
    "gr_30_30", "Chem97ZtZ", "bcsstm07", "plat362", "nos5", "bcsstk02", "1138_bus", "bcsstm21",
    "bcsstm24", "662_bus", "bcsstm26", "494_bus", "bcsstm09", "bcsstm08", "nos4", "bcsstk01",
    "mesh1e1", "ex5", "Trefethen_20b", "LF10"]
LARGE_FILES = ["Dubcova1"]


def along(axis, sizes, line):
    """A matrix on the lines of one axis of a grid, x fastest."""
    factors = [line if a == axis else sp.identity(size) for a, size in enumerate(sizes)]
    return functools.reduce(sp.kron, reversed(factors))


def grid(sizes, epsilon, diagonal):
    """-epsilon for the neighbours along each axis."""
    matrix = diagonal * sp.identity(np.prod(sizes))
    for axis, (size, weight) in enumerate(zip(sizes, epsilon)):
        matrix = matrix - weight * along(axis, sizes, sp.diags([1.0, 1.0], [-1, 1], (size, size)))
    return matrix


def laplace27(n):
    line = sp.diags([1.0, 1.0, 1.0], [-1, 0, 1], (n, n))
    return 27 * sp.identity(n**3) - functools.reduce(sp.kron, 3 * [line])


def aniso7(n, epsilon):
    return grid(3 * (n,), epsilon, 2 * (epsilon[0] + epsilon[1] + epsilon[2]))


def mix_bits(x):
    """SplitMix64's finaliser, of unsigned 64-bit numbers."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def tossed(n, width):
    """Which points [z, y, x] of a cube of n points an edge lie in a small cube of high coefficient:
    the coin is Blockspan's hash of the small cube's place, with seed 1."""
    golden, seed, stream = np.uint64(0x9E3779B97F4A7C15), np.uint64(1), np.uint64(6)
    z, y, x = np.indices(3 * (n,)).astype(np.uint64) // np.uint64(width)
    h = mix_bits(seed + golden * (np.ones_like(x) + stream))
    h = mix_bits(mix_bits(h + golden + x) + golden + (z << np.uint64(32) | y))
    return (h >> np.uint64(63)).astype(int)


def jump7(n, contrast, width=8):
    """Coefficient 1 or contrast in each small cube, harmonic means on faces."""
    mean = np.array([1, 2 / (1 / contrast + 1), contrast])
    high, index = tossed(n, width), np.arange(n**3).reshape(3 * (n,))
    diagonal, entries = np.zeros(3 * (n,)), []
    for axis, step in ((0, -1), (1, -1), (2, -1), (2, 1), (1, 1), (0, 1)):
        beyond = np.clip(np.arange(n) + step, 0, n - 1)  # at the boundary the point itself
        face = mean[high + np.take(high, beyond, axis)]
        neighbour = np.take(index, beyond, axis)
        inside = neighbour != index
        diagonal += face
        entries.append((-face[inside], index[inside], neighbour[inside]))
    entries.append((diagonal.ravel(), index.ravel(), index.ravel()))
    values, rows, columns = map(np.concatenate, zip(*entries))
    return sp.csr_matrix((values, (rows, columns)), shape=2 * (n**3,))


def hats(n, element):
    """The sum of an integral over the n - 1 elements of a line."""
    pairs = sp.lil_matrix((n, n), dtype=np.int64)
    for e in range(n - 1):
        pairs[e:e + 2, e:e + 2] += np.array(element)
    return pairs.tocsr()


def hat_products(n):
    """6 times the mass of a line of hats."""
    return hats(n, [[2, 1], [1, 2]])


def elasticity(n):
    """The unit cube of 8-node bricks, clamped at x = 0, E = 1, nu = 0.3: integers, divided once."""
    mass, stiffness = hat_products(n), hats(n, [[1, -1], [-1, 1]])
    slope = hats(n, [[-1, -1], [1, 1]])  # 2 * integral of (derivative of a hat) * (a hat)

    def gradients(k, l):
        """72 * integral of (d/dx_k of a node's function) * (d/dx_l of another's)."""
        lines = 3 * [mass]
        if k == l:
            lines[k] = stiffness
        else:
            lines[k], lines[l] = slope, slope.T
        lines[0] = lines[0][1:, 1:]
        return (2 if k == l else 3) * functools.reduce(sp.kron, reversed(lines))

    g = [[gradients(k, l) for l in range(3)] for k in range(3)]
    trace = g[0][0] + g[1][1] + g[2][2]
    blocks = 0
    for i, j in np.ndindex(3, 3):
        entry = 3 * g[i][j] + 2 * g[j][i] + (2 * trace if i == j else 0)
        blocks = blocks + sp.kron(entry, sp.csr_matrix(([1], ([i], [j])), shape=(3, 3)))
    return quotient(5 * blocks, 26 * 72 * (n - 1))


def elasticity_mass(n):
    """The consistent mass matrix of the whole cube."""
    nodes = functools.reduce(sp.kron, 3 * [hat_products(n)])
    return quotient(sp.kron(nodes, sp.identity(3, dtype=np.int64)), 216 * (n - 1)**3)


def quotient(matrix, denominator):
    matrix = sp.csr_matrix(matrix, dtype=float)
    matrix.data /= denominator
    return matrix


SPECS = {
    "laplace5:40x30": lambda: grid((40, 30), (1, 1), 4),
    "laplace7:12": lambda: grid(3 * (12,), (1, 1, 1), 6),
    "laplace7:16": lambda: grid(3 * (16,), (1, 1, 1), 6),
    "laplace27:12": lambda: laplace27(12),
    "aniso7:12:1,1e-2,1e-4": lambda: aniso7(12, (1, 1e-2, 1e-4)),
    "aniso7:16:1e-3,1,1": lambda: aniso7(16, (1e-3, 1, 1)),
    "jump7:12:1e3:width=4": lambda: jump7(12, 1e3, 4),
    "jump7:16:1e6": lambda: jump7(16, 1e6),
    "jump7:16:1e-6:width=4": lambda: jump7(16, 1e-6, 4),
    "elasticity:6": lambda: elasticity(6),
    "elasticity:10": lambda: elasticity(10),
    "elasticity-mass:9:free": lambda: elasticity_mass(9)}
LARGE_SPECS = {
    "laplace7:32": lambda: grid(3 * (32,), (1, 1, 1), 6),
    "aniso7:32:1,1e-2,1e-4": lambda: aniso7(32, (1, 1e-2, 1e-4)),
    "jump7:32:1e6": lambda: jump7(32, 1e6),
    "elasticity:16": lambda: elasticity(16)}


def names(large=False):
    """All below 5,000 rows, or the large ones."""
    return LARGE_FILES + list(LARGE_SPECS) if large else FILES + list(SPECS)


def load(name, folder):
    """In CSR, real or complex doubles."""
    specs = SPECS | LARGE_SPECS
    if name in specs:
        return sp.csr_matrix(specs[name](), dtype=float)
    matrix = sp.csr_matrix(scipy.io.mmread(os.path.join(folder, name + ".mtx.gz")))
    return matrix if np.iscomplexobj(matrix) else matrix.astype(float)
