#pragma once

#include <string>

#include <Kokkos_Core.hpp>

#include <blockspan/operators/linear_operator.hpp>

namespace blockspan {

/// Y = A X by another library, for comparing results and times: A of any shape, row-major blocks.
/// Not thread-safe.
template <class Scalar, class Exec>
class PeerProduct {
 public:
  virtual ~PeerProduct() = default;

  /// Overwrites Y (rows of A x k) with A X (X: columns of A x k). The first product of a width may
  /// select an algorithm, allocate and fence. Throws Error with the library's message.
  virtual void multiply(Exec const& exec, ConstBlock<Scalar, Exec> const& X,
                        Block<Scalar, Exec> const& Y) = 0;
  /// The library, its version, and the algorithm of the last product.
  virtual std::string name() const = 0;
  /// Setup time of that algorithm in seconds: buffer and preprocessing.
  virtual double setup_seconds() const = 0;
};

}  // namespace blockspan
