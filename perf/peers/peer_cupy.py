"""CuPy: cupyx.scipy.sparse.linalg.lobpcg and cg, on the GPU."""

import cupy
import cupyx.scipy.sparse
import cupyx.scipy.sparse.linalg

import arrays


def prepare(problem):
    if problem.device != "cuda":
        raise NotImplementedError("CuPy needs CUDA, and this run is on the host")
    solve = arrays.prepare(problem, cupy, cupyx.scipy.sparse, cupyx.scipy.sparse.linalg)
    synchronize = cupy.cuda.get_current_stream().synchronize
    return solve, {"version": cupy.__version__, "device": "cuda"}, synchronize
