#pragma once

#include <string>

namespace blockspan::apps {

/// The file to read for an input that the command line calls `name`: that file itself, and for "-",
/// the standard input, and for pipes a copy in memory, since files are read more than once. The
/// copy is made on the first call; later ones with the same name give the same.
std::string input_file(std::string const& name);

/// A message with the inputs' own names in place of those of their copies.
std::string without_input_names(std::string message);

}  // namespace blockspan::apps
