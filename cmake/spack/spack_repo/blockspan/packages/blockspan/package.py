"""Blockspan for Spack (1.0 and newer), from a checkout:

spack repo add cmake/spack/spack_repo/blockspan
spack dev-build blockspan@0.2.0 +mpi

What is missing here and why: the component `direct`, which takes MUMPS as the static libraries that Debian
has; the C library and the plugins of PETSc, which hide a Kokkos of their own instead of sharing Spack's.
"""

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Blockspan(CMakePackage, CudaPackage):
    """Sparse matrix times a block of vectors, and the block solvers that live on it: LOBPCG, conjugate
    gradients for many right-hand sides, multigrid."""

    license("Apache-2.0")

    # The archive and its sha256 belong here with the tag; `spack dev-build` needs neither.
    version("0.2.0")

    variant("apps", default=True, description="Build the three programs")
    variant("openmp", default=True, description="Threads by OpenMP")
    variant("mpi", default=True, description="Rows spread over ranks")
    variant("metis", default=False, when="+mpi", description="Parts of rows by METIS")
    variant("scotch", default=False, when="+mpi", description="Parts of rows by PT-Scotch")
    variant(
        "scalars",
        default="double",
        values=("double", "float", "complex_double", "complex_float"),
        multi=True,
        description="What the library is compiled for; the programs need double",
    )

    depends_on("cxx", type="build")
    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("lapack")
    depends_on("zlib-api")
    depends_on("mpi", when="+mpi")
    depends_on("metis", when="+metis")
    depends_on("scotch+mpi", when="+scotch")
    depends_on("cli11", type="build", when="+apps")
    depends_on("nlohmann-json", type="build", when="+apps")
    depends_on("googletest", type="test")
    depends_on("nlohmann-json", type="test")

    depends_on("kokkos@4.5:4 cxxstd=20")
    depends_on("kokkos-kernels@4.5:4")
    depends_on("kokkos+openmp", when="+openmp")
    depends_on("kokkos+serial", when="~openmp")
    depends_on("cuda@12.4:", when="+cuda")
    # nvcc lays out the View of older ones differently on host and device
    depends_on("kokkos@4.7.02:4 +cuda_lambda", when="+cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos +cuda cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")

    conflicts("+cuda", when="cuda_arch=none")
    conflicts("%gcc@:11")
    conflicts("%clang@:15")

    def cmake_args(self):
        kokkos = self["kokkos"]
        return [
            self.define("Kokkos_ROOT", kokkos.prefix),
            self.define("KokkosKernels_ROOT", self["kokkos-kernels"].prefix),
            self.define("CMAKE_CXX_COMPILER", kokkos.kokkos_cxx),
            self.define("Blockspan_SCALARS", list(self.spec.variants["scalars"].value)),
            self.define("Blockspan_ENABLE_TESTS", self.run_tests),
            self.define("Blockspan_ENABLE_PERF", False),
            self.define("Blockspan_ENABLE_DIRECT", "OFF"),
            self.define_from_variant("Blockspan_ENABLE_APPS", "apps"),
            self.define_from_variant("Blockspan_ENABLE_MPI", "mpi"),
            self.define_from_variant("Blockspan_ENABLE_METIS", "metis"),
            self.define_from_variant("Blockspan_ENABLE_SCOTCH", "scotch"),
        ]
