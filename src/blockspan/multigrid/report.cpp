#include <iomanip>
#include <sstream>
#include <utility>

#include <blockspan/multigrid/options.hpp>

namespace blockspan {

char const* to_string(MultigridStatus status) {
  switch (status) {
    case MultigridStatus::unknown:
      return "unknown";
    case MultigridStatus::good:
      return "good";
    case MultigridStatus::fair:
      return "fair";
    case MultigridStatus::weak:
      return "weak";
    case MultigridStatus::no_coarsening:
      return "no_coarsening";
    case MultigridStatus::indefinite:
      return "indefinite";
    case MultigridStatus::not_hermitian:
      return "not_hermitian";
  }
  return "unknown";
}

std::string MultigridReport::table() const {
  std::ostringstream out;
  out << "level      rows     nonzeros  a row  bound  theta  aggregates  largest  left out  spent  "
         "prolongator  seconds\n";
  for (std::size_t l = 0; l < levels.size(); ++l) {
    auto const& level = levels[l];
    double const rows = level.rows > 0 ? static_cast<double>(level.rows) : 1;
    out << std::setw(5) << l << std::setw(10) << level.rows << std::setw(13) << level.nonzeros
        << std::fixed << std::setprecision(1) << std::setw(7)
        << static_cast<double>(level.nonzeros) / rows << std::setprecision(2) << std::setw(7);
    if (level.upper > 0)
      out << level.upper;
    else
      out << "-";
    if (level.aggregates > 0 && l + 1 < levels.size())
      out << std::setprecision(3) << std::setw(7) << level.theta << std::setw(12)
          << level.aggregates << std::setw(9) << level.largest << std::setw(10) << level.left_out
          << std::setw(7) << level.spent << std::setw(13) << level.prolongator_nonzeros;
    else
      out << std::setw(58) << (exact_last ? "inverted" : "smoothed");
    out << std::setprecision(3) << std::setw(9) << level.seconds
        << (level.smoothed || l + 1 == levels.size() ? "" : "  not smoothed") << "\n";
  }
  out << std::setprecision(2) << "complexity " << complexity << ", of rows " << grid_complexity
      << ", " << products << " products a cycle, " << near_null << " near-null vector"
      << (near_null == 1 ? "" : "s");
  if (null_vectors > 0) out << ", " << null_vectors << " null vectors of the last level";
  out << std::setprecision(1) << "\nmilliseconds " << 1000 * seconds << ":";
  char const* comma = " ";
  for (auto const& [name, part] : phases.named())
    if (part >= 5e-5) out << std::exchange(comma, ", ") << name << " " << 1000 * part;
  out << "\n";
  return out.str();
}

std::string MultigridReport::describe() const {
  return std::string(to_string(status)) + (message.empty() ? "" : ": " + message) + "\n" + table();
}

}  // namespace blockspan
