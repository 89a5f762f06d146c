#pragma once

#include <span>
#include <string>

#include "studies/study.hpp"

namespace blockspan::perf {

// One file each. Throw Error where what they need cannot be read.
Study casper(Scope const& scope);
Study spmv(Scope const& scope);
Study coalescing(Scope const& scope);
Study variants(Scope const& scope);
Study roofline(Scope const& scope);
Study widths(Scope const& scope);
Study forms(Scope const& scope);
Study scaling(Scope const& scope);
Study solvers(Scope const& scope);
Study multigrid(Scope const& scope);
Study families(Scope const& scope);
Study regrets(Scope const& scope);
Study collection(Scope const& scope);
Study cases(Scope const& scope);

// Of programs of their own, which make the cases (ranks.cpp, ranks_plan.cpp).
Study ranks();
Study ranks_plan();

/// The study of specs that the command line names: n = 1, 4, 8, 16, 32, 64, f64.
Study given(std::vector<std::string> const& specs);

/// A study by its name.
struct StudyEntry {
  char const* name;
  Study (*make)(Scope const&);
};

/// All of them, in the order in which they run.
std::span<StudyEntry const> all_studies();

/// The studies of these names (or all, where there are none), in the order given. Throws Error for
/// a name that is none.
std::vector<StudyEntry> choose_studies(std::vector<std::string> const& names);

/// What a study of products shows unless it has something of its own to show: matrix, size,
/// Blockspan's choice, the best of each family, and what lies between them.
std::vector<Column> usual_table();

}  // namespace blockspan::perf
