#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/files/output_file.hpp"

namespace blockspan::apps {

/// The command line of blockspan-spmm, with its defaults.
struct SpmmCommand {
  std::string matrix;                ///< a file or a generator spec
  std::vector<int> columns{8, 32};   ///< widths of the blocks, one after the other
  std::string scalar;                ///< f32, f64, c64, c128; empty: as the matrix is, f64 or c128
  std::string layout = "right";      ///< of X and Y: right (row-major), left (column-major)
  std::string op = "none";           ///< none, transpose, conjugate, adjoint
  std::string algorithm = "auto";    ///< auto, an id of spmm_variants, all
  std::vector<std::string> compare;  ///< cusparse, kokkos-kernels
  int repeat = 20;                   ///< batches timed of every kernel
  std::uint64_t seed = 1;            ///< of X
  std::string backend = "auto";      ///< auto, cuda, openmp, serial
  std::string report;                ///< file for the report; empty: none
  bool explain = false;
  std::string partition = "contiguous";  ///< of rows over ranks
  bool quiet = false;
  std::string fault;  ///< id of the kernel whose result is spoilt; empty: none

  /// The ids of the kernels to run, in order: the algorithms, then the peers.
  std::vector<std::string> kernels() const;
  /// Whether a kernel that cannot serve the input is listed as refused instead of ending the run.
  bool lists_refused() const { return algorithm == "all"; }

  std::vector<NamedFile> outputs() const { return {{"--report", report}}; }
  std::vector<NamedFile> inputs() const { return {{"MATRIX", matrix}}; }
};

/// Reads the command line. Nothing is returned where it asked for --help or --version, which are
/// answered on stdout. Throws Error for wrong usage.
std::optional<SpmmCommand> parse_command(int argc, char** argv);

}  // namespace blockspan::apps
