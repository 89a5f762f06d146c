#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/command_line.hpp"
#include "common/preconditioner_choice.hpp"

namespace blockspan::apps {

/// The command line of blockspan-eig, with its defaults.
struct EigCommand {
  std::string matrix;                    ///< a file or a generator spec
  std::string mass;                      ///< the same; empty: the identity
  std::string operator_kind = "matrix";  ///< matrix, laplacian, adjacency
  int pairs = 10;
  std::string which = "smallest";  ///< smallest, largest
  int block = 0;                   ///< columns, guards included; 0: what suits `pairs`
  double tolerance = 1e-8;
  std::string criterion = "backward";          ///< backward, relative
  std::string preconditioner;                  ///< as given, or what suits `which`
  PreconditionerChoice preconditioner_choice;  ///< what it means
  int max_iterations = 10000;
  std::uint64_t seed = 1;
  std::string vectors;  ///< file for the eigenvectors; empty: none
  MachineOptions machine;
};

/// Reads the command line. Nothing is returned where it asked for --help or --version, which are
/// answered on stdout. Throws Error for wrong usage.
std::optional<EigCommand> parse_command(int argc, char** argv);

}  // namespace blockspan::apps
