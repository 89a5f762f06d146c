"""PyTorch: torch.lobpcg; conjugate gradients it does not have, so they are written here as its users
do, all right-hand sides at once."""

import torch

from protocol import Answer


def prepare(problem):
    device = problem.device
    if device == "cuda" and not torch.cuda.is_available():
        raise NotImplementedError("this PyTorch is without CUDA, and the run is on CUDA")
    A = torch.sparse_csr_tensor(
        torch.from_numpy(problem.offsets), torch.from_numpy(problem.indices),
        torch.from_numpy(problem.values), (problem.rows, problem.rows), device=device)
    inverse = (1 / torch.from_numpy(problem.diagonal())).to(device)
    synchronize = torch.cuda.synchronize if device == "cuda" else lambda: None
    more = {"version": torch.__version__, "device": device}
    if problem.task == "eigenpairs":
        start = torch.from_numpy(problem.start()).to(device)
        return lambda: eigenpairs(problem, A, inverse, start), more, synchronize
    B = torch.from_numpy(problem.block).to(device)
    more["method"] = "conjugate gradients written for it"
    return lambda: linear_systems(problem, A, inverse, B), more, synchronize


def eigenpairs(problem, A, inverse, start):
    indices = torch.arange(problem.rows, device=inverse.device)
    jacobi = torch.sparse_coo_tensor(torch.stack([indices, indices]), inverse)
    steps = 0

    def count(worker):
        nonlocal steps
        steps = int(worker.ivars["istep"])

    # its tolerance is of the backward error, as the suite's
    values, vectors = torch.lobpcg(
        A, k=problem.columns, X=start.clone(), iK=jacobi, niter=problem.max_iterations,
        tol=problem.tolerance, largest=False, tracker=count)
    return Answer(vectors.cpu().numpy(), steps, values.cpu().numpy())


def linear_systems(problem, A, inverse, B):
    X = torch.zeros_like(B)
    R = B.clone()
    Z = inverse[:, None] * R
    P = Z.clone()
    rho = (R * Z).sum(0)
    goals = problem.tolerance * torch.linalg.vector_norm(B, dim=0)
    iterations = 0
    while iterations < problem.max_iterations:
        open_columns = torch.linalg.vector_norm(R, dim=0) > goals
        if not bool(open_columns.any()):
            break
        Q = A @ P
        alpha = torch.where(open_columns, rho / (P * Q).sum(0), 0.0)
        X += alpha * P
        R -= alpha * Q
        Z = inverse[:, None] * R
        new_rho = (R * Z).sum(0)
        P = Z + torch.where(open_columns, new_rho / rho, 0.0) * P
        rho = new_rho
        iterations += 1
    return Answer(X.cpu().numpy(), iterations)
