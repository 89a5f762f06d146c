"""LOBPCG and conjugate gradients of SciPy and of CuPy, whose interfaces are the same."""

from protocol import Answer


def prepare(problem, xp, sparse, linalg):
    """xp: numpy or cupy. sparse, linalg: SciPy's modules or CuPy's. Returns solve()."""
    A = sparse.csr_matrix(
        (xp.asarray(problem.values), xp.asarray(problem.indices), xp.asarray(problem.offsets)),
        shape=(problem.rows, problem.rows),
    )
    inverse = 1 / xp.asarray(problem.diagonal())
    jacobi = linalg.LinearOperator(
        A.shape,
        matvec=lambda x: (inverse * x.ravel()).reshape(x.shape),  # also of columns, n x 1
        matmat=lambda X: inverse[:, None] * X,
        dtype=A.dtype,
    )
    if problem.task == "eigenpairs":
        return lambda: eigenpairs(problem, xp, linalg, A, jacobi)
    return lambda: linear_systems(problem, xp, linalg, A, jacobi)


def eigenpairs(problem, xp, linalg, A, jacobi):
    # its tolerance is of ||r|| for unit vectors: the suite's backward error without |lambda|
    values, vectors, history = linalg.lobpcg(
        A, xp.asarray(problem.start()), M=jacobi, largest=False, maxiter=problem.max_iterations,
        tol=problem.tolerance * problem.norm_a, retResidualNormsHistory=True)
    return Answer(to_host(vectors), len(history), to_host(values))


def linear_systems(problem, xp, linalg, A, jacobi):
    B = xp.asarray(problem.block)
    X = xp.empty_like(B)
    iterations = 0

    def count(_):
        nonlocal iterations
        iterations += 1

    for j in range(problem.columns):  # one right-hand side after the other
        X[:, j], _ = solve_column(problem, linalg, A, B[:, j].copy(), jacobi, count)
    return Answer(to_host(X), iterations)


def solve_column(problem, linalg, A, b, jacobi, count):
    options = {"M": jacobi, "maxiter": problem.max_iterations, "callback": count, "atol": 0.0}
    try:
        return linalg.cg(A, b, rtol=problem.tolerance, **options)
    except TypeError:  # the name of the tolerance in older versions
        return linalg.cg(A, b, tol=problem.tolerance, **options)


def to_host(array):
    return array.get() if hasattr(array, "get") else array
