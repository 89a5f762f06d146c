#pragma once

#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/spmm/plan_options.hpp>
#include <blockspan/spmm/row_statistics.hpp>
#include <blockspan/spmm/variants.hpp>
#include <blockspan/support/scalar.hpp>

namespace blockspan::products {

/// What a measured choice holds for: where, which scalar, which rows, which options.
struct TuneKey {
  std::string device;
  std::string scalar;
  int offset_bytes;
  RowStatistics rows;
  SpmmPlanOptions options;
};

/// The backend and its device, or how many threads it has.
template <class Exec>
std::string tune_device(Exec const& exec) {
  std::string const name = Exec::name();
  if constexpr (requires { exec.cuda_device_prop().name; })
    return name + " " + exec.cuda_device_prop().name;
  else if constexpr (requires { exec.hip_device_prop().name; })
    return name + " " + exec.hip_device_prop().name;
  else
    return name + " " + std::to_string(exec.concurrency());
}

template <class Scalar>
std::string tune_scalar() {
  std::string const kind = is_complex_v<Scalar> ? "complex" : "real";
  return kind + std::to_string(8 * sizeof(Scalar));
}

// The file: the line "blockspan tuned plans 1", then one line an entry, fields separated by tabs:
// those of the key, then the variant's id. All of them throw Error with file and line where it is
// anything else, and with the system's reason where it cannot be read or written.

/// The variant in the file for this key; null if there is none, or no file.
SpmmVariant const* find_tuned(std::string const& file, TuneKey const& key);

/// Fails now if add_tuned would fail later.
void check_tuned_writable(std::string const& file);

/// Adds or replaces an entry of the current file. Readers see the old file or the new one. If two
/// processes add at the same time, one may lose its entry and measures again.
void add_tuned(std::string const& file, TuneKey const& key, SpmmVariant const& variant);

}  // namespace blockspan::products
