#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <blockspan/multigrid/hierarchy/hierarchy.hpp>
#include <blockspan/multigrid/multigrid.hpp>
#include <blockspan/sparse/matrix_market.hpp>

namespace blockspan {

namespace levels {
/// A0.mtx, P0.mtx, ...
inline std::string level_file(char letter, std::size_t level) {
  std::string name(1, letter);
  name += std::to_string(level);
  return name += ".mtx";
}
}  // namespace levels

/// P0.mtx, P1.mtx, ... of a folder, up to the first missing one, for
/// MultigridOptions::prolongators. Throws Error if P0.mtx is missing, where shapes do not match,
/// and as read_matrix_market.
template <class Scalar, class Exec>
std::vector<CrsMatrix<Scalar, Exec>> read_prolongators(Exec const& exec,
                                                       std::filesystem::path const& folder) {
  std::vector<CrsMatrix<Scalar, Exec>> result;
  for (std::size_t l = 0;; ++l) {
    auto const file = folder / levels::level_file('P', l);
    if (!std::filesystem::exists(file)) break;
    result.push_back(read_matrix_market<Scalar>(exec, file.string()));
    auto const count = result.size();
    require(count < 2 || result[count - 2].numCols() == result[count - 1].numRows(),
            "blockspan::read_prolongators", file.string(), " has ", result[count - 1].numRows(),
            " rows, the prolongator before it ", count < 2 ? 0 : result[count - 2].numCols(),
            " columns");
  }
  require(!result.empty(), "blockspan::read_prolongators", "there is no ",
          (folder / "P0.mtx").string());
  return result;
}

/// Compares the coarse matrices of a folder, A1.mtx, A2.mtx, ..., if they exist, with those of M:
/// returns a note for each level that differs in shape, or by more than 1e-10 of its largest entry.
template <class Scalar, class Exec>
std::vector<std::string> hierarchy_differences(Exec const& exec,
                                               std::filesystem::path const& folder,
                                               Multigrid<Scalar, Exec> const& M) {
  using Wide = std::conditional_t<is_complex_v<Scalar>, Kokkos::complex<double>, double>;
  std::vector<std::string> notes;
  auto const& levels = M.hierarchy().levels;
  for (std::size_t l = 1; l < levels.size(); ++l) {
    std::string const name = levels::level_file('A', l);
    if (!std::filesystem::exists(folder / name)) continue;
    auto const theirs = sparse::to_host(read_matrix_market<Wide>(exec, (folder / name).string()));
    auto const ours = sparse::to_host(levels[l].A);
    double largest = 0, difference = 0;
    bool const shape = theirs.rows == ours.rows && theirs.columns == ours.columns;
    for (std::int64_t i = 0; shape && i < ours.rows; ++i) {
      std::vector<Wide> row(static_cast<std::size_t>(ours.columns), Wide(0));
      for (int k = ours.offsets(i); k < ours.offsets(i + 1); ++k) {
        row[static_cast<std::size_t>(ours.indices(k))] += ours.values(k);
        largest = std::max(largest, static_cast<double>(Kokkos::abs(ours.values(k))));
      }
      for (int k = theirs.offsets(i); k < theirs.offsets(i + 1); ++k)
        row[static_cast<std::size_t>(theirs.indices(k))] -= theirs.values(k);
      for (Wide const& x : row) difference = std::max<double>(difference, Kokkos::abs(x));
    }
    if (shape && difference <= 1e-10 * largest) continue;
    std::ostringstream note;
    note << name << " is not the Galerkin product of the level before: ";
    if (shape)
      note << "it differs by " << difference << ", its largest entry is " << largest;
    else
      note << "it is " << theirs.rows << " x " << theirs.columns << ", not " << ours.rows << " x "
           << ours.columns;
    notes.push_back(note.str());
  }
  return notes;
}

}  // namespace blockspan
