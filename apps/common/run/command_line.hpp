#pragma once

#include <string>

#include "common/problem/preconditioner_choice.hpp"
#include "common/run/cli11.hpp"
#include "common/run/machine_options.hpp"

namespace blockspan::apps {

/// Refuses zero and negative numbers; what is no number at all, parse() refuses.
CLI::Validator at_least_one();

/// The decimal number that a part of an option's value is; blanks around it and a leading + are
/// allowed, as in options that are numbers. Throws Error "OPTION: what is wrong`of`".
double parse_real(std::string const& option, std::string text, std::string const& of);

/// An empty command line of the app `name`, with --help and --version; `summary` opens the help.
/// Options added to it show their defaults.
void set_up(CLI::App& app, std::string const& name, std::string const& summary);

/// --backend, --spmm, --partition, --report and --quiet.
void add_machine_options(CLI::App& app, MachineOptions& options);

/// MATRIX, what every program reads.
void add_matrix_argument(CLI::App& app, std::string& matrix);

/// --symmetrize, for the programs whose matrices must be Hermitian.
void add_symmetrize_option(CLI::App& app, bool& symmetrize);

/// --partition, for the programs that run on several ranks.
void add_partition_option(CLI::App& app, std::string& partition);

/// What goes with --preconditioner multigrid: --near-null, --coordinates, --block-size,
/// --adaptive, --hierarchy, --levels.
void add_multigrid_options(CLI::App& app, MultigridInputs& inputs);

/// Reads the command line. False where it asked for --help or --version, which are answered on
/// stdout. Throws Error for wrong usage: also for empty values, and for what is not all of it a
/// decimal number (1e6 and 10.0 are whole numbers, 010 is ten) or too large for its option.
bool parse(CLI::App& app, int argc, char** argv);

}  // namespace blockspan::apps
