#pragma once

#include <string>

#include <blockspan/communication/communicator.hpp>

namespace blockspan::apps {

/// The file to read for an input that the command line calls `name`: that file itself, and for "-",
/// the standard input, and for pipes a copy in memory, since files are read more than once. The
/// copy is made on the first call; later ones with the same name give the same.
std::string input_file(std::string const& name);

/// The same on rank 0, where it alone reads the file; others and "" stay as they are. Throws Error
/// on all ranks.
std::string input_of_first(Communicator const& ranks, std::string const& name);

/// A message with the inputs' own names in place of those of their copies.
std::string without_input_names(std::string message);

}  // namespace blockspan::apps
