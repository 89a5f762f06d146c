#pragma once

#include <string>
#include <vector>

namespace blockspan::perf {

/// Where Python scripts are, and where they may write.
struct Scripts {
  std::string python;  ///< the interpreter
  std::string folder;  ///< of the scripts
  std::string out;     ///< of the results
};

/// Exit status of a script that was ended.
constexpr int script_took_too_long = 124;

struct ScriptOutcome {
  int status = 0;         ///< its exit status; 127 where nothing ran
  std::string last_line;  ///< of what it wrote on stdout and stderr
};

/// Runs `python folder/name arguments...` and waits, `seconds` at most: then it is ended. What it
/// writes goes to the file `log`.
ScriptOutcome run_script(Scripts const& scripts, std::string const& name,
                         std::vector<std::string> const& arguments, std::string const& log,
                         double seconds);

}  // namespace blockspan::perf
