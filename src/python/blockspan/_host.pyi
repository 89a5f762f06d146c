# _cuda has the same, but for what makes matrices, on arrays as device_array.hpp describes them.
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

class Operator:
    @property
    def type(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def report(self) -> str: ...
    def apply(self, X: NDArray[Any], Y: NDArray[Any], stream: int) -> None: ...

class Plan:
    def multiply(
        self,
        op: str,
        alpha: complex,
        X: NDArray[Any],
        beta: complex,
        Y: NDArray[Any],
        stream: int,
    ) -> None: ...
    def multiply_with(
        self, values: NDArray[Any], op: str, X: NDArray[Any], Y: NDArray[Any], stream: int
    ) -> None: ...
    @property
    def algorithm(self) -> str: ...
    def kernel(self, columns: int) -> str: ...
    def explain(self, columns: int) -> str: ...
    def hold_transpose(self, stream: int) -> None: ...

class Matrix:
    @property
    def type(self) -> str: ...
    @property
    def rows(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def entries(self) -> int: ...
    def plan(self, columns: int, algorithm: str, tune: bool, cache: str, stream: int) -> Plan: ...
    def sample(
        self,
        X: NDArray[Any],
        Y: NDArray[Any],
        conjugate_first: bool,
        alpha: complex,
        beta: complex,
        values: NDArray[Any],
        stream: int,
    ) -> None: ...
    def as_operator(self, columns: int, stream: int) -> Operator: ...

def matrix(
    rows: int,
    columns: int,
    offsets: NDArray[Any],
    indices: NDArray[Any],
    values: NDArray[Any],
    stream: int,
) -> Matrix: ...
def function_operator(
    type: str, rows: int, function: Callable[[NDArray[Any], NDArray[Any]], object], name: str
) -> Operator: ...
def jacobi(A: Matrix, stream: int) -> Operator: ...
def block_jacobi(A: Matrix, block_size: int, absolute: bool, stream: int) -> Operator: ...
def chebyshev(A: Matrix, degree: int, ratio: float, stream: int) -> Operator: ...
def multigrid(
    A: Matrix,
    near_null: NDArray[Any] | None,
    coordinates: NDArray[Any] | None,
    block_size: int,
    adaptive: int,
    stream: int,
) -> Operator: ...
def lobpcg(
    A: Operator,
    B: Operator | None,
    M: Operator | None,
    X: NDArray[Any],
    Y: NDArray[Any] | None,
    *,
    wanted: int,
    block: int,
    largest: bool,
    tolerance: float,
    criterion: str,
    path: str,
    max_iterations: int,
    guess_columns: int,
    seed: int,
    certify: bool,
    time_limit: float,
    checkpoint: str,
    resume: str,
    monitor: Callable[[dict[str, Any]], object] | None,
    stream: int,
) -> dict[str, Any]: ...
def cg(
    A: Operator,
    M: Operator | None,
    B: NDArray[Any],
    X: NDArray[Any],
    *,
    tolerance: float,
    absolute_tolerance: float,
    use_guess: bool,
    max_iterations: int,
    method: str,
    time_limit: float,
    monitor: Callable[[dict[str, Any]], object] | None,
    stream: int,
) -> dict[str, Any]: ...
def start(device: int) -> None: ...
def set_threads(threads: int) -> None: ...
def before_fork() -> None: ...
def after_fork() -> None: ...
def after_fork_in_child() -> None: ...
def hold_back_daemons() -> None: ...
def configuration() -> dict[str, Any]: ...
def generate(
    spec: str, type: str
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], tuple[int, int]]: ...
def read_matrix_market(
    path: str, type: str
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], tuple[int, int]]: ...
