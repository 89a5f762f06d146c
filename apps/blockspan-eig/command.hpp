#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <blockspan/solvers/lobpcg.hpp>

#include "common/files/output_file.hpp"
#include "common/problem/preconditioner_choice.hpp"
#include "common/run/machine_options.hpp"

namespace blockspan::apps {

/// What is asked of the factors of A - sigma M instead of an end of the spectrum.
struct ExactRequest {
  enum class Kind { none, near, interval, count };

  Kind kind = Kind::none;
  double from = 0, to = 0;       ///< the shift; the ends
  bool buckling = false;         ///< M is a geometric stiffness
  bool cayley = false;           ///< the nearest in ratio
  int slice = 128;               ///< pairs of an interval found at one shift, about
  std::string factors = "auto";  ///< auto, host, device

  explicit operator bool() const { return kind != Kind::none; }
  /// That asks for it, where one does.
  char const* option() const {
    return kind == Kind::near ? "--near" : kind == Kind::interval ? "--interval" : "--count";
  }
};

/// The command line of blockspan-eig, with its defaults.
struct EigCommand {
  std::string matrix;                    ///< a file or a generator spec
  std::string mass;                      ///< the same; empty: the identity
  std::string operator_kind = "matrix";  ///< matrix, laplacian, adjacency
  bool symmetrize = false;               ///< solve for the means of matrices and their adjoints
  int pairs = 10;
  std::string which = "smallest";  ///< smallest, largest
  int block = 0;                   ///< columns, guards included; 0: what suits `pairs`; fewer than
                                   ///< `pairs`: these are found in batches
  double tolerance = 1e-8;
  std::string criterion = "digits";            ///< digits, backward, relative
  int digits = 4;                              ///< of every eigenvalue, for criterion digits
  std::string path = "auto";                   ///< auto, iterative, dense
  std::string preconditioner;                  ///< as given, or what suits `which`
  bool preconditioner_by_default = false;      ///< it was not given
  PreconditionerChoice preconditioner_choice;  ///< what it means
  MultigridInputs multigrid;
  std::string precision = "working";  ///< working, mixed
  int max_iterations = 10000;
  std::uint64_t seed = 1;
  std::string initial;      ///< file of a start; empty: random
  std::string constraints;  ///< file of vectors to stay M-orthogonal to; empty: none
  std::string checkpoint;   ///< file for the state of the solve; empty: none
  std::string resume;       ///< checkpoint to go on from; empty: from the beginning
  double time_limit = std::numeric_limits<double>::infinity();  ///< seconds in the solver
  ExactRequest exact;                                           ///< --near, --interval, --count
  bool certify = false;                                         ///< intervals for the eigenvalues
  std::string vectors;  ///< file for the eigenvectors; empty: none

  /// Columns of the block, and of the memory for the eigenvectors.
  int block_columns(std::int64_t rows) const {
    int const suits = block > 0 ? block : lobpcg_block_size(pairs);
    return static_cast<int>(std::min<std::int64_t>(suits, rows));
  }
  int vector_columns(std::int64_t rows) const { return std::max(block_columns(rows), pairs); }
  MachineOptions machine;

  std::vector<NamedFile> outputs() const {
    return {{"--report", machine.report}, {"--vectors", vectors}, {"--checkpoint", checkpoint}};
  }
  std::vector<NamedFile> inputs() const {
    auto files = multigrid.files();
    files.insert(files.begin(), {{"MATRIX", matrix},
                                 {"--mass", mass},
                                 {"--initial", initial},
                                 {"--constraints", constraints},
                                 {"--resume", resume}});
    return files;
  }
};

/// Reads the command line. Nothing is returned where it asked for --help or --version, which are
/// answered on stdout. Throws Error for wrong usage.
std::optional<EigCommand> parse_command(int argc, char** argv);

}  // namespace blockspan::apps
