#pragma once

#include <string>
#include <vector>

#include "peers/contender.hpp"

namespace blockspan::perf {

/// cuSPARSE on the instance's stream: SpMM by CUSPARSE_SPMM_ALG_DEFAULT and CSR_ALG1, 2, 3 in both
/// orders, and for one column SpMV by CUSPARSE_SPMV_ALG_DEFAULT and CSR_ALG1, 2; each as it is and
/// after its preprocessing. The setup is the buffer's and the preprocessing's. One that cuSPARSE
/// does not support throws its words when it is prepared or multiplies. Elsewhere one contender,
/// "cusparse", that says so when it is prepared.
/// Compiled for float, double and Kokkos::complex of both.
template <class Scalar>
std::vector<Contender> cusparse_contenders(Operands<Scalar> const& with);

/// Of the library that runs, such as "12.6.3"; empty in builds without CUDA.
std::string cusparse_version();

}  // namespace blockspan::perf
