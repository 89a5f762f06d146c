#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/files/output_file.hpp"
#include "common/problem/preconditioner_choice.hpp"
#include "common/run/machine_options.hpp"

namespace blockspan::apps {

/// The command line of blockspan-solve, with its defaults.
struct SolveCommand {
  std::string matrix;           ///< a file or a generator spec
  bool symmetrize = false;      ///< solve with the mean of the matrix and its adjoint
  std::string rhs;              ///< file of the right-hand sides; empty: random ones
  int columns = 8;              ///< random right-hand sides
  std::uint64_t seed = 1;       ///< of them
  std::string guess;            ///< file of the start; empty: zero
  std::string null_space;       ///< constant, or a file of vectors; empty: none
  std::string method = "auto";  ///< auto, pseudo-block, block
  bool single_reduction = false;
  std::string preconditioner;
  PreconditionerChoice preconditioner_choice;  ///< what it means
  MultigridInputs multigrid;
  std::string precision = "working";  ///< working, mixed
  double tolerance = 1e-8;
  double absolute_tolerance = 0;
  int max_iterations = 10000;
  std::string solution;  ///< file for the solution; empty: none
  MachineOptions machine;

  std::vector<NamedFile> outputs() const {
    return {{"--report", machine.report}, {"--solution", solution}};
  }
  std::vector<NamedFile> inputs() const {
    auto files = multigrid.files();
    files.insert(files.begin(), {{"MATRIX", matrix},
                                 {"--rhs", rhs},
                                 {"--guess", guess},
                                 {"--null-space", null_space == "constant" ? "" : null_space}});
    return files;
  }
};

/// Reads the command line. Nothing is returned where it asked for --help or --version, which are
/// answered on stdout. Throws Error for wrong usage.
std::optional<SolveCommand> parse_command(int argc, char** argv);

}  // namespace blockspan::apps
