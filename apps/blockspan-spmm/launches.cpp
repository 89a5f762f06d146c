#include "blockspan-spmm/launches.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

namespace blockspan::apps {

namespace {

namespace tools = Kokkos::Tools::Experimental;

constexpr char const* prefix = "Blockspan::spmm::";

std::vector<std::string> seen;

void record(char const* label, std::uint32_t, std::uint64_t* kernel) {
  seen.emplace_back(label);
  *kernel = 0;
}

std::string without_prefix(std::string const& label) {
  return label.rfind(prefix, 0) == 0 ? label.substr(std::string(prefix).size()) : label;
}

/// Whether the label is a product's own, not that of a step before or after it.
bool is_product(std::string const& label) {
  return label.rfind(prefix, 0) == 0 && without_prefix(label).find("::") == std::string::npos;
}

/// The callbacks as they were, whatever `work` throws.
class RestoredCallbacks {
 public:
  RestoredCallbacks() = default;
  ~RestoredCallbacks() { tools::set_callbacks(before_); }
  RestoredCallbacks(RestoredCallbacks const&) = delete;
  RestoredCallbacks& operator=(RestoredCallbacks const&) = delete;

 private:
  tools::EventSet before_ = tools::get_callbacks();
};

}  // namespace

std::vector<std::string> launches_of(std::function<void()> const& work) {
  RestoredCallbacks const restored;
  tools::set_callbacks({});
  tools::set_begin_parallel_for_callback(record);
  seen.clear();
  work();
  return std::exchange(seen, {});
}

std::string kernel_that_ran(std::string const& said, std::vector<std::string> const& launches) {
  bool const true_word = std::count(launches.begin(), launches.end(), said) > 0;
  auto const product = std::find_if(launches.begin(), launches.end(), is_product);
  return without_prefix(true_word || product == launches.end() ? said : *product);
}

}  // namespace blockspan::apps
