#pragma once

#include <string>
#include <vector>

namespace blockspan::perf {

/// Names of the Matrix Market files in BLOCKSPAN_MATRIX_DIR, sorted; the `most` smallest files
/// where that is not negative. None where the variable is not set.
std::vector<std::string> matrices_in_folder(int most = -1);

/// What a page must say where there is no such folder; empty where there is.
std::string folder_note();

}  // namespace blockspan::perf
