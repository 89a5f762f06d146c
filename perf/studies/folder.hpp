#pragma once

#include <string>
#include <vector>

#include "studies/study.hpp"

namespace blockspan::perf {

/// Names of the Matrix Market files in BLOCKSPAN_MATRIX_DIR, sorted; the `most` smallest files
/// where that is not negative. None where the variable is not set.
std::vector<std::string> matrices_in_folder(int most);

/// The scalar that a matrix of the folder is measured with: f64, or c128 where it is complex.
std::string scalar_of(Scope const& scope, std::string const& file);

/// What a page must say where there is no such folder; empty where there is.
std::string folder_note();

}  // namespace blockspan::perf
