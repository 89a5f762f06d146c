#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace blockspan::test {

namespace counting {
inline std::set<std::string>& matrix_names() {
  static std::set<std::string> names;
  return names;
}
}  // namespace counting

/// Notes that a test has read the real matrix `name`; a run's summary says how many there were.
inline void note_matrix_read(std::string const& name) { counting::matrix_names().insert(name); }

inline std::size_t matrices_read() { return counting::matrix_names().size(); }

}  // namespace blockspan::test
