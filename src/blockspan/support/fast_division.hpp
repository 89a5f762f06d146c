#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <blockspan/support/rooms.hpp>

namespace blockspan::support {

/// Division of any int >= 0 by a fixed one, as a multiplication and a shift (Granlund, Montgomery
/// 1994, PLDI, doi:10.1145/178243.178249): exact below 2^31.
class FastDivision {
 public:
  FastDivision() = default;
  explicit FastDivision(int divisor) {
    while ((std::int64_t{1} << bits_) < divisor) ++bits_;
    factor_ = static_cast<std::uint32_t>(
        (std::uint64_t{1} << (31 + bits_)) / static_cast<std::uint64_t>(divisor) + 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION int operator()(int number) const {
    return static_cast<int>(
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(number)) * factor_ >> (31 + bits_));
  }

 private:
  int bits_ = 0;
  std::uint32_t factor_ = (std::uint32_t{1} << 31) + 1;
};

}  // namespace blockspan::support
