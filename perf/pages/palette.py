"""How each system is drawn: the same colour and name in every figure."""

WORDS = {  # id, family, or the beginning of ids -> (name, colour)
    "auto": ("Blockspan", "#1b4f9c"),
    "blockspan": ("Blockspan", "#1b4f9c"),
    "cusparse": ("cuSPARSE", "#5f9e1f"),
    "kokkos-kernels": ("Kokkos Kernels", "#e07b00"),
    "eigen": ("Eigen", "#ad1457"),
    "mkl": ("oneMKL", "#00a3b4"),
    "torch": ("PyTorch", "#d81b60"),
    "cupy": ("CuPy", "#00897b"),
    "scipy": ("SciPy", "#8d6e63"),
    "slepc": ("SLEPc", "#5e35b1"),
    "petsc": ("PETSc", "#9575cd"),
    "primme": ("PRIMME", "#c9a000"),
    "pyamg": ("PyAMG", "#2e7d32"),
    "hypre": ("hypre", "#e07b00"),
    "alone": ("one rank", "#7a7a7a"),
    "in_turn": ("in turn", "#c62828"),
    "by_host": ("by the host", "#e07b00"),
    "slabs.halo": ("slabs", "#c62828"),
    "bricks.halo": ("bricks", "#1b4f9c"),
    "floor": ("floor", "#7a7a7a"),
    "roof": ("roof", "#7a7a7a"),
    # kernels of the menu, where a study compares them
    "thread_per_row": ("thread per row", "#c62828"),
    "thread_per_element": ("naive", "#c62828"),
    "single_columns": ("warp per row", "#8e63c7"),
    "staged_single_columns": ("+ staged", "#b79be0"),
    "rows": ("+ vectors", "#00838f"),
    "staged_rows": ("+ both", "#5fb8c0"),
    "row_split": ("row split", "#8e63c7"),
    "merge": ("merge path", "#c62828"),
    "dense": ("GEMM", "#444444"),
    "balanced": ("balanced", "#8e63c7"),
    "adaptive": ("adaptive", "#00838f"),
    "prefix_sum": ("prefix sum", "#b07a4a"),
}
OWN = {  # ways of Blockspan to solve: its colour in shades
    "multigrid": ("multigrid", "#1b4f9c"),
    "jacobi": ("Jacobi", "#a9c4ec"),
    "chebyshev:8": ("Chebyshev", "#0d2f66"),
    "block": ("Blockspan, block", "#3f74c4"),
    "pseudo-block": ("Blockspan, pseudo-block", "#7aa3df"),
    "direct": ("Blockspan, direct", "#a9c4ec"),
}


def style(who):
    """Name, colour and dashes of an id, a family or the word of a curve (MEASURE:WHO)."""
    if who.startswith("setup:"):
        return "plan", "#7aa3df", (0, (1, 1))
    who = who.split(":", 1)[1] if ":" in who and who not in OWN else who
    if who in OWN:
        return (*OWN[who], "-")
    dashes = (0, (4, 1.5)) if who.endswith("/column") else "-"
    if who in ("floor", "roof"):
        dashes = (0, (1, 1.2))
    key = who if who in WORDS else who.split("/")[0]
    name, colour = WORDS.get(key, (who, "#444444"))
    order = {"row": ", row-major", "column": ", col-major"}.get(who.split("/")[-1], "")
    return name + order, colour, dashes
